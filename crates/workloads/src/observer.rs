//! Interfaces between the harness and phases that open their own measurement window.

use std::io;
use std::process::Child;
use std::time::Duration;

use embermark_contract::EngineError;
use embermark_model::result::{Latency, Timeline};

/// Measures a phase that opens its own measurement window.
pub trait PhaseObserver {
    /// A companion process in this role takes part from now on.
    fn process(&mut self, _role: &'static str, _pid: u32) {}

    /// Writing begins with the warm-up and lasts this long.
    fn begin(&mut self, _lasts: Duration) {}

    /// Writing begins and lasts at most this long. The disk is sampled at this interval.
    fn sample(&mut self, _every: Duration, longest: Duration) {
        self.begin(longest);
    }

    /// Returns the allocated bytes of the database folder, if they are known.
    fn allocated(&self) -> Option<u64> {
        None
    }

    /// Receives the timeline, after [`end`](Self::end).
    fn timeline(&mut self, _timeline: Timeline) {}

    /// All rows are stored.
    fn end(&mut self) {}

    /// The warm-up is over. Resource use counts from now on.
    fn open(&mut self) {}

    /// Resource use no longer counts.
    fn close(&mut self) {}

    /// Receives a count of events in the window.
    fn count(&mut self, _name: &'static str, _count: u64) {}

    /// Receives a latency distribution of the window, in ns.
    fn latency(&mut self, _name: &'static str, _latency: Latency) {}

    /// Receives a remark for readers of the figures, as a sentence without a full stop.
    fn remark(&mut self, _remark: &str) {}
}

/// Ignores everything.
pub struct NoopObserver;

impl PhaseObserver for NoopObserver {}

/// Returns the error of a phase that needs companions where none can be started.
pub(crate) fn no_companions() -> EngineError {
    EngineError::unsupported("this program", "starting processes that take part in a phase")
}

/// Starts companion processes of the worker. Each of them runs
/// [`Workload::companion`](crate::Workload::companion).
pub trait Companions {
    /// Starts a companion in a role with its task. Standard input and output are piped. With `join`
    /// it opens the worker's database a second time, as
    /// [`Lifecycle::join`](embermark_contract::Lifecycle::join) describes.
    ///
    /// # Errors
    /// Fails when the system cannot start the process.
    fn start(&self, role: &str, task: &str, join: Option<&str>) -> io::Result<Child>;
}
