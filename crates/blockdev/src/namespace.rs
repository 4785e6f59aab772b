//! Mount namespaces: mounts that only some threads and their children see.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::OnceLock;

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};

use crate::error::{DeviceError, Result};

/// The mount namespace in which the process began.
static INITIAL: OnceLock<File> = OnceLock::new();

/// Enters a new mount namespace with this thread, and with the threads and processes that it starts
/// from now on. Mounts in it disappear with the last of them, however they end.
///
/// # Errors
/// If the system does not allow it. It requires root.
pub fn enter_mount_namespace() -> Result<()> {
    if INITIAL.get().is_none() {
        let at = "/proc/thread-self/ns/mnt";
        let initial = File::open(at).map_err(DeviceError::io("open", at.as_ref()))?;
        // An error means that another thread was faster: it has stored the same namespace.
        let _ = INITIAL.set(initial);
    }
    unshare(CloneFlags::CLONE_NEWNS)
        .and_then(|()| {
            let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
            mount(None::<&str>, "/", None::<&str>, private, None::<&str>)
        })
        .map_err(DeviceError::NoMounts)
}

/// Returns the namespace in which the process began, if any thread has left it.
pub(crate) fn initial() -> Option<BorrowedFd<'static>> {
    INITIAL.get().map(AsFd::as_fd)
}
