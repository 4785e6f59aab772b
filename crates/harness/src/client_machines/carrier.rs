//! How orders reach the machines, which is not known here.

use embermark_model::result::ClockOffset;

use super::protocol::{Facts, Job, Order, Reply};

/// What brings orders to the machines.
pub trait Carrier {
    /// The machines' names, in the order of their shares.
    fn names(&self) -> Vec<String>;

    /// What each machine is.
    ///
    /// # Errors
    /// When one cannot be asked: its name, and why.
    fn facts(&mut self) -> Result<Vec<Facts>, String>;

    /// Starts a process on every machine, with the job of each.
    ///
    /// # Errors
    /// When one cannot be started: its name, and why.
    fn start(&mut self, jobs: &[Job]) -> Result<(), String>;

    /// Hands orders to machines, all at the same time, and returns when all have replied. Where `clocks` is
    /// set, the clock of each machine named is asked for before.
    fn carry(&mut self, orders: &[(usize, Vec<Order>)], clocks: bool) -> Vec<Carried>;
}

/// What a machine replied.
pub struct Carried {
    /// A reply to each order, up to the first that failed; or why there is none.
    pub replies: Result<Vec<Reply>, String>,
    /// By how much its clock is ahead of this machine's.
    pub clock: Option<ClockOffset>,
}
