//! A clock that parent and worker share.

use nix::sys::time::TimeValLike;
use nix::time::{ClockId, clock_gettime};

/// Returns the monotonic clock in ns since an arbitrary time. It is the same in every process.
pub(crate) fn monotonic_ns() -> Option<u64> {
    u64::try_from(clock_gettime(ClockId::CLOCK_MONOTONIC).ok()?.num_nanoseconds()).ok()
}
