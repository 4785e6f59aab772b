//! Checks that files do not change while they are read.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::sqlite;
use crate::DataError;

/// State of files before they were read, to detect a file that is written meanwhile. The files are
/// those of a table, and those that its query names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileStates(Vec<(PathBuf, Option<FileState>)>);

/// Metadata of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct FileState {
    device: u64,
    inode: u64,
    pub(super) bytes: u64,
    modified: (i64, i64),
}

impl FileState {
    /// Reads the metadata of a file. `None` if it does not exist or is empty.
    pub(super) fn read(path: &Path) -> Option<Self> {
        let of = fs::metadata(path).ok().filter(|of| of.is_file() && of.len() > 0)?;
        Some(Self {
            device: of.dev(),
            inode: of.ino(),
            bytes: of.len(),
            modified: (of.mtime(), of.mtime_nsec()),
        })
    }
}

impl FileStates {
    /// Records the current state. Texts of a query that are file names are relative to `base`.
    pub(super) fn new(paths: &[PathBuf], query: Option<&str>, base: &Path) -> Self {
        let texts = query.unwrap_or_default().split('\'').skip(1).step_by(2);
        let named = texts.map(|text| base.join(text));
        // Newer rows of an SQLite database may be in its write-ahead log.
        let logs = paths.iter().map(|path| sqlite::log_of(path));
        let all = paths.iter().cloned().chain(named).chain(logs);
        Self(all.map(|path| (path.clone(), FileState::read(&path))).collect())
    }

    /// Checks that no file has changed since.
    ///
    /// # Errors
    /// [`DataError::Changed`] if one has.
    pub fn check_unchanged(&self) -> Result<(), DataError> {
        match self.0.iter().find(|(path, before)| FileState::read(path) != *before) {
            Some((path, _)) => Err(DataError::Changed(path.clone())),
            None => Ok(()),
        }
    }
}
