//! Writes to standard output.

use std::fs::{self, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use embermark_model::foreign;

use crate::error::Failure;

/// Prints a message to standard error, without control characters and with long lines cut. If
/// standard error is closed, the message is lost without an error.
pub fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{}", foreign::message(text));
}

/// Prints a finished text. A reader that closes the pipe early (`| head`) is not an error.
pub fn print(text: &str) -> Result<ExitCode, Failure> {
    let mut out = io::stdout().lock();
    let text = foreign::screen(text, colour());
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::runtime(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// Checks that a file can be written, before the work for it begins.
pub fn check_writable(path: &Path) -> Result<(), Failure> {
    let is_new = !path.exists();
    OpenOptions::new().append(true).create(true).open(path).map_err(|error| {
        Failure::usage(format!("cannot write {}: {error}; name another file", path.display()))
    })?;
    if is_new {
        // The work may still fail, so the empty file is removed.
        let _ = fs::remove_file(path);
    }
    Ok(())
}

/// Returns the columns of the terminal on standard output, or 120 if it is a file or a pipe.
pub fn width() -> usize {
    terminal_size::terminal_size().map_or(120, |(width, _)| usize::from(width.0))
}

/// Returns the columns and rows of the terminal on standard error. If it is not a terminal, returns
/// 100 columns and no limit of rows.
pub fn terminal() -> (usize, Option<usize>) {
    match terminal_size::terminal_size_of(io::stderr()) {
        Some((width, height)) => (width.0.into(), Some(height.0.into())),
        None => (100, None),
    }
}

/// Whether standard output takes colours: it is a terminal, and `NO_COLOR` is not set.
pub fn colour() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}
