//! Whether many pairs of sets of trials differ: Welch's test of the logarithms, and which of many
//! differences are credible.

use super::Shift;

/// Returns the two-sided p-value of Welch's t-test on the logarithms of two sets of trials: the
/// probability of means that are as far apart if there is no difference. `None` with fewer than
/// three trials of either.
pub fn welch_p(one: &[f64], other: &[f64]) -> Option<f64> {
    Some(Shift::unpaired(one, other)?.p_different())
}

/// Returns which of many p-values may be called differences so that on average at most `share` of
/// them are false: the largest k whose k-th smallest p-value is at most `share` k / n, and all
/// below. Y. Benjamini and Y. Hochberg, "Controlling the false discovery rate", Journal of the
/// Royal Statistical Society B 57, 1995. It is valid for independent pairs, and for those that err
/// in the same direction (Y. Benjamini and D. Yekutieli, Annals of Statistics 29, 2001), like the
/// phases of one trial.
pub fn discoveries(p_values: &[f64], share: f64) -> Vec<bool> {
    let mut sorted = p_values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let most = |place: usize| share * (place + 1) as f64 / sorted.len() as f64;
    let last = (0..sorted.len()).rev().find(|place| sorted[*place] <= most(*place));
    let limit = last.map(|last| sorted[last]);
    p_values.iter().map(|p| limit.is_some_and(|limit| *p <= limit)).collect()
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    use super::*;

    #[test]
    fn p_values_are_small_where_trials_lie_apart() {
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

    /// A sample whose logarithm is nearly normal: a sum of twelve.
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
