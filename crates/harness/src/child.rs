//! What a process that this program starts of itself does first.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use embermark_model::foreign;
use nix::sys::prctl;
use nix::sys::signal::Signal;

/// How the process ends: with what went wrong on standard error, and a status that says so.
pub(crate) fn exit<E: Display>(name: &str, done: Result<(), E>) -> ExitCode {
    done.map_or_else(
        |error| {
            let _ = writeln!(io::stderr(), "{}", foreign::message(&format!("{name}: {error}")));
            ExitCode::FAILURE
        },
        |()| ExitCode::SUCCESS,
    )
}

/// Takes standard output for the events alone (closed in any process this one starts), and points
/// descriptor 1 at standard error.
pub(crate) fn private_stdout() -> io::Result<File> {
    let stdout = io::stdout().as_fd().try_clone_to_owned()?;
    nix::unistd::dup2_stdout(io::stderr())?;
    Ok(File::from(stdout))
}

/// Has the kernel kill the process that a command starts when this one dies, before its program runs:
/// it may be stopped at any moment.
pub(crate) fn tie(command: &mut Command) {
    let before_exec = || Ok(prctl::set_pdeathsig(Signal::SIGKILL)?);
    // SAFETY: between fork and exec only async-signal-safe things may happen: this is one system call.
    unsafe { command.pre_exec(before_exec) };
}

/// Has the kernel kill this process when its parent dies.
pub(crate) fn die_with(parent: u32) -> io::Result<()> {
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    // The parent may have died before that took effect.
    if nix::unistd::getppid().as_raw().cast_unsigned() != parent {
        return Err(io::Error::other("the parent process has ended"));
    }
    Ok(())
}
