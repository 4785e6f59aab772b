//! The harness's own memory: what the engine that does nothing holds for the same work.

use embermark_model::result::{Cell, ResultFile};

use super::{Resource, Work};
use crate::statistics::median;

/// The engine that does nothing.
const NULL: &str = "null";

/// The most memory of the `null` engine over some phases of a cell's workload at its scale, in bytes: as
/// it was measured before the trials, else in a cell of the same kind. `None` where it was not, and of
/// an engine in a process of its own, whose memory has nothing of the harness in it.
pub fn memory_floor(file: &ResultFile, cell: &Cell, phases: &[&str]) -> Option<f64> {
    // The first run says it: a cell has its client in every run, or in none.
    let first = cell.trials.iter().find_map(|trial| trial.phases.first()?.runs.first());
    if first.is_some_and(|run| run.client.is_some()) {
        return None;
    }
    let id = &cell.id;
    let measured = file.manifest.floor.as_ref();
    let measured = measured.and_then(|floor| floor.peak_of(&id.workload, id.scale, phases));
    let null = || {
        let own = file.cells.iter().find(|other| {
            other.id.engine == NULL
                && (&other.id.workload, other.id.extent(), &other.id.variant)
                    == (&id.workload, id.extent(), &id.variant)
        })?;
        let phases = phases.iter().copied().collect();
        median(&Resource::Peak.per_trial(own, Work::Whole(&phases)))
    };
    measured.map(|bytes| bytes as f64).or_else(null)
}

/// A peak without the floor, nothing below 0.
pub fn above_floor(peak: f64, floor: Option<f64>) -> Option<f64> {
    floor.map(|floor| (peak - floor).max(0.0))
}
