//! Starting a child that cannot outlive its owner.

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
/// one lives as long as the process, so any thread may open an engine and end before it.
static SPAWNER: LazyLock<Sender<Job>> = LazyLock::new(|| {
    let (sender, jobs) = mpsc::channel::<Job>();
    // Should the thread not start, `jobs` is dropped and every send fails: an error below.
    let _ = thread::Builder::new().name("spawner".to_owned()).spawn(move || {
        for job in jobs {
            job();
        }
    });
    sender
});

/// Starts `command`; the kernel sends it `death` when this process dies. It inherits `directory`
/// under the number that it has here, and is `alone` in a network where that is asked for.
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
        // Here the ids have been changed already, which would have cleared the signal.
        set_pdeathsig(death)?;
        // The owner may have died before that; then nobody would ever send it.
        if getppid() != parent {
            return Err(io::ErrorKind::NotConnected.into());
        }
        fcntl(&*directory, FcntlArg::F_SETFD(FdFlag::empty()))?;
        Ok(())
    };
    // SAFETY: between fork and exec only async-signal-safe things may happen: the closure makes
    // system calls and compares numbers; it neither allocates nor locks, errors included.
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
