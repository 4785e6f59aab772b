//! Whether files stay as they are while they are read.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::sqlite;
use crate::DataError;

/// Files as they were before they were read, so that one that is written to meanwhile is noticed: those of a table,
/// and those that its query names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileStates(Vec<(PathBuf, Option<State>)>);

/// What the system says of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    device: u64,
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
}

impl State {
    /// `None` where there is no such file, or nothing in it.
    fn of(path: &Path) -> Option<Self> {
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
    /// As they are now. Texts of a query that are names of files count from `base`.
    pub(super) fn of(paths: &[PathBuf], query: Option<&str>, base: &Path) -> Self {
        let texts = query.unwrap_or_default().split('\'').skip(1).step_by(2);
        let named = texts.map(|text| base.join(text));
        // Newer rows of an SQLite database may lie in the log beside it.
        let logs = paths.iter().map(|path| sqlite::log_of(path));
        let all = paths.iter().cloned().chain(named).chain(logs);
        Self(all.map(|path| (path.clone(), State::of(&path))).collect())
    }

    /// Checks that none of them has changed since.
    ///
    /// # Errors
    /// [`DataError::Changed`].
    pub fn check(&self) -> Result<(), DataError> {
        match self.0.iter().find(|(path, before)| State::of(path) != *before) {
            Some((path, _)) => Err(DataError::Changed(path.clone())),
            None => Ok(()),
        }
    }
}
