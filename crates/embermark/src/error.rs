//! Failures of the program.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use embermark_harness::HarnessError;
use embermark_model::foreign;

/// Exit status of a command that a signal ended, as in shells: 128 + SIGINT.
pub const INTERRUPTED: u8 = 130;

/// A message for the user, with its exit status.
#[derive(Debug)]
pub struct Failure {
    message: String,
    /// Text that follows the message, formatted for a terminal.
    screen: String,
    status: u8,
}

impl Failure {
    /// The request is invalid: exit status 2.
    pub fn usage(message: impl ToString) -> Self {
        Self { message: message.to_string(), screen: String::new(), status: 2 }
    }

    /// The request could not be fulfilled: exit status 1.
    pub fn runtime(message: impl ToString) -> Self {
        Self { message: message.to_string(), screen: String::new(), status: 1 }
    }

    /// A file that could not be written: exit status 1.
    pub fn unwritable<E: fmt::Display>(path: &Path) -> impl Fn(E) -> Self {
        move |error| Self::runtime(format!("cannot write {}: {error}", path.display()))
    }

    /// Adds a text that is formatted for a terminal.
    #[must_use]
    pub fn with_screen(self, screen: impl ToString) -> Self {
        Self { screen: screen.to_string(), ..self }
    }

    /// Prints the failure on standard error.
    pub fn print(&self) {
        let _ = writeln!(io::stderr(), "embermark: {self}");
    }

    /// Returns the exit status.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.status)
    }
}

impl From<HarnessError> for Failure {
    fn from(error: HarnessError) -> Self {
        match error {
            HarnessError::Interrupted { .. } => {
                Self { status: INTERRUPTED, ..Self::runtime(error) }
            }
            _ if error.is_usage() => Self::usage(error),
            _ => Self::runtime(error),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&foreign::message(&self.message))?;
        match &*self.screen {
            "" => Ok(()),
            screen => write!(f, "\n\n{}", foreign::screen(screen, true)),
        }
    }
}
