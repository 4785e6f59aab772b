//! Finding MariaDB's programs.

use std::path::PathBuf;
use std::process::Command;

use crate::program::{Missing, Search, Variable, search_path};

pub(super) const VARIABLE: Variable = Variable {
    name: "EMBERMARK_MARIADB_DIR",
    of: "the folder of an installation",
    below: &["sbin", "bin", "scripts"],
};

/// Where the server lies on Debian and its kin; an ordinary user's search path may lack it.
const BESIDE_THE_PATH: [&str; 2] = ["/usr/sbin", "/usr/libexec"];

/// The programs of one version.
pub(super) struct Installation {
    pub install_db: PathBuf,
    pub mariadbd: PathBuf,
    /// The folder the programs were told to be in, if they were.
    pub base: Option<PathBuf>,
    /// As `mariadbd --version` says it, for example `10.11.14`.
    pub version: String,
}

/// Finds the programs: those of the variable, else of the search path and beside it.
pub(super) fn find() -> Result<Installation, Missing> {
    let mut folders = search_path();
    folders.extend(BESIDE_THE_PATH.map(PathBuf::from));
    let install = "apt-get install mariadb-server".to_owned();
    let search = Search { variable: VARIABLE, folders, install };
    let ([mariadbd], [install_db]) =
        (search.find(["mariadbd"])?, search.find(["mariadb-install-db"])?);
    let asked = &mut Command::new(&mariadbd);
    let version = search.version(asked.args(["--no-defaults", "--version"]), number)?;
    Ok(Installation { install_db, mariadbd, base: search.named(), version })
}

/// `mariadbd  Ver 10.11.14-MariaDB-0+deb12u2 for debian-linux-gnu on x86_64` gives `10.11.14`.
fn number(said: &str) -> Option<String> {
    let (number, rest) = said.split_whitespace().nth(2)?.split_once('-')?;
    rest.starts_with("MariaDB").then(|| number.to_owned())
}

#[cfg(test)]
mod tests;
