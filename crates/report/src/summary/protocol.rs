//! What ran, according to the result. A plan records the request, and each workload does what it
//! can of it.

use std::fmt;
use std::ops::RangeInclusive;

use embermark_model::result::{Cell, PhaseResult, Run};

use crate::format;

/// How often the phases of some cells ran, as a range over those that completed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protocol {
    /// Number of trials of a cell.
    pub trials: RangeInclusive<u64>,
    /// Number of runs of a phase in a trial.
    pub runs: RangeInclusive<u64>,
    /// Number of these runs that were warm-ups.
    pub warmup_runs: RangeInclusive<u64>,
}

impl Protocol {
    /// Returns the protocol of some cells. `None` if none of them completed.
    pub fn from_cells<'a>(cells: impl Iterator<Item = &'a Cell>) -> Option<Self> {
        let ended = |cell: &&Cell| cell.status.has_figures() && !cell.trials.is_empty();
        let ended: Vec<&Cell> = cells.filter(ended).collect();
        // A phase that an engine does not support has no runs.
        let ran = |phase: &&PhaseResult| !phase.runs.is_empty();
        let trials = || ended.iter().flat_map(|cell| &cell.trials);
        let phases = || trials().flat_map(|trial| &trial.phases).filter(ran);
        let warm = |runs: &[Run]| runs.iter().filter(|run| run.discarded).count();
        Some(Self {
            trials: range(ended.iter().map(|cell| cell.trials.len()))?,
            runs: range(phases().map(|phase| phase.runs.len()))?,
            warmup_runs: range(phases().map(|phase| warm(&phase.runs)))?,
        })
    }

    /// Formats the protocol: `3 trials of 6 runs`.
    pub fn trials_of_runs(&self) -> String {
        format!("{} of {}", between(&self.trials, "trial"), between(&self.runs, "run"))
    }
}

impl fmt::Display for Protocol {
    /// Formats the protocol: `6 runs (1 warm-up) x 3 trials`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { trials, runs, warmup_runs } = self;
        let warm_up = match (warmup_runs.start(), warmup_runs.end()) {
            (_, 0) => String::new(),
            (fewest, most) if fewest == most => format!(" ({most} warm-up)"),
            (_, most) => format!(" (up to {most} warm-up)"),
        };
        write!(f, "{}{warm_up} x {}", between(runs, "run"), between(trials, "trial"))
    }
}

fn range(counts: impl Iterator<Item = usize> + Clone) -> Option<RangeInclusive<u64>> {
    Some(counts.clone().min()? as u64..=counts.max()? as u64)
}

/// Formats a range: `6 runs`, `1 to 6 runs`.
fn between(range: &RangeInclusive<u64>, noun: &str) -> String {
    let most = format::counted(*range.end(), noun);
    match range.start() == range.end() {
        true => most,
        false => format!("{} to {most}", format::count(*range.start())),
    }
}
