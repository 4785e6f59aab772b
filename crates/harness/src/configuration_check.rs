//! Opens each configuration before anything is measured, to find settings that an engine refuses.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use embermark_engines::OWN_DURABILITY;
use embermark_model::{Configuration, Configurations, Durability};

use crate::facts::ask;
use crate::request::OpenAttempts;
use crate::worker_command::WorkerCommand;
use crate::{Catalog, HarnessError};

/// Opens an empty database of each configuration in each tier, if its engine is installed, to find
/// settings that the engine refuses. Each database has its own process and its own folder in `dir`.
/// Returns remarks about settings whose reported values differ from the tier's. Skips a
/// configuration that only has a client, because it opens like its engine.
///
/// # Errors
/// If an engine refuses a setting, or a library does not exist. The error gives the first one, in
/// the engine's words.
pub fn check_settings(
    all: &Configurations,
    tiers: &[Durability],
    dir: &Path,
    worker: &WorkerCommand,
    catalog: &Catalog,
) -> Result<Vec<String>, HarnessError> {
    let mut says = Vec::new();
    let differs = |own: &Configuration| own.has_settings() || own.library.is_some();
    for (name, configuration) in all.iter().filter(|(_, own)| differs(own)) {
        // A private server may run as another user.
        let folder = tempfile::Builder::new()
            .prefix("embermark-try-")
            .permissions(Permissions::from_mode(0o755))
            .tempdir_in(dir)
            .map_err(|error| HarnessError::file(dir, "make a folder in it", error))?;
        let settings = configuration.pairs();
        let (folder, tiers) = (folder.path().to_owned(), tiers.to_owned());
        let tries = OpenAttempts { folder, tiers, settings };
        let facts = ask(worker, catalog, name, configuration, Some(tries))?;
        let refused = |why| HarnessError::Plan(format!("configuration '{name}' {why}"));
        for (known, own) in facts.opened.map_err(refused)?.into_iter().flatten() {
            if known == OWN_DURABILITY {
                says.push(format!(
                    "configuration {name}: {own}: its durability is what its author claims"
                ));
            }
        }
    }
    Ok(says)
}
