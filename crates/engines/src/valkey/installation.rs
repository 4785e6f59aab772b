//! Finds Valkey's server.

use std::path::PathBuf;
use std::process::Command;

use super::NAME;
use crate::deps;
use crate::program::{Missing, Search, Variable};

pub(super) const SERVER: &str = "valkey-server";

pub(super) const VARIABLE: Variable =
    Variable { name: "EMBERMARK_VALKEY", of: "the program `valkey-server`", below: &[] };

/// Finds the program and its version, for example `9.1.2`: in the variable's folder, else on the
/// search path, else the downloaded copy, which only needs the C library.
pub(super) fn find() -> Result<(PathBuf, String), Missing> {
    let ours = deps::folder(NAME).join("bin");
    let search = Search::on_path(VARIABLE, ours, "apt-get install valkey-server");
    let [server] = search.find([SERVER])?;
    let version = search.version(Command::new(&server).arg("--version"), number)?;
    Ok((server, version))
}

/// Returns `9.1.2` from `Valkey server v=9.1.2 sha=…`. Redis' server prints its own name.
fn number(said: &str) -> Option<String> {
    let rest = said.strip_prefix("Valkey server v=")?;
    rest.split_whitespace().next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_valkeys_and_no_other_servers() {
        let said = "Valkey server v=9.1.2 sha=00000000:1 malloc=libc bits=64 build=1536df31";
        assert_eq!(number(said).as_deref(), Some("9.1.2"));
        assert_eq!(number("Redis server v=7.0.15 sha=00000000:0"), None);
    }
}
