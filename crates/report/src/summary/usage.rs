//! What an engine used for the whole of a workload.

use embermark_model::result::{Cell, PhaseResult, Resources, Run, Trial};

use super::figure::{counted, median};

/// What one engine used to do one run of every phase: the median over the trials. Absent means
/// that some part of it was not measured; a sum that leaves a phase out would be no sum.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Usage {
    /// CPU time of the engine's processes in ns, summed over the phases.
    pub cpu_ns: Option<f64>,
    /// CPU time of a client that is another process, in ns, summed over the phases.
    pub client_cpu_ns: Option<f64>,
    /// Largest resident memory in bytes over the phases, without what the worker held before it
    /// opened an engine that runs inside it.
    pub peak_bytes: Option<f64>,
    /// Bytes fetched from storage, summed over the phases.
    pub read_bytes: Option<f64>,
    /// Bytes sent to storage, summed over the phases.
    pub written_bytes: Option<f64>,
    /// Bytes allocated on disk after the engine was closed.
    pub disk_bytes: Option<f64>,
    /// Some phase was capped, could not be done or did not end well: less than the whole work.
    pub incomplete: bool,
}

impl Usage {
    /// Whether anything was measured.
    pub fn is_measured(&self) -> bool {
        *self != Self { incomplete: self.incomplete, ..Self::default() }
    }
}

pub(super) fn of(cell: Option<&Cell>) -> Usage {
    let Some(cell) = cell else { return Usage::default() };
    let over = |value: &dyn Fn(&Trial) -> Option<f64>| {
        median(&cell.trials.iter().filter_map(value).collect::<Vec<f64>>())
    };
    let client = |run: &Run| run.client.unwrap_or_default();
    Usage {
        cpu_ns: over(&|trial| sum(trial, |run| run.engine.cpu_ns)),
        client_cpu_ns: over(&|trial| sum(trial, |run| client(run).cpu_ns)),
        peak_bytes: over(&peak),
        read_bytes: over(&|trial| sum(trial, |run| run.engine.read_bytes)),
        written_bytes: over(&|trial| sum(trial, |run| run.engine.written_bytes)),
        disk_bytes: over(&|trial| trial.disk.map(|disk| disk.allocated_bytes as f64)),
        incomplete: is_incomplete(cell),
    }
}

fn is_incomplete(cell: &Cell) -> bool {
    let phases = || cell.trials.iter().flat_map(|trial| &trial.phases);
    let short = |part: &PhaseResult| counted(part).iter().any(|run| run.ops < part.ops);
    !cell.status.has_figures() || phases().any(|part| !part.status.has_figures() || short(part))
}

/// Over the phases with counted runs, the sum of the mean per run.
fn sum(trial: &Trial, value: impl Fn(&Run) -> Option<u64>) -> Option<f64> {
    let mut total = None;
    // A closed loop for a time uses that time, whatever the engine.
    for part in trial.phases.iter().filter(|part| part.ops > 0) {
        let runs = counted(part);
        if runs.is_empty() {
            continue;
        }
        let values: Option<Vec<u64>> = runs.iter().map(|run| value(run)).collect();
        let mean = values?.iter().map(|bytes| *bytes as f64).sum::<f64>() / runs.len() as f64;
        *total.get_or_insert(0.0) += mean;
    }
    total
}

fn peak(trial: &Trial) -> Option<f64> {
    let runs = trial.phases.iter().flat_map(|part| counted(part));
    let peaks: Option<Vec<u64>> = runs.map(|run| above_baseline(trial, run)).collect();
    peaks?.into_iter().max().map(|bytes| bytes as f64)
}

/// A run with a client of its own has its engine in another process, which the worker's size
/// before opening says nothing about.
fn above_baseline(trial: &Trial, run: &Run) -> Option<u64> {
    let Resources { peak_bytes, .. } = run.engine;
    let baseline = if run.client.is_some() { 0 } else { trial.baseline_bytes.unwrap_or(0) };
    peak_bytes.map(|bytes| bytes.saturating_sub(baseline))
}
