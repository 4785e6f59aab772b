//! Writing to standard output.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use crate::error::Failure;

/// Prints a finished text. A reader that went away early (`| head`) is no failure.
pub fn print(text: &str) -> Result<ExitCode, Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::runtime(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// Columns of the terminal on standard output; 120 where it is none, as in a file or a pipe.
pub fn width() -> usize {
    terminal_size::terminal_size().map_or(120, |(width, _)| usize::from(width.0))
}

/// Whether standard output takes colours: a terminal whose user has not set `NO_COLOR`.
pub fn colour() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}
