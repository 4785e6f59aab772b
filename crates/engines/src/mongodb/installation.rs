//! Finding MongoDB's server.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use crate::deps;

/// Names the program.
const VARIABLE: &str = "EMBERMARK_MONGOD";

/// What fetches the one that needs nothing of the system.
const INSTALL: &str = "make servers";

/// A server program that runs here.
pub(super) struct Installation {
    pub mongod: PathBuf,
    /// Folder of the libraries that came with it.
    pub libraries: Option<PathBuf>,
    /// As `mongod --version` says it, for example `6.0.27`.
    pub version: String,
}

impl Installation {
    /// What it needs in its environment.
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        environment(self.libraries.as_deref())
    }
}

/// It cannot run here.
pub(super) struct Missing {
    pub why: String,
    pub remedy: String,
}

/// Finds the program: that of the variable, else of the search path, else our own copy.
pub(super) fn find() -> Result<Installation, Missing> {
    let missing = |why, remedy: &str| Missing { why, remedy: remedy.to_owned() };
    let (mongod, libraries) = match env::var_os(VARIABLE).map(PathBuf::from) {
        // Absolute, because the server is not started in this process's directory.
        Some(set) if set.is_absolute() && set.is_file() => (set, None),
        Some(set) => {
            let why = format!("{VARIABLE} names {}, no absolute path of a file", set.display());
            return Err(missing(why, "name the program `mongod`, or unset the variable"));
        }
        None => match on_search_path() {
            Some(found) => (found, None),
            None => {
                let folder = deps::folder("mongodb");
                // The server is told absolute paths only.
                let folder = fs::canonicalize(&folder).unwrap_or(folder);
                (folder.join("bin/mongod"), Some(folder.join("lib")))
            }
        },
    };
    if !mongod.is_file() {
        return Err(missing("no mongod found".to_owned(), INSTALL));
    }
    let version = version(&mongod, libraries.as_deref()).map_err(|why| missing(why, INSTALL))?;
    Ok(Installation { mongod, libraries, version })
}

fn environment(libraries: Option<&Path>) -> Vec<(OsString, OsString)> {
    // Messages in English, times in UTC, whatever the user's environment says.
    let mut set = vec![("LC_ALL".into(), "C".into()), ("TZ".into(), "UTC".into())];
    set.extend(libraries.map(|folder| ("LD_LIBRARY_PATH".into(), folder.into())));
    set
}

fn on_search_path() -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path)
        .map(|folder| folder.join("mongod"))
        .find(|mongod| mongod.is_absolute() && mongod.is_file())
}

/// The first line, `db version v6.0.27`, gives `6.0.27`.
fn version(mongod: &Path, libraries: Option<&Path>) -> Result<String, String> {
    let failed = |why: String| format!("{} --version failed: {why}", mongod.display());
    let output = Command::new(mongod).arg("--version").envs(environment(libraries)).output();
    let output = output.map_err(|e| failed(e.to_string()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    match text.lines().next().and_then(|line| line.strip_prefix("db version v")) {
        Some(version) if output.status.success() => Ok(version.trim().to_owned()),
        _ => Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned())),
    }
}
