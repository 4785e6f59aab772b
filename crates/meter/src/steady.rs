//! The rule by which rounds are steady: that of SNIA's *Solid State Storage Performance Test
//! Specification*, version 2.0.1, section 2.1.24
//! (<https://www.snia.org/tech_activities/standards/curr_standards/pts>). Over a measurement window of
//! five rounds a figure's largest value less its smallest is no more than 20 % of its mean, and the line of
//! least squares through it rises or falls from the first round to the last by no more than 10 % of the
//! mean.

use embermark_model::result::SteadyFigure;

/// Rounds that are looked at.
pub const ROUNDS: usize = 5;

/// The largest value less the smallest, at most, as a share of the mean.
const SPREAD: f64 = 0.20;

/// By how much the line of least squares goes up or down over the window at most, as a share of the mean.
const SLOPE: f64 = 0.10;

/// The last five of the values by round, or as many as there are: `None` of none, and where one is no
/// number or the mean is not above 0. Of fewer than five nothing is steady.
pub fn of(values: &[f64]) -> Option<SteadyFigure> {
    let last = &values[values.len().saturating_sub(ROUNDS)..];
    let n = last.len() as f64;
    let mean = last.iter().sum::<f64>() / n;
    if !mean.is_finite() || mean <= 0.0 {
        return None;
    }
    let (least, most) = last
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), y| (least.min(*y), most.max(*y)));
    let spread = (most - least) / mean;
    let slope = (rise(last, mean) / mean).abs();
    let steady = last.len() == ROUNDS && spread <= SPREAD && slope <= SLOPE;
    Some(SteadyFigure { rounds: last.len() as u64, mean, spread, slope, steady })
}

/// By how much the line of least squares through values at even distances rises from the first to the last.
fn rise(values: &[f64], mean: f64) -> f64 {
    let middle = (values.len() as f64 - 1.0) / 2.0;
    let places = || values.iter().enumerate().map(|(place, y)| (place as f64 - middle, y));
    let across: f64 = places().map(|(x, _)| x * x).sum();
    if across == 0.0 {
        return 0.0;
    }
    let along: f64 = places().map(|(x, y)| x * (y - mean)).sum();
    along / across * (values.len() as f64 - 1.0)
}

#[cfg(test)]
mod tests;
