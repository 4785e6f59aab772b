//! Whether two sets of trials differ: Welch's test of the logarithms, and how many such calls may be
//! believed when there are many.

use super::{are_enough, mean};

/// The two-sided p-value of Welch's t-test on the logarithms of two sets of trials: how probable means
/// that lie as far apart are where there is no difference. B. L. Welch, "The generalization of
/// 'Student's' problem when several different population variances are involved", Biometrika 34, 1947.
/// `None` with fewer than three trials of either.
pub fn welch_p(one: &[f64], other: &[f64]) -> Option<f64> {
    if !are_enough(one) || !are_enough(other) {
        return None;
    }
    let ([mean_one, error_one], [mean_other, error_other]) = (logs(one)?, logs(other)?);
    let (difference, error) = (mean_one - mean_other, error_one + error_other);
    // Trials that are all alike, as clocks that tick slowly give.
    if error == 0.0 {
        return Some(if difference == 0.0 { 1.0 } else { 0.0 });
    }
    let part = |error: f64, trials: &[f64]| error * error / (trials.len() - 1) as f64;
    let freedom = error * error / (part(error_one, one) + part(error_other, other));
    let t2 = difference * difference / error;
    Some(incomplete_beta(freedom / (freedom + t2), freedom / 2.0, 0.5))
}

/// Mean of the logarithms, and the square of its standard error.
fn logs(trials: &[f64]) -> Option<[f64; 2]> {
    let logs: Vec<f64> = trials.iter().map(|trial| trial.ln()).collect();
    let (mean, count) = (mean(&logs)?, logs.len() as f64);
    let squares: f64 = logs.iter().map(|log| (log - mean) * (log - mean)).sum();
    Some([mean, squares / (count - 1.0) / count])
}

/// Which of many p-values may be called differences so that at most `share` of the calls are false on
/// average: the largest k whose k-th smallest p-value is at most `share` k / n, and all below. Y.
/// Benjamini and Y. Hochberg, "Controlling the false discovery rate", Journal of the Royal Statistical
/// Society B 57, 1995. It holds for independent pairs, and for those that err in the same direction
/// (Y. Benjamini and D. Yekutieli, Annals of Statistics 29, 2001), as the phases of one trial do.
pub fn discoveries(p_values: &[f64], share: f64) -> Vec<bool> {
    let mut sorted = p_values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let most = |place: usize| share * (place + 1) as f64 / sorted.len() as f64;
    let last = (0..sorted.len()).rev().find(|place| sorted[*place] <= most(*place));
    let limit = last.map(|last| sorted[last]);
    p_values.iter().map(|p| limit.is_some_and(|limit| *p <= limit)).collect()
}

/// The regularized incomplete beta function, by Lentz's continued fraction (NIST Digital Library of
/// Mathematical Functions, 8.17.22).
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    // The fraction converges fast below this point.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(1.0 - x, b, a);
    }
    let front = a * x.ln() + b * (1.0 - x).ln() + ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b);
    let away_from_0 = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let (mut c, mut d) = (1.0, 1.0 / away_from_0(1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = d;
    for step in 1..200 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            d = 1.0 / away_from_0(1.0 + term * d);
            c = away_from_0(1.0 + term / c);
            change = c * d;
            fraction *= change;
        }
        if (change - 1.0).abs() < 1e-14 {
            break;
        }
    }
    front.exp() * fraction / a
}

/// The logarithm of the gamma function, by Stirling's series (DLMF 5.11.1) from 10 on.
fn ln_gamma(x: f64) -> f64 {
    if x < 10.0 {
        return ln_gamma(x + 1.0) - x.ln();
    }
    let x2 = x * x;
    let series =
        (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1_260.0 - 1.0 / (1_680.0 * x2)) / x2) / x2) / x;
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    use super::*;

    #[test]
    fn p_values_are_those_of_tables_of_students_t() {
        // Two-sided p of t with f degrees of freedom: I of f / (f + t²), f/2, 1/2.
        for (t, freedom, p) in [
            (2.776_445_1, 4.0, 0.05),
            (4.604_094_9, 4.0, 0.01),
            (12.706_205, 1.0, 0.05),
            (2.228_138_9, 10.0, 0.05),
            (0.0, 3.0, 1.0),
        ] {
            let found = incomplete_beta(freedom / (freedom + t * t), freedom / 2.0, 0.5);
            assert!((found - p).abs() < 1e-6, "{t} {freedom}: {found}");
        }
        let far = welch_p(&[1.0, 1.1, 0.9], &[10.0, 11.0, 9.0]).unwrap();
        let near = welch_p(&[1.0, 1.1, 0.9], &[1.05, 1.2, 0.9]).unwrap();
        assert!(far < 0.001 && near > 0.3, "{far} {near}");
        assert_eq!(welch_p(&[1.0; 3], &[1.0; 3]), Some(1.0));
        assert_eq!(welch_p(&[1.0; 3], &[2.0; 3]), Some(0.0));
        assert_eq!(welch_p(&[1.0; 2], &[2.0; 3]), None);
    }

    #[test]
    fn the_step_up_takes_all_below_the_largest_that_passes() {
        // The example of Benjamini and Hochberg (1995), section 3.3: four of fifteen at 5 %.
        let p = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
            0.5719, 0.6528, 0.7590, 1.0,
        ];
        assert_eq!(discoveries(&p, 0.05).iter().filter(|found| **found).count(), 4);
        assert_eq!(discoveries(&[], 0.05), Vec::<bool>::new());
        assert_eq!(discoveries(&[0.2, 0.9], 0.05), [false, false]);
    }

    /// A draw whose logarithm is near normal, by a sum of twelve.
    fn trial(random: &mut Xoshiro256PlusPlus, factor: f64) -> f64 {
        let uniform = |random: &mut Xoshiro256PlusPlus| random.next_u64() as f64 / u64::MAX as f64;
        let normal = (0..12).map(|_| uniform(random)).sum::<f64>() - 6.0;
        factor * (0.03 * normal).exp()
    }

    #[test]
    fn of_864_pairs_without_a_difference_none_is_called_and_of_some_with_one_few_are_false() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        let mut trials =
            |factor| -> Vec<f64> { (0..3).map(|_| trial(&mut random, factor)).collect() };
        let (mut false_calls, mut calls, mut alone) = (0, 0, 0);
        for round in 0..20 {
            let changed = if round % 2 == 0 { 0 } else { 200 };
            let p: Vec<f64> = (0..864)
                .map(|pair| {
                    let factor = if pair < changed { 2.0 } else { 1.0 };
                    welch_p(&trials(factor), &trials(1.0)).unwrap()
                })
                .collect();
            alone += p[changed..].iter().filter(|p| **p <= 0.05).count();
            let found = discoveries(&p, 0.05);
            false_calls += found[changed..].iter().filter(|found| **found).count();
            calls += found.iter().filter(|found| **found).count();
        }
        assert!(alone > 300, "each by itself: {alone} of 15,280 at 5 %");
        assert!(calls > 1_800, "{calls} of 2,000 that changed");
        assert!(false_calls as f64 <= 0.06 * calls as f64, "{false_calls} of {calls}");
    }
}
