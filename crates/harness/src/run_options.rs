//! How a run is executed.

use std::collections::BTreeMap;
use std::path::PathBuf;

use embermark_model::ServerUrl;
use embermark_model::plan::Plan;

use crate::device::Device;
use crate::energy::EnergyOptions;
use crate::worker_command::WorkerCommand;
use crate::{Catalog, Interrupt, Result};

/// How a run is executed. What it measures is in its plan.
#[derive(Clone, Default)]
pub struct RunOptions {
    /// Folder for journal, result and logs: absent or empty.
    pub out: PathBuf,
    /// Folder for the databases, which get a subfolder of the run. `None` for `out`.
    pub data: Option<PathBuf>,
    /// URLs of the servers of a resumed run. Its journal has only their hosts, ports and databases.
    pub urls: BTreeMap<String, ServerUrl>,
    /// The program that is started for each trial.
    pub worker: WorkerCommand,
    /// Asks the run to stop.
    pub interrupt: Interrupt,
    /// Device to emulate: workers and servers run under its limits, if the system allows that.
    pub device: Option<&'static Device>,
    /// Whether to count what each cell writes to storage, in separate trials after the timed ones.
    /// Counting bytes requires root, because each trial has a file system on its own block device.
    pub count: bool,
    /// Whether to count what an operation requests of the system, in separate trials after the
    /// timed ones.
    pub explain: bool,
    /// Whether to keep the databases.
    pub keep: bool,
    /// Whether to leave out a tier if an engine uses the same setting for it as for another tier of
    /// the plan. Used for checks of answers, which would be the same.
    pub once_per_setting: bool,
    /// How energy is measured.
    pub energy: EnergyOptions,
    /// The engines and workloads to use. Those of the worker must be the same.
    pub catalog: Catalog,
}

impl RunOptions {
    /// Makes the usual options: into `out`, with this program and the argument `worker` as the
    /// worker, and the engines and workloads of this build.
    ///
    /// # Errors
    /// If the system does not report where this program is.
    pub fn new(out: impl Into<PathBuf>) -> Result<Self> {
        Ok(Self { out: out.into(), worker: WorkerCommand::this_program()?, ..Self::default() })
    }

    /// Adds a plan's engines in libraries, the workloads that its files describe, and the engines
    /// of the libraries that its configurations name.
    pub(crate) fn for_plan(&self, plan: &Plan) -> Result<Self> {
        let catalog = self.catalog.with_engine_libraries(plan, &self.worker)?.with_files(plan)?;
        let catalog = catalog.with_libraries(&plan.configurations, &self.worker)?;
        Ok(Self { catalog, ..self.clone() })
    }
}
