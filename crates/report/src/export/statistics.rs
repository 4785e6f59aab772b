//! The statistics of the tables, as numbers for programs.

use embermark_model::{CellId, Conditions, Durability, Extent, Scale};
use serde::Serialize;

use crate::summary::Comparison;

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
pub(super) type PhaseKey<'a> = (&'a str, Extent, Durability, &'a str, &'a str, &'a str);

impl<'a> Statistic<'a> {
    /// Returns the phase that the statistics describe.
    pub(super) const fn key(&self) -> PhaseKey<'a> {
        let Conditions { memory_limit, storage } = self.conditions;
        let extent = Extent { scale: self.scale, memory_limit, storage };
        (self.workload, extent, self.durability, self.variant, self.engine, self.phase)
    }
}

/// Returns the phase of a cell, which is the key of its statistics.
pub(super) fn key<'a>(id: &'a CellId, phase: &'a str) -> PhaseKey<'a> {
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
                scale: group.scale,
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
