//! Writing to standard output.

use std::fs::{self, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use embermark_model::foreign;

use crate::error::Failure;

/// Says something on standard error: with nothing of it that a terminal obeys, and a long line cut. Where
/// nobody can read it any more, as on a terminal that was closed, that is no failure.
pub fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{}", foreign::message(text));
}

/// Prints a finished text. A reader that went away early (`| head`) is no failure.
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

/// Checks that a file can be written, before the work is done that goes into it.
pub fn can_be_written(path: &Path) -> Result<(), Failure> {
    let is_new = !path.exists();
    OpenOptions::new().append(true).create(true).open(path).map_err(|error| {
        Failure::usage(format!("cannot write {}: {error}; name another file", path.display()))
    })?;
    if is_new {
        // The work may yet fail.
        let _ = fs::remove_file(path);
    }
    Ok(())
}

/// Columns of the terminal on standard output; 120 where it is none, as in a file or a pipe.
pub fn width() -> usize {
    terminal_size::terminal_size().map_or(120, |(width, _)| usize::from(width.0))
}

/// Columns and rows of the terminal on standard error; if it is no terminal, 100 columns and any number of rows.
pub fn terminal() -> (usize, Option<usize>) {
    match terminal_size::terminal_size_of(io::stderr()) {
        Some((width, height)) => (width.0.into(), Some(height.0.into())),
        None => (100, None),
    }
}

/// Whether standard output takes colours: a terminal whose user has not set `NO_COLOR`.
pub fn colour() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}
