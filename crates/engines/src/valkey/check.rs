//! Valkey's own check.

use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use super::NAME;
use super::installation;
use crate::{Checked, EngineError, Result};

/// The programs that check files are the server's, by other names
/// (<https://valkey.io/topics/persistence/#what-should-i-do-if-my-aof-gets-corrupted>): what an
/// append-only file began with, with its checksum, and the commands that followed. The latter takes the
/// files' manifest too, but of 9.1 finds fault with every one: it does not know how these begin now.
const PROGRAMS: [(&str, &str); 2] = [("rdb", "valkey-check-rdb"), ("aof", "valkey-check-aof")];

/// Checks the append-only files in a folder. What is in memory, from which the server answers, it does not
/// compare with them.
pub(super) fn files(folder: &Path) -> Result<Checked> {
    let (server, _) = installation::find().map_err(|missing| missing.error(NAME))?;
    let mut checked = Checked::by("valkey-check-rdb, valkey-check-aof");
    let read = |error: io::Error| EngineError::file(NAME, "read", folder, error);
    for file in fs::read_dir(folder).map_err(read)? {
        let file = file.map_err(read)?.path();
        let kind = file.extension().unwrap_or_default();
        let Some((_, program)) = PROGRAMS.iter().find(|(known, _)| *known == kind) else {
            continue;
        };
        let output = Command::new(&server).arg0(program).arg(&file).output();
        let output = output.map_err(|e| EngineError::file(NAME, "start", &server, e))?;
        if !output.status.success() {
            checked.found(String::from_utf8_lossy(&output.stdout));
            checked.found(String::from_utf8_lossy(&output.stderr));
            checked.found(format!("{program} {}: {}", file.display(), output.status));
        }
    }
    Ok(checked)
}
