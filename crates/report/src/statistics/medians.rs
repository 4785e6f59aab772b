//! Intervals of a median and of a ratio of two, from every median that a draw can have and how
//! probable it is. B. Efron, "Bootstrap methods: another look at the jackknife", Annals of
//! Statistics 7(1), 1979, section 3, has that distribution for an odd number of trials. The page
//! has the same in `page/src/interval.ts`; `tests/golden/intervals.json` holds both.

use super::are_enough;
use super::distribution::Distribution;

/// Medians that are less probable have no part in an interval. All of them together are less than
/// what a sum of probabilities may be off by, up to 10,000 trials.
const NEVER: f64 = 1e-20;

/// The 95 % interval of the median of `trials`; `None` with fewer than
/// [`FEWEST_TRIALS`](super::FEWEST_TRIALS) or where one is no measure.
pub fn interval(trials: &[f64]) -> Option<[f64; 2]> {
    medians(trials)?.interval()
}

/// The 95 % interval of the ratio of the medians, `above` over `below`. The trials of each are
/// drawn on their own: they ran apart. `None` where one of the two has no interval.
pub fn ratio_interval(above: &[f64], below: &[f64]) -> Option<[f64; 2]> {
    medians(above)?.ratio_interval(&medians(below)?)
}

/// The distribution of the median of as many draws with replacement as there are trials.
fn medians(trials: &[f64]) -> Option<Distribution> {
    if !are_enough(trials) {
        return None;
    }
    let n = trials.len();
    let mut sorted = trials.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let half = n.div_ceil(2);
    // The binomial coefficient of n over its half, over 2^n, for an even n.
    let central: f64 = (1..=half).map(|i| 1.0 - 0.5 / i as f64).product();
    // The logarithm of 2^half times how probable it is that `half` draws are among the `k` smallest
    // trials, and one of them is the `k`-th.
    let log_ending = |k: usize| {
        let (half, k) = (half as f64, k as f64);
        let without = half * ((k - 1.0) / k).ln();
        half * (2.0 * k / n as f64).ln() + (-without.exp_m1()).ln()
    };
    let log_ending: Vec<f64> = (1..=n).map(log_ending).collect();

    let mut atoms = Vec::new();
    let mut before = 0.0;
    for lower in 0..n {
        let within = at_least(half, n, lower + 1);
        // The middle draw is this trial, or the lower one of the middle two is.
        let mut here = within - before;
        before = within;
        if n.is_multiple_of(2) {
            for upper in lower + 1..n {
                // Half of the draws end with one trial, the other half begins with the other.
                let both = central * (log_ending[lower] + log_ending[n - 1 - upper]).exp();
                here -= both;
                atoms.push((f64::midpoint(sorted[lower], sorted[upper]), both));
            }
        }
        atoms.push((sorted[lower], here));
    }
    atoms.retain(|(_, probability)| *probability > NEVER);
    Some(Distribution::of(atoms))
}

/// How probable it is that `least` or more of `n` draws are among `k` of `n` trials. The terms of
/// the binomial distribution are taken relative to the greatest, which is that of `k` draws.
fn at_least(least: usize, n: usize, k: usize) -> f64 {
    let odds = k as f64 / (n - k) as f64;
    let mut terms = vec![0.0; n + 1];
    terms[k] = 1.0;
    for j in k..n {
        terms[j + 1] = terms[j] * odds * (n - j) as f64 / (j + 1) as f64;
    }
    for j in (0..k).rev() {
        terms[j] = terms[j + 1] / odds * (j + 1) as f64 / (n - j) as f64;
    }
    terms[least..].iter().sum::<f64>() / terms.iter().sum::<f64>()
}

#[cfg(test)]
mod tests;
