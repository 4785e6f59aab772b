//! How a worker is started.

use std::path::PathBuf;

use crate::HarnessError;

/// Program and arguments of the worker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerCommand {
    /// The program, which must call [`serve`](crate::serve) or [`worker_main`](crate::worker_main).
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
}

impl WorkerCommand {
    /// Returns this program with the argument `worker`.
    ///
    /// # Errors
    /// If the system does not report where this program is.
    pub fn this_program() -> Result<Self, HarnessError> {
        let program =
            std::env::current_exe().map_err(HarnessError::system("find this program's file"))?;
        Ok(Self { program, args: vec!["worker".to_owned()] })
    }
}
