//! How a run is carried out.

use std::collections::BTreeMap;
use std::path::PathBuf;

use embermark_model::ServerUrl;
use embermark_model::plan::Plan;

use crate::device::Device;
use crate::energy::EnergyOptions;
use crate::worker_command::WorkerCommand;
use crate::{Catalog, HarnessError, Interrupt};

/// How a run is carried out; what it measures is the plan's.
#[derive(Clone, Default)]
pub struct RunOptions {
    /// The folder for journal, result and logs: absent or empty.
    pub out: PathBuf,
    /// The folder below which databases live, in a folder of the run's own; in `out` when absent.
    pub data: Option<PathBuf>,
    /// Of a run that is resumed, the URLs of its servers: its journal has only their hosts, ports and
    /// databases.
    pub urls: BTreeMap<String, ServerUrl>,
    /// The program that is started for each trial.
    pub worker: WorkerCommand,
    /// Asks the run to stop.
    pub interrupt: Interrupt,
    /// Runs workers and servers under the limits of this device, where the system allows.
    pub device: Option<&'static Device>,
    /// Counts what each cell brings to storage, in trials of their own after the timed ones. Bytes
    /// take root: each has a file system on a block device of its own.
    pub count: bool,
    /// Counts what an operation asks of the system, in trials of their own after the timed ones.
    pub explain: bool,
    /// Leaves the databases where they are.
    pub keep: bool,
    /// Leaves out the cells of a tier that an engine makes by the setting of another one of the plan:
    /// for a check of answers, which would be the same.
    pub once_per_setting: bool,
    /// How energy is measured.
    pub energy: EnergyOptions,
    /// The engines and workloads to choose from: the worker's must be the same.
    pub catalog: Catalog,
}

impl RunOptions {
    /// The usual way: into `out`, this program with the argument `worker` as the worker, the
    /// engines and workloads of this build.
    ///
    /// # Errors
    /// When the system does not tell where this program is.
    pub fn new(out: impl Into<PathBuf>) -> Result<Self, HarnessError> {
        Ok(Self { out: out.into(), worker: WorkerCommand::of_this_program()?, ..Self::default() })
    }

    /// The same with the engines that are libraries of a plan, the workloads that its files describe, and
    /// the engines of the libraries that its configurations name.
    pub(crate) fn of_plan(&self, plan: &Plan) -> Result<Self, HarnessError> {
        let catalog = self.catalog.with_engine_libraries(plan, &self.worker)?.with_files(plan)?;
        let catalog = catalog.with_libraries(&plan.configurations, &self.worker)?;
        Ok(Self { catalog, ..self.clone() })
    }
}
