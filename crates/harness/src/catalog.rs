//! The engines and workloads that a run can use.

use std::path::Path;

use embermark_engines::{Engine, registry};
use embermark_model::choice::{self, UnknownName};
use embermark_model::plan::Plan;
use embermark_model::{CellId, Configuration, Configurations};
use embermark_workloads::defined::Defined;
use embermark_workloads::{WORKLOADS, Workload};

use crate::{HarnessError, Result};

/// The engines and workloads that a run can use: those of this build, or those of a test.
#[derive(Clone, Copy)]
pub struct Catalog {
    /// Engines, in the order of tables.
    pub engines: &'static [&'static dyn Engine],
    /// Workloads.
    pub workloads: &'static [&'static dyn Workload],
    /// Engines of configurations that name a library, by the configuration's name.
    pub(crate) configured_engines: &'static [(&'static str, &'static dyn Engine)],
}

impl Default for Catalog {
    fn default() -> Self {
        Self::new(registry::all(), &WORKLOADS)
    }
}

impl Catalog {
    /// Makes a catalog of these engines and workloads.
    pub const fn new(
        engines: &'static [&'static dyn Engine],
        workloads: &'static [&'static dyn Workload],
    ) -> Self {
        Self { engines, workloads, configured_engines: &[] }
    }

    /// Adds the workloads that a plan's files describe. They live as long as the process.
    ///
    /// # Errors
    /// If a file has mistakes or gives its workload the name of another one.
    pub fn with_files(self, plan: &Plan) -> Result<Self> {
        if plan.workload_files.is_empty() {
            return Ok(self);
        }
        let engines: Vec<&str> = self.engines.iter().map(|engine| engine.info().id).collect();
        let mut workloads = self.workloads.to_vec();
        for (id, file) in &plan.workload_files {
            if self.workload(id).is_ok() {
                continue;
            }
            let definition = embermark_language::parse(id, &file.text, &engines)
                .map_err(|mistakes| HarnessError::Plan(mistakes.to_string()))?;
            let lenient = f64::from(file.misfits_per_million) / 1e6;
            workloads.push(Defined::leak(definition, file.folder.clone(), lenient));
        }
        Ok(Self { workloads: Vec::leak(workloads), ..self })
    }

    /// Finds an engine by id.
    ///
    /// # Errors
    /// If the id is unknown. The error names the nearest and all valid ids.
    pub fn engine(&self, id: &str) -> Result<&'static dyn Engine, UnknownName> {
        let found = self.engines.iter().find(|engine| engine.info().id == id).copied();
        found.ok_or_else(|| choice::unknown("engine", id, self.engines.iter().map(|e| e.info().id)))
    }

    /// Finds the engine of a column: by its id or by the name of its configuration.
    ///
    /// # Errors
    /// If the id is unknown. The error names the nearest and all valid ids.
    pub fn engine_of(
        &self,
        configurations: &Configurations,
        column: &str,
    ) -> Result<&'static dyn Engine, UnknownName> {
        if let Some((_, engine)) = self.configured_engines.iter().find(|(name, _)| *name == column)
        {
            return Ok(*engine);
        }
        self.engine(configurations.get(column).map_or(column, |own| &own.engine))
    }

    /// Returns the environment variable and its value by which a process finds the library of a
    /// configuration.
    pub fn library_of<'a>(&self, own: &'a Configuration) -> Option<(&'static str, &'a Path)> {
        own.library
            .as_deref()
            .and_then(|path| Some((self.engine(&own.engine).ok()?.library()?, path)))
    }

    /// Finds a workload by id.
    ///
    /// # Errors
    /// If the id is unknown. The error names the nearest and all valid ids.
    pub fn workload(&self, id: &str) -> Result<&'static dyn Workload, UnknownName> {
        let found = self.workloads.iter().find(|workload| workload.id() == id).copied();
        found.ok_or_else(|| choice::unknown("workload", id, self.workloads.iter().map(|w| w.id())))
    }

    /// Whether the trials of a cell run until they are steady.
    pub(crate) fn until_steady(&self, cell: &CellId) -> bool {
        self.workload(&cell.workload).is_ok_and(|workload| workload.info().until_steady)
    }
}
