use super::*;

/// Draws `count` ranks and holds the share of each against its likelihood.
fn check(n: u64, skew: f64) {
    const COUNT: u32 = 400_000;
    let zipf = Zipf::new(n, skew);
    let mut draw = Draw::new(7, n);
    let mut drawn = vec![0_u32; n as usize];
    for _ in 0..COUNT {
        drawn[zipf.draw(&mut draw) as usize] += 1;
    }
    let weight = |rank: usize| (rank as f64 + 1.0).powf(-skew);
    let all: f64 = (0..drawn.len()).map(weight).sum();
    let mut chi2 = 0.0;
    for (rank, &count) in drawn.iter().enumerate() {
        let expected = f64::from(COUNT) * weight(rank) / all;
        chi2 += (f64::from(count) - expected).powi(2) / expected;
    }
    // The mean is n - 1 and the standard deviation sqrt(2 (n - 1)).
    let degrees = n as f64 - 1.0;
    assert!(chi2 < degrees + 5.0 * (2.0 * degrees).sqrt() + 1.0, "n {n}, skew {skew}: {chi2}");
}

#[test]
fn ranks_have_the_likelihoods_of_zipf_s_law() {
    for skew in [0.0, 0.5, 0.99, 1.0, 1.000_000_001, 1.5, 3.0] {
        for n in [1, 2, 3, 50] {
            check(n, skew);
        }
    }
    check(1_000, 0.99);
}

#[test]
fn ten_billion_ranks_need_no_table_and_none_is_beyond_them() {
    let n = 10_000_000_000;
    let zipf = Zipf::new(n, 0.99);
    let mut draw = Draw::new(42, 0);
    let ranks: Vec<u64> = (0..100_000).map(|_| zipf.draw(&mut draw)).collect();
    assert!(ranks.iter().all(|&rank| rank < n));
    // The sum of 1 / k^0.99 up to ten billion, which YCSB has as a constant, is 26.469.
    let first = ranks.iter().filter(|&&rank| rank == 0).count() as f64 / 100_000.0;
    assert!((first - 1.0 / 26.469).abs() < 0.003, "{first}");
    assert!(ranks.iter().any(|&rank| rank > n / 2));
}

#[test]
fn draws_are_the_same_everywhere() {
    let zipf = Zipf::new(1_000_000, 0.99);
    let mut draw = Draw::new(42, 1);
    let ranks: Vec<u64> = (0..8).map(|_| zipf.draw(&mut draw)).collect();
    assert_eq!(ranks, [8_179, 0, 38_813, 75_081, 25, 3_463, 5, 0]);
}

#[test]
fn scrambled_ranks_lie_where_ycsb_has_them() {
    // FNV-1a of eight zero bytes.
    assert_eq!(fnv1a(&[0; 8]), 0xa8c7_f832_281a_39c5);
    assert_eq!(scrambled(0, 1_000), 0xa8c7_f832_281a_39c5 % 1_000);
    assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
}
