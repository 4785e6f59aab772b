//! Memory of a thread that serves a block device: getting some must never wait for pages to be
//! written, which may be pages of that very device.

use std::io;
use std::sync::OnceLock;

use nix::errno::Errno;
use nix::sys::mman::{MlockAllFlags, mlockall};

/// The number of the call in linux/prctl.h.
const PR_SET_IO_FLUSHER: libc::c_int = 57;

/// Starts threads, by `start`, that serve a block device: `PR_SET_IO_FLUSHER`, which they inherit, and
/// all of the process in memory for good, `mlockall`. Both need rights that a limit may withhold, and
/// are then done without.
pub(crate) fn as_block_device<T>(start: impl FnOnce() -> T) -> io::Result<T> {
    static LOCKED: OnceLock<()> = OnceLock::new();
    LOCKED.get_or_init(|| {
        // A container's limit on locked memory is no reason not to record.
        let _ = mlockall(MlockAllFlags::MCL_CURRENT | MlockAllFlags::MCL_FUTURE);
    });
    match io_flusher(true) {
        Err(Errno::EPERM | Errno::EINVAL) => return Ok(start()),
        set => set?,
    }
    let started = start();
    io_flusher(false)?;
    Ok(started)
}

/// Whether this thread, and what it starts, is one that writes of pages wait for: prctl(2), since
/// Linux 5.6.
fn io_flusher(is: bool) -> nix::Result<()> {
    let [is, zero] = [libc::c_ulong::from(is), 0];
    // SAFETY: it takes numbers and touches no memory of ours.
    let result = unsafe { libc::prctl(PR_SET_IO_FLUSHER, is, zero, zero, zero) };
    Errno::result(result).map(drop)
}
