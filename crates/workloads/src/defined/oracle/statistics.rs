//! Compensated sums and moments, so that the oracle's rounding is far below the tolerance.

/// A sum with Neumaier's compensation (A. Neumaier, Rundungsfehleranalyse einiger Verfahren zur
/// Summation endlicher Summen, 1974).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sum {
    sum: f64,
    lost: f64,
}

impl Sum {
    fn add(&mut self, x: f64) {
        let sum = self.sum + x;
        self.lost +=
            if self.sum.abs() >= x.abs() { (self.sum - sum) + x } else { (x - sum) + self.sum };
        self.sum = sum;
    }
}

/// Returns the sum of numbers.
pub(super) fn sum(numbers: impl IntoIterator<Item = f64>) -> f64 {
    let mut sum = Sum::default();
    numbers.into_iter().for_each(|x| sum.add(x));
    sum.sum + sum.lost
}

/// Returns the mean of numbers, or `None` without any.
pub(super) fn mean(numbers: &[f64]) -> Option<f64> {
    (!numbers.is_empty()).then(|| sum(numbers.iter().copied()) / numbers.len() as f64)
}

/// Returns the mean and the sample standard deviation, or `None` for fewer than two numbers.
pub(super) fn mean_and_deviation(numbers: &[f64]) -> Option<(f64, f64)> {
    let mean = mean(numbers).filter(|_| numbers.len() >= 2)?;
    let squares = sum(numbers.iter().map(|x| (x - mean) * (x - mean)));
    Some((mean, (squares / (numbers.len() - 1) as f64).sqrt()))
}

/// A correlation of two series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Correlation {
    /// Fewer than two pairs.
    Undefined,
    /// One of the series does not vary by more than its own rounding.
    Unstable,
    /// Pearson's coefficient.
    Coefficient(f64),
}

/// Relative deviation below which the rounded means are too imprecise for a coefficient right to
/// nine digits: 1e-16 of rounding over 1e-6 leaves 1e-10.
const NOISE: f64 = 1e-6;

/// Returns Pearson's correlation of pairs, from centred sums.
pub(super) fn correlation(pairs: &[(f64, f64)]) -> Correlation {
    let (x, y): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let (Some((x_mean, x_deviation)), Some((y_mean, y_deviation))) =
        (mean_and_deviation(&x), mean_and_deviation(&y))
    else {
        return Correlation::Undefined;
    };
    if x_deviation <= NOISE * x_mean.abs() || y_deviation <= NOISE * y_mean.abs() {
        return Correlation::Unstable;
    }
    let products = sum(pairs.iter().map(|(x, y)| (x - x_mean) * (y - y_mean)));
    let scale = (pairs.len() - 1) as f64 * x_deviation * y_deviation;
    Correlation::Coefficient(products / scale)
}

#[cfg(test)]
mod tests {
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
        let (mean, deviation) =
            mean_and_deviation(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
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
}
