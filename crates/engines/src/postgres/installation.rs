//! Finding PostgreSQL's programs.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::server::Account;

/// Names a folder that holds the programs.
const VARIABLE: &str = "EMBERMARK_POSTGRES_BIN";

/// Where Debian and its kin put them, by version, away from the search path.
const BY_VERSION: &str = "/usr/lib/postgresql";

const INSTALL: &str = "apt-get install postgresql";

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

/// It cannot run here.
pub(super) struct Missing {
    pub why: String,
    pub remedy: String,
}

/// Finds the programs: those of the variable, else of the search path, else the newest.
pub(super) fn find() -> Result<Installation, Missing> {
    let missing = |why: String, remedy: &str| Missing { why, remedy: remedy.to_owned() };
    let set = env::var_os(VARIABLE).map(PathBuf::from);
    let folders = match &set {
        Some(folder) => vec![folder.clone()],
        None => search_path().chain(by_version(Path::new(BY_VERSION))).collect(),
    };
    let Some(folder) = folders.iter().find(|folder| holds_programs(folder)) else {
        return Err(match set {
            Some(set) => missing(
                format!("no initdb/postgres in {}, which {VARIABLE} names", set.display()),
                "name the folder that holds them, or unset the variable",
            ),
            None => missing("no initdb/postgres found".to_owned(), INSTALL),
        });
    };
    let postgres = folder.join("postgres");
    let version = version(&postgres).map_err(|why| missing(why, INSTALL))?;
    let account = Account::unprivileged(USER)
        .map_err(|no| missing(no.to_string(), "useradd --system --no-create-home postgres"))?;
    Ok(Installation { initdb: folder.join("initdb"), postgres, version, account })
}

fn holds_programs(folder: &Path) -> bool {
    // Absolute, because the server is not started in this process's directory.
    folder.is_absolute() && ["initdb", "postgres"].iter().all(|name| folder.join(name).is_file())
}

fn search_path() -> impl Iterator<Item = PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).collect::<Vec<_>>().into_iter()
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
fn version(postgres: &Path) -> Result<String, String> {
    let failed = |why: String| format!("{} --version failed: {why}", postgres.display());
    let output = Command::new(postgres).arg("--version").output();
    let output = output.map_err(|e| failed(e.to_string()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    match text.split_whitespace().nth(2) {
        Some(version) if output.status.success() => Ok(version.to_owned()),
        _ => Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_comes_first_by_number() {
        let root = tempfile::tempdir().unwrap();
        for name in ["9", "15", "16", "common"] {
            fs::create_dir(root.path().join(name)).unwrap();
        }
        let expected = ["16", "15", "9"].map(|v| root.path().join(v).join("bin"));
        assert_eq!(by_version(root.path()), expected);
        assert_eq!(by_version(Path::new("/nowhere")), Vec::<PathBuf>::new());
    }
}
