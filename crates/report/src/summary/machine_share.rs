//! The share of each of several client machines in a phase.

use embermark_meter::merge;
use embermark_model::result::{ClientMachine, ClockOffset, Run};
use serde::Serialize;

use crate::statistics::{median, total};
use crate::text;

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
pub(super) fn machine_shares(runs: &[&Run]) -> Vec<MachineShare> {
    let all: Vec<(&ClientMachine, u64)> = runs
        .iter()
        .filter_map(|run| run.client_machines.as_ref())
        .flat_map(|together| together.machines.iter().map(|one| (one, together.common_ns)))
        .collect();
    let names = text::unique(all.iter().map(|(one, _)| one.device.as_str()));
    let share = |device: &str| {
        let own = || all.iter().filter(|(one, _)| one.device == device);
        let (last, _) = own().next_back()?;
        let delays = own().map(|(one, _)| one.start_delay_ns);
        let rates = own().filter(|(_, ns)| *ns > 0);
        let rates: Vec<f64> =
            rates.map(|(one, ns)| one.common_ops as f64 * 1e9 / *ns as f64).collect();
        let latency = merge(own().filter_map(|(one, _)| one.latency.as_ref()));
        Some(MachineShare {
            device: device.to_owned(),
            clients: last.clients,
            clock: last.clock,
            start_delay_ns: delays.max_by_key(|delay| delay.unsigned_abs())?,
            ops: total(own().map(|(one, _)| one.ops)),
            per_second: median(&rates)?,
            p50_ns: latency.as_ref().map(|latency| latency.p50),
            p99_ns: latency.and_then(|latency| latency.p99),
        })
    };
    names.into_iter().filter_map(share).collect()
}
