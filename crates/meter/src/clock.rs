//! The monotonic clock.

use std::sync::OnceLock;
#[cfg(test)]
use std::sync::atomic::Ordering::Relaxed;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::counter::Counter;

/// Time over which the counter is compared with the system's clock, once in a process.
const CALIBRATION: Duration = Duration::from_millis(20);

/// Number of attempts to read both at the same time.
const ATTEMPTS: u32 = 20;

/// Fractional bits of the nanoseconds of a tick.
const FRACTION: u32 = 32;

/// Names the environment variable with which a process gives its workers the rate of the counter
/// ([`Clock::rate`]). A process that has it does not calibrate.
pub const CLOCK_RATE: &str = "EMBERMARK_CLOCK_RATE";

/// A monotonic clock. It reads the CPU's time stamp counter if that is invariant, otherwise the
/// operating system's monotonic clock.
#[derive(Clone, Debug)]
pub struct Clock {
    counter: Counter,
    /// Nanoseconds of a tick, in units of 2^-[`FRACTION`].
    tick: u64,
}

impl Default for Clock {
    /// Makes the clock. The first one of a process takes 20 ms, unless [`CLOCK_RATE`] is set.
    fn default() -> Self {
        static CLOCK: OnceLock<Clock> = OnceLock::new();
        CLOCK.get_or_init(|| Self::of(Counter::best())).clone()
    }
}

impl Clock {
    fn of(counter: Counter) -> Self {
        let given = std::env::var(CLOCK_RATE).ok().and_then(|rate| rate.parse().ok());
        let mut clock = Self { counter, tick: 1 << FRACTION };
        clock.tick = given.unwrap_or_else(|| clock.calibrate());
        clock
    }

    /// Returns the nanoseconds of a tick. The system may run something else between the readings of
    /// two clocks, as on a busy machine: a rate from one reading at each end can be off by several
    /// percent.
    fn calibrate(&self) -> u64 {
        let start = Instant::now();
        let system = || start.elapsed().as_nanos() as u64;
        let (from, began) = self.ticks_beside(system);
        sleep(CALIBRATION);
        let (to, ended) = self.ticks_beside(system);
        nanoseconds_of_a_tick(to.saturating_sub(from), Duration::from_nanos(ended - began))
    }

    /// Returns the value of [`CLOCK_RATE`] for workers of this process: nanoseconds of a tick, in units of
    /// 2^-32.
    pub fn rate(&self) -> String {
        self.tick.to_string()
    }

    /// Returns the counter in its own ticks.
    #[inline]
    pub fn ticks(&self) -> u64 {
        self.counter.read()
    }

    /// Returns the counter, and another clock in ns at the same time: the closest of twenty
    /// readings.
    pub fn ticks_beside(&self, other: impl Fn() -> u64) -> (u64, u64) {
        let read = |_| {
            let before = other();
            let ticks = self.ticks();
            (other().saturating_sub(before), (ticks, before))
        };
        let closest = (0..ATTEMPTS).map(read).min_by_key(|(between, _)| *between);
        closest.map(|(_, both)| both).unwrap_or_default()
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
        ((u128::from(to.saturating_sub(from)) * u128::from(self.tick)) >> FRACTION) as u64
    }

    /// Waits until the counter reaches `due`, and returns its value. Sleeps until `margin` ticks
    /// before, because a sleep ends only when the system wakes the thread, and then spins on the
    /// counter.
    pub(crate) fn wait_until(&self, due: u64, margin: u64) -> u64 {
        #[cfg(test)]
        if let Counter::Simulated(time) = &self.counter {
            time.fetch_max(due, Relaxed);
        }
        let now = self.ticks();
        if due > now + margin {
            sleep(Duration::from_nanos(self.nanoseconds(now, due - margin)));
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

fn nanoseconds_of_a_tick(ticks: u64, time: Duration) -> u64 {
    ((time.as_nanos() << FRACTION) / u128::from(ticks.max(1))) as u64
}

#[cfg(test)]
impl Clock {
    /// A clock with ticks of 1 ns that advances only when time is added to it, or at once to the
    /// end of a wait. Measurements on it do not depend on how busy the machine is.
    pub(crate) fn simulated() -> Self {
        Self { counter: Counter::Simulated(Default::default()), tick: 1 << FRACTION }
    }

    /// Advances a [simulated](Self::simulated) clock.
    pub(crate) fn pass(&self, time: Duration) {
        let Counter::Simulated(now) = &self.counter else { panic!("the clock is not simulated") };
        now.fetch_add(time.as_nanos() as u64, Relaxed);
    }
}

#[cfg(test)]
mod tests {
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
    fn ticks_are_converted_by_their_rate() {
        let rated = |ticks, ms| Clock {
            tick: nanoseconds_of_a_tick(ticks, Duration::from_millis(ms)),
            ..Clock::simulated()
        };
        // 2.5 GHz, a counter of 24 MHz, and the system's own nanoseconds.
        assert_eq!(rated(50_000_000, 20).nanoseconds(7, 2_500_000_007), 999_999_999);
        assert_eq!(rated(480_000, 20).nanoseconds(0, 24), 999);
        assert_eq!(rated(20_000_000, 20).nanoseconds(5, 6), 1);
        // A month at 3 GHz.
        let month = rated(60_000_000, 20).nanoseconds(0, 7_776_000_000_000_000) as f64;
        assert!((month / 2.592e15 - 1.0).abs() < 1e-8, "{month}");
    }

    #[test]
    fn a_counter_that_goes_backwards_is_no_time() {
        assert_eq!(Clock::default().nanoseconds(1_000, 10), 0);
    }

    #[test]
    fn the_systems_clock_serves_where_the_cpu_has_no_steady_counter() {
        let clock = Clock::of(Counter::System);
        let (from, began) = (clock.ticks(), Instant::now());
        std::thread::sleep(Duration::from_millis(20));
        let (least, to) = (began.elapsed(), clock.ticks());
        assert!(clock.nanoseconds(from, to) as f64 >= least.as_nanos() as f64 * 0.999);
    }
}
