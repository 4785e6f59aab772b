//! Marks by which a worker notifies its tracer, in order with everything else that its thread does.
//! They are system calls without effect that have a reserved number as argument.

use nix::unistd::{Pid, getsid};

/// The first reserved number. It belongs to no process, because the kernel assigns none above
/// 4,194,304 (`PID_MAX_LIMIT`).
const FIRST: i32 = 0x656d_6272;

/// An event that a worker marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// A run begins. What was counted before does not belong to it.
    RunBegins,
    /// A clock is about to start.
    ClockStarts,
    /// A clock has stopped.
    ClockStopped,
    /// The run has ended. Everything that belongs to it was counted.
    RunEnded,
}

impl Mark {
    const ALL: [Self; 4] = [Self::RunBegins, Self::ClockStarts, Self::ClockStopped, Self::RunEnded];

    /// Makes the system call of the mark.
    pub fn emit(self) {
        // The call always fails, because no process has this number.
        let _ = getsid(Some(Pid::from_raw(FIRST + self as i32)));
    }

    /// Marks that a clock starts or has stopped.
    pub fn clock(starts: bool) {
        if starts { Self::ClockStarts } else { Self::ClockStopped }.emit();
    }

    /// Returns the mark that a system call represents.
    pub fn from_call(name: &str, argument: u64) -> Option<Self> {
        let number = usize::try_from(argument.checked_sub(FIRST as u64)?).ok()?;
        Self::ALL.get(number).copied().filter(|_| name == "getsid")
    }
}
