//! Finds MongoDB's server.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use super::{NAME, cpu};
use embermark_libraries::search_path;

use crate::deps;
use crate::program::{Missing, Search, Variable};

pub(super) const VARIABLE: Variable =
    Variable { name: "EMBERMARK_MONGOD", of: "the program `mongod`", below: &[] };

/// A server program that can run here.
pub(super) struct Installation {
    pub mongod: PathBuf,
    /// Environment variables that it needs, with the folders of its libraries.
    pub environment: Vec<(OsString, OsString)>,
    /// Version from `mongod --version`, for example `6.0.27`.
    pub version: String,
}

/// Finds the program, unless this CPU lacks what it needs.
pub(super) fn find() -> Result<Installation, Missing> {
    let located = located();
    // If no version is known, a current server would be installed.
    let version = located.as_ref().map_or("5.0", |found| &found.version);
    match cpu::lacks(version) {
        Some(lacking) => Err(Missing {
            why: format!("MongoDB since 5.0 needs {lacking}, which this CPU does not have"),
            remedy: "install MongoDB 4.4".to_owned(),
        }),
        None => located,
    }
}

/// Finds the program: in the variable's folder, else on the search path, else the downloaded copy,
/// which needs nothing of the system.
fn located() -> Result<Installation, Missing> {
    let ours = deps::folder(NAME);
    // The server only accepts absolute paths.
    let ours = fs::canonicalize(&ours).unwrap_or(ours);
    let mut folders = search_path::folders();
    folders.push(ours.join("bin"));
    let search = Search {
        variable: VARIABLE,
        folders,
        install: deps::install_hint("make servers", "install MongoDB").to_owned(),
    };
    let [mongod] = search.find(["mongod"])?;
    let is_ours = fs::canonicalize(&mongod).is_ok_and(|mongod| mongod.starts_with(&ours));
    let libraries = is_ours.then(|| ours.join("lib"));
    let environment = libraries.map(|folder| ("LD_LIBRARY_PATH".into(), folder.into()));
    let environment = Vec::from_iter(environment);
    let asked = &mut Command::new(&mongod);
    let asked = asked.arg("--version").envs(environment.iter().cloned());
    let version = search.version(asked, number)?;
    Ok(Installation { mongod, environment, version })
}

/// Returns `6.0.27` from the first line, `db version v6.0.27`.
fn number(said: &str) -> Option<String> {
    Some(said.lines().next()?.strip_prefix("db version v")?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_that_of_the_first_line() {
        assert_eq!(number("db version v6.0.27\nBuild Info: {}").as_deref(), Some("6.0.27"));
        assert_eq!(number("version 6.0.27"), None);
    }
}
