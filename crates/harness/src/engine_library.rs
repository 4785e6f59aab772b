//! Engines in shared libraries. A worker describes each, so that this process opens none of them
//! and survives a crash of one.

use std::path::Path;
use std::time::Duration;

use embermark_engines::Engine;
use embermark_engines::engine_library::{self, Described, unusable};
use embermark_model::plan::Plan;

use crate::protocol::Request;
use crate::worker_command::WorkerCommand;
use crate::{Catalog, HarnessError, Interrupt, Result};

/// Time in which a library must describe itself.
const PATIENCE: Duration = Duration::from_secs(30);

/// Registers the engine of a library as a worker describes it. `given` is its path, or a
/// user-chosen id with it: `base=old/libmine.so`.
///
/// # Errors
/// If it cannot be used, with the reason, or if another engine has its name.
pub fn add_engine_library(given: &Path, worker: &WorkerCommand) -> Result<Described> {
    let (id, path) = engine_library::split_id(given);
    add(id, path, worker)
}

fn add(id: Option<&str>, path: &Path, worker: &WorkerCommand) -> Result<Described> {
    let path = &std::path::absolute(path)
        .map_err(|error| HarnessError::Plan(unusable(path, &error.to_string())))?;
    // Plans and results name it.
    if path.to_str().is_none() {
        return Err(HarnessError::Plan(unusable(path, "its path is not UTF-8")));
    }
    if let Some(known) = engine_library::find_at(path, id) {
        return Ok(known.clone());
    }
    let described = ask(path, worker)?.map_err(HarnessError::Plan)?;
    let described = id.map_or(described.clone(), |id| described.with_id(id));
    engine_library::add(described.clone()).map_err(HarnessError::Plan)?;
    Ok(described)
}

/// Returns a worker's description of a library, or why it cannot be used.
fn ask(path: &Path, worker: &WorkerCommand) -> Result<Result<Described, String>> {
    let request = Request::Library { path: path.to_owned() };
    let answer = worker.ask(None, &request, (PATIENCE, &Interrupt::default()))?;
    let died = |why: String| Err(unusable(path, &format!("the process that opened it {why}")));
    Ok(answer.unwrap_or_else(died))
}

impl Catalog {
    /// Adds the engines of a plan's libraries.
    ///
    /// # Errors
    /// If a library cannot be used, or has changed since the plan was made.
    pub(crate) fn with_engine_libraries(self, plan: &Plan, worker: &WorkerCommand) -> Result<Self> {
        plan.engine_libraries.iter().try_fold(self, |catalog, (id, library)| {
            let described = add(Some(id), &library.path, worker)?;
            if described.library != *library {
                let why = format!(
                    "it is another one than when the run was begun (engine '{id}', SHA-256 {}): put that \
                     one back, or begin a new run",
                    library.sha256
                );
                return Err(HarnessError::Plan(unusable(&library.path, &why)));
            }
            catalog.with_described(Some(&described))
        })
    }

    /// Adds the engine of a library.
    ///
    /// # Errors
    /// If another engine has its name.
    pub(crate) fn with_described(self, described: Option<&Described>) -> Result<Self> {
        let Some(described) = described else { return Ok(self) };
        let engine: &'static dyn Engine =
            engine_library::add(described.clone()).map_err(HarnessError::Plan)?;
        if self.engine(engine.info().id).is_ok() {
            return Ok(self);
        }
        Ok(Self { engines: [self.engines, &[engine]].concat().leak(), ..self })
    }
}

/// Returns the description of an engine's library for a job, if it has one.
pub(crate) fn find(engine: &str) -> Option<Described> {
    engine_library::find(engine).cloned()
}
