//! Finding InfluxDB's program.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::NAME;
use crate::deps;

/// Names the program.
const VARIABLE: &str = "EMBERMARK_INFLUXD";

const INSTALL: &str = "make servers";

/// The program.
pub(super) struct Installation {
    pub influxd: PathBuf,
    /// As `influxd version` says it, for example `1.6.7~rc0`.
    pub version: String,
}

/// It cannot run here.
pub(super) struct Missing {
    pub why: String,
    pub remedy: String,
}

/// Finds the program: that of the variable, else of the search path, else our own copy. Version 1 alone will do: the
/// later ones have another way of asking and other settings.
pub(super) fn find() -> Result<Installation, Missing> {
    let missing = |why: String, remedy: &str| Missing { why, remedy: remedy.to_owned() };
    let influxd = match env::var_os(VARIABLE).map(PathBuf::from) {
        Some(set) if set.is_absolute() && set.is_file() => set,
        Some(set) => {
            let why = format!("no program {}, which {VARIABLE} names", set.display());
            let remedy = "name influxd by its absolute path, or unset the variable";
            return Err(missing(why, remedy));
        }
        None => (on_search_path().or_else(unpacked))
            .ok_or_else(|| missing("no influxd found".to_owned(), INSTALL))?,
    };
    let version = version(&influxd).map_err(|why| missing(why, INSTALL))?;
    if version.starts_with("1.") {
        return Ok(Installation { influxd, version });
    }
    let why = format!("{} is version {version}, and 1.x is needed", influxd.display());
    Err(missing(why, &format!("name a 1.x by {VARIABLE}, or {INSTALL}")))
}

/// The package's program where `make servers` has unpacked it.
fn unpacked() -> Option<PathBuf> {
    let program = deps::folder(NAME).join("usr/bin/influxd");
    program.is_file().then_some(program)
}

fn on_search_path() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    // Absolute, because the server is not started in this process's directory.
    let programs = env::split_paths(&path).map(|folder| folder.join("influxd"));
    programs.into_iter().find(|program| program.is_absolute() && program.is_file())
}

/// `InfluxDB v1.6.7~rc0 (git: unknown unknown)` gives `1.6.7~rc0`.
fn version(influxd: &Path) -> Result<String, String> {
    let failed = |why: String| format!("`{} version` failed: {why}", influxd.display());
    let output = Command::new(influxd).arg("version").output();
    let output = output.map_err(|e| failed(e.to_string()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    match text.split_whitespace().nth(1) {
        Some(version) if output.status.success() => {
            Ok(version.strip_prefix('v').unwrap_or(version).to_owned())
        }
        _ => Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned())),
    }
}
