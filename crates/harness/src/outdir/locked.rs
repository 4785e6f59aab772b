//! The lock that lets one run at a time use a folder.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{JOURNAL, OUT, RESULT, check_text, refused};
use crate::system::retry;
use crate::{HarnessError, Result};

/// Time for which a process may hold the lock of a killed run that was just starting it. It
/// inherits the lock until it executes its program, `execve(2)`, which a busy machine delays.
const START_TIMEOUT: Duration = Duration::from_secs(2);

/// A run's folder, locked against other runs until it is dropped or its process ends.
#[derive(Debug)]
pub(crate) struct LockedFolder {
    pub(super) path: PathBuf,
    _lock: File,
}

impl LockedFolder {
    /// Locks the folder of an interrupted run.
    ///
    /// # Errors
    /// If it contains no journal, or a run is active in it.
    pub fn lock_run(out: &Path) -> Result<Self> {
        let refusal = |problem: &str| Err(HarnessError::unusable(out, problem));
        if !out.is_dir() {
            return refusal("is not a folder; name the folder of a run with --resume");
        }
        if !out.join(JOURNAL).is_file() {
            return refusal(
                "holds no journal of a run, so there is nothing to continue; begin a run with \
                 --out",
            );
        }
        let path = out.canonicalize().map_err(|error| refused(out, OUT, error))?;
        check_text(&path, "--resume")?;
        Self::new(path)
    }

    pub(super) fn new(path: PathBuf) -> Result<Self> {
        let folder = File::open(&path).map_err(|error| refused(&path, OUT, error))?;
        let is_locked = |error: &TryLockError| matches!(error, TryLockError::WouldBlock);
        match retry(START_TIMEOUT, is_locked, || folder.try_lock()) {
            Err(TryLockError::WouldBlock) => {
                let problem = "another run is active in it; wait for its end, or name another \
                               folder with --out";
                Err(HarnessError::unusable(&path, problem))
            }
            // A file system without locks, such as some network file systems, excludes no other
            // run.
            Ok(()) | Err(TryLockError::Error(_)) => Ok(Self { path, _lock: folder }),
        }
    }

    /// Path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Path of the journal.
    pub fn journal(&self) -> PathBuf {
        self.path.join(JOURNAL)
    }

    /// Path of the result file.
    pub fn result(&self) -> PathBuf {
        self.path.join(RESULT)
    }
}
