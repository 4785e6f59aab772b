//! One run by clients on several machines, of one server.

use serde::{Deserialize, Serialize};

use super::Latency;

/// What the client machines of a run did together. Times of different machines are put on one clock, that
/// of the machine which had them begin, by each machine's measured offset.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClientMachines {
    /// From the first machine's start to the last one's start in ns.
    pub start_spread_ns: u64,
    /// The time in which the clients of all machines were at work in ns: from the last client's start to
    /// the first one's end.
    pub common_ns: u64,
    /// Operations that ended in that time, of all machines.
    pub common_ops: u64,
    /// Each machine, in the order of their shares.
    pub machines: Vec<ClientMachine>,
}

/// What one machine's clients did in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClientMachine {
    /// Its name in the inventory.
    pub device: String,
    /// Clients on it.
    pub clients: u32,
    /// How its clock stood, measured right before the run.
    pub clock: ClockOffset,
    /// By how much its first client started after the agreed moment in ns, by its own clock with the
    /// offset taken off; negative: before it.
    pub start_delay_ns: i64,
    /// From its first client's start to its last one's end in ns.
    pub elapsed_ns: u64,
    /// Operations done.
    pub ops: u64,
    /// Those of them that ended in the time in which all machines were at work.
    pub common_ops: u64,
    /// Latency of its operations; absent where none was timed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Latency>,
}

/// By how much a machine's clock is ahead of another one's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ClockOffset {
    /// In ns; negative: behind.
    pub offset_ns: i64,
    /// The offset lies within so many ns of that.
    pub error_ns: u64,
    /// How many times it was asked for.
    pub probes: u32,
}
