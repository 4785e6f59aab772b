//! Computes the plan's name, which distinguishes the results of different plans.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::error::at;
use crate::{FleetError, Result};

/// Folder of a fleet's plan.
pub(crate) const FOLDER: &str = "plan";

/// Returns the first 12 digits of the digest over all files of the folder with their names. It
/// is what `find . -type f | LC_ALL=C sort | xargs sha256sum | sha256sum` prints there, so that the
/// role computes the same.
pub(crate) fn id(fleet: &Path) -> Result<String> {
    let folder = fleet.join(FOLDER);
    if !folder.join("plan.toml").is_file() {
        return Err(FleetError::NoFleet(fleet.to_owned(), "plan/plan.toml"));
    }
    let mut digests = BTreeMap::new();
    add_digests(&folder, ".", &mut digests)?;
    let line = |(name, digest): (&String, &String)| format!("{digest}  {name}\n");
    let mut id = hex(&Sha256::digest(digests.iter().map(line).collect::<String>()));
    id.truncate(12);
    Ok(id)
}

/// Adds the digest of each file below a folder by its path.
fn add_digests(folder: &Path, at_path: &str, digests: &mut BTreeMap<String, String>) -> Result<()> {
    for entry in fs::read_dir(folder).map_err(at(folder))? {
        let path = entry.map_err(at(folder))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = format!("{at_path}/{name}");
        if path.is_dir() {
            add_digests(&path, &name, digests)?;
        } else {
            let text = fs::read(&path).map_err(at(&path))?;
            digests.insert(name, hex(&Sha256::digest(text)));
        }
    }
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_plan_has_the_name_that_the_role_gives_it() {
        let fleet = tempfile::tempdir().unwrap();
        let plan = fleet.path().join(FOLDER);
        fs::create_dir_all(plan.join("rows/of a week")).unwrap();
        fs::write(plan.join("plan.toml"), "engines = [\"sqlite\"]\n").unwrap();
        fs::write(plan.join("rows.toml"), "x").unwrap();
        fs::write(plan.join("rows/of a week/a b.csv"), "1,2\n").unwrap();
        let defaults = include_str!("../files/roles/embermark/defaults/main.yml");
        let line = defaults.lines().find(|line| line.starts_with("embermark_plan_id:")).unwrap();
        let (_, command) = line.split_once(" && ").unwrap();
        let command = command.split_once("') }}").unwrap().0.replace("\\\"", "\"");
        let command = command.replace("\\\\n", "\\n");
        let said = Command::new("sh").args(["-c", &command]).current_dir(&plan).output().unwrap();
        assert_eq!(String::from_utf8(said.stdout).unwrap().trim(), id(fleet.path()).unwrap());
        let first = id(fleet.path()).unwrap();
        fs::write(plan.join("rows.toml"), "y").unwrap();
        assert_ne!(id(fleet.path()).unwrap(), first);
    }
}
