//! The end of a server's log, for error messages.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

const LINES: usize = 10;
const BYTES: u64 = 8 * 1024;

/// Returns the last lines of a log from the byte `from` on, each on an indented line.
pub(super) fn last_lines(path: &Path, from: u64) -> String {
    let text = match tail(path, from) {
        Ok(text) => text,
        Err(error) => return format!(" (unreadable: {error})"),
    };
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    if lines.is_empty() {
        return " (empty)".to_owned();
    }
    let last = &lines[lines.len().saturating_sub(LINES)..];
    last.iter().flat_map(|line| ["\n  ", line]).collect()
}

fn tail(path: &Path, from: u64) -> io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(from.max(length.saturating_sub(BYTES))))?;
    let mut bytes = Vec::new();
    file.take(BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
