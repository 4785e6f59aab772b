//! Finds PostgreSQL's programs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use embermark_libraries::search_path;

use super::NAME;
use crate::deps;
use crate::program::{Missing, Search, Variable};
use crate::server::Account;

pub(super) const VARIABLE: Variable =
    Variable { name: "EMBERMARK_POSTGRES_BIN", of: "the folder that holds them", below: &[""] };

const PROGRAMS: [&str; 2] = ["initdb", "postgres"];

/// Debian's folder of the programs by version, outside the search path.
const BY_VERSION: &str = "/usr/lib/postgresql";

/// Users to run the server as when this process is root: the user of Debian's package, or one that
/// owns nothing.
const USERS: [&str; 2] = ["postgres", "nobody"];

pub(super) struct Installation {
    pub initdb: PathBuf,
    pub postgres: PathBuf,
    /// Version from `postgres --version`, for example `15.14`.
    pub version: String,
    pub account: Account,
}

/// Finds the programs: in the variable's folder, else the downloaded release, else the system's.
pub(super) fn find() -> Result<Installation, Missing> {
    let mut search = Search {
        install: deps::install_hint("make servers", "apt-get install postgresql").to_owned(),
        ..of_system()
    };
    // It can be a link into a folder that other users can read.
    search.folders.splice(..0, deps::folder(NAME).canonicalize().map(|folder| folder.join("bin")));
    let [initdb, postgres] = search.find(PROGRAMS)?;
    let account = Account::unprivileged(&postgres, &USERS).map_err(|why| Missing {
        why,
        remedy: "useradd --system --no-create-home postgres".to_owned(),
    })?;
    // As the user who will start it, and may not be able to.
    let mut asked = Command::new(&postgres);
    account.run(asked.current_dir("/").arg("--version"));
    let version = search.version(&mut asked, number)?;
    Ok(Installation { initdb, postgres, version, account })
}

/// Returns the system's folder.
pub(super) fn system() -> Result<PathBuf, Missing> {
    let [mut program, _] = of_system().find_from(None, PROGRAMS)?;
    program.pop();
    Ok(program)
}

/// Returns the search path, followed by Debian's folders, newest first.
fn of_system() -> Search {
    let mut folders = search_path::folders();
    folders.extend(by_version(Path::new(BY_VERSION)));
    Search { variable: VARIABLE, folders, install: "apt-get install postgresql".to_owned() }
}

/// Returns the `bin` of every version below `root`, newest first.
fn by_version(root: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    let mut found: Vec<(u32, PathBuf)> = entries
        .filter_map(|e| Some((e.file_name().to_str()?.parse().ok()?, e.path().join("bin"))))
        .collect();
    found.sort_by(|a, b| b.cmp(a));
    found.into_iter().map(|(_, bin)| bin).collect()
}

/// Returns `15.14` from `postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)`.
fn number(said: &str) -> Option<String> {
    said.split_whitespace().nth(2).map(str::to_owned)
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

    #[test]
    fn the_version_is_the_number_after_the_name() {
        let said = "postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)";
        assert_eq!(number(said).as_deref(), Some("15.14"));
        assert_eq!(number("postgres"), None);
    }
}
