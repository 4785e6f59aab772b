//! The time of day of moments of the monotonic clock.

use embermark_model::result::Period;
use jiff::{SignedDuration, Timestamp};

use crate::clock::monotonic_ns;

/// The time of day of one moment of the monotonic clock: of all times of a run, so that a clock that is
/// set in the middle of it moves none against the others.
pub(super) struct WallClock {
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
