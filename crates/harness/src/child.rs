//! Start and end of processes that run this program again: workers and companions.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use embermark_model::foreign;
use nix::sys::prctl;
use nix::sys::signal::Signal;

/// Ends the process: prints the error, if any, to standard error and returns a matching status.
pub(crate) fn exit<E: Display>(name: &str, done: Result<(), E>) -> ExitCode {
    done.map_or_else(
        |error| {
            let _ = writeln!(io::stderr(), "{}", foreign::message(&format!("{name}: {error}")));
            ExitCode::FAILURE
        },
        |()| ExitCode::SUCCESS,
    )
}

/// Reserves standard output for the events, closed in any process that this one starts. Points
/// descriptor 1 at standard error.
pub(crate) fn private_stdout() -> io::Result<File> {
    let stdout = io::stdout().as_fd().try_clone_to_owned()?;
    nix::unistd::dup2_stdout(io::stderr())?;
    Ok(File::from(stdout))
}

/// Makes the kernel kill the started process when this one dies. This takes effect before its
/// program runs, which may be stopped at any time.
pub fn kill_with_parent(command: &mut Command) {
    let before_exec = || Ok(prctl::set_pdeathsig(Signal::SIGKILL)?);
    // SAFETY: only async-signal-safe calls are allowed between fork and exec, and this is one
    // system call.
    unsafe { command.pre_exec(before_exec) };
}

/// Makes the kernel kill this process when its parent dies.
pub(crate) fn die_with(parent: u32) -> io::Result<()> {
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    // The parent may have died before that took effect.
    if nix::unistd::getppid().as_raw().cast_unsigned() != parent {
        return Err(io::Error::other("the parent process has ended"));
    }
    Ok(())
}
