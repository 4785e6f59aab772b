//! What the write-ahead log's file tells of checkpoints. SQLite takes them itself, in the commit that makes
//! the log longer than `wal_autocheckpoint` pages.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::{FILE, NAME};
use crate::{Background, EngineError, Result};

/// Bytes of the log's header, and where in it the checkpoint sequence number is
/// (<https://www.sqlite.org/fileformat2.html#walformat>): it goes up each time the log begins anew after a
/// checkpoint that took all of it.
const HEADER: usize = 32;
const SEQUENCE: std::ops::Range<usize> = 12..16;

/// Checkpoints after which the log began anew. The log's file has no locks of SQLite's, which closing it would
/// let go of: those are of the database and of the shared memory.
pub(super) fn of(dir: &Path, into: &mut Vec<Background>) -> Result<()> {
    let path = dir.join(format!("{FILE}-wal"));
    let mut header = [0; HEADER];
    let read = File::open(&path).and_then(|mut file| file.read_exact(&mut header));
    match read {
        Ok(()) => {}
        // Before the first commit there is none, or it is empty.
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::UnexpectedEof) => {}
        Err(error) => return Err(EngineError::file(NAME, "read the log", &path, error)),
    }
    let mut sequence = [0; 4];
    sequence.copy_from_slice(&header[SEQUENCE]);
    into.push(Background::count("checkpoints", u64::from(u32::from_be_bytes(sequence))));
    Ok(())
}
