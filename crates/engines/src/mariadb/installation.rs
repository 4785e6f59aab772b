//! Finding MariaDB's programs.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Names the folder of an installation, with `bin`, `sbin` and `scripts` below it.
const VARIABLE: &str = "EMBERMARK_MARIADB_DIR";

/// Where the server lies on Debian and its kin; an ordinary user's search path may lack it.
const BESIDE_THE_PATH: [&str; 2] = ["/usr/sbin", "/usr/libexec"];

const INSTALL: &str = "apt-get install mariadb-server";

/// The programs of one version.
pub(super) struct Installation {
    pub install_db: PathBuf,
    pub mariadbd: PathBuf,
    /// The folder the programs were told to be in, if they were.
    pub base: Option<PathBuf>,
    /// As `mariadbd --version` says it, for example `10.11.14`.
    pub version: String,
}

/// It cannot run here.
pub(super) struct Missing {
    pub why: String,
    pub remedy: String,
}

/// Finds the programs: those of the variable, else of the search path and beside it.
///
/// # Errors
/// When one is missing, or does not run.
pub(super) fn find() -> Result<Installation, Missing> {
    let base = env::var_os(VARIABLE).map(PathBuf::from);
    let folders: Vec<PathBuf> = match &base {
        Some(base) => ["sbin", "bin", "scripts"].map(|folder| base.join(folder)).to_vec(),
        None => {
            let path = env::var_os("PATH").unwrap_or_default();
            env::split_paths(&path).chain(BESIDE_THE_PATH.map(PathBuf::from)).collect()
        }
    };
    let program = |name: &str| {
        // Absolute, because the server is not started in this process's directory.
        let mut places = folders.iter().filter(|folder| folder.is_absolute());
        let found = places.find_map(|folder| Some(folder.join(name)).filter(|path| path.is_file()));
        found.ok_or_else(|| match &base {
            Some(base) => Missing {
                why: format!("no {name} below {}, which {VARIABLE} names", base.display()),
                remedy: "name the folder of an installation, or unset the variable".to_owned(),
            },
            None => Missing { why: format!("no {name} found"), remedy: INSTALL.to_owned() },
        })
    };
    let (mariadbd, install_db) = (program("mariadbd")?, program("mariadb-install-db")?);
    let version = version(&mariadbd).map_err(|why| Missing { why, remedy: INSTALL.to_owned() })?;
    Ok(Installation { install_db, mariadbd, base, version })
}

fn version(mariadbd: &Path) -> Result<String, String> {
    let failed = |why: String| format!("{} --version failed: {why}", mariadbd.display());
    let output = Command::new(mariadbd).args(["--no-defaults", "--version"]).output();
    let output = output.map_err(|e| failed(e.to_string()))?;
    match number(&String::from_utf8_lossy(&output.stdout)) {
        Some(version) if output.status.success() => Ok(version),
        _ => Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned())),
    }
}

/// `mariadbd  Ver 10.11.14-MariaDB-0+deb12u2 for debian-linux-gnu on x86_64` gives `10.11.14`.
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
