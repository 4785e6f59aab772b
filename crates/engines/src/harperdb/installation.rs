//! Finding HarperDB and the Node.js that runs it.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::NAME;
use crate::deps;

/// Names another folder that holds the package.
const VARIABLE: &str = "EMBERMARK_HARPERDB";

/// The version that `npm` is told to get: the last one that is an npm package of that name.
const WANTED: &str = "4.7.29";

/// The package and the program that runs it.
pub(super) struct Installation {
    pub node: PathBuf,
    /// The package's own program, a JavaScript file.
    pub program: PathBuf,
    /// As its `package.json` says it.
    pub version: String,
}

/// It cannot run here.
pub(super) struct Missing {
    pub why: String,
    pub remedy: String,
}

/// Finds the package: the folder of the variable, else the one beside this program.
pub(super) fn find() -> Result<Installation, Missing> {
    let set = env::var_os(VARIABLE).map(PathBuf::from);
    let ours = deps::folder(NAME);
    let package = set.clone().unwrap_or_else(|| ours.join("node_modules/harperdb"));
    let missing = |why: String, remedy: String| Missing { why, remedy };
    let version = version(&package).map_err(|why| {
        let remedy = match set {
            Some(_) => format!("name the folder of the package in {VARIABLE}, or unset it"),
            None => format!(
                "npm install --prefix {} harperdb@{WANTED}, which accepts its licence",
                ours.display()
            ),
        };
        missing(why, remedy)
    })?;
    let node = on_path("node").ok_or_else(|| {
        missing("there is no `node` on the search path".to_owned(), "apt-get install nodejs".into())
    })?;
    Ok(Installation { node, program: package.join("bin/harperdb.js"), version })
}

/// The version of a package that is complete.
fn version(package: &Path) -> Result<String, String> {
    let failed = |why: String| format!("no HarperDB package in {}: {why}", package.display());
    // Absolute, because the server is not started in this process's directory.
    if !package.is_absolute() {
        return Err(failed("the path is not an absolute one".to_owned()));
    }
    if !package.join("bin/harperdb.js").is_file() {
        return Err(failed("it has no bin/harperdb.js".to_owned()));
    }
    let text = fs::read(package.join("package.json")).map_err(|e| failed(e.to_string()))?;
    let json: Value = serde_json::from_slice(&text).map_err(|e| failed(e.to_string()))?;
    match (json["name"].as_str(), json["version"].as_str()) {
        (Some(NAME), Some(version)) => Ok(version.to_owned()),
        _ => Err(failed("its package.json is another one's".to_owned())),
    }
}

fn on_path(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let mut files = env::split_paths(&path).map(|folder| folder.join(program));
    files.find(|file| file.is_absolute() && file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_known_by_its_program_its_name_and_its_version() {
        let dir = tempfile::tempdir().unwrap();
        let package = dir.path();
        assert!(version(package).unwrap_err().contains("no bin/harperdb.js"));
        fs::create_dir(package.join("bin")).unwrap();
        fs::write(package.join("bin/harperdb.js"), "").unwrap();
        fs::write(package.join("package.json"), r#"{"name": "other", "version": "1.0.0"}"#)
            .unwrap();
        assert!(version(package).unwrap_err().contains("another one's"));
        fs::write(package.join("package.json"), r#"{"name": "harperdb", "version": "4.7.29"}"#)
            .unwrap();
        assert_eq!(version(package).as_deref(), Ok("4.7.29"));
        assert!(version(Path::new("here")).unwrap_err().contains("not an absolute"));
    }
}
