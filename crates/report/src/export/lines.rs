//! One line per run, each complete, with the statistics of the tables. CSV and Parquet are made of
//! them.

use std::collections::BTreeMap;

use embermark_model::result::{Cell, FlashOfPhase, PhaseResult, ResultFile, Run, Trial};
use embermark_model::{CellId, Conditions, Durability, Extent, Scale};
use serde::Serialize;

use crate::summary::Comparison;
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
    /// Returns what a modelled card would program for its run.
    pub(super) fn flash(&self, card: &str) -> Option<&FlashOfPhase> {
        self.run?;
        let model = self.trial?.flash.iter().find(|model| model.card == card)?;
        model.phase(&self.phase?.phase)
    }

    /// Returns the most specific reason.
    pub(super) fn reason(&self) -> String {
        let of_trial = self.trial.and_then(|trial| trial.reason.as_ref());
        let reason = match (self.phase, self.trial) {
            // A worker may die between two phases.
            (Some(_), Some(trial)) if trial.phases.iter().all(|of| of.reason.is_none()) => of_trial,
            (Some(phase), _) => phase.reason.as_ref(),
            (None, _) => of_trial.or(self.cell.reason.as_ref()),
        };
        text::plain(reason.map_or("", String::as_str))
    }
}

/// Statistics of one phase of one cell. Times are per operation.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Statistic<'a> {
    workload: &'a str,
    scale: Scale,
    #[serde(flatten)]
    conditions: Conditions,
    durability: Durability,
    variant: &'a str,
    engine: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    by_url: bool,
    phase: &'a str,
    /// Number of trials with a figure.
    trials: usize,
    pub median_ns: f64,
    pub mean_ns: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval_ns: Option<[f64; 2]>,
    /// Indexes of trials that are outliers.
    pub outliers: Vec<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio_interval: Option<[f64; 2]>,
    /// Whether the difference to the best is not significant.
    pub not_significant: bool,
    /// What its cell failed to do, which replaces a ratio.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shortfall: Option<String>,
}

/// A phase of a cell.
type PhaseKey<'a> = (&'a str, Extent, Durability, &'a str, &'a str, &'a str);

impl<'a> Statistic<'a> {
    /// Returns the phase that the statistics describe.
    const fn key(&self) -> PhaseKey<'a> {
        let Conditions { memory_limit, storage } = self.conditions;
        let extent = Extent { scale: self.scale, memory_limit, storage };
        (self.workload, extent, self.durability, self.variant, self.engine, self.phase)
    }
}

/// Returns the phase of a cell, which is the key of its statistics.
fn key<'a>(id: &'a CellId, phase: &'a str) -> PhaseKey<'a> {
    (&id.workload, id.extent(), id.durability, &id.variant, &id.engine, phase)
}

/// Returns the statistics of every phase with a figure, in the order of the tables.
pub(super) fn phase_statistics<'a>(comparison: &Comparison<'a>) -> Vec<Statistic<'a>> {
    let mut all = Vec::new();
    for group in &comparison.groups {
        for (row, engine, measured) in group.measured() {
            let (Some(phase), figure) = (row.phase, &measured.figure) else { continue };
            all.push(Statistic {
                workload: group.workload,
                scale: group.extent.scale,
                conditions: group.conditions(),
                durability: group.durability,
                variant: row.variant.unwrap_or(group.variant),
                engine: engine.id,
                by_url: engine.by_url,
                phase,
                trials: figure.per_trial_ns.len(),
                median_ns: figure.per_op_ns,
                mean_ns: figure.mean_ns,
                interval_ns: figure.interval_ns,
                outliers: figure.outliers.iter().map(|place| figure.trials[*place]).collect(),
                ratio: measured.ratio,
                ratio_interval: measured.ratio_interval,
                not_significant: measured.not_significant,
                shortfall: measured.shortfall.map(|shortfall| shortfall.words(Some(phase))),
            });
        }
    }
    all
}
