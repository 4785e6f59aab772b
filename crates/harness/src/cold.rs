//! Reads that find nothing in the page cache.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};

/// Writes every file below a folder to storage and drops its pages from the page cache
/// (`posix_fadvise(2)`: only pages that are clean and mapped by nobody go).
pub(crate) fn drop_pages(dir: &Path) -> io::Result<()> {
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
