//! Finds MariaDB's programs.

use std::path::PathBuf;
use std::process::Command;

use embermark_libraries::search_path;

use super::NAME;
use crate::deps;
use crate::program::{Missing, Search, Variable};

pub(super) const VARIABLE: Variable = Variable {
    name: "EMBERMARK_MARIADB_DIR",
    of: "the folder of an installation",
    below: &["sbin", "bin", "scripts", "libexec"],
};

const SERVER: &str = "mariadbd";
const INSTALL: &str = "mariadb-install-db";

/// Folders of the server on Debian, which an ordinary user's search path can lack.
const BESIDE_THE_PATH: [&str; 2] = ["/usr/sbin", "/usr/libexec"];

pub(super) struct Installation {
    pub install_db: PathBuf,
    pub mariadbd: PathBuf,
    /// Folder of the installation, unless it is the one that is compiled into the programs.
    pub base: Option<PathBuf>,
    /// Version from `mariadbd --version`, for example `10.11.14`.
    pub version: String,
}

/// Finds the programs: in the variable's folder, else the downloaded release, else the system's.
pub(super) fn find() -> Result<Installation, Missing> {
    let (mut search, fetched) = (of_system(), deps::folder(NAME));
    search.install =
        deps::install_hint("make servers", "apt-get install mariadb-server-core").to_owned();
    search.folders.splice(..0, VARIABLE.below.iter().map(|below| fetched.join(below)));
    let ([mariadbd], [install_db]) = (search.find([SERVER])?, search.find([INSTALL])?);
    let base = search.named().or_else(|| mariadbd.starts_with(&fetched).then_some(fetched));
    let asked = &mut Command::new(&mariadbd);
    let version = search.version(asked.args(["--no-defaults", "--version"]), number)?;
    Ok(Installation { install_db, mariadbd, base, version })
}

/// Returns the folder of the system's installation.
pub(super) fn system() -> Result<PathBuf, Missing> {
    let search = of_system();
    let [mariadbd] = search.find_from(None, [SERVER])?;
    let base = mariadbd.ancestors().nth(2).unwrap_or(&mariadbd).to_owned();
    search.find_from(Some(&base), [INSTALL]).map(|_| base)
}

/// Returns the search path, followed by further folders.
fn of_system() -> Search {
    let mut folders = search_path::folders();
    folders.extend(BESIDE_THE_PATH.map(PathBuf::from));
    Search { variable: VARIABLE, folders, install: "apt-get install mariadb-server".to_owned() }
}

/// Returns `10.11.14` from `mariadbd  Ver 10.11.14-MariaDB-0+deb12u2 for debian-linux-gnu on
/// x86_64`.
fn number(said: &str) -> Option<String> {
    let (number, rest) = said.split_whitespace().nth(2)?.split_once('-')?;
    rest.starts_with("MariaDB").then(|| number.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_number_before_the_name() {
        let said = "mariadbd  Ver 10.11.14-MariaDB-0+deb12u2 for debian-linux-gnu on x86_64 (x)";
        assert_eq!(number(said).as_deref(), Some("10.11.14"));
        assert_eq!(number("mysqld  Ver 8.0.36 for Linux"), None);
        assert_eq!(number(""), None);
    }
}
