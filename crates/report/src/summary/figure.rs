//! One engine's time for one phase, over all trials of a cell.

use std::collections::HashMap;

use embermark_meter::merge;
use embermark_model::result::{Cell, Execution, Latency, Observed, PhaseResult, ResultFile, Run};
use serde::Serialize;

use super::Sharing;
use crate::statistics::{interval, is_measure, mean, median, outliers};
use crate::{ageing, text};

/// Time of one phase. In a trial it is the mean over the counted runs, as published comparisons use
/// it. Over the trials it is the median.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Figure<'a> {
    /// Time per operation in ns: the median over the trials.
    pub per_op_ns: f64,
    /// Mean over the trials of the time per operation in ns.
    pub mean_ns: f64,
    /// The 95 % interval of the median in ns, from resampled trials. Absent with fewer than three.
    pub interval_ns: Option<[f64; 2]>,
    /// Time of a whole run in ns. Absent if a counted run did not do all of it.
    pub elapsed_ns: Option<f64>,
    /// Operations of a full run.
    pub ops: u64,
    /// Where it stopped, if it did not do all operations.
    pub stop: Option<Stop>,
    /// Time per operation of each trial in ns, in the order in which the trials ran.
    pub per_trial_ns: Vec<f64>,
    /// Index of the trial of each of these. A trial without counted runs is not among them.
    pub trials: Vec<u32>,
    /// Indexes in `per_trial_ns` of outliers, which count like the others.
    pub outliers: Vec<usize>,
    /// Whether code in the client does it.
    #[serde(skip)]
    pub client_side: bool,
    /// Shares of several clients, and how well a schedule was kept. `None` for one client in a
    /// closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sharing: Option<Sharing>,
    /// 99th percentile of commits in the last rounds of each trial that became steady, in ns.
    #[serde(skip)]
    steady_p99: Vec<f64>,
    #[serde(skip)]
    latencies: Vec<&'a Latency>,
    #[serde(skip)]
    responses: Vec<&'a Latency>,
}

/// Progress of the counted runs that did not do all operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Stop {
    /// Operations of the counted run that did the fewest.
    pub done: u64,
    /// Operations of a full run.
    pub of: u64,
}

