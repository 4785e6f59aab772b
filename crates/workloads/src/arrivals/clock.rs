//! The clocks: the writer's, which stamps, and the one that sensor and writer share.

use std::io;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use embermark_data::machine::Stamp;
use nix::time::{ClockId, clock_gettime};

/// Nanoseconds of the monotonic clock, which is the same one for every process of the machine.
pub(super) fn monotonic_ns() -> io::Result<u64> {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC)?;
    Ok(now.tv_sec().cast_unsigned() * 1_000_000_000 + now.tv_nsec().cast_unsigned())
}

/// Gives stamps that only ever rise. The wall clock is read once: what it is set to later, by a user
/// or by a time server, moves no sample before another one.
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

    /// The time now.
    pub(crate) fn now(&self) -> Stamp {
        Stamp::of_nanoseconds(self.began_ns + self.began.elapsed().as_nanos() as i64)
    }

    /// A stamp for a sample: now, and later than any before.
    pub(crate) fn stamp(&mut self) -> Stamp {
        self.rising(self.now().nanoseconds())
    }

    fn rising(&mut self, now_ns: i64) -> Stamp {
        self.last_ns = now_ns.max(self.last_ns + 1);
        Stamp::of_nanoseconds(self.last_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_stands_or_steps_back_gives_rising_stamps_all_the_same() {
        let mut stamper = Stamper::new();
        let times = [10, 10, 12, 5, 5, 13, 1_000_000_000, 999_999_999];
        let stamps: Vec<i64> = times.iter().map(|now| stamper.rising(*now).nanoseconds()).collect();
        assert_eq!(stamps, [10, 11, 12, 13, 14, 15, 1_000_000_000, 1_000_000_001]);
        assert!(stamper.stamp() < stamper.stamp());
    }
}
