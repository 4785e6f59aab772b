//! Times single operations.

use embermark_model::result::Latency;

use crate::clock::Clock;
use crate::latency::{self, Histogram};

/// Times single operations outside a measured loop.
#[derive(Debug)]
pub struct Stopwatch {
    clock: Clock,
    histogram: Histogram,
    stopped: bool,
}

impl Default for Stopwatch {
    /// Makes a stopwatch without times.
    fn default() -> Self {
        Self { clock: Clock::default(), histogram: latency::empty(), stopped: false }
    }
}

impl Stopwatch {
    /// Times one operation, whether it succeeds or not.
    #[inline]
    pub fn time<T>(&mut self, operation: impl FnOnce() -> T) -> T {
        let from = self.clock.ticks();
        let answer = operation();
        let to = self.clock.ticks();
        self.record(self.clock.nanoseconds(from, to));
        answer
    }

    /// Records a time in ns that the caller measured.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        if !self.stopped {
            self.histogram.saturating_record(ns.max(1));
        }
    }

    /// Removes all times.
    pub fn reset(&mut self) {
        self.histogram.reset();
    }

    /// Stops recording.
    pub const fn stop(&mut self) {
        self.stopped = true;
    }

    /// Returns the distribution of the times. `None` if there are none.
    pub fn latency(&self) -> Option<Latency> {
        latency::summary(&self.histogram, 1)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn it_times_each_operation_until_it_is_stopped_and_forgets_when_told() {
        let mut watch = Stopwatch::default();
        assert!(watch.latency().is_none());
        assert_eq!(watch.time(|| 7), 7);
        watch.reset();
        watch.time(|| std::thread::sleep(Duration::from_millis(2)));
        watch.record(5_000_000);
        watch.stop();
        watch.record(1);
        let latency = watch.latency().unwrap();
        assert_eq!(latency.samples, 2);
        assert!(latency.min >= 2_000_000 && latency.max >= 5_000_000, "{latency:?}");
    }
}
