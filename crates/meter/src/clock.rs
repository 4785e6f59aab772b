//! The monotonic clock.

use std::time::Duration;

/// A monotonic clock. It reads the CPU's time stamp counter if that is invariant, otherwise the
/// operating system's monotonic clock.
#[derive(Clone, Debug, Default)]
pub struct Clock(quanta::Clock, #[cfg(test)] Option<std::sync::Arc<quanta::Mock>>);

impl Clock {
    /// Returns the counter in its own ticks.
    #[inline]
    pub fn ticks(&self) -> u64 {
        self.0.raw()
    }

    /// Converts a time to ticks.
    pub fn ticks_of(&self, time: Duration) -> u64 {
        // The clock converts only one way: from the ticks of a known span.
        const SPAN: u64 = 1 << 30;
        let span_ns = self.nanoseconds(1, 1 + SPAN) as f64;
        (time.as_nanos() as f64 * SPAN as f64 / span_ns) as u64
    }

    /// Returns the nanoseconds between two readings of [`Clock::ticks`]. 0 if the counter went
    /// backwards.
    #[inline]
    pub fn nanoseconds(&self, from: u64, to: u64) -> u64 {
        if to > from { self.0.delta_as_nanos(from, to) } else { 0 }
    }

    /// Waits until the counter reaches `due`, and returns its value. Sleeps until `margin` ticks
    /// before, because a sleep ends only when the system wakes the thread, and then spins on the
    /// counter.
    pub(crate) fn wait_until(&self, due: u64, margin: u64) -> u64 {
        #[cfg(test)]
        if let Some(time) = &self.1 {
            time.increment(due.saturating_sub(self.ticks()));
        }
        let now = self.ticks();
        if due > now + margin {
            std::thread::sleep(Duration::from_nanos(self.nanoseconds(now, due - margin)));
        }
        loop {
            let now = self.ticks();
            if now >= due {
                return now;
            }
            std::hint::spin_loop();
        }
    }
}

#[cfg(test)]
impl Clock {
    /// A clock with ticks of 1 ns that advances only when time is added to it, or at once to the
    /// end of a wait. Measurements on it do not depend on how busy the machine is.
    pub(crate) fn simulated() -> Self {
        let (clock, time) = quanta::Clock::mock();
        Self(clock, Some(time))
    }

    /// Advances a [simulated](Self::simulated) clock.
    pub(crate) fn pass(&self, time: Duration) {
        self.1.as_ref().expect("the clock is simulated").increment(time.as_nanos() as u64);
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn it_agrees_with_the_operating_systems_clock() {
        let clock = Clock::default();
        let (before, from, began) = (Instant::now(), clock.ticks(), Instant::now());
        std::thread::sleep(Duration::from_millis(50));
        let (least, to, most) = (began.elapsed(), clock.ticks(), before.elapsed());
        // However long the system takes between two of these lines.
        let ours = clock.nanoseconds(from, to) as f64 / 1e9;
        let between = least.as_secs_f64() * 0.999..=most.as_secs_f64() * 1.001;
        assert!(between.contains(&ours), "{ours} s against {between:?}");
    }

    #[test]
    fn a_counter_that_goes_backwards_is_no_time() {
        assert_eq!(Clock::default().nanoseconds(1_000, 10), 0);
    }
}
