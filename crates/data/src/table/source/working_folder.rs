//! Sets the working folder for a query's relative names, because DuckDB resolves them against the
//! process's working folder.

use std::cell::Cell;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Held by the thread that has set the working folder.
static FOLDER: Mutex<()> = Mutex::new(());

thread_local! {
    /// Number of [`WorkingFolder`] values of this thread.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Changes the process's working folder until it is dropped. Other threads that change it wait.
pub(super) struct WorkingFolder {
    before: PathBuf,
    _lock: Option<MutexGuard<'static, ()>>,
}

impl WorkingFolder {
    pub(super) fn enter(folder: &Path) -> io::Result<Self> {
        let is_first = DEPTH.get() == 0;
        let lock = is_first.then(|| FOLDER.lock().unwrap_or_else(PoisonError::into_inner));
        let before = std::env::current_dir()?;
        std::env::set_current_dir(folder)?;
        DEPTH.set(DEPTH.get() + 1);
        Ok(Self { before, _lock: lock })
    }
}

impl Drop for WorkingFolder {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
        // An error means that the folder no longer exists: there is nothing to return to.
        let _ = std::env::set_current_dir(&self.before);
    }
}
