//! Finds InfluxDB's program.

use std::path::PathBuf;
use std::process::Command;

use super::NAME;
use crate::deps;
use crate::program::{Missing, Search, Variable};

pub(super) const VARIABLE: Variable =
    Variable { name: "EMBERMARK_INFLUXD", of: "the program `influxd`", below: &[] };

/// Finds the program and its version, for example `1.6.7~rc0`: from the variable, else on the
/// search path, else from the package that `make servers` unpacks. Only version 1 is accepted,
/// because later versions have another query interface and other settings.
pub(super) fn find() -> Result<(PathBuf, String), Missing> {
    let ours = deps::folder(NAME).join("usr/bin");
    let search = Search::on_path(VARIABLE, ours, "install InfluxDB 1.x");
    let [influxd] = search.find(["influxd"])?;
    let version = search.version(Command::new(&influxd).arg("version"), number)?;
    if version.starts_with("1.") {
        return Ok((influxd, version));
    }
    Err(Missing {
        why: format!("{} is version {version}, and 1.x is needed", influxd.display()),
        remedy: format!("name a 1.x by {}, or {}", search.variable.name, search.install),
    })
}

/// Returns `1.6.7~rc0` from `InfluxDB v1.6.7~rc0 (git: unknown unknown)`.
fn number(said: &str) -> Option<String> {
    let version = said.split_whitespace().nth(1)?;
    Some(version.strip_prefix('v').unwrap_or(version).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_second_word_without_its_letter() {
        let said = "InfluxDB v1.6.7~rc0 (git: unknown unknown)";
        assert_eq!(number(said).as_deref(), Some("1.6.7~rc0"));
        assert_eq!(number("InfluxDB 2.7.1 (git: x)").as_deref(), Some("2.7.1"));
        assert_eq!(number("InfluxDB"), None);
    }
}
