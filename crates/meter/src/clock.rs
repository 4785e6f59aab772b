//! The monotonic clock.

use std::time::Duration;

/// A monotonic clock that reads the CPU's time stamp counter where it is invariant, and the
/// operating system's monotonic clock elsewhere.
#[derive(Clone, Debug, Default)]
pub struct Clock(quanta::Clock);

impl Clock {
    /// The counter now, in its own ticks.
    #[inline]
    pub fn ticks(&self) -> u64 {
        self.0.raw()
    }

    /// How many ticks a time has.
    pub fn ticks_of(&self, time: Duration) -> u64 {
        // The clock converts one way only: from the ticks of a known span.
        const SPAN: u64 = 1 << 30;
        let span_ns = self.nanoseconds(1, 1 + SPAN) as f64;
        (time.as_nanos() as f64 * SPAN as f64 / span_ns) as u64
    }

    /// Nanoseconds between two readings of [`Clock::ticks`]; 0 if the counter went backwards.
    #[inline]
    pub fn nanoseconds(&self, from: u64, to: u64) -> u64 {
        if to > from { self.0.delta_as_nanos(from, to) } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn it_agrees_with_the_operating_systems_clock() {
        let clock = Clock::default();
        let (began, from) = (Instant::now(), clock.ticks());
        std::thread::sleep(Duration::from_millis(50));
        let (ours, theirs) =
            (clock.nanoseconds(from, clock.ticks()), began.elapsed().as_nanos() as u64);
        assert!(ours.abs_diff(theirs) < theirs / 10, "{ours} ns against {theirs} ns");
    }

    #[test]
    fn a_counter_that_goes_backwards_is_no_time() {
        assert_eq!(Clock::default().nanoseconds(1_000, 10), 0);
    }
}
