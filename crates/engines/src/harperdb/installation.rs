//! Finds HarperDB and the Node.js that runs it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::NAME;
use crate::deps;
use crate::program::{Missing, Search, Variable, node};

pub(super) const VARIABLE: Variable =
    Variable { name: "EMBERMARK_HARPERDB", of: "the folder of the package", below: &[""] };

/// The version that the user is asked to install: the last npm package of that name.
const WANTED: &str = "4.7.29";

const PROGRAM: &str = "bin/harperdb.js";

/// The package and the program that runs it.
pub(super) struct Installation {
    pub node: PathBuf,
    /// The program of the package, a JavaScript file.
    pub program: PathBuf,
    /// The version in its `package.json`.
    pub version: String,
}

/// Finds the package in the folder that the variable names, or else in the one next to this
/// program.
pub(super) fn find() -> Result<Installation, Missing> {
    let ours = deps::folder(NAME);
    let prefix = ours.display();
    let install =
        format!("npm install --prefix {prefix} harperdb@{WANTED}, which accepts its licence");
    let folders = vec![ours.join("node_modules/harperdb")];
    let search = Search { variable: VARIABLE, folders, install };
    let [program, package] = search.find([PROGRAM, "package.json"])?;
    let version =
        version(&package).map_err(|why| search.missing(format!("{} {why}", package.display())))?;
    Ok(Installation { node: node()?, program, version })
}

/// Reads the version in a `package.json`.
fn version(package: &Path) -> Result<String, String> {
    let text = fs::read(package).map_err(|error| format!("could not be read: {error}"))?;
    let json: Value =
        serde_json::from_slice(&text).map_err(|error| format!("is not JSON: {error}"))?;
    match (json["name"].as_str(), json["version"].as_str()) {
        (Some(NAME), Some(version)) => Ok(version.to_owned()),
        _ => Err("belongs to another package".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_known_by_its_name_and_its_version() {
        let dir = tempfile::tempdir().unwrap();
        let package = dir.path().join("package.json");
        let says = |text: &str| {
            fs::write(&package, text).unwrap();
            version(&package)
        };
        assert!(says("name").unwrap_err().contains("is not JSON"));
        let other = r#"{"name": "other", "version": "1.0.0"}"#;
        assert!(says(other).unwrap_err().contains("belongs to another package"));
        let its = r#"{"name": "harperdb", "version": "4.7.29"}"#;
        assert_eq!(says(its).as_deref(), Ok("4.7.29"));
        assert!(version(dir.path()).unwrap_err().contains("could not be read"));
    }
}
