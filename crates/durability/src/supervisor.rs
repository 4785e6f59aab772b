//! The process between the experiment and a worker, which ensures that nothing is left of what the
//! worker has started.
//!
//! A server's processes have their own groups and sessions, and one may be forked during a
//! kill. This process is their subreaper (prctl(2)): processes that lose their parent become its
//! children. The whole tree is thus gone when it has no children, and it does not end before. It
//! kills the tree on SIGTERM, which the kernel sends when the experiment dies, however that
//! happens.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::{env, fs};

use embermark_contract::Engine;
use nix::errno::Errno;
use nix::sys::prctl;
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::wait::waitpid;
use nix::unistd::{Pid, getpid, getppid};

/// Variable that makes a program a supervisor: the id of the process that has started it.
const EXPERIMENT: &str = "EMBERMARK_DURABILITY_EXPERIMENT";
/// Variable that makes it a worker: the id of its supervisor.
const SUPERVISOR: &str = "EMBERMARK_DURABILITY_SUPERVISOR";
/// Variable with the location of the databases.
const SITE: &str = "EMBERMARK_DURABILITY_SITE";
/// Added to a signal's number to make a status.
const BY_SIGNAL: i32 = 128;

/// Makes the command that starts a supervisor.
pub(crate) fn command(program: impl AsRef<OsStr>, args: &[String], site: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(args).env(EXPERIMENT, getpid().to_string()).env(SITE, site).process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// Returns the signal that ended a worker, from the status of its supervisor.
pub(crate) fn signal(status: ExitStatus) -> Option<Signal> {
    let exit_code = status.code().and_then(|code| code.checked_sub(BY_SIGNAL));
    exit_code.or_else(|| status.signal()).and_then(|signal| Signal::try_from(signal).ok())
}

/// Whether this process is a worker, which is the child of a supervisor. Otherwise it is a
/// supervisor.
pub(crate) fn is_worker() -> bool {
    env::var_os(SUPERVISOR).is_some()
}

/// Makes this process end by `signal` with the one that has started it. Returns false if that has
/// ended.
pub(crate) fn end_with_parent(signal: Signal) -> io::Result<bool> {
    prctl::set_pdeathsig(signal)?;
    let parent = OsString::from(getppid().to_string());
    Ok(env::var_os(if is_worker() { SUPERVISOR } else { EXPERIMENT }) == Some(parent))
}

/// Starts this program again as a worker. Ends with its status once nothing of it is left, nor what
/// a killed server of `engines` leaves outside of its data.
pub(crate) fn supervise(engines: &[&'static dyn Engine]) -> io::Result<ExitCode> {
    let mut signals = SigSet::empty();
    [Signal::SIGTERM, Signal::SIGCHLD].into_iter().for_each(|signal| signals.add(signal));
    signals.thread_block()?;
    prctl::set_child_subreaper(true)?;
    if !end_with_parent(Signal::SIGTERM)? {
        return Ok(ExitCode::SUCCESS);
    }
    let mut worker = Command::new(env::current_exe()?);
    worker.args(env::args_os().skip(1)).env(SUPERVISOR, getpid().to_string());
    // Blocked signals are inherited, and a server that SIGTERM must stop would never receive it.
    let unblocked = move || signals.thread_unblock().map_err(io::Error::from);
    // SAFETY: only async-signal-safe calls are allowed between fork and exec, and this is one
    // system call.
    unsafe { worker.pre_exec(unblocked) };
    let mut worker = worker.spawn()?;
    let pid = Pid::from_raw(worker.id().cast_signed());
    let status = loop {
        if signals.wait()? == Signal::SIGTERM {
            kill_tree(pid)?;
            break worker.wait()?;
        }
        if let Some(status) = worker.try_wait()? {
            break status;
        }
    };
    end_children()?;
    if let Some(site) = env::var_os(SITE) {
        engines.iter().for_each(|engine| _ = engine.remove_abandoned(Path::new(&site)));
    }
    let code = status.code().or_else(|| status.signal().map(|signal| BY_SIGNAL + signal));
    Ok(ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)))
}

/// Kills a worker and all that it has started. A parent comes before its children, so that it does
/// not see them die. The worker comes last, because a server is notified when its owner dies. They
/// are not stopped first: that would complete a write that a kill cuts short.
fn kill_tree(worker: Pid) -> io::Result<()> {
    // What is forked meanwhile becomes a child of this process.
    let mut tree = tree(worker)?;
    tree.rotate_left(1);
    tree.into_iter().try_for_each(|pid| signal_to(pid, Signal::SIGKILL))
}

/// Returns a process and what it has started, a parent before its children.
fn tree(of: Pid) -> io::Result<Vec<Pid>> {
    let parents = parents()?;
    let mut tree = vec![of];
    let mut next = 0;
    while let Some(parent) = tree.get(next).copied() {
        tree.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid));
        next += 1;
    }
    Ok(tree)
}

/// Stops a supervisor's worker and all processes that it has started. Stops a process before those
/// that it forks, and repeats this until there are no others.
pub(crate) fn stop(supervisor: Pid) -> io::Result<()> {
    let mut stopped = vec![supervisor];
    loop {
        let mut others = tree(supervisor)?;
        others.retain(|pid| !stopped.contains(pid));
        if others.is_empty() {
            return Ok(());
        }
        others.iter().try_for_each(|pid| signal_to(*pid, Signal::SIGSTOP))?;
        stopped.extend(others);
    }
}

/// Resumes a supervisor's worker and all that it has started.
pub(crate) fn resume(supervisor: Pid) -> io::Result<()> {
    tree(supervisor)?.into_iter().skip(1).try_for_each(|pid| signal_to(pid, Signal::SIGCONT))
}

/// Returns the running processes that a supervisor's worker has started itself: servers.
pub(crate) fn servers(supervisor: Pid) -> io::Result<Vec<Pid>> {
    let all = parents()?;
    let children =
        |of: Pid| all.iter().filter(move |(_, parent)| *parent == of).map(|(pid, _)| *pid);
    Ok(children(supervisor).flat_map(children).filter(|pid| !is_zombie(*pid)).collect())
}

/// Whether a process has ended, but its parent has not read its status (proc(5)).
fn is_zombie(pid: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with(['Z', 'X']))
}

/// Kills every child, including those that become children by it, and waits for their ends.
fn end_children() -> io::Result<()> {
    let supervisor = getpid();
    loop {
        for (pid, _) in parents()?.into_iter().filter(|(_, parent)| *parent == supervisor) {
            signal_to(pid, Signal::SIGKILL)?;
        }
        match waitpid(None, None) {
            Err(Errno::ECHILD) => return Ok(()),
            Ok(_) | Err(Errno::EINTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// Sends a signal, unless the process has ended meanwhile.
pub(crate) fn signal_to(pid: Pid, signal: Signal) -> io::Result<()> {
    match kill(pid, signal) {
        Ok(()) | Err(Errno::ESRCH) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

/// Returns every process and its parent: proc(5).
fn parents() -> io::Result<Vec<(Pid, Pid)>> {
    let of = |pid: i32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // After its name, which is in brackets and may contain anything: state, parent.
        let parent = stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()?;
        Some((Pid::from_raw(pid), Pid::from_raw(parent)))
    };
    let entries = fs::read_dir("/proc")?.flatten();
    Ok(entries.filter_map(|entry| of(entry.file_name().to_str()?.parse().ok()?)).collect())
}
