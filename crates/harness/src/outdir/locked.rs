//! A run's folder, one run at a time.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{JOURNAL, OUT, RESULT, refused};
use crate::HarnessError;

/// How long a process may hold the lock of a run that was killed while it started that process: the
/// lock goes with it until it executes its program, `execve(2)`, which a busy machine delays.
const STARTING_TAKES: Duration = Duration::from_secs(2);

/// A run's folder, closed to other runs until it is dropped or its process ends.
#[derive(Debug)]
pub(crate) struct Locked {
    pub(super) path: PathBuf,
    _lock: File,
}

impl Locked {
    /// Locks the folder of a run that was cut off.
    ///
    /// # Errors
    /// When it holds no journal, or a run is at work in it.
    pub fn of_run(out: &Path) -> Result<Self, HarnessError> {
        let refusal = |problem: &str| Err(HarnessError::directory(out, problem));
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
        Self::new(path)
    }

    pub(super) fn new(path: PathBuf) -> Result<Self, HarnessError> {
        let folder = File::open(&path).map_err(|error| refused(&path, OUT, error))?;
        let began = Instant::now();
        loop {
            match folder.try_lock() {
                Err(TryLockError::WouldBlock) if began.elapsed() < STARTING_TAKES => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                Err(TryLockError::WouldBlock) => {
                    let problem = "another run is at work in it; wait for its end, or name another \
                                   folder with --out";
                    return Err(HarnessError::directory(&path, problem));
                }
                // A file system that knows no locks, as some of a network, keeps nobody out.
                Ok(()) | Err(TryLockError::Error(_)) => return Ok(Self { path, _lock: folder }),
            }
        }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The journal's path.
    pub fn journal(&self) -> PathBuf {
        self.path.join(JOURNAL)
    }

    /// The result file's path.
    pub fn result(&self) -> PathBuf {
        self.path.join(RESULT)
    }
}
