//! The thread that serves a block device.
//!
//! A file system on that device waits for it, even if the process is killed: the kernel unmounts
//! for the last thread that sees the mount, and writes pending data to the device. That wait ends
//! with errors when the last descriptor of `/dev/fuse` is closed. This thread and the session's
//! thread therefore have their own descriptor table, which is closed when both end, even if other
//! threads still wait. They also see none of the mounts, so that they never wait themselves.

use std::io;
use std::os::fd::{OwnedFd, RawFd};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};

use fuser::{BackgroundSession, Config, MountOption, Session};
use nix::errno::Errno;
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::mman::{MlockAllFlags, mlockall};
use nix::unistd::dup2_raw;

use crate::medium::{Medium, MediumFileSystem};
use crate::namespace;

/// Number of the option in linux/prctl.h.
const PR_SET_IO_FLUSHER: libc::c_int = 57;
/// The first descriptor after standard input, output and error.
const FIRST: RawFd = 3;

/// A FUSE file system that is served.
#[derive(Debug)]
pub(crate) struct Server {
    thread: JoinHandle<io::Result<()>>,
    /// Dropping it makes the thread wait for the session's thread.
    end: Sender<()>,
}

impl Server {
    /// Mounts the file system of a medium. The thread that serves it makes the medium, so what it
    /// opens is open only there.
    pub(crate) fn mount<M: Medium>(
        medium: impl FnOnce() -> io::Result<M> + Send + 'static,
        at: PathBuf,
    ) -> io::Result<Self> {
        let (mounted, mounts) = channel();
        let (end, ends) = channel::<()>();
        let thread = thread::spawn(move || {
            let session = match serve(medium, &at) {
                Ok(session) => session,
                // The waiting caller gets the error.
                Err(error) => return mounted.send(Err(error)).or(Ok(())),
            };
            if mounted.send(Ok(())).is_ok() {
                // An error means that the end has come.
                let _ = ends.recv();
            }
            session.join()
        });
        mounts.recv().unwrap_or_else(|_| Err(io::Error::other("the thread panicked")))?;
        Ok(Self { thread, end })
    }

    /// Waits until the file system is no longer served. It must have been unmounted.
    pub(crate) fn join(self) -> io::Result<()> {
        drop(self.end);
        match self.thread.join() {
            // Error of a read of `/dev/fuse` that was waiting during the unmount.
            Ok(Err(error)) if error.raw_os_error() == Some(libc::ECONNABORTED) => Ok(()),
            Ok(ended) => ended,
            Err(_) => Err(io::Error::other("the thread panicked")),
        }
    }
}

/// Mounts in this thread's namespace, and serves from the process's initial one.
fn serve<M: Medium>(
    medium: impl FnOnce() -> io::Result<M>,
    at: &Path,
) -> io::Result<BackgroundSession> {
    let initial = unshare_descriptors()?;
    let file_system = MediumFileSystem(medium()?);
    set_io_flusher()?;
    let mut config = Config::default();
    config.n_threads = Some(file_system.0.parallel_requests());
    config.mount_options = vec![MountOption::FSName("embermark".to_owned()), MountOption::NoAtime];
    let session = Session::new(file_system, at, &config)?;
    if let Some(initial) = initial {
        setns(initial, CloneFlags::CLONE_NEWNS)?;
    }
    session.spawn()
}

/// Gives this thread its own descriptor table, with only standard input, output and error. It must
/// not hold others open, such as the pipes to processes. Returns the descriptor of the initial
/// namespace, if a thread has left it.
fn unshare_descriptors() -> nix::Result<Option<OwnedFd>> {
    // A single thread can change its namespace only if it does not share its working directory.
    unshare(CloneFlags::CLONE_FILES | CloneFlags::CLONE_FS)?;
    let initial = namespace::initial();
    // SAFETY: only this thread has the table. It has opened nothing yet and was given nothing that
    // owns a descriptor: another owner of that number has it in another table.
    let initial = initial.map(|initial| unsafe { dup2_raw(initial, FIRST) }).transpose()?;
    let first = FIRST.cast_unsigned() + libc::c_uint::from(initial.is_some());
    // SAFETY: it takes numbers; as above.
    let result = unsafe {
        // By its number: glibc has had a function for it only since 2.34.
        libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, 0)
    };
    Errno::result(result).map(|_| initial)
}

/// Prevents this thread, and those that it starts, from waiting for pages to be written when they
/// allocate memory, because these may be pages of the device that they serve. Uses
/// `PR_SET_IO_FLUSHER`, prctl(2), since Linux 5.6, and `mlockall`. If a limit forbids one of them,
/// continues without it.
fn set_io_flusher() -> nix::Result<()> {
    static LOCKED: OnceLock<()> = OnceLock::new();
    LOCKED.get_or_init(|| {
        let _ = mlockall(MlockAllFlags::MCL_CURRENT | MlockAllFlags::MCL_FUTURE);
    });
    let [one, zero]: [libc::c_ulong; 2] = [1, 0];
    // SAFETY: it takes numbers and touches no memory of this process.
    let result = unsafe { libc::prctl(PR_SET_IO_FLUSHER, one, zero, zero, zero) };
    match Errno::result(result) {
        Err(Errno::EPERM | Errno::EINVAL) => Ok(()),
        set => set.map(drop),
    }
}
