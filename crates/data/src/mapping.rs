//! Files as memory: the one place where a mapping is made.

use std::fs::File;
use std::io;
use std::path::Path;

use memmap2::{Mmap, MmapMut, MmapOptions, UncheckedAdvice};

use crate::DataError;

/// How the pages of a mapping are brought in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paging {
    /// As they are read, from the front.
    Sequential,
    /// All before the mapping is handed out, so that no page fault falls inside a measurement.
    Ahead,
}

/// Maps a regular file for reading; a file without bytes gives an empty mapping.
///
/// # Errors
/// [`DataError::Missing`], [`DataError::Directory`], [`DataError::NotAFile`],
/// [`DataError::Unreadable`].
pub(crate) fn map(path: &Path, paging: Paging) -> Result<Mmap, DataError> {
    let unreadable = |cause: io::Error| match cause.kind() {
        io::ErrorKind::NotFound => DataError::Missing(path.to_owned()),
        _ => DataError::Unreadable { path: path.to_owned(), cause },
    };
    // Asked before opening: opening a pipe would wait for somebody to write to it.
    let kind = std::fs::metadata(path).map_err(unreadable)?;
    if kind.is_dir() {
        return Err(DataError::Directory(path.to_owned()));
    }
    if !kind.is_file() {
        return Err(DataError::NotAFile(path.to_owned()));
    }
    let file = File::open(path).map_err(unreadable)?;
    let mut options = MmapOptions::new();
    if paging == Paging::Ahead {
        options.populate();
    }
    // SAFETY: the mapping is read-only and its users treat it as plain bytes or as numbers of
    // which every bit pattern is valid. What no program that maps its input can rule out is that
    // another process changes or shortens the file meanwhile: the first gives other rows, the
    // second ends this process with SIGBUS.
    let mapping = unsafe { options.map(&file) }.map_err(unreadable)?;
    #[cfg(unix)]
    if paging == Paging::Sequential {
        // A hint: where the system does not take it, reading is slower and nothing else.
        let _ = mapping.advise(memmap2::Advice::Sequential);
    }
    Ok(mapping)
}

/// Takes the pages of a mapping out of this process's memory. The system may keep them, and brings those
/// that are asked for again.
pub(crate) fn release(mapping: &Mmap) {
    // SAFETY: the mapping is shared with its file, so that no content is lost. Where the system does not
    // take the advice, the pages stay.
    let _ = unsafe { mapping.unchecked_advise(UncheckedAdvice::DontNeed) };
}

/// The same of one that is written: what was written goes to the file in any case.
pub(crate) fn release_mut(mapping: &MmapMut) {
    // SAFETY: as in `release`.
    let _ = unsafe { mapping.unchecked_advise(UncheckedAdvice::DontNeed) };
}

/// Maps a file of our own for reading and writing; what is written is in the file.
///
/// # Errors
/// What the system says.
pub(crate) fn map_mut(file: &File) -> io::Result<MmapMut> {
    // SAFETY: as in `map`: plain bytes of which every pattern is valid, in a file that this process
    // made and no other one has been told of.
    unsafe { MmapOptions::new().map_mut(file) }
}
