//! Finds MongoDB's server.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use super::NAME;
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
    match lacks(version) {
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
    let search = Search::on_path(VARIABLE, ours.join("bin"), "install MongoDB");
    let [mongod] = search.find(["mongod"])?;
    let is_ours = fs::canonicalize(&mongod).is_ok_and(|mongod| mongod.starts_with(&ours));
    let libraries = ("LD_LIBRARY_PATH".into(), ours.join("lib").into());
    let environment = if is_ours { vec![libraries] } else { Vec::new() };
    let asked = &mut Command::new(&mongod);
    let asked = asked.arg("--version").envs(environment.iter().cloned());
    let version = search.version(asked, number)?;
    Ok(Installation { mongod, environment, version })
}

/// Returns `6.0.27` from the first line, `db version v6.0.27`.
fn number(said: &str) -> Option<String> {
    Some(said.lines().next()?.strip_prefix("db version v")?.trim().to_owned())
}

/// Returns what this CPU lacks for a server of this version. Such a server dies of an illegal
/// instruction when it starts.
///
/// Since 5.0 it needs AVX on x86-64, and ARM v8.2-A on 64-bit ARM
/// (<https://www.mongodb.com/docs/manual/administration/production-notes/#platform-support-notes>).
/// Of v8.2-A's additions to v8.0, compilers use the atomic instructions (LSE) everywhere.
fn lacks(version: &str) -> Option<&'static str> {
    #[cfg(target_arch = "x86_64")]
    let (has, what) = (std::arch::is_x86_feature_detected!("avx"), "AVX");
    #[cfg(target_arch = "aarch64")]
    let (has, what) = (std::arch::is_aarch64_feature_detected!("lse"), "ARM v8.2-A");
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let (has, what) = (true, "");
    (!has && needs_them(version)).then_some(what)
}

fn needs_them(version: &str) -> bool {
    let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
    major.is_some_and(|major| major >= 5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_since_5_0_need_more_of_a_cpu() {
        assert!(needs_them("5.0.3") && needs_them("8.0.1") && needs_them("10.0.0"));
        assert!(!needs_them("4.4.29") && !needs_them("unknown"));
    }

    #[test]
    fn the_version_is_that_of_the_first_line() {
        assert_eq!(number("db version v6.0.27\nBuild Info: {}").as_deref(), Some("6.0.27"));
        assert_eq!(number("version 6.0.27"), None);
    }
}
