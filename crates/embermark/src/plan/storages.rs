//! Imitated storages: `--storage`.

use embermark_model::Storage;
use embermark_storage::{built_in, parse};

use super::models::model;
use crate::error::Failure;

/// Returns the storages with these names or in these files. `none` is this machine's own disk.
pub fn storages(given: &[String]) -> Result<Vec<Option<Storage>>, Failure> {
    let mut storages: Vec<Option<Storage>> = Vec::new();
    for given in given {
        let storage = match given.as_str() {
            "none" => None,
            given => Some(model(("--storage", "docs/storage.md"), given, built_in, parse)?),
        };
        let name = |storage: &Option<Storage>| storage.as_ref().map(|storage| storage.name);
        match storages.iter().find(|known| name(known) == name(&storage)) {
            Some(known) if *known != storage => {
                return Err(Failure::usage(format!(
                    "--storage: two storages are called '{}': give one of the files another name",
                    storage.map(|storage| storage.name.to_string()).unwrap_or_default()
                )));
            }
            Some(_) => {}
            None => storages.push(storage),
        }
    }
    Ok(storages)
}
