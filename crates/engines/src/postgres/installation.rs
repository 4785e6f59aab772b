//! Finding PostgreSQL's programs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::program::{Missing, Search, Variable, search_path};
use crate::server::Account;

pub(super) const VARIABLE: Variable =
    Variable { name: "EMBERMARK_POSTGRES_BIN", of: "the folder that holds them", below: &[""] };

/// Where Debian and its kin put them, by version, away from the search path.
const BY_VERSION: &str = "/usr/lib/postgresql";

/// The user Debian's package creates; root has to run the server as somebody else.
const USER: &str = "postgres";

/// The programs of one version.
pub(super) struct Installation {
    pub initdb: PathBuf,
    pub postgres: PathBuf,
    /// As `postgres --version` says it, for example `15.14`.
    pub version: String,
    pub account: Account,
}

/// Finds the programs: those of the variable, else of the search path, else the newest.
pub(super) fn find() -> Result<Installation, Missing> {
    let mut folders = search_path();
    folders.extend(by_version(Path::new(BY_VERSION)));
    let install = "apt-get install postgresql".to_owned();
    let search = Search { variable: VARIABLE, folders, install };
    let [initdb, postgres] = search.find(["initdb", "postgres"])?;
    let version = search.version(Command::new(&postgres).arg("--version"), number)?;
    let account = Account::unprivileged(USER).map_err(|why| Missing {
        why,
        remedy: "useradd --system --no-create-home postgres".to_owned(),
    })?;
    Ok(Installation { initdb, postgres, version, account })
}

/// The `bin` of every version below `root`, newest first.
fn by_version(root: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    let mut found: Vec<(u32, PathBuf)> = entries
        .filter_map(|e| Some((e.file_name().to_str()?.parse().ok()?, e.path().join("bin"))))
        .collect();
    found.sort_by(|a, b| b.cmp(a));
    found.into_iter().map(|(_, bin)| bin).collect()
}

/// `postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)` gives `15.14`.
fn number(said: &str) -> Option<String> {
    said.split_whitespace().nth(2).map(str::to_owned)
}

#[cfg(test)]
mod tests;
