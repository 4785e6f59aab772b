//! The harness's own memory: what the engine that does nothing uses for the same work.

use embermark_model::result::{Cell, ResultFile};

use super::{Resource, Work};
use crate::statistics::median;

/// Id of the engine that does nothing.
const NULL: &str = "null";

/// Returns the peak memory of the `null` engine over some phases of a cell's workload at its scale,
/// in bytes. It was measured before the trials or in a cell of the same kind. `None` if it was not
/// measured, and for engines in their own process, which has no memory of the harness.
pub fn memory_floor(file: &ResultFile, cell: &Cell, phases: &[&str]) -> Option<f64> {
    // The first run shows it, because either all runs of a cell have a client or none.
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

/// Subtracts the floor from a peak. The result is at least 0.
pub fn above_floor(peak: f64, floor: Option<f64>) -> Option<f64> {
    floor.map(|floor| (peak - floor).max(0.0))
}
