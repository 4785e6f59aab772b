//! Mounts that only some threads and their children see.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::OnceLock;

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};

use crate::error::DeviceError;

/// The mount namespace that the process had at first.
static OUTSIDE: OnceLock<File> = OnceLock::new();

/// Makes this thread, and what it starts from now on, see its own mounts. They disappear with the
/// last of these threads and processes, however they end.
///
/// # Errors
/// If the system does not allow it. It requires root.
pub fn own_mounts() -> Result<(), DeviceError> {
    if OUTSIDE.get().is_none() {
        let at = "/proc/thread-self/ns/mnt";
        let outside =
            File::open(at).map_err(|error| DeviceError::io("open", at.as_ref(), error))?;
        // Another thread that was faster has the same.
        let _ = OUTSIDE.set(outside);
    }
    unshare(CloneFlags::CLONE_NEWNS)
        .and_then(|()| {
            let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
            mount(None::<&str>, "/", None::<&str>, private, None::<&str>)
        })
        .map_err(DeviceError::NoMounts)
}

/// Returns the namespace that the process had at first, if some thread has left it.
pub(crate) fn outside() -> Option<BorrowedFd<'static>> {
    OUTSIDE.get().map(AsFd::as_fd)
}
