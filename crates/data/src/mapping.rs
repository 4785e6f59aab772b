//! Maps files into memory. No other module makes mappings.

use std::fs::File;
use std::io;
use std::path::Path;

use memmap2::{Mmap, MmapMut, MmapOptions, UncheckedAdvice};

use crate::DataError;
use crate::compressed::check_regular;

/// How the pages of a mapping are loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paging {
    /// When they are read, in sequence.
    Sequential,
    /// All before the mapping is returned, so that no page fault occurs during a measurement.
    Ahead,
}

/// Maps a regular file for reading. An empty file gives an empty mapping.
///
/// # Errors
/// [`DataError::Missing`], [`DataError::Folder`], [`DataError::NotAFile`],
/// [`DataError::Unreadable`].
pub(crate) fn map(path: &Path, paging: Paging) -> Result<Mmap, DataError> {
    let unreadable = |cause: io::Error| match cause.kind() {
        io::ErrorKind::NotFound => DataError::Missing(path.to_owned()),
        _ => DataError::Unreadable { path: path.to_owned(), cause },
    };
    // Checked before opening, because opening a pipe would wait for a writer.
    let kind = std::fs::metadata(path).map_err(unreadable)?;
    check_regular(path, &kind)?;
    let file = File::open(path).map_err(unreadable)?;
    let mut options = MmapOptions::new();
    if paging == Paging::Ahead {
        options.populate();
    }
    // SAFETY: the mapping is read-only, and its users treat it as plain bytes or as numbers for
    // which every bit pattern is valid. Like any program that maps its input, this one cannot
    // exclude that another process changes or shortens the file meanwhile. The first gives other
    // rows, and the second ends this process with SIGBUS.
    let mapping = unsafe { options.map(&file) }.map_err(unreadable)?;
    #[cfg(unix)]
    if paging == Paging::Sequential {
        // A hint: if the system ignores it, reading is only slower.
        let _ = mapping.advise(memmap2::Advice::Sequential);
    }
    Ok(mapping)
}

/// Removes the pages of a mapping from this process's memory. The system may keep them in its cache,
/// and loads them again if they are read.
pub(crate) fn release(mapping: &Mmap) {
    // SAFETY: the mapping is shared with its file, so no content is lost. If the system ignores the
    // advice, the pages stay.
    let _ = unsafe { mapping.unchecked_advise(UncheckedAdvice::DontNeed) };
}

/// Like [`release`], for a writable mapping. Written data reaches the file in any case.
pub(crate) fn release_mut(mapping: &MmapMut) {
    // SAFETY: as in `release`.
    let _ = unsafe { mapping.unchecked_advise(UncheckedAdvice::DontNeed) };
}

/// Maps a file of this process for reading and writing. Writes go to the file.
///
/// # Errors
/// The error of the system.
pub(crate) fn map_mut(file: &File) -> io::Result<MmapMut> {
    // SAFETY: as in `map`: plain bytes for which every pattern is valid, in a file that this
    // process made and that no other one knows.
    unsafe { MmapOptions::new().map_mut(file) }
}
