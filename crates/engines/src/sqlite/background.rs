//! Checkpoints, counted from the write-ahead log's file. SQLite takes them itself, in the commit
//! that makes the log longer than `wal_autocheckpoint` pages.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::{FILE, NAME};
use crate::{Background, EngineError, Result};

/// Bytes of the log's header, and the offset of the checkpoint sequence number in it
/// (<https://www.sqlite.org/fileformat2.html#walformat>). It increases each time the log restarts
/// after a complete checkpoint.
const HEADER: usize = 32;
const SEQUENCE: std::ops::Range<usize> = 12..16;

/// Adds the number of checkpoints after which the log restarted. Closing the log's file releases no
/// locks of SQLite, which are on the database and on the shared memory.
pub(super) fn read(dir: &Path, into: &mut Vec<Background>) -> Result<()> {
    let path = dir.join(format!("{FILE}-wal"));
    let mut header = [0; HEADER];
    let read = File::open(&path).and_then(|mut file| file.read_exact(&mut header));
    match read {
        Ok(()) => {}
        // Before the first commit the file is missing or empty.
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::UnexpectedEof) => {}
        Err(error) => return Err(EngineError::file(NAME, "read the log", &path, error)),
    }
    let mut sequence = [0; 4];
    sequence.copy_from_slice(&header[SEQUENCE]);
    into.push(Background::count("checkpoints", u64::from(u32::from_be_bytes(sequence))));
    Ok(())
}
