//! Drift of the machine: the first trial of a run against the same trial repeated at the end.

use embermark_model::result::{PhaseResult, ResultFile, Trial};

use crate::statistics::{FEWEST_TRIALS, geometric_mean};
use crate::summary::{counted, per_operation};
use crate::{format, text};

/// Drift up to this share is not reported, because single trials differ by as much.
const OF_INTEREST: f64 = 0.05;

/// Time of the repeated trial relative to the first.
#[derive(Clone, Debug, PartialEq)]
pub struct Drift {
    /// The cell, as text.
    pub cell: String,
    /// Geometric mean over the phases of the time per operation, repeated over first.
    pub ratio: f64,
    /// Number of phases that both trials have.
    pub phases: usize,
    /// Smallest and largest such mean of the cell's own trials over the first of them. Absent with
    /// fewer than three.
    pub trials: Option<[f64; 2]>,
}

/// Returns why the drift of a run is not known.
pub(crate) const fn why_not_known(file: &ResultFile) -> &'static str {
    match file.plan.lasts_ms {
        Some(_) => "a run of a limited time (--for) does not repeat its first trial",
        None => "the first trial was not repeated",
    }
}

/// Returns the drift of a run. `None` if the first trial was not repeated, or if either trial
/// failed.
pub fn drift(file: &ResultFile) -> Option<Drift> {
    let drift = file.manifest.drift.as_ref()?;
    let cell = file.cells.iter().find(|cell| cell.id == drift.cell)?;
    let first = cell.trials.iter().find(|trial| trial.index == drift.first)?;
    let (ratio, phases) = over(&drift.again, first)?;
    let others = cell.trials.iter().filter_map(|trial| Some(over(trial, first)?.0));
    let others: Vec<f64> = others.collect();
    let end = |of: fn(f64, f64) -> f64| others.iter().copied().reduce(of);
    let ends = end(f64::min).zip(end(f64::max)).map(|(low, high)| [low, high]);
    let trials = ends.filter(|_| others.len() >= FEWEST_TRIALS);
    Some(Drift { cell: text::plain(&drift.cell.to_string()), ratio, phases, trials })
}

/// Returns the geometric mean of one trial's phase times over another's, and the number of phases
/// that both have.
fn over(trial: &Trial, first: &Trial) -> Option<(f64, usize)> {
    let time =
        |part: &PhaseResult| per_operation(&counted(part)).filter(|_| part.status.has_figures());
    let ratio = |part: &PhaseResult| {
        let other = first.phases.iter().find(|other| other.phase == part.phase)?;
        Some(time(part)? / time(other)?)
    };
    let ratios: Vec<f64> = trial.phases.iter().filter_map(ratio).collect();
    Some((geometric_mean(ratios.iter().copied())?, ratios.len()))
}

impl Drift {
    /// Whether the drift is larger than 5 % and outside the range of the cell's own trials. Readers
    /// should know of such a drift.
    pub fn is_notable(&self) -> bool {
        let [low, high] = self.trials.unwrap_or([1.0, 1.0]);
        let outside = self.ratio < low || self.ratio > high;
        outside && (self.ratio - 1.0).abs() > OF_INTEREST
    }

    /// Describes the drift: `sqlite sensors 1k process single took 3.1 % more time at the end than
    /// at the beginning …`.
    pub fn describe(&self) -> String {
        let share = (self.ratio - 1.0) * 100.0;
        let way = if share < 0.0 { "less" } else { "more" };
        let spread = self.trials.map(|trials| {
            format!("; its trials: {} of the first", format::between(trials, format::ratio))
        });
        format!(
            "{} took {:.1} % {way} time at the end than at the beginning (geometric mean of {}{})",
            self.cell,
            share.abs(),
            format::counted(self.phases as u64, "phase"),
            spread.unwrap_or_default()
        )
    }
}
