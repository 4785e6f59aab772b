//! Starts child processes that cannot outlive their owner.

use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, LazyLock};
use std::thread;

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::Signal;
use nix::unistd::{getpid, getppid};

use super::network;

type Job = Box<dyn FnOnce() + Send>;

/// The kernel sends the parent-death signal when the *thread* that started the child ends. This
/// thread lives as long as the process, so any other thread can open an engine and end earlier.
static SPAWNER: LazyLock<Sender<Job>> = LazyLock::new(|| {
    let (sender, jobs) = mpsc::channel::<Job>();
    // If the thread does not start, `jobs` is dropped and every send fails, which is an error
    // below.
    let _ = thread::Builder::new().name("spawner".to_owned()).spawn(move || {
        for job in jobs {
            job();
        }
    });
    sender
});

/// Starts `command`. The kernel sends it `death` when this process dies. It inherits `directory`
/// with the same file descriptor, and is `alone` in a network namespace if asked for.
pub(super) fn tied(
    mut command: Command,
    directory: Arc<File>,
    alone: bool,
    death: Signal,
) -> io::Result<Child> {
    let parent = getpid();
    let (entry, told) = alone.then(network::entry).transpose()?.unzip();
    let before_exec = move || {
        if let Some(entry) = &entry {
            entry.enter()?;
        }
        // The ids are already changed here. Changing them would have cleared the signal.
        set_pdeathsig(death)?;
        // The owner can have died before that. Then the signal would never be sent.
        if getppid() != parent {
            return Err(io::ErrorKind::NotConnected.into());
        }
        fcntl(&*directory, FcntlArg::F_SETFD(FdFlag::empty()))?;
        Ok(())
    };
    // SAFETY: between fork and exec only async-signal-safe calls are allowed: the closure makes
    // system calls and compares numbers, and neither allocates nor locks, even in case of an error.
    unsafe { command.pre_exec(before_exec) };
    let (reply, answer) = mpsc::channel();
    let gone = || io::Error::other("the thread that starts servers is gone");
    let job: Job = Box::new(move || _ = reply.send(command.spawn()));
    SPAWNER.send(job).map_err(|_| gone())?;
    let started = answer.recv().map_err(|_| gone())?;
    started.map_err(|error| match told {
        Some(told) => network::explain(error, told),
        None => error,
    })
}
