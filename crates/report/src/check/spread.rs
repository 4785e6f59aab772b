//! Checks how much the trials of a phase differ, which limits the differences that a run could
//! show.

use embermark_model::result::ResultFile;

use super::Finding::{self, Failed, Passed};
use super::measured;
use crate::format;
use crate::statistics::{FEWEST_TRIALS, mean, median};
use crate::summary::{Figure, Phases};
use crate::text;

/// Range that SNIA's rule allows for five rounds: 20 % of their mean (*Solid State Storage
/// Performance Test Specification* 2.0.1, section 2.1.24).
const RANGE: f64 = 0.20;

/// Mean range of five values of a normal distribution, in standard deviations (L. H. C. Tippett,
/// "On the extreme individuals and the range of samples taken from a normal population", Biometrika
/// 17, 1925).
const RANGE_OF_FIVE: f64 = 2.326;

/// Compares the typical spread with its limit. The spread is the median over the phases of the
/// standard deviation of the logarithms of the trials' times. The limit is that of trials of which
/// five are within SNIA's range.
pub(super) fn typical_spread(file: &ResultFile) -> Finding {
    let mut phases = 0;
    let mut spreads: Vec<f64> = Vec::new();
    for cell in measured(file) {
        let own = Phases::new(cell);
        let parts = cell.trials.iter().flat_map(|trial| &trial.phases);
        for phase in text::unique(parts.map(|part| part.phase.as_str())) {
            let parts = own.at(phase);
            if !parts.iter().all(|(_, part)| part.status.has_figures()) {
                continue;
            }
            let Some(figure) = Figure::from_parts(parts) else { continue };
            phases += 1;
            spreads.extend(deviation(&figure.per_trial_ns));
        }
    }
    let of = format!(
        "{} of {} have three trials or more",
        format::count(spreads.len() as u64),
        format::counted(phases, "phase")
    );
    let limit = RANGE / RANGE_OF_FIVE;
    match median(&spreads) {
        None => Failed(of),
        Some(typical) => {
            let found =
                format!("trials differ by {:.1} % in the typical phase; {of}", typical * 100.0);
            if typical <= limit {
                Passed(found)
            } else {
                Failed(format!("{found}; the most is {:.1} %", limit * 100.0))
            }
        }
    }
}

/// Returns the standard deviation of the logarithms. `None` for fewer than three.
fn deviation(trials: &[f64]) -> Option<f64> {
    if trials.len() < FEWEST_TRIALS {
        return None;
    }
    let logs: Vec<f64> = trials.iter().map(|time| time.ln()).collect();
    let mean = mean(&logs)?;
    let squares: f64 = logs.iter().map(|log| (log - mean) * (log - mean)).sum();
    Some((squares / (logs.len() - 1) as f64).sqrt())
}
