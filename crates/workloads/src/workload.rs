//! Workloads, and the rows that they stage for workers.

use std::error::Error;
use std::fs::File;
use std::path::Path;

use embermark_contract::Store;
use embermark_model::Scale;
use embermark_model::plan::{DataSource, Dataset};

use crate::bench::Prepared;
use crate::error::WorkloadError;
use crate::info::Info;
use crate::spec::Spec;

/// A workload. Stateless and shared.
pub trait Workload: Sync {
    /// What it is.
    fn info(&self) -> Info;

    /// Opens the rows a plan asks for; the parent process does so once in a run.
    ///
    /// # Errors
    /// When the data cannot be used.
    fn source(&self, data: &DataSource, seed: u64) -> Result<Box<dyn Source>, WorkloadError>;

    /// Phases of which nobody knows the right answer beforehand: referees are to be asked for it.
    fn questions(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// Prepares one cell in the worker process: rows, oracle and operation sequences, everything
    /// that must exist before a clock starts.
    ///
    /// # Errors
    /// When the staged rows cannot be read.
    fn prepare(&self, spec: &Spec) -> Result<Box<dyn Prepared>, WorkloadError>;

    /// What a process does that takes part beside the worker, in `role`; `task` is what it was
    /// [started](Companions::start) with, `store` the worker's database, opened a second time, where
    /// it was to have it. Standard input is its parent's to close, `out` the pipe that its parent
    /// reads. The kernel ends it with its parent.
    ///
    /// # Errors
    /// Whatever keeps it from its task; a workload that starts none has no roles.
    fn companion(
        &self,
        role: &str,
        _task: &str,
        _store: Option<Store>,
        _out: File,
    ) -> Result<(), Box<dyn Error>> {
        Err(format!("this workload has no process in the role of '{role}'").into())
    }
}

/// Rows to stage for workers.
pub trait Source {
    /// Writes the rows of a scale to `file`, in the form that [`Workload::prepare`] reads, and
    /// tells what they are.
    ///
    /// # Errors
    /// When the data has fewer rows than the scale, or the file cannot be written.
    fn stage(&self, scale: Scale, file: &Path) -> Result<Dataset, WorkloadError>;
}
