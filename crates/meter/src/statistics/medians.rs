//! Intervals of a median and of a ratio of two, from every median that a draw can have and its
//! probability. B. Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics
//! 7(1), 1979, section 3, has that distribution for an odd number of trials. The page computes the
//! same in `report/page/src/interval.ts`. `report/tests/golden/intervals.json` checks both.

use super::are_enough;
use super::distribution::Distribution;

/// Medians that are less probable do not affect an interval. All of them together are less than the
/// rounding error of a sum of probabilities, for up to 10,000 trials.
const NEVER: f64 = 1e-20;

/// Returns the 95 % interval of the median of `trials`. `None` with fewer than
/// [`FEWEST_TRIALS`](super::FEWEST_TRIALS), or if one is not a valid measurement.
pub fn interval(trials: &[f64]) -> Option<[f64; 2]> {
    medians(trials)?.interval()
}

/// Returns the 95 % interval of the ratio of the medians, `above` over `below`. The trials of each
/// are drawn separately, because they ran separately. `None` if one of the two has no interval.
pub fn ratio_interval(above: &[f64], below: &[f64]) -> Option<[f64; 2]> {
    medians(above)?.ratio_interval(&medians(below)?)
}

/// Whether the interval of that ratio includes 1, which leaves open which of the two is larger. It
/// takes one pass over the two distributions, while the ends of the interval take some thirty.
pub fn may_be_equal(above: &[f64], below: &[f64]) -> Option<bool> {
    Some(medians(above)?.may_equal(&medians(below)?))
}

/// Returns the distribution of the median of as many draws with replacement as there are trials.
fn medians(trials: &[f64]) -> Option<Distribution> {
    if !are_enough(trials) {
        return None;
    }
    let n = trials.len();
    let mut sorted = trials.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let half = n.div_ceil(2);
    // The binomial coefficient of n over its half, divided by 2^n, for an even n.
    let central: f64 = (1..=half).map(|i| 1.0 - 0.5 / i as f64).product();
    // The logarithm of 2^half times the probability that `half` draws are among the `k` smallest
    // trials and one of them is the `k`-th.
    let log_ending = |k: usize| {
        let (half, k) = (half as f64, k as f64);
        let without = half * ((k - 1.0) / k).ln();
        half * (2.0 * k / n as f64).ln() + (-without.exp_m1()).ln()
    };
    let log_ending: Vec<f64> = (1..=n).map(log_ending).collect();

    let mut atoms = Vec::new();
    let mut before = 0.0;
    for lower in 0..n {
        let within = match is_far(half, n, lower + 1) {
            true if lower < half => 0.0,
            true => 1.0,
            false => at_least(half, n, lower + 1),
        };
        // The middle draw is this trial, or the lower one of the middle two is.
        let mut here = within - before;
        before = within;
        if n.is_multiple_of(2) {
            for upper in lower + 1..n {
                // Half of the draws end with one trial, the other half begins with the other.
                let both = central * (log_ending[lower] + log_ending[n - 1 - upper]).exp();
                // The further apart the two are, the less probable.
                if both <= NEVER {
                    break;
                }
                here -= both;
                atoms.push((f64::midpoint(sorted[lower], sorted[upper]), both));
            }
        }
        atoms.push((sorted[lower], here));
    }
    atoms.retain(|(_, probability)| *probability > NEVER);
    Some(Distribution::new(atoms))
}

/// Whether a number of draws among `k` of `n` trials is practically never on the other side of
/// `half` than `k`, by Hoeffding's inequality (Journal of the American Statistical Association
/// 58(301), 1963).
fn is_far(half: usize, n: usize, k: usize) -> bool {
    let apart = half.abs_diff(k) as f64;
    2.0 * apart * apart / n as f64 > -NEVER.ln()
}

/// Returns the probability that `least` or more of `n` draws are among `k` of `n` trials. The terms
/// of the binomial distribution are relative to the greatest, which is that of `k` draws.
fn at_least(least: usize, n: usize, k: usize) -> f64 {
    let odds = k as f64 / (n - k) as f64;
    let mut terms = vec![0.0; n + 1];
    terms[k] = 1.0;
    for j in k..n {
        terms[j + 1] = terms[j] * odds * (n - j) as f64 / (j + 1) as f64;
        if terms[j + 1] < NEVER {
            break;
        }
    }
    for j in (0..k).rev() {
        terms[j] = terms[j + 1] / odds * (j + 1) as f64 / (n - j) as f64;
        if terms[j] < NEVER {
            break;
        }
    }
    terms[least..].iter().sum::<f64>() / terms.iter().sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_three_trials_the_interval_is_their_range_and_of_two_there_is_none() {
        assert_eq!(interval(&[30.0, 10.0, 20.0]), Some([10.0, 30.0]));
        assert_eq!(ratio_interval(&[30.0, 10.0, 20.0], &[10.0; 3]), Some([1.0, 3.0]));
        assert_eq!((interval(&[1.0, 2.0]), ratio_interval(&[1.0; 3], &[1.0; 2])), (None, None));
    }

    #[test]
    fn two_may_be_equal_where_the_interval_of_their_ratio_includes_1() {
        let mut both = [0; 2];
        for shift in 0..60 {
            for n in 3..9 {
                let other: Vec<f64> = (0..n).map(|i| 10.0 + f64::from(i * i % 7)).collect();
                let one: Vec<f64> =
                    other.iter().map(|t| t * (0.7 + f64::from(shift) / 100.0)).collect();
                let includes = ratio_interval(&one, &other).map(super::super::includes_one);
                assert_eq!(may_be_equal(&one, &other), includes, "{one:?} {other:?}");
                both[usize::from(includes.unwrap())] += 1;
            }
        }
        assert!(both.iter().all(|count| *count > 20), "{both:?}");
        assert_eq!(may_be_equal(&[1.0; 3], &[1.0; 2]), None);
    }

    #[test]
    fn a_trial_that_is_no_measure_leaves_no_interval() {
        for bad in [0.0, f64::NAN, f64::INFINITY] {
            assert_eq!(interval(&[1.0, 2.0, bad]), None);
            assert_eq!(ratio_interval(&[1.0, 2.0, 3.0], &[1.0, bad, 2.0]), None);
        }
    }

    #[test]
    fn the_same_trials_have_the_same_interval_and_it_holds_their_median() {
        let trials = [9.0, 11.0, 10.0, 14.0, 8.0, 10.5];
        let [low, high] = interval(&trials).unwrap();
        assert_eq!(interval(&trials), Some([low, high]));
        assert!(low < 10.25 && 10.25 < high && low >= 8.0 && high <= 14.0, "{low} {high}");
    }

    #[test]
    fn turned_around_a_ratio_has_the_ends_turned_around() {
        let (one, other) = ([3.0, 7.0, 5.0, 4.0], [2.0, 6.0, 9.0, 1.0, 8.0]);
        let [low, high] = ratio_interval(&one, &other).unwrap();
        let [turned_low, turned_high] = ratio_interval(&other, &one).unwrap();
        assert!((low * turned_high - 1.0).abs() < 1e-15 && (high * turned_low - 1.0).abs() < 1e-15);
    }
}
