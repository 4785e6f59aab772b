//! How many rows per second an engine commits one by one, and how much of a processor a row takes.

use embermark_model::Durability;
use embermark_model::result::{Cell, Counts};
use serde::Serialize;

use crate::kinds::Kinds;
use crate::summary::Group;
use crate::text;

/// The pace of commits of single rows, where it is slowest.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Pace {
    /// The workload and its scale: `sensors 10k`.
    pub at: String,
    /// Rows per second, one after the other as fast as the engine takes them.
    pub rows_per_second: f64,
    /// CPU time of a row in ns; absent where it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ns_per_row: Option<f64>,
}

impl Pace {
    /// The share of one processor that this many rows per second take.
    pub fn cpu_share(&self, rows_per_second: f64) -> Option<f64> {
        self.cpu_ns_per_row.map(|ns| ns * rows_per_second / 1e9)
    }
}

/// The slowest pace of an engine in a tier; `None` where it committed no single rows.
pub(super) fn slowest_pace(
    groups: &[&Group<'_>],
    kinds: &Kinds<'_>,
    (engine, tier): (&str, Durability),
) -> Option<Pace> {
    let mut slowest: Option<Pace> = None;
    for group in groups.iter().filter(|group| group.durability == tier) {
        let Some(place) = group.engines.iter().position(|own| own.id == engine) else { continue };
        for row in &group.rows {
            let (Some(phase), variant) = (row.phase, row.variant.unwrap_or(group.variant)) else {
                continue;
            };
            let counts = kinds.count((group.workload, variant, phase), Counts::Ingest);
            let measured = row.entries[place].measured().filter(|measured| measured.competes());
            let Some(measured) = measured.filter(|_| counts) else { continue };
            let rows_per_second = 1e9 / measured.figure.per_op_ns;
            if slowest.as_ref().is_some_and(|known| known.rows_per_second <= rows_per_second) {
                continue;
            }
            let cell = group.cell(variant, engine);
            slowest = Some(Pace {
                at: text::plain(&group.place()),
                rows_per_second,
                cpu_ns_per_row: cell.and_then(|cell| cpu_ns_per_row(cell, phase)),
            });
        }
    }
    slowest
}

/// Over the counted runs of a phase in every trial.
fn cpu_ns_per_row(cell: &Cell, phase: &str) -> Option<f64> {
    let phases = cell.trials.iter().flat_map(|trial| &trial.phases);
    let runs = phases.filter(|own| own.phase == phase).flat_map(|own| &own.runs);
    let (mut cpu_ns, mut rows) = (0.0, 0.0);
    for run in runs.filter(|run| !run.discarded) {
        let client = run.client.map_or(Some(0), |client| client.cpu_ns)?;
        cpu_ns += run.engine.cpu_ns?.saturating_add(client) as f64;
        rows += run.ops as f64;
    }
    (rows > 0.0).then(|| cpu_ns / rows)
}
