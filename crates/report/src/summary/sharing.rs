//! Work of several clients, also on several machines, and how well a schedule of operations was
//! kept.

use embermark_meter::merge;
use embermark_model::result::{ClientMachine, ClockOffset, Run};
use serde::Serialize;

use crate::statistics::{mean, median, total};
use crate::text;

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
            machines: machine_shares(&runs().copied().collect::<Vec<&Run>>()),
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
    let rates = trial.iter().filter_map(|run| Some(run.schedule?.achieved_rate));
    mean(&rates.collect::<Vec<f64>>())
}

/// One client machine's part of a phase, over the counted runs of every trial.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct MachineShare {
    /// Its name.
    pub device: String,
    /// Clients on it.
    pub clients: u32,
    /// Offset of its clock before the last of the runs.
    pub clock: ClockOffset,
    /// The start farthest from the agreed time, in ns after it.
    pub start_delay_ns: i64,
    /// Operations of all those runs.
    pub ops: u64,
    /// Operations per second in the time in which all machines were at work, the median of the
    /// runs.
    pub per_second: f64,
    /// Median latency in ns.
    pub p50_ns: Option<u64>,
    /// The 99th percentile in ns.
    pub p99_ns: Option<u64>,
}

/// Returns the share of each machine in the counted runs. Empty if all clients were on one machine.
fn machine_shares(runs: &[&Run]) -> Vec<MachineShare> {
    let together = runs.iter().filter_map(|run| run.client_machines.as_ref());
    let all: Vec<(&ClientMachine, u64)> =
        together.flat_map(|of| of.machines.iter().map(|one| (one, of.common_ns))).collect();
    let names = text::unique(all.iter().map(|(one, _)| one.device.as_str()));
    let share = |device: &str| {
        let own = || all.iter().filter(|(one, _)| one.device == device);
        let (last, _) = own().next_back()?;
        let delays = own().map(|(one, _)| one.start_delay_ns);
        let rates = own().filter(|(_, ns)| *ns > 0);
        let rates = rates.map(|(one, ns)| one.common_ops as f64 * 1e9 / *ns as f64);
        let latency = merge(own().filter_map(|(one, _)| one.latency.as_ref()));
        Some(MachineShare {
            device: device.to_owned(),
            clients: last.clients,
            clock: last.clock,
            start_delay_ns: delays.max_by_key(|delay| delay.unsigned_abs())?,
            ops: total(own().map(|(one, _)| one.ops)),
            per_second: median(&rates.collect::<Vec<f64>>())?,
            p50_ns: latency.as_ref().map(|latency| latency.p50),
            p99_ns: latency.and_then(|latency| latency.p99),
        })
    };
    names.into_iter().filter_map(share).collect()
}
