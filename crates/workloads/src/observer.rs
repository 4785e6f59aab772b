//! What a phase that lasts by the clock and the harness that measures it have to say to each other.

use std::io;
use std::process::Child;
use std::time::Duration;

use embermark_model::result::{Latency, Timeline};

/// Measures a phase that says itself when.
pub trait PhaseObserver {
    /// Another process takes part from now on, in that role.
    fn process(&mut self, role: &'static str, pid: u32);

    /// Writing begins, with the warm-up, and will last so long.
    fn begin(&mut self, lasts: Duration);

    /// Writing begins, and goes on for so long at most: the disk is looked at so often.
    fn sample(&mut self, _every: Duration, longest: Duration) {
        self.begin(longest);
    }

    /// Bytes of the data directory in allocated blocks; `None` where nobody knows.
    fn allocated(&self) -> Option<u64> {
        None
    }

    /// What it was like over time; after [`end`](Self::end).
    fn timeline(&mut self, _timeline: Timeline) {}

    /// All that was to be written is stored.
    fn end(&mut self);

    /// The warm-up is over: what is used from now on counts.
    fn open(&mut self);

    /// What is used from now on does not count any more.
    fn close(&mut self);

    /// Something was counted in the window.
    fn count(&mut self, name: &'static str, count: u64);

    /// A distribution of the window, in ns.
    fn latency(&mut self, name: &'static str, latency: Latency);

    /// What a reader of the figures has to know, as a sentence without its full stop.
    fn remark(&mut self, remark: &str);
}

/// Sees nothing.
pub struct NoopObserver;

impl PhaseObserver for NoopObserver {
    fn process(&mut self, _: &'static str, _: u32) {}

    fn begin(&mut self, _: Duration) {}

    fn end(&mut self) {}

    fn open(&mut self) {}

    fn close(&mut self) {}

    fn count(&mut self, _: &'static str, _: u64) {}

    fn latency(&mut self, _: &'static str, _: Latency) {}

    fn remark(&mut self, _: &str) {}
}

/// Starts processes that take part in a phase beside the worker. Each of them runs
/// [`Workload::companion`](crate::Workload::companion).
pub trait Companions {
    /// Starts one in a role with its task, its standard input and output piped. With `join` it opens
    /// the worker's database a second time, by what
    /// [`Lifecycle::join`](embermark_contract::Lifecycle::join) said.
    ///
    /// # Errors
    /// When the system starts none.
    fn start(&self, role: &str, task: &str, join: Option<&str>) -> io::Result<Child>;
}
