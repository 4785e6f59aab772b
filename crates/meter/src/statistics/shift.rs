//! How much longer the times of one set of trials are than those of another, whether that is more
//! than allowed, and which of many differences are credible.

use super::student::{exceeded, upper_tail};
use super::{are_enough, is_measure, mean};

/// Probability of finding a slowdown of the size that [`Shift::finds`] returns.
const POWER: f64 = 0.95;

/// Difference of the mean logarithms of two sets of trials, new minus old, with its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shift {
    difference: f64,
    error: f64,
    freedom: f64,
}

impl Shift {
    /// Compares independent trials, with the degrees of freedom of B. L. Welch, "The generalization
    /// of 'Student's' problem when several different population variances are involved", Biometrika
    /// 34, 1947. `None` with fewer than three trials of either.
    pub fn unpaired(new: &[f64], old: &[f64]) -> Option<Self> {
        if !are_enough(new) || !are_enough(old) {
            return None;
        }
        let ([mean_new, square_new], [mean_old, square_old]) = (logs(new)?, logs(old)?);
        let square = square_new + square_old;
        let part = |square: f64, trials: &[f64]| square * square / (trials.len() - 1) as f64;
        let freedom = square * square / (part(square_new, new) + part(square_old, old));
        let least = (new.len().min(old.len()) - 1) as f64;
        // Identical trials, which clocks with coarse ticks give, result in 0 / 0.
        let freedom = if freedom.is_finite() { freedom } else { least };
        Some(Self { difference: mean_new - mean_old, error: square.sqrt(), freedom })
    }

    /// Compares pairs. What both of a pair had in common, such as the machine's speed at that time,
    /// affects neither the difference nor its error. `None` with fewer than three, or if the sets
    /// differ in length.
    pub fn paired(new: &[f64], old: &[f64]) -> Option<Self> {
        if new.len() != old.len() || !are_enough(new) || !are_enough(old) {
            return None;
        }
        let ratios: Vec<f64> = new.iter().zip(old).map(|(new, old)| new / old).collect();
        let [difference, square] = logs(&ratios)?;
        Some(Self { difference, error: square.sqrt(), freedom: (ratios.len() - 1) as f64 })
    }

    /// Returns new over old: the ratio of the geometric means.
    pub fn ratio(&self) -> f64 {
        self.difference.exp()
    }

    /// Returns the 95 % interval of that ratio.
    pub fn interval(&self) -> [f64; 2] {
        let reach = exceeded(0.025, self.freedom) * self.error;
        [(self.difference - reach).exp(), (self.difference + reach).exp()]
    }

    /// Returns the probability of a ratio at least as large as this if the true one is `most`. It
    /// is small if the new trials took longer than `most` times the old ones.
    pub fn p_beyond(&self, most: f64) -> f64 {
        let beyond = self.difference - most.ln();
        if self.error > 0.0 {
            upper_tail(beyond / self.error, self.freedom)
        } else if beyond > 0.0 {
            0.0
        } else {
            1.0
        }
    }

    /// Returns the probability of a ratio at most as large as this if the true one is `least`.
    pub fn p_below(&self, least: f64) -> f64 {
        Self { difference: -self.difference, ..*self }.p_beyond(1.0 / least)
    }

    /// Returns the ratio that trials of this number and spread would show, 95 times out of 100, to
    /// be beyond `most` at a [p-value](Self::p_beyond) of `level`. Approximate, because it takes
    /// the spread for the true one.
    pub fn finds(&self, most: f64, level: f64) -> f64 {
        (most.ln() + self.reach(level)).exp()
    }

    /// Returns the factor by which the number of trials must grow for [`finds`](Self::finds) to be
    /// `ratio`. Approximate and more than needed, because more trials also determine their spread
    /// better.
    pub fn times_as_many(&self, ratio: f64, most: f64, level: f64) -> f64 {
        (self.reach(level) / (ratio / most).ln()).powi(2)
    }

    fn reach(&self, level: f64) -> f64 {
        (exceeded(level, self.freedom) + exceeded(1.0 - POWER, self.freedom)) * self.error
    }
}

/// Returns the two-sided p-value of Welch's t-test on the logarithms of two sets of trials: the
/// probability of means that are as far apart if there is no difference. `None` with fewer than
/// three trials of either.
pub fn welch_p(one: &[f64], other: &[f64]) -> Option<f64> {
    let shift = Shift::unpaired(one, other)?;
    Some((2.0 * shift.p_beyond(1.0).min(shift.p_below(1.0))).min(1.0))
}

