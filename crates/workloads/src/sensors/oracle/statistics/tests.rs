use super::*;

#[test]
fn a_sum_keeps_what_naive_addition_loses() {
    assert_eq!(sum([1.0, 1e100, 1.0, -1e100]), 2.0);
    assert_eq!(mean(&[]), None);
    assert_eq!(mean(&[122.153; 1_000]), Some(122.153));
}

#[test]
fn the_deviation_is_the_sample_one() {
    // Squares of distances 9+1+1+1+0+0+4+16 = 32 over 7.
    let (mean, deviation) = mean_and_deviation(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
    assert_eq!((mean, deviation), (5.0, (32.0_f64 / 7.0).sqrt()));
    assert_eq!(mean_and_deviation(&[5.0]), None);
}

#[test]
fn a_correlation_needs_two_pairs_and_variance() {
    let Correlation::Coefficient(r) =
        correlation(&[(1.0, 2.0), (2.0, 1.0), (3.0, 4.0), (4.0, 3.0)])
    else {
        panic!("no coefficient");
    };
    // Centred products 0.75 + 0.75 + 0.75 + 0.75 = 3 over squares 5.
    assert!((r - 0.6).abs() < 1e-15, "{r}");
    assert_eq!(correlation(&[(1.0, 2.0)]), Correlation::Undefined);
    let stuck = [(122.153, 1.0), (122.153 + 1e-13, 2.0), (122.153, 3.0)];
    assert_eq!(correlation(&stuck), Correlation::Unstable);
    assert_eq!(correlation(&[(0.0, 1.0), (0.0, 2.0)]), Correlation::Unstable);
}
