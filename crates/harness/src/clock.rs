//! A clock that parent and worker share, its times of day, and a check of the counter that measures
//! the times.

use embermark_meter::Clock;
use embermark_model::result::Period;
use jiff::{SignedDuration, Timestamp};
use nix::sys::time::TimeValLike;
use nix::time::{ClockId, clock_gettime};

/// Shortest time over which the clocks are compared, in ns.
const SHORTEST_NS: u64 = 100_000_000;

/// Largest share by which they may differ. The kernel corrects its own by much less.
const LARGEST_DIFFERENCE: f64 = 0.01;

/// Returns the monotonic clock in ns since an arbitrary time. It is the same in every process.
pub(crate) fn monotonic_ns() -> Option<u64> {
    ns(ClockId::CLOCK_MONOTONIC)
}

fn ns(clock: ClockId) -> Option<u64> {
    u64::try_from(clock_gettime(clock).ok()?.num_nanoseconds()).ok()
}

/// Compares the clock that measures the times with the kernel's. It reads the CPU's counter, whose
/// rate is measured once in a command, so it can be wrong.
pub(crate) struct ClockCheck {
    clock: Clock,
    /// Ticks, and the kernel's clock in ns at the same time.
    began: (u64, u64),
}

/// Returns the kernel's clock that nothing corrects. 0 if it cannot be read: no time
/// is then compared.
fn raw_ns() -> u64 {
    ns(ClockId::CLOCK_MONOTONIC_RAW).unwrap_or_default()
}

impl ClockCheck {
    pub(crate) fn begin() -> Self {
        let clock = Clock::default();
        Self { began: clock.ticks_beside(raw_ns), clock }
    }

    /// Describes how far the clocks have diverged since the start, if that is too far.
    pub(crate) fn difference(&self) -> Option<String> {
        let ((from, began), (to, now)) = (self.began, self.clock.ticks_beside(raw_ns));
        difference(self.clock.nanoseconds(from, to), now.saturating_sub(began))
    }
}

fn difference(measured_ns: u64, kernel_ns: u64) -> Option<String> {
    let apart = measured_ns.abs_diff(kernel_ns) as f64;
    let differs = kernel_ns >= SHORTEST_NS && apart > LARGEST_DIFFERENCE * kernel_ns as f64;
    differs.then(|| {
        format!(
            "the times are wrong: the CPU's counter measured {:.3} s, and the kernel's clock {:.3} \
             s; the machine was suspended, or its counter is unsteady (dmesg | grep clocksource)",
            measured_ns as f64 / 1e9,
            kernel_ns as f64 / 1e9
        )
    })
}

/// A time of day and the monotonic clock at that time. All times of a run are derived from it, so
/// that a clock that is set during the run does not shift them against each other.
pub(crate) struct WallClock {
    monotonic: u64,
    day: Timestamp,
}

impl WallClock {
    pub fn now() -> Self {
        Self { monotonic: monotonic_ns().unwrap_or_default(), day: Timestamp::now() }
    }

    pub fn period(&self, (began, ended): (u64, u64)) -> Period {
        let since = began.cast_signed() - self.monotonic.cast_signed();
        let day = self.day.checked_add(SignedDuration::from_nanos(since)).unwrap_or(self.day);
        Period { began: day.to_string(), lasted_ns: ended.saturating_sub(began) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    #[test]
    fn a_counter_that_differs_from_the_kernels_clock_is_found() {
        assert_eq!(difference(S, S), None);
        assert_eq!(difference(S + S / 200, S), None);
        assert_eq!(difference(S - S / 200, S), None);
        let text = difference(S + S / 50, S).unwrap();
        assert!(text.contains("measured 1.020 s, and the kernel's clock 1.000 s"), "{text}");
        assert!(difference(0, S).is_some(), "it stood still");
        assert_eq!(difference(0, S / 20), None, "too short to compare");
    }
}
