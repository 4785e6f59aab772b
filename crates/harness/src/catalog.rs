//! The engines and workloads a run can choose from.

use embermark_engines::{Engine, registry};
use embermark_model::choice::{self, UnknownName};
use embermark_model::plan::Plan;
use embermark_workloads::{WORKLOADS, Workload};

/// The engines and workloads a run can choose from: those of this build, unless a test brings its
/// own.
#[derive(Clone, Copy)]
pub struct Catalog {
    /// Engines, in the order of tables.
    pub engines: &'static [&'static dyn Engine],
    /// Workloads.
    pub workloads: &'static [&'static dyn Workload],
}

impl Default for Catalog {
    fn default() -> Self {
        Self { engines: registry::ENGINES, workloads: WORKLOADS }
    }
}

impl Catalog {
    /// The engine of that id.
    ///
    /// # Errors
    /// When there is none; the error names the nearest and all valid ids.
    pub fn engine(&self, id: &str) -> Result<&'static dyn Engine, UnknownName> {
        let found = self.engines.iter().find(|engine| engine.info().id == id).copied();
        found.ok_or_else(|| choice::unknown("engine", id, self.engines.iter().map(|e| e.info().id)))
    }

    /// The engine of a column of a plan: of that id, or that of the configuration of that name.
    ///
    /// # Errors
    /// When there is none; the error names the nearest and all valid ids.
    pub fn engine_of(&self, plan: &Plan, column: &str) -> Result<&'static dyn Engine, UnknownName> {
        self.engine(plan.engine_of(column))
    }

    /// The workload of that id.
    ///
    /// # Errors
    /// When there is none; the error names the nearest and all valid ids.
    pub fn workload(&self, id: &str) -> Result<&'static dyn Workload, UnknownName> {
        let found = self.workloads.iter().find(|workload| workload.info().id == id).copied();
        found.ok_or_else(|| {
            choice::unknown("workload", id, self.workloads.iter().map(|w| w.info().id))
        })
    }
}
