//! Work of several clients, and how well a schedule of operations was kept.

use embermark_model::result::Run;
use serde::Serialize;

use super::machine_share::{self, MachineShare};
use crate::statistics::median;

/// One phase with several clients or at a target rate: the median over the trials of the figure of
/// a trial's counted runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Sharing {
    /// Operations per second of all clients together.
    pub per_second: f64,
    /// Operations per second of the slowest and the fastest client. `None` for one client.
    pub clients: Option<[f64; 2]>,
    /// How well the schedule was kept. `None` for a closed loop.
    pub schedule: Option<Schedule>,
    /// Share of each client machine. Empty if all clients were on one machine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub machines: Vec<MachineShare>,
}

/// Whether operations were started on time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Schedule {
    /// Operations per second that the schedule has.
    pub target_rate: f64,
    /// Operations per second that were started.
    pub achieved_rate: f64,
    /// Whether every counted run kept up.
    pub kept_up: bool,
    /// How late operations started although a client was ready on time, in ns: the largest 99th
    /// percentile of any run. This is the client's error, not the engine's.
    pub late_p99_ns: Option<u64>,
}

impl Sharing {
    /// Whether a counted run did not keep up with its schedule.
    pub(crate) fn is_behind(&self) -> bool {
        self.schedule.is_some_and(|schedule| !schedule.kept_up)
    }

    /// Computes the shares in the counted runs of each trial. `None` if one client did its
    /// operations one after the other.
    pub(super) fn from_trials(trials: &[Vec<&Run>]) -> Option<Self> {
        let runs = || trials.iter().flatten();
        let shared = |run: &&&Run| !run.clients.is_empty() || run.schedule.is_some();
        runs().find(shared)?;
        let middle = |of: &dyn Fn(&[&Run]) -> Option<f64>| {
            median(&trials.iter().filter_map(|trial| of(trial)).collect::<Vec<f64>>())
        };
        let slowest = middle(&|trial| extreme(trial, f64::min));
        let fastest = middle(&|trial| extreme(trial, f64::max));
        let schedules = || runs().filter_map(|run| run.schedule);
        let schedule = schedules().next().and_then(|first| {
            Some(Schedule {
                target_rate: first.target_rate,
                achieved_rate: middle(&achieved_rate)?,
                kept_up: schedules().all(|schedule| schedule.kept_up()),
                late_p99_ns: schedules().filter_map(|schedule| schedule.late_p99_ns).max(),
            })
        });
        Some(Self {
            per_second: middle(&|trial| per_second(trial.iter().map(|run| run.at_work())))?,
            clients: slowest.zip(fastest).map(|(slowest, fastest)| [slowest, fastest]),
            schedule,
            machines: machine_share::machine_shares(&runs().copied().collect::<Vec<&Run>>()),
        })
    }
}

/// Returns operations per second. `None` if no time passed.
fn per_second(runs: impl Iterator<Item = (u64, u64)>) -> Option<f64> {
    let (ops, ns) = runs.fold((0.0, 0.0), |sum, run| (sum.0 + run.0 as f64, sum.1 + run.1 as f64));
    (ns > 0.0).then(|| ops * 1e9 / ns)
}

/// Returns the rate of the slowest or the fastest client of a trial.
fn extreme(trial: &[&Run], which: fn(f64, f64) -> f64) -> Option<f64> {
    let clients = trial.iter().map(|run| run.clients.len()).max()?;
    let rate = |client: usize| {
        let own = trial.iter().filter_map(move |run| run.clients.get(client));
        per_second(own.map(|own| (own.ops, own.elapsed_ns)))
    };
    (0..clients).filter_map(rate).reduce(which)
}

fn achieved_rate(trial: &[&Run]) -> Option<f64> {
    let all: Vec<f64> = trial.iter().filter_map(|run| Some(run.schedule?.achieved_rate)).collect();
    (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
}
