//! The directory for a query's relative names. DuckDB resolves them against the process's working
//! directory.

use std::cell::Cell;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Held by the thread that has set the working directory.
static FOLDER: Mutex<()> = Mutex::new(());

thread_local! {
    /// Number of `Within`s of this thread.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Changes the process's working directory until it is dropped. Other threads that want to do so
/// wait.
pub(super) struct Within {
    before: PathBuf,
    _alone: Option<MutexGuard<'static, ()>>,
}

impl Within {
    pub(super) fn enter(folder: &Path) -> io::Result<Self> {
        let is_first = DEPTH.get() == 0;
        let alone = is_first.then(|| FOLDER.lock().unwrap_or_else(PoisonError::into_inner));
        let before = std::env::current_dir()?;
        std::env::set_current_dir(folder)?;
        DEPTH.set(DEPTH.get() + 1);
        Ok(Self { before, _alone: alone })
    }
}

impl Drop for Within {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
        // If that directory is gone, there is nothing to return to.
        let _ = std::env::set_current_dir(&self.before);
    }
}
