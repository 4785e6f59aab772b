//! Drift of the machine: the first trial of a run against the same trial made again at its end.

use embermark_model::result::{PhaseResult, ResultFile, Trial};

use crate::statistics::geometric_mean;
use crate::summary::{counted, per_operation};
use crate::{format, text};

/// A drift within this share is not remarked on, as one trial differs so much from another.
const OF_INTEREST: f64 = 0.05;

/// What the second of the two trials took, over the first.
#[derive(Clone, Debug, PartialEq)]
pub struct Drift {
    /// The cell, as a text.
    pub cell: String,
    /// Geometric mean over the phases of the time per operation, again over first.
    pub ratio: f64,
    /// Phases that both trials have.
    pub phases: usize,
    /// The least and the largest such mean of the cell's own trials over the first of them; absent
    /// with fewer than three.
    pub trials: Option<[f64; 2]>,
}

/// The drift of a run; `None` where the first trial was not made again, or either did not end well.
pub fn of(file: &ResultFile) -> Option<Drift> {
    let drift = file.manifest.drift.as_ref()?;
    let cell = file.cells.iter().find(|cell| cell.id == drift.cell)?;
    let first = cell.trials.iter().find(|trial| trial.index == drift.first)?;
    let (ratio, phases) = over(&drift.again, first)?;
    let others: Vec<f64> =
        cell.trials.iter().filter_map(|trial| Some(over(trial, first)?.0)).collect();
    let ends = || {
        Some([others.iter().copied().reduce(f64::min)?, others.iter().copied().reduce(f64::max)?])
    };
    let trials = if others.len() < crate::statistics::FEWEST_TRIALS { None } else { ends() };
    Some(Drift { cell: text::plain(&drift.cell.to_string()), ratio, phases, trials })
}

/// Geometric mean of the phases' times of one trial over another's, and how many phases both have.
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
    /// Whether it is beyond what the cell's own trials differ by, and beyond 5 %: a drift that a
    /// reader should know of.
    pub fn is_notable(&self) -> bool {
        let [low, high] = self.trials.unwrap_or([1.0, 1.0]);
        let outside = self.ratio < low || self.ratio > high;
        outside && (self.ratio - 1.0).abs() > OF_INTEREST
    }

    /// `sqlite sensors 1k process single took 3.1 % longer at the end than at the beginning …`.
    pub fn says(&self) -> String {
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
