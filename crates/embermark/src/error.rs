//! How the program ends when it does not end well.

use std::fmt;
use std::path::Path;
use std::process::ExitCode;

use embermark_harness::HarnessError;

/// A message for the user, and the exit status that goes with it.
#[derive(Debug)]
pub struct Failure {
    message: String,
    status: u8,
}

impl Failure {
    /// What was asked for makes no sense: exit status 2.
    pub fn usage(message: impl ToString) -> Self {
        Self { message: message.to_string(), status: 2 }
    }

    /// What was asked for could not be done: exit status 1.
    pub fn runtime(message: impl ToString) -> Self {
        Self { message: message.to_string(), status: 1 }
    }

    /// A file that could not be written: exit status 1.
    pub fn unwritable<E: fmt::Display>(path: &Path) -> impl Fn(E) -> Self {
        move |error| Self::runtime(format!("cannot write {}: {error}", path.display()))
    }

    /// Its exit status.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.status)
    }
}

impl From<HarnessError> for Failure {
    fn from(error: HarnessError) -> Self {
        if error.is_usage() { Self::usage(error) } else { Self::runtime(error) }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
