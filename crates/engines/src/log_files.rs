//! The size of an engine's log.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::{EngineError, Result};

/// Growth of the log, in bytes, after which an engine that takes no checkpoints by itself gets one.
pub(crate) const CHECKPOINT_AFTER: u64 = 64 << 20;

/// Returns the bytes of the files in `folder` whose name is that of a log. Each file counts its
/// length or its allocated bytes, whichever is less, because some engines extend a file beforehand
/// and others allocate beyond its end. A file that disappears during the call does not count.
pub(crate) fn log_files(
    engine: &'static str,
    folder: &Path,
    is_log: impl Fn(&str) -> bool,
) -> Result<u64> {
    const BLOCK: u64 = 512; // the unit of st_blocks, whatever the file system's own
    let failed = |error| EngineError::file(engine, "read the log in", folder, error);
    let mut bytes = 0;
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if !entry.file_name().to_str().is_some_and(&is_log) {
            continue;
        }
        bytes += match entry.metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            meta => meta.map(|meta| meta.len().min(meta.blocks() * BLOCK)).map_err(failed)?,
        };
    }
    Ok(bytes)
}

/// Checks that a write buffer of `buffer` bytes can take `bytes` of keys and values, plus the
/// overhead of entries, before it is written to a table. Until then all of it is in the log.
pub(crate) fn check_write_buffer(
    engine: &'static str,
    buffer: u64,
    bytes: u64,
    setting: &str,
) -> Result<()> {
    if bytes.saturating_mul(2) <= buffer {
        return Ok(());
    }
    let what = format!(
        "a log of {bytes} bytes of rows: it is limited by the write buffer of {buffer} bytes; give a larger \
         --cache, or a configuration with a larger {setting}"
    );
    Err(EngineError::unsupported(engine, what))
}
