//! Converts times of the monotonic clock to times of day.

use embermark_model::result::Period;
use jiff::{SignedDuration, Timestamp};

use crate::clock::monotonic_ns;

/// A time of day and the monotonic clock at that time. All times of a run are derived from it, so
/// that a clock that is set during the run does not shift them against each other.
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
