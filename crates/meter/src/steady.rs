//! The rule for steady rounds: that of SNIA's *Solid State Storage Performance Test Specification*,
//! version 2.0.1, section 2.1.24
//! (<https://www.snia.org/tech_activities/standards/curr_standards/pts>). Over a measurement window
//! of five rounds, a figure's largest value minus its smallest is at most 20 % of its mean. The
//! least-squares line through it rises or falls from the first round to the last by at most 10 % of
//! the mean.

use embermark_model::result::SteadyFigure;

/// Number of rounds of the window.
pub const ROUNDS: usize = 5;

/// Largest difference between the largest and smallest value, as a share of the mean.
const SPREAD: f64 = 0.20;

/// Largest rise or fall of the least-squares line over the window, as a share of the mean.
const SLOPE: f64 = 0.10;

/// Applies the rule to the last five values, or to all if there are fewer. `None` without values,
/// or if one is not a number or the mean is not above 0. Fewer than five are never steady.
pub fn assess(values: &[f64]) -> Option<SteadyFigure> {
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

/// Returns the rise of the least-squares line through evenly spaced values from the first to the
/// last.
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
mod tests {
    use super::assess;

    /// Whether the last five are steady.
    fn steady(values: &[f64]) -> bool {
        assess(values).is_some_and(|figure| figure.steady)
    }

    #[test]
    fn five_equal_rounds_are_steady_and_four_are_not() {
        assert!(steady(&[7.0; 5]));
        assert!(!steady(&[7.0; 4]));
        assert_eq!(assess(&[7.0; 4]).map(|figure| figure.rounds), Some(4));
    }

    #[test]
    fn only_the_last_five_rounds_count() {
        assert!(steady(&[900.0, 300.0, 100.0, 101.0, 99.0, 100.0, 100.0]));
        assert!(!steady(&[100.0, 100.0, 100.0, 100.0, 100.0, 130.0]));
    }

    /// By hand: the mean is 100. From 90 to 110 is exactly 20 % of it. The line through 100, 90,
    /// 110, 90, 110 has the slope (-2·0 - 1·-10 + 0·10 + 1·-10 + 2·10) / 10 = 2 per round: 8 % over
    /// four.
    #[test]
    fn a_spread_of_a_fifth_of_the_mean_is_steady_and_one_above_it_is_not() {
        let figure = assess(&[100.0, 90.0, 110.0, 90.0, 110.0]).unwrap();
        assert!((figure.mean - 100.0).abs() < 1e-9, "{figure:?}");
        assert!((figure.spread - 0.20).abs() < 1e-9, "{figure:?}");
        assert!((figure.slope - 0.08).abs() < 1e-9, "{figure:?}");
        assert!(figure.steady);
        assert!(!steady(&[100.0, 89.0, 110.0, 91.0, 110.0]));
    }

    /// By hand: 95, 97.5, 100, 102.5, 105 is a line that rises by 10 % of its mean. A little
    /// steeper is too steep, although its spread is far below a fifth.
    #[test]
    fn a_line_that_rises_or_falls_by_a_tenth_is_steady_and_a_steeper_one_is_not() {
        let rising = [95.0, 97.5, 100.0, 102.5, 105.0];
        let figure = assess(&rising).unwrap();
        assert!((figure.slope - 0.10).abs() < 1e-9, "{figure:?}");
        let steeper = [94.0, 97.0, 100.0, 103.0, 106.0];
        assert!((assess(&steeper).unwrap().slope - 0.12).abs() < 1e-9);
        assert!(!steady(&steeper));
        let mut falling = steeper;
        falling.reverse();
        assert!(!steady(&falling));
        assert!(steady(&[95.1, 97.5, 100.0, 102.5, 104.9]));
    }

    #[test]
    fn what_has_no_mean_above_nothing_is_no_figure() {
        assert_eq!(assess(&[]), None);
        assert_eq!(assess(&[0.0; 5]), None);
        assert_eq!(assess(&[1.0, f64::NAN, 1.0, 1.0, 1.0]), None);
    }
}
