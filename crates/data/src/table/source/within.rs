//! The folder that relative names of a query count from: DuckDB takes them from this process's.

use std::cell::Cell;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Held by the thread whose folder is this process's.
static FOLDER: Mutex<()> = Mutex::new(());

thread_local! {
    /// How many of them this thread has.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Has this process be in a folder until it is dropped; other threads that want to be in one wait.
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
        // Where that folder is gone there is nowhere to go back to.
        let _ = std::env::set_current_dir(&self.before);
    }
}
