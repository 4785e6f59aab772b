//! Sizes on disk, and what the page cache holds of it.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use embermark_model::result::DiskSize;
use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};
use nix::sys::statvfs::statvfs;

/// Returns the size of everything below a directory, without the directories themselves. A file
/// with several names counts once. A file that is removed during the count, as by a running engine,
/// does not count.
///
/// # Errors
/// If the directory does not exist, or something in it cannot be read.
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
            // For a symbolic link, that of the link itself.
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

/// Largest number of free bytes on a full disk: less than any engine adds to a file at once.
const FULL: u64 = 256 << 10;

/// Whether the file system of `path` is full.
pub(crate) fn is_full(path: &Path) -> bool {
    free_bytes(path).is_some_and(|free| free < FULL)
}

/// Returns the number of bytes that this user may still write on the file system of `path`.
pub(crate) fn free_bytes(path: &Path) -> Option<u64> {
    let vfs = statvfs(path).ok()?;
    Some(vfs.blocks_available() * vfs.fragment_size())
}

/// Writes every file below a directory to storage and drops its pages from the page cache.
/// `posix_fadvise(2)` drops only pages that are clean and not mapped.
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
mod tests {
    use std::io::{Seek, SeekFrom, Write};
    use std::os::unix::fs::FileExt;

    use super::*;

    #[test]
    fn a_directory_that_is_not_there_has_no_size_rather_than_0() {
        let dir = tempfile::tempdir().unwrap();
        assert!(size_of(&dir.path().join("gone")).is_err());
        assert_eq!(size_of(dir.path()).unwrap(), DiskSize::default());
    }

    #[test]
    fn holes_links_and_folders_are_counted_as_what_they_are() {
        let dir = tempfile::tempdir().unwrap();
        let below = dir.path().join("a/b");
        fs::create_dir_all(&below).unwrap();
        fs::write(dir.path().join("plain"), vec![7; 10_000]).unwrap();
        fs::hard_link(dir.path().join("plain"), below.join("again")).unwrap();
        let mut sparse = fs::File::create(below.join("sparse")).unwrap();
        sparse.seek(SeekFrom::Start(9_999_999)).unwrap();
        sparse.write_all(&[1]).unwrap();
        sparse.sync_all().unwrap();

        let size = size_of(dir.path()).unwrap();
        assert_eq!(size.apparent_bytes, 10_000 + 10_000_000);
        assert!((10_000..100_000).contains(&size.allocated_bytes), "{size:?}");
    }

    /// Bytes that this thread has read from storage.
    fn read_bytes() -> u64 {
        let io = fs::read_to_string("/proc/thread-self/io").unwrap();
        io.lines().find_map(|line| line.strip_prefix("read_bytes: ")).unwrap().parse().unwrap()
    }

    #[test]
    fn what_was_dropped_is_read_from_storage_again_and_nothing_else_is() {
        const SIZE: usize = 4 << 20;
        // Beside this program: a temporary directory may be in memory, which is never read from
        // storage.
        let here = std::env::current_exe().unwrap();
        let dir = tempfile::tempdir_in(here.parent().unwrap()).unwrap();
        let path = dir.path().join("below/file");
        fs::create_dir(dir.path().join("below")).unwrap();
        fs::write(&path, vec![7; SIZE]).unwrap();
        let file = File::open(&path).unwrap();
        // The kernel also counts pages of this program that the thread is the first to run.
        let is_fetched = || {
            let before = read_bytes();
            let mut all = vec![0; SIZE];
            file.read_exact_at(&mut all, 0).unwrap();
            assert!(all.iter().all(|byte| *byte == 7), "it is what was written");
            read_bytes() - before >= SIZE as u64
        };
        assert!(!is_fetched(), "it has just been written");
        drop_pages(dir.path()).unwrap();
        assert!(is_fetched(), "all of it is read from storage again");
        assert!(!is_fetched());
    }
}
