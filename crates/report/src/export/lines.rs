//! One line per run, each complete. CSV and Parquet are made of them.

use std::collections::BTreeMap;

use embermark_model::result::{Cell, PhaseResult, ResultFile, Run, Trial};

use super::statistics::{PhaseKey, Statistic, key};
use crate::text;

/// Subject of a line, as far as it goes.
#[derive(Clone, Copy)]
pub(super) struct Line<'a> {
    pub file: &'a ResultFile,
    pub cell: &'a Cell,
    pub trial: Option<&'a Trial>,
    pub phase: Option<&'a PhaseResult>,
    pub run: Option<(usize, &'a Run)>,
    /// Statistic of its phase.
    pub statistic: Option<&'a Statistic<'a>>,
}

/// Returns a line for each run. A cell, trial or phase without runs also has a line, so that
/// nothing is missing.
pub(super) fn run_lines<'a>(
    file: &'a ResultFile,
    statistics: &'a [Statistic<'a>],
) -> Vec<Line<'a>> {
    let mut lines = Vec::new();
    let known: BTreeMap<PhaseKey<'_>, &Statistic<'_>> =
        statistics.iter().rev().map(|statistic| (statistic.key(), statistic)).collect();
    for cell in &file.cells {
        let of_cell = Line { file, cell, trial: None, phase: None, run: None, statistic: None };
        if cell.trials.is_empty() {
            lines.push(of_cell);
        }
        let lost = &cell.lost_trials;
        let apart = cell.counting.as_deref().into_iter().chain(cell.explaining.as_deref());
        for trial in cell.trials.iter().chain(lost).chain(apart) {
            let of_trial = Line { trial: Some(trial), ..of_cell };
            if trial.phases.is_empty() {
                lines.push(of_trial);
            }
            for phase in &trial.phases {
                let own = known.get(&key(&cell.id, &phase.phase)).copied();
                let statistic = own.filter(|_| !cell.is_apart(trial));
                let of_phase = Line { phase: Some(phase), statistic, ..of_trial };
                if phase.runs.is_empty() {
                    lines.push(of_phase);
                }
                let runs = phase.runs.iter().enumerate();
                lines.extend(runs.map(|run| Line { run: Some(run), ..of_phase }));
            }
        }
    }
    lines
}

impl Line<'_> {
    /// Returns the most specific reason.
    pub(super) fn reason(&self) -> String {
        let reason = match (self.phase, self.trial) {
            (Some(phase), _) => &phase.reason,
            (None, Some(Trial { reason: reason @ Some(_), .. })) => reason,
            (None, _) => &self.cell.reason,
        };
        text::plain(reason.as_deref().unwrap_or_default())
    }
}
