//! Mean and spread of a few numbers.

pub(super) use embermark_meter::statistics::mean;

/// Returns the sample standard deviation. `None` for fewer than two numbers.
pub(super) fn spread(values: &[f64]) -> Option<f64> {
    let mean = mean(values).filter(|_| values.len() > 1)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}
