//! Sums and moments, compensated, so that the oracle's rounding is far below the tolerance.

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

/// The sum of numbers.
pub(super) fn sum(numbers: impl IntoIterator<Item = f64>) -> f64 {
    let mut sum = Sum::default();
    numbers.into_iter().for_each(|x| sum.add(x));
    sum.sum + sum.lost
}

/// The mean of numbers; `None` of none.
pub(super) fn mean(numbers: &[f64]) -> Option<f64> {
    (!numbers.is_empty()).then(|| sum(numbers.iter().copied()) / numbers.len() as f64)
}

/// Mean and sample standard deviation; `None` of fewer than two numbers.
pub(super) fn mean_and_deviation(numbers: &[f64]) -> Option<(f64, f64)> {
    let mean = mean(numbers).filter(|_| numbers.len() >= 2)?;
    let squares = sum(numbers.iter().map(|x| (x - mean) * (x - mean)));
    Some((mean, (squares / (numbers.len() - 1) as f64).sqrt()))
}

/// How two series go together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Correlation {
    /// Fewer than two pairs.
    Undefined,
    /// One of the series does not vary by more than its own rounding.
    Unstable,
    /// Pearson's coefficient.
    Coefficient(f64),
}

/// A deviation below this share of the mean carries too little of the rounded means for a
/// coefficient right to nine digits: 1e-16 of rounding over 1e-6 leaves 1e-10.
const NOISE: f64 = 1e-6;

/// Pearson's correlation of pairs, from centred sums.
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
mod tests;
