//! Imitated storages: `--storage`.

use std::path::Path;

use embermark_model::Storage;
use embermark_storage::{built_in, parse};

use super::cards::is_file;
use crate::error::Failure;

/// Returns the storages with these names or in these files. `none` is this machine's own disk.
pub fn storages(given: &[String]) -> Result<Vec<Option<Storage>>, Failure> {
    let mut storages: Vec<Option<Storage>> = Vec::new();
    for given in given {
        let storage = match given.as_str() {
            "none" => None,
            file if is_file(file) => Some(of_file(Path::new(file))?),
            name => Some(named(name)?),
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

fn named(name: &str) -> Result<Storage, Failure> {
    built_in(name).map_err(|error| {
        Failure::usage(format!(
            "--storage: {error}; or a file of your own, FILE.toml (docs/storage.md)"
        ))
    })
}

/// Reads a storage from a file, whose name it gets.
fn of_file(path: &Path) -> Result<Storage, Failure> {
    let refused = |why: String| Failure::usage(format!("--storage {}: {why}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
    let name = path.file_stem().map(|name| name.to_string_lossy().into_owned());
    parse(&name.unwrap_or_default(), &text).map_err(|error| refused(error.to_string()))
}
