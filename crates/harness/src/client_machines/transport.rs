//! The interface for sending orders to the machines.

use embermark_model::result::ClockOffset;

use super::protocol::{Facts, Job, Order, Reply};

/// Sends orders to the machines.
pub trait OrderTransport {
    /// Returns the machines' names, in the order of their shares.
    fn names(&self) -> Vec<String>;

    /// Describes each machine.
    ///
    /// # Errors
    /// If a machine cannot be asked. The error gives its name and the reason.
    fn facts(&mut self) -> Result<Vec<Facts>, String>;

    /// Starts a process on every machine, with its job.
    ///
    /// # Errors
    /// If the process cannot be started on a machine. The error gives its name and the reason.
    fn start(&mut self, jobs: &[Job]) -> Result<(), String>;

    /// Sends orders to machines, all at the same time, and returns when all have replied. If
    /// `clocks` is set, measures the clock of each of these machines first.
    fn send(&mut self, orders: &[(usize, Vec<Order>)], clocks: bool) -> Vec<MachineReplies>;
}

/// Replies of a machine.
pub struct MachineReplies {
    /// One reply per order, up to the first that failed. Otherwise the reason why there is none.
    pub replies: Result<Vec<Reply>, String>,
    /// How far its clock is ahead of this machine's.
    pub clock: Option<ClockOffset>,
}
