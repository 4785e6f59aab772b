//! Engines in shared libraries: `--engine-library`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use embermark_harness::{WorkerCommand, add_engine_library};
use embermark_model::EngineLibrary;

use crate::error::Failure;

/// Registers the engines of libraries in this process, and returns them by id.
pub fn engine_libraries(paths: &[PathBuf]) -> Result<BTreeMap<String, EngineLibrary>, Failure> {
    let worker = WorkerCommand::this_program()?;
    let added = paths.iter().map(|path| {
        let described = add_engine_library(path, &worker)?;
        Ok((described.about.id, described.library))
    });
    added.collect()
}

/// Returns the named engines. Without any, returns those of libraries, or else `default`.
pub fn ids_or(
    named: Vec<String>,
    paths: &[PathBuf],
    default: &str,
) -> Result<Vec<String>, Failure> {
    if !named.is_empty() {
        return Ok(named);
    }
    let libraries = engine_libraries(paths)?;
    Ok(match libraries.is_empty() {
        true => vec![default.to_owned()],
        false => libraries.into_keys().collect(),
    })
}
