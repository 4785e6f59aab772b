//! Valkey's own check.

use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use super::NAME;
use super::installation;
use crate::{Checked, EngineError, Result};

/// The programs that check files are the server under other names
/// (<https://valkey.io/topics/persistence/#what-should-i-do-if-my-aof-gets-corrupted>): one for the
/// beginning of an append-only file, which has a checksum, and one for the following commands. The
/// latter also accepts the files' manifest, but since 9.1 reports an error in every one, because it
/// does not know how they begin now.
const PROGRAMS: [(&str, &str); 2] = [("rdb", "valkey-check-rdb"), ("aof", "valkey-check-aof")];

/// Checks the append-only files in a folder. It does not compare them with the memory, from which
/// the server answers.
pub(super) fn files(folder: &Path) -> Result<Checked> {
    let (server, _) = installation::find().map_err(|missing| missing.error(NAME))?;
    let mut checked = Checked::new("valkey-check-rdb, valkey-check-aof");
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
