//! The result file: versioned JSON with every raw run. `docs/result-format.md` describes it for
//! readers. A new field is optional and a renamed field is also read under its old name, so a file
//! written today stays readable.

use serde::{Deserialize, Serialize};

use crate::plan::Plan;
use crate::{CellId, Status};

mod cell;
mod client_machines;
mod disk_curve;
mod energy;
mod explained;
mod flash;
mod loaded;
mod machine;
mod manifest;
mod run;
mod storage;
mod timeline;
mod trial;
mod wear;

pub use cell::{Cell, LEFT_OUT};
pub use client_machines::{ClientMachine, ClientMachines, ClockOffset};
pub use disk_curve::DiskCurve;
pub use energy::{Energy, EnergyMeasurement, EnergySource, Period};
pub use explained::{CallKind, Explained, OsCost, SystemCalls};
pub use flash::{FlashCost, FlashModel, FlashOfPhase, FlashWork};
pub use loaded::{Loaded, Maintenance};
pub use machine::{Emulated, Machine};
pub use manifest::{Drift, EngineFacts, EngineLibraryFacts, Floor, Manifest, Tool};
pub use run::{
    ClientRun, Counts, Execution, Latency, Observed, OpenLoopSchedule, PhaseKind, PhaseResult,
    Repeated, Resources, Run, WriteBehind,
};
pub use storage::{StoragePath, StorageTimes};
pub use timeline::{Round, Slice, SliceLatency, Stall, SteadyFigure, SteadyState, Timeline};
pub use trial::{BackgroundCpu, DeviceIo, DiskSize, Trial};
pub use wear::{Wear, WearCounter, WearUnit};

/// The version of the schema that embermark writes. It rises when an old reader could misread a new
/// file: schema 3 renamed fields of schemas 1 and 2, schema 4 added the status `not-run` and lists
/// lost trials separately. embermark also reads the older versions.
pub const SCHEMA: u32 = 4;

/// One run of embermark: the plan, the machine and the results.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ResultFile {
    /// [`SCHEMA`], or an older version.
    pub schema: u32,
    /// The tool, the machine and the engines behind the figures.
    pub manifest: Manifest,
    /// The plan of the run.
    pub plan: Plan,
    /// Every requested cell, in plan order.
    pub cells: Vec<Cell>,
}

impl ResultFile {
    /// Returns the engines with figures that may not be published, in the order of the cells.
    pub fn unpublishable(&self) -> Vec<&str> {
        let mut engines = Vec::new();
        for cell in self.cells.iter().filter(|cell| cell.unpublishable && !cell.trials.is_empty()) {
            if !engines.contains(&cell.id.engine.as_str()) {
                engines.push(&cell.id.engine);
            }
        }
        engines
    }

    /// Removes the figures that may not be published. Their cells stay, with the reason.
    #[must_use]
    pub fn publishable(mut self) -> Self {
        let secret =
            |id: &CellId| self.cells.iter().any(|cell| cell.unpublishable && cell.id == *id);
        if self.manifest.drift.as_ref().is_some_and(|drift| secret(&drift.cell)) {
            self.manifest.drift = None;
        }
        let figures = |cell: &&mut Cell| cell.unpublishable && !cell.trials.is_empty();
        for cell in self.cells.iter_mut().filter(figures) {
            cell.trials.clear();
            cell.lost_trials.clear();
            cell.counting = None;
            cell.explaining = None;
            cell.status = Status::Unavailable;
            cell.reason = Some(LEFT_OUT.to_owned());
        }
        self
    }
}
