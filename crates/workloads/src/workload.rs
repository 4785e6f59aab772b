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

/// A workload. It has no state and is shared.
pub trait Workload: Sync {
    /// The name by which plans and results know it.
    fn id(&self) -> &'static str {
        self.info().id
    }

    /// Describes the workload.
    fn info(&self) -> Info;

    /// Opens the rows that a plan asks for. The parent process does this once per run.
    ///
    /// # Errors
    /// Fails when the data cannot be used.
    fn source(&self, data: &DataSource, seed: u64) -> Result<Box<dyn Source>, WorkloadError>;

    /// Returns the phases whose right answer is not known beforehand, so that referees must answer
    /// them first.
    fn questions(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// Prepares one cell in the worker process: rows, oracle, operation sequences, and everything
    /// else that must exist before a clock starts.
    ///
    /// # Errors
    /// Fails when the staged rows cannot be read.
    fn prepare(&self, spec: &Spec) -> Result<Box<dyn Prepared>, WorkloadError>;

    /// Runs a companion process in `role`. `task` is what it was
    /// [started](crate::Companions::start) with. `store` is the worker's database, opened a second
    /// time, if the role needs it. The parent closes standard input and reads the pipe `out`. The
    /// kernel ends the process with its parent.
    ///
    /// # Errors
    /// Fails when the task cannot be done. A workload without companions has no roles.
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

/// Rows that are staged for workers.
pub trait Source {
    /// Writes the rows of a scale to `file`, in the format that [`Workload::prepare`] reads, and
    /// describes them.
    ///
    /// # Errors
    /// Fails when the data has fewer rows than the scale, or the file cannot be written.
    fn stage(&self, scale: Scale, file: &Path) -> Result<Dataset, WorkloadError>;
}
