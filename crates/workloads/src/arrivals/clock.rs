//! Clocks: the writer's, which stamps rows, and the one that sensor and writer share.

use std::io;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use embermark_data::machine::Stamp;
use nix::time::{ClockId, clock_gettime};

/// Returns the monotonic clock in nanoseconds. All processes of the machine share it.
pub(super) fn monotonic_ns() -> io::Result<u64> {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC)?;
    Ok(now.tv_sec().cast_unsigned() * 1_000_000_000 + now.tv_nsec().cast_unsigned())
}

/// Returns increasing stamps. The wall clock is read once, so a later change by a user or a time
/// server does not reorder samples.
pub(crate) struct Stamper {
    began: Instant,
    began_ns: i64,
    last_ns: i64,
}

impl Stamper {
    pub(crate) fn new() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { began: Instant::now(), began_ns: now.as_nanos() as i64, last_ns: i64::MIN }
    }

    /// Returns the current time.
    pub(crate) fn now(&self) -> Stamp {
        Stamp::from_nanoseconds(self.began_ns + self.began.elapsed().as_nanos() as i64)
    }

    /// Returns a stamp for a sample: the current time, later than every stamp before.
    pub(crate) fn stamp(&mut self) -> Stamp {
        self.rising(self.now().nanoseconds())
    }

    fn rising(&mut self, now_ns: i64) -> Stamp {
        self.last_ns = now_ns.max(self.last_ns + 1);
        Stamp::from_nanoseconds(self.last_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_stops_or_steps_back_still_gives_rising_stamps() {
        let mut stamper = Stamper::new();
        let times = [10, 10, 12, 5, 5, 13, 1_000_000_000, 999_999_999];
        let stamps: Vec<i64> = times.iter().map(|now| stamper.rising(*now).nanoseconds()).collect();
        assert_eq!(stamps, [10, 11, 12, 13, 14, 15, 1_000_000_000, 1_000_000_001]);
        assert!(stamper.stamp() < stamper.stamp());
    }
}
