//! Statistics of trials. The unit is the trial, a separate process, and never the operation: the
//! operations of one process share its memory layout, its caches and its luck.
//!
//! Intervals are percentile intervals by the bootstrap: B. Efron and R. J. Tibshirani, "An
//! Introduction to the Bootstrap", Chapman & Hall 1993, chapter 13. From n trials, n are
//! drawn with replacement, and the median of the draw is taken. The interval goes from the 2.5 % to
//! the 97.5 % point of these medians. Its ends follow from the distribution of the draws, which is
//! computed exactly and not sampled, except for means over many cells or trials.
//!
//! With few trials it covers less than its name suggests. For three it is their range, which
//! contains the true median in 75 % of all cases, and for five in 94 % (for an interval from the
//! smallest to the largest of n it is 1 - 2^(1-n)). `report/tests/integration/coverage.rs` measures
//! the coverage.
//!
//! The module is in this crate because the crate is optimised, and a report over 10,000 trials has
//! thousands of intervals.

mod distribution;
mod means;
mod medians;
mod outlier;
mod shift;
mod student;

pub use means::mean_ratio_interval;
pub use medians::{interval, may_be_equal, ratio_interval};
pub use outlier::outliers;
pub use shift::{Shift, discoveries, holm, welch_p};

/// Smallest number of trials for an interval.
pub const FEWEST_TRIALS: usize = 3;

/// Returns the middle value, or the mean of the middle two. `None` without values.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    Some(f64::midpoint(sorted[sorted.len() / 2 - 1], upper))
}

/// Returns the sum of arbitrary numbers from a file, at most the largest possible one.
pub fn total(values: impl IntoIterator<Item = u64>) -> u64 {
    values.into_iter().fold(0, u64::saturating_add)
}

/// Returns the arithmetic mean. `None` without values.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Returns the geometric mean, the right mean for ratios: P. J. Fleming and J. J. Wallace, "How not
/// to lie with statistics: the correct way to summarize benchmark results", Communications of the
/// ACM 29(3), 1986, <https://doi.org/10.1145/5666.5673>. `None` without values, or if a value is
/// not a positive number.
pub fn geometric_mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let logs: Option<Vec<f64>> =
        values.into_iter().map(|value| is_measure(value).then(|| value.ln())).collect();
    mean(&logs?).map(f64::exp)
}

/// Whether a number can be a time or a ratio: positive and finite. A time of 0 was not measured.
pub fn is_measure(value: f64) -> bool {
    value.is_finite() && value > 0.0
}

/// Whether an interval of a ratio leaves open which of the two is larger.
pub fn includes_one([low, high]: [f64; 2]) -> bool {
    low <= 1.0 && 1.0 <= high
}

/// Cuts an interval of a ratio to the best at 1, because no engine is faster than the fastest.
pub fn clamp_to_best(interval: [f64; 2]) -> [f64; 2] {
    interval.map(|end| end.max(1.0))
}

/// Whether trials have an interval: there are enough of them, and each is a valid measurement.
fn are_enough(trials: &[f64]) -> bool {
    trials.len() >= FEWEST_TRIALS && trials.iter().all(|trial| is_measure(*trial))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_of_nothing_are_none_and_never_zero() {
        assert_eq!((median(&[]), mean(&[]), geometric_mean([])), (None, None, None));
        assert_eq!((median(&[4.0, 1.0, 2.0, 8.0]), mean(&[4.0, 1.0, 1.0])), (Some(3.0), Some(2.0)));
    }

    #[test]
    fn a_geometric_mean_treats_twice_and_half_alike_and_refuses_what_is_no_ratio() {
        let mean = geometric_mean([0.5, 2.0, 3.0, 3.0]).unwrap();
        assert!((mean - 3f64.sqrt()).abs() < 1e-12, "{mean}");
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(geometric_mean([1.0, bad]), None);
        }
    }
}
