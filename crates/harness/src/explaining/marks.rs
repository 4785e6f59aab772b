//! What a worker tells who traces it, in order with everything else that its thread does: system
//! calls of no effect that have a number of ours for an argument.

use nix::unistd::{Pid, getsid};

/// The first of the numbers: of no process, since the kernel gives none above 4,194,304
/// (`PID_MAX_LIMIT`).
const FIRST: i32 = 0x656d_6272;

/// Something a worker tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// A run begins: what was counted before does not belong to it.
    RunBegins,
    /// A clock is about to start.
    ClockStarts,
    /// A clock has stopped.
    ClockStopped,
    /// The run has ended: what was counted is all of it.
    RunEnded,
}

impl Mark {
    const ALL: [Self; 4] = [Self::RunBegins, Self::ClockStarts, Self::ClockStopped, Self::RunEnded];

    /// Tells it.
    pub fn tell(self) {
        // No such process: that is what it always says.
        let _ = getsid(Some(Pid::from_raw(FIRST + self as i32)));
    }

    /// Tells of a clock.
    pub fn clock(starts: bool) {
        if starts { Self::ClockStarts } else { Self::ClockStopped }.tell();
    }

    /// The mark that a system call is.
    pub fn of(name: &str, argument: u64) -> Option<Self> {
        let number = usize::try_from(argument.checked_sub(FIRST as u64)?).ok()?;
        Self::ALL.get(number).copied().filter(|_| name == "getsid")
    }
}
