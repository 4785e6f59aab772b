//! Sums and moments, compensated, so that the rounding of the oracle is far below the tolerance.

use embermark_model::table::Value;

/// Returns a value as a number, if it is one.
pub(super) const fn number(value: Value<'_>) -> Option<f64> {
    match value {
        Value::Int(value) => Some(value as f64),
        Value::Float(value) => Some(value),
        _ => None,
    }
}

/// A sum with Neumaier's compensation (A. Neumaier, Rundungsfehleranalyse einiger Verfahren zur
/// Summation endlicher Summen, 1974).
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
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
}
