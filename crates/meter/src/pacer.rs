//! Paces the operations of a loop at even intervals.

use std::time::Duration;

use crate::arrivals::{SPIN_MARGIN, TimerSlackGuard};
use crate::clock::Clock;

/// Waits until operations are due, at even intervals. While it lives, the kernel wakes its thread
/// as soon as it can.
pub struct Pacer {
    /// Interval in ticks.
    every: f64,
    margin: u64,
    _timer_slack: TimerSlackGuard,
}

impl Pacer {
    /// Makes a pacer for `per_second` operations per second.
    pub fn new(clock: &Clock, per_second: u64) -> Self {
        let second = clock.ticks_of(Duration::from_secs(1)) as f64;
        let every = second / per_second.max(1) as f64;
        Self { every, margin: clock.ticks_of(SPIN_MARGIN), _timer_slack: TimerSlackGuard::begin() }
    }

    /// Waits until an operation is due, or not at all if it is late. Returns its due time on the
    /// clock, which was `began` when the first one was due.
    pub fn wait(&self, clock: &Clock, began: u64, number: u64) -> u64 {
        let due = began + (number as f64 * self.every) as u64;
        if clock.ticks() < due {
            clock.wait_until(due, self.margin);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::Pacer;
    use crate::clock::Clock;

    #[test]
    fn an_operation_waits_for_its_time_and_a_late_one_for_nothing() {
        let clock = Clock::simulated();
        let pacer = Pacer::new(&clock, 1_000);
        let began = clock.ticks();
        assert_eq!(pacer.wait(&clock, began, 20), began + 20_000_000);
        assert_eq!(clock.ticks(), began + 20_000_000);
        assert_eq!(pacer.wait(&clock, began, 1), began + 1_000_000);
        assert_eq!(clock.ticks(), began + 20_000_000);
    }
}