impl<'a> Figure<'a> {
    /// Computes the figure of one phase from its parts in the trials. `None` if no run counts.
    pub fn from_parts(parts: &[(u32, &'a PhaseResult)]) -> Option<Self> {
        let indices = parts.iter().map(|(trial, _)| *trial);
        let parts = || parts.iter().map(|(_, part)| *part);
        let trials: Vec<Vec<&Run>> = parts().map(counted).collect();
        let (indices, per_trial_ns): (Vec<u32>, Vec<f64>) = (indices.zip(&trials))
            .filter_map(|(index, runs)| Some((index, per_operation(runs)?)))
            .unzip();
        let ops = parts().map(|part| part.ops).max()?;
        // A closed loop of a fixed time has no full number of operations.
        let short = |run: &&&Run| run.capped && ops > 0 || run.ops < ops;
        let done = trials.iter().flatten().filter(short).map(|run| run.ops).min();
        let stop = done.map(|done| Stop { done, of: ops });
        let sharing = Sharing::from_trials(&trials);
        // With a schedule, the time of a whole run is the schedule's.
        let paced = sharing.as_ref().is_some_and(|sharing| sharing.schedule.is_some());
        let elapsed = |runs: &Vec<&Run>| {
            mean(&runs.iter().map(|run| run.elapsed_ns as f64).collect::<Vec<f64>>())
        };
        let means: Vec<f64> = trials.iter().filter_map(elapsed).collect();
        Some(Self {
            per_op_ns: median(&per_trial_ns)?,
            mean_ns: mean(&per_trial_ns)?,
            interval_ns: interval(&per_trial_ns),
            elapsed_ns: if stop.is_none() && ops > 0 && !paced { median(&means) } else { None },
            ops,
            stop,
            outliers: outliers(&per_trial_ns),
            per_trial_ns,
            trials: indices,
            client_side: parts().any(|part| part.execution == Execution::ClientSide),
            sharing,
            steady_p99: trials.iter().flatten().filter_map(|run| steady_p99(run)).collect(),
            latencies: parts().filter_map(|part| part.latency.as_ref()).collect(),
            responses: parts().filter_map(|part| part.response.as_ref()).collect(),
        })
    }

    /// Returns the 99th percentile of the latency in each trial in ns, from the scheduled start if
    /// there is a schedule. `None` if a trial has too few samples for it.
    pub fn p99_per_trial(&self) -> Option<Vec<f64>> {
        let p99 = |latency: &&Latency| latency.p99.map(|ns| ns as f64);
        let scheduled = !self.responses.is_empty();
        let latencies = if scheduled { &self.responses } else { &self.latencies };
        let all: Option<Vec<f64>> = latencies.iter().map(p99).collect();
        all.filter(|trials| !trials.is_empty() && trials.len() == self.per_trial_ns.len())
    }

    /// Returns the 99th percentile of commits in the last rounds of each trial in ns. `None` if a
    /// trial did not become steady, or had too few commits for it.
    pub fn steady_p99_per_trial(&self) -> Option<Vec<f64>> {
        let every = !self.steady_p99.is_empty() && self.steady_p99.len() == self.per_trial_ns.len();
        every.then(|| self.steady_p99.clone())
    }

    /// Returns the latency distribution over all trials. `None` if none was recorded, or if one
    /// cannot be decoded.
    pub fn latency(&self) -> Option<Latency> {
        merge(self.latencies.iter().copied())
    }

    /// Returns the latency from the scheduled start, over all trials. `None` for a closed loop.
    pub fn response(&self) -> Option<Latency> {
        merge(self.responses.iter().copied())
    }
}

/// Returns the 99th percentile of the commits in the steady rounds, from their scheduled start if
/// they had one.
fn steady_p99(run: &Run) -> Option<f64> {
    let seen = run.observed.as_ref()?;
    let steady = seen.timeline.as_ref()?.steady.reached;
    let last = seen.latencies.get("commit-last").filter(|_| steady)?;
    last.p99.map(|ns| ns as f64)
}

/// Returns the operations of a run and the time that they share.
fn time_of_all(run: &Run) -> (f64, f64) {
    match run.schedule {
        Some(arrivals) => (run.ops as f64, arrivals.response_ns * run.ops as f64),
        None => {
            let (ops, ns) = run.at_work();
            (ops as f64, ns as f64)
        }
    }
}

/// Returns the versions of each engine that ran, as the engine reports them, in the order of the
/// cells.
pub(crate) fn versions(file: &ResultFile) -> Vec<(&str, Vec<&str>)> {
    let engines = text::unique(file.cells.iter().map(|cell| cell.id.engine.as_str()));
    let of = |engine| {
        let cells = file.cells.iter().filter(|cell| cell.id.engine == engine);
        let trials = cells.flat_map(|cell| &cell.trials);
        (engine, text::unique(trials.filter_map(|trial| trial.version.as_deref())))
    };
    engines.into_iter().map(of).filter(|(_, versions)| !versions.is_empty()).collect()
}

pub(crate) fn counted(part: &PhaseResult) -> Vec<&Run> {
    part.runs.iter().filter(|run| !run.discarded).collect()
}

/// Returns the total time divided by the number of operations. For full runs that is the mean run
/// divided by its operations. For capped runs, each operation weighs the same. `None` if there was
/// no operation or no time passed, because that is not a measurement.
///
/// - A phase that keeps up with a machine takes the machine's time, so the mean time of its work
///   counts: a commit or, if nothing was written, the reading of a cycle.
/// - A search for the highest rate counts one second divided by the rate.
/// - A phase that runs until it is steady counts the time per row in the last rounds, or the time
///   of a commit if it has a rate.
/// - Operations at a target rate count the mean time from the scheduled start to the end.
/// - Clients on several machines count the operations and the time in which all machines were at
///   work.
pub(crate) fn per_operation(runs: &[&Run]) -> Option<f64> {
    let observed: Vec<&Observed> = runs.iter().filter_map(|run| run.observed.as_ref()).collect();
    if !observed.is_empty() {
        let operation = |of: &&Observed| {
            if let Some(rate) = of.counts.get("sustained-rate") {
                return Some(1e9 / *rate as f64);
            }
            if let Some(timeline) = &of.timeline {
                return match timeline.steady.figures.get("latency") {
                    Some(latency) => Some(latency.mean),
                    None => ageing::throughput(timeline).map(|rate| 1e9 / rate),
                };
            }
            let latency = of.latencies.get("commit").or_else(|| of.latencies.get("read"))?;
            Some(latency.mean)
        };
        let means: Vec<f64> = observed.iter().filter_map(operation).collect();
        return median(&means).filter(|time| is_measure(*time));
    }
    let (ops, total) = (runs.iter().map(|run| time_of_all(run)))
        .fold((0.0, 0.0), |(ops, total), (more, longer)| (ops + more, total + longer));
    Some(total / ops).filter(|time| is_measure(*time))
}

/// Each phase of a cell in the trials that reached it, with the index of the trial.
pub(crate) struct Phases<'a>(HashMap<&'a str, Vec<(u32, &'a PhaseResult)>>);

impl<'a> Phases<'a> {
    pub(crate) fn new(cell: &'a Cell) -> Self {
        let mut all: HashMap<&str, Vec<(u32, &PhaseResult)>> = HashMap::new();
        for trial in &cell.trials {
            for part in &trial.phases {
                all.entry(&part.phase).or_default().push((trial.index, part));
            }
        }
        Self(all)
    }

    /// Returns one phase in the order of the trials. Empty if no trial reached it.
    pub(crate) fn at(&self, phase: &str) -> &[(u32, &'a PhaseResult)] {
        self.0.get(phase).map_or(&[], Vec::as_slice)
    }
}
