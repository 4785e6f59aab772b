//! Engines in shared libraries: a worker is asked what each is, so that this process opens none of them, and a
//! crash of one is not this process's.

use std::path::Path;
use std::time::Duration;

use embermark_engines::Engine;
use embermark_engines::engine_library::{self, Described, unusable};
use embermark_model::plan::Plan;

use crate::asked::asked;
use crate::request::Request;
use crate::worker_command::WorkerCommand;
use crate::{Catalog, HarnessError};

/// How long a library may take to say what it is.
const PATIENCE: Duration = Duration::from_secs(30);

/// Has the registry know the engine of a library from now on, as a worker says what it is; `given` is its path, or
/// an id of the user's own with it, `base=old/libmine.so`.
///
/// # Errors
/// When it cannot be used, with why; or its engine has the name of another one.
pub fn add_engine_library(given: &Path, worker: &WorkerCommand) -> Result<Described, HarnessError> {
    let (id, path) = engine_library::given(given);
    add(id, path, worker)
}

fn add(id: Option<&str>, path: &Path, worker: &WorkerCommand) -> Result<Described, HarnessError> {
    let path = &std::path::absolute(path)
        .map_err(|error| HarnessError::Plan(unusable(path, &error.to_string())))?;
    // Plans and results name it.
    if path.to_str().is_none() {
        return Err(HarnessError::Plan(unusable(path, "its path is not UTF-8")));
    }
    if let Some(known) = engine_library::at(path, id) {
        return Ok(known.clone());
    }
    let described = ask(path, worker)?.map_err(HarnessError::Plan)?;
    let described = id.map_or(described.clone(), |id| described.with_id(id));
    engine_library::add(described.clone()).map_err(HarnessError::Plan)?;
    Ok(described)
}

/// What a worker says of a library, or why it cannot be used.
fn ask(path: &Path, worker: &WorkerCommand) -> Result<Result<Described, String>, HarnessError> {
    let failed = |source| HarnessError::Worker { program: worker.program.clone(), source };
    let request = Request::Library { parent: std::process::id(), path: path.to_owned() };
    let asked = asked(worker, None, &request, PATIENCE).map_err(failed)?;
    let why =
        || unusable(path, &format!("the process that opened it {}", asked.why_none(PATIENCE)));
    Ok(serde_json::from_slice(&asked.answer).unwrap_or_else(|_| Err(why())))
}

impl Catalog {
    /// The same with the engines of a plan's libraries.
    ///
    /// # Errors
    /// When one cannot be used, or is another one than when the plan was made.
    pub(crate) fn with_engine_libraries(
        self,
        plan: &Plan,
        worker: &WorkerCommand,
    ) -> Result<Self, HarnessError> {
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

    /// The same with the engine of a library.
    ///
    /// # Errors
    /// When another engine has its name.
    pub(crate) fn with_described(
        self,
        described: Option<&Described>,
    ) -> Result<Self, HarnessError> {
        let Some(described) = described else { return Ok(self) };
        let engine: &'static dyn Engine =
            engine_library::add(described.clone()).map_err(HarnessError::Plan)?;
        if self.engine(engine.info().id).is_ok() {
            return Ok(self);
        }
        Ok(Self { engines: [self.engines, &[engine]].concat().leak(), ..self })
    }
}

/// What a job is told of the library of an engine, where it has one.
pub(crate) fn of(engine: &str) -> Option<Described> {
    engine_library::of(engine).cloned()
}