/// Returns which of many hypotheses are rejected so that a true one is among them with a
/// probability of at most `level`, whatever the dependence of the p-values: S. Holm, "A simple
/// sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6, 1979.
pub fn holm(p_values: &[f64], level: f64) -> Vec<bool> {
    let mut places: Vec<usize> = (0..p_values.len()).collect();
    places.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let mut rejected = vec![false; p_values.len()];
    for (step, place) in places.into_iter().enumerate() {
        if p_values[place] > level / (p_values.len() - step) as f64 {
            break;
        }
        rejected[place] = true;
    }
    rejected
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

/// Returns the mean of the logarithms, and the square of its standard error.
fn logs(values: &[f64]) -> Option<[f64; 2]> {
    if !values.iter().all(|value| is_measure(*value)) {
        return None;
    }
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let (mean, count) = (mean(&logs)?, logs.len() as f64);
    let squares: f64 = logs.iter().map(|log| (log - mean) * (log - mean)).sum();
    Some([mean, squares / (count - 1.0) / count])
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    use super::*;

    /// Times with these logarithms.
    fn times<const N: usize>(logs: [f64; N]) -> Vec<f64> {
        logs.iter().map(|log| log.exp()).collect()
    }

    #[test]
    fn a_shift_is_that_of_a_t_test_worked_out_by_hand() {
        // Means 0.3 and 0.1, variances 0.01 and 0.01, standard error sqrt(0.02 / 3), t = 2.449 with
        // 4 degrees.
        let (new, old) = (times([0.2, 0.3, 0.4]), times([0.0, 0.1, 0.2]));
        let shift = Shift::unpaired(&new, &old).unwrap();
        assert!((shift.ratio() - 0.2f64.exp()).abs() < 1e-12);
        assert!((shift.p_beyond(1.0) - 0.035_242).abs() < 1e-5, "{}", shift.p_beyond(1.0));
        assert!((shift.p_beyond(0.2f64.exp()) - 0.5).abs() < 1e-9);
        // 0.2 ± 2.776 · 0.08165
        let [low, high] = shift.interval().map(f64::ln);
        assert!((low + 0.026_692).abs() < 1e-4 && (high - 0.426_692).abs() < 1e-4, "{low} {high}");
    }

    #[test]
    fn pairs_leave_out_what_both_had_in_common() {
        let (new, old) = (times([0.11, 1.10, 2.09]), times([0.0, 1.0, 2.0]));
        let (paired, apart) =
            (Shift::paired(&new, &old).unwrap(), Shift::unpaired(&new, &old).unwrap());
        assert!((paired.ratio() - apart.ratio()).abs() < 1e-12);
        // Differences 0.11, 0.10, 0.09: t = 0.1 / (0.01 / sqrt 3) = 17.32 with 2 degrees.
        assert!((paired.p_beyond(1.0) - 0.001_659).abs() < 1e-5, "{}", paired.p_beyond(1.0));
        assert!(apart.p_beyond(1.0) > 0.4);
        assert_eq!(Shift::paired(&new, &old[..2]), None);
    }

    #[test]
    fn trials_that_are_all_alike_are_beyond_what_is_allowed_or_not() {
        let shift = Shift::unpaired(&[11.0; 5], &[10.0; 5]).unwrap();
        assert_eq!((shift.p_beyond(1.05), shift.p_beyond(1.2)), (0.0, 1.0));
        assert_eq!(Shift::unpaired(&[10.0; 5], &[10.0; 5]).unwrap().p_beyond(1.0), 1.0);
        assert_eq!(Shift::unpaired(&[10.0; 2], &[10.0; 5]), None);
        assert_eq!(Shift::unpaired(&[10.0, 0.0, 1.0], &[10.0; 5]), None);
    }

    #[test]
    fn more_trials_find_less_and_as_many_times_as_it_says() {
        let trials = |n: usize| -> Vec<f64> {
            (0..n).map(|i| if i % 2 == 0 { 100.0 } else { 104.0 }).collect()
        };
        let finds = |n: usize| Shift::unpaired(&trials(n), &trials(n)).unwrap().finds(1.05, 0.001);
        assert!(finds(6) > finds(12) && finds(12) > finds(48) && finds(48) > 1.05);
        let few = Shift::unpaired(&trials(6), &trials(6)).unwrap();
        let times = few.times_as_many(1.10, 1.05, 0.001);
        assert!(times > 1.0 && finds((6.0 * times).ceil() as usize) <= 1.10, "{times}");
    }

    #[test]
    fn holms_procedure_stops_at_the_first_that_is_too_large() {
        // Holm (1979): 0.01 / 4, / 3, / 2, / 1 at 5 %.
        assert_eq!(holm(&[0.01, 0.04, 0.03, 0.005], 0.05), [true, false, false, true]);
        assert_eq!(holm(&[0.04], 0.05), [true]);
        assert_eq!(holm(&[0.5, 0.02], 0.05), [false, true]);
        assert_eq!(holm(&[], 0.05), Vec::<bool>::new());
    }

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
