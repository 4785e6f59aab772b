//! Sizes on disk.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use embermark_model::result::DiskSize;
use nix::sys::statvfs::statvfs;

/// Size of everything under a directory, the directories themselves not counted; a file with
/// several names counts once. A file that goes while others are counted, as those of a running engine
/// do, does not count.
///
/// # Errors
/// When the directory is not there, or something in it may not be read.
pub(crate) fn size_of(dir: &Path) -> io::Result<DiskSize> {
    const BLOCK: u64 = 512; // the unit of st_blocks, whatever the file system's own
    let mut size = DiskSize::default();
    let mut seen = HashSet::new();
    let mut open = vec![dir.to_owned()];
    while let Some(at) = open.pop() {
        let entries = match fs::read_dir(&at) {
            Err(error) if at != dir && error.kind() == io::ErrorKind::NotFound => continue,
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            // Of a symbolic link: the link's own.
            let meta = match entry.metadata() {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                meta => meta?,
            };
            if meta.is_dir() {
                open.push(entry.path());
            } else if seen.insert((meta.dev(), meta.ino())) {
                size.allocated_bytes += meta.blocks() * BLOCK;
                size.apparent_bytes += meta.len();
            }
        }
    }
    Ok(size)
}

/// Bytes that this user may still write on the file system of `path`.
pub(crate) fn free_bytes(path: &Path) -> Option<u64> {
    let vfs = statvfs(path).ok()?;
    Some(vfs.blocks_available() * vfs.fragment_size())
}

#[cfg(test)]
mod tests;
