//! One run by clients on several machines that use one server.

use serde::{Deserialize, Serialize};

use super::Latency;

/// What the client machines of a run did together. Times of different machines are converted by
/// each machine's measured offset to the clock of the machine that started them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClientMachines {
    /// Time from the first machine's start to the last one's start in ns.
    pub start_spread_ns: u64,
    /// Time in which the clients of all machines were working in ns: from the last client's start
    /// to the first one's end.
    pub common_ns: u64,
    /// Operations of all machines that ended in that time.
    pub common_ops: u64,
    /// The machines, in the order of their shares.
    pub machines: Vec<ClientMachine>,
}

/// What one machine's clients did in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClientMachine {
    /// Name in the inventory.
    pub device: String,
    /// Number of clients.
    pub clients: u32,
    /// Offset of its clock, measured right before the run.
    pub clock: ClockOffset,
    /// Delay of its first client's start after the agreed time in ns, by its own clock corrected by
    /// the offset. Negative: before that time.
    pub start_delay_ns: i64,
    /// Time from its first client's start to its last one's end in ns.
    pub elapsed_ns: u64,
    /// Operations done.
    pub ops: u64,
    /// Operations that ended while all machines were working.
    pub common_ops: u64,
    /// Latency of its operations. Absent if none was timed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Latency>,
}

/// How far a machine's clock is ahead of another one's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ClockOffset {
    /// Offset in ns. Negative: behind.
    pub offset_ns: i64,
    /// Error bound of the offset in ns.
    pub error_ns: u64,
    /// Number of times it was measured.
    pub probes: u32,
}
