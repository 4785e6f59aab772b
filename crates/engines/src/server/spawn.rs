//! Starts child processes that cannot outlive their owner, in a network namespace of their own if
//! asked for.

use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, LazyLock};
use std::thread;

use embermark_network::namespace::{self, Identity};
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::Signal;
use nix::unistd::{getpid, getppid};

/// Advice if the kernel refuses a network namespace.
const ADVICE: &str = "run as root, or let ordinary users have them \
    (`sysctl -w kernel.unprivileged_userns_clone=1` or \
    `kernel.apparmor_restrict_unprivileged_userns=0`, where there is such a setting, and \
    `user.max_user_namespaces` above 0), or name a running server with --url";

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
    let (entry, told) = alone.then(namespace_entry).transpose()?.unzip();
    let before_exec = move || {
        if let Some((identity, failed)) = &entry {
            let mut failed = failed;
            namespace::enter(identity).inspect_err(|_| _ = failed.write(b"!"))?;
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
        Some(told) => explain(error, told),
        None => error,
    })
}

/// Creates what a child process needs to enter a new network namespace, before the fork. The second
/// part receives one byte if that failed, because a parent only learns the number of a child's
/// error. The last part reads it.
fn namespace_entry() -> io::Result<((Identity, PipeWriter), PipeReader)> {
    let (told, failed) = io::pipe()?;
    Ok(((Identity::current()?, failed), told))
}

/// Explains an error of starting the child, once the child's end of the pipe is closed.
fn explain(error: io::Error, mut told: PipeReader) -> io::Error {
    match told.read(&mut [0]) {
        Ok(1) => io::Error::other(format!(
            "it has to run in a network namespace of its own, and the kernel refuses one \
             ({error}); {ADVICE}"
        )),
        _ => error,
    }
}
