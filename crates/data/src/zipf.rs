//! Random numbers by Zipf's law, the same on every platform.

use crate::draw::Draw;

/// Ranks from 0 to `n - 1`. Rank `k` has a probability proportional to 1 / (k + 1)^skew.
///
/// Uses rejection-inversion (W. Hörmann, G. Derflinger, Rejection-Inversion to Generate Variates
/// from Monotone Discrete Distributions, ACM TOMACS 6, 1996). It is exact except for rounding, and
/// needs no table or sum over all ranks. A draw takes little more than one attempt for any `n`. The
/// powers are those of the `libm` crate, so that they do not differ between platforms.
#[derive(Clone, Copy, Debug)]
pub struct Zipf {
    n: u64,
    skew: f64,
    /// Integral of the density up to 3/2, minus the probability of the first rank.
    first: f64,
    /// Integral up to n + 1/2.
    last: f64,
    /// Largest distance below its rank at which a point is accepted without evaluating the density.
    sure: f64,
}

impl Zipf {
    /// Makes ranks below `n`, at least one. A skew of 0 makes all equally likely.
    pub fn new(n: u64, skew: f64) -> Self {
        let n = n.max(1);
        let skew = skew.max(0.0);
        let zipf = Self { n, skew, first: 0.0, last: 0.0, sure: 0.0 };
        Self {
            first: zipf.integral(1.5) - 1.0,
            last: zipf.integral(n as f64 + 0.5),
            sure: 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.density(2.0)),
            ..zipf
        }
    }

    /// Returns a rank below `n`. 0 is the most likely.
    pub fn draw(&self, draw: &mut Draw) -> u64 {
        if self.skew == 0.0 {
            return draw.below(self.n as usize) as u64;
        }
        loop {
            let u = self.last + draw.unit() * (self.first - self.last);
            let x = self.inverse(u);
            let k = (x + 0.5).floor().clamp(1.0, self.n as f64);
            if k - x <= self.sure || u >= self.integral(k + 0.5) - self.density(k) {
                return k as u64 - 1;
            }
        }
    }

    fn density(&self, x: f64) -> f64 {
        libm::exp(-self.skew * libm::log(x))
    }

    /// Returns the integral of the density from 1 to `x`: (x^(1-s) - 1) / (1 - s), or ln x if s is
    /// 1.
    fn integral(&self, x: f64) -> f64 {
        let ln = libm::log(x);
        let t = (1.0 - self.skew) * ln;
        if t.abs() < 1e-8 { ln * (1.0 + t / 2.0) } else { libm::expm1(t) / (1.0 - self.skew) }
    }

    /// Returns the point at which the integral is `y`.
    fn inverse(&self, y: f64) -> f64 {
        // Not below -1, which rounding may reach.
        let t = (y * (1.0 - self.skew)).max(-1.0);
        let ln =
            if t.abs() < 1e-8 { y * (1.0 - t / 2.0) } else { libm::log1p(t) / (1.0 - self.skew) };
        libm::exp(ln)
    }
}

/// Returns the scrambled position of a rank among `n`: its FNV-1a hash modulo `n`, so that likely
/// ranks are not neighbours. As in YCSB, several ranks may share a position, and some positions have
/// no rank.
pub fn scrambled(rank: u64, n: u64) -> u64 {
    fnv1a(&rank.to_le_bytes()) % n.max(1)
}

/// Returns the 64-bit FNV-1a hash (G. Fowler, L. C. Noll, K.-P. Vo).
pub(crate) fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws `count` ranks and compares the share of each with its probability.
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
        // The sum of 1 / k^0.99 up to ten billion, a constant of YCSB, is 26.469.
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
}
