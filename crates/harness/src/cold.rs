//! Reads that find nothing in memory: the engine's own cache goes with closing the database, the
//! page cache of its files is dropped before it is opened again.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use embermark_engines::{Engine, EngineError, OpenOptions, Reopener};
use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};

/// Opens the database of `options` again, and cold where that is asked for.
pub(crate) fn reopener(engine: &'static dyn Engine, options: OpenOptions) -> Reopener {
    Reopener::of(engine, options.clone()).with_cold(move |store| {
        store.close()?;
        drop_pages(&options.dir).map_err(|error| {
            let what = "drop from memory the files of";
            EngineError::file(engine.info().id, what, &options.dir, error)
        })?;
        engine.open(&options).map(|opened| opened.store)
    })
}

/// Writes every file below a folder to storage and drops its pages from the page cache
/// (`posix_fadvise(2)`: only pages that are clean and mapped by nobody go).
fn drop_pages(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let (path, kind) = entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)))?;
        if kind.is_dir() {
            drop_pages(&path)?;
        } else if kind.is_file() {
            let file = File::open(&path)?;
            file.sync_all()?;
            posix_fadvise(&file, 0, 0, PosixFadviseAdvice::POSIX_FADV_DONTNEED)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
