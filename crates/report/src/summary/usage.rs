//! What an engine used of each resource for a whole workload or for a phase.

use embermark_model::result::{Cell, PhaseResult, ResultFile};
use serde::Serialize;

use super::column::Amounts;
use super::figure::counted;
use super::resource::{Combined, Resource};
use super::work::Work;
use crate::statistics::median;
use crate::text;

/// Resources of one engine for one run of every phase: the median over the trials. A sum is absent
/// if it was not measured in every phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Usage {
    /// Amounts by the key of the resource's column.
    pub amounts: Amounts,
    /// Whether less than the whole work was done: a phase was capped, could not be done or did not
    /// complete.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub incomplete: bool,
}

impl Usage {
    /// Returns the resources of a cell of `file` for some work. The size on disk and background CPU
    /// are only known for a whole cell.
    pub fn new(file: &ResultFile, cell: &Cell, work: Work<'_>) -> Self {
        let phases = || cell.trials.iter().flat_map(|trial| work.phases(trial));
        let amount = |used: Resource| {
            let middle = |used: Resource| median(&used.per_trial(cell, work));
            if used != Resource::PEAK_ABOVE_FLOOR {
                return middle(used);
            }
            let names = text::unique(phases().map(|part| part.phase.as_str()));
            Some((middle(Resource::PEAK)? - memory_floor(file, cell, &names)?).max(0.0))
        };
        let is_known = |of: &&Resource| !work.is_of_phase() || of.combined != Combined::Whole;
        let shown = Resource::SHOWN.iter().filter(is_known);
        let short = |part: &PhaseResult| counted(part).iter().any(|run| run.ops < part.ops);
        let bad = !work.is_of_phase() && !cell.status.has_figures();
        Self {
            amounts: shown.map(|used| (used.column, amount(*used))).collect(),
            incomplete: bad || phases().any(|part| !part.status.has_figures() || short(part)),
        }
    }

    /// Returns the amount of a resource, if it is shown.
    pub fn get(&self, resource: Resource) -> Option<f64> {
        self.amounts.get(resource.column.key)
    }

    /// Returns the amount of a resource that can be compared with that of other engines. The sums
    /// of an engine that did less than the whole work cannot.
    pub fn comparable(&self, resource: Resource) -> Option<f64> {
        self.get(resource).filter(|_| !(self.incomplete && resource.combined == Combined::Sum))
    }

    /// Whether a resource of the engine was measured.
    pub fn is_measured(&self) -> bool {
        let of_engine = |resource: &&Resource| **resource != Resource::BACKGROUND_CPU;
        Resource::SHOWN.iter().filter(of_engine).any(|resource| self.get(*resource).is_some())
    }
}

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
        median(&Resource::PEAK.per_trial(own, Work::Whole(&phases)))
    };
    measured.map(|bytes| bytes as f64).or_else(null)
}
