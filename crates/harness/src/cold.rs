//! Drops pages from the page cache for cold reads.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};

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
    use std::os::unix::fs::FileExt;

    use super::*;

    /// Bytes that this thread has read from storage.
    fn read_bytes() -> u64 {
        let io = fs::read_to_string("/proc/thread-self/io").unwrap();
        io.lines().find_map(|line| line.strip_prefix("read_bytes: ")).unwrap().parse().unwrap()
    }

    #[test]
    fn what_was_dropped_is_read_from_storage_again_and_nothing_else_is() {
        // Beside this program: a temporary directory may be in memory, which is never read from
        // storage.
        let here = std::env::current_exe().unwrap();
        let dir = tempfile::tempdir_in(here.parent().unwrap()).unwrap();
        let path = dir.path().join("below/file");
        fs::create_dir(dir.path().join("below")).unwrap();
        fs::write(&path, vec![7; 1 << 20]).unwrap();
        let file = File::open(&path).unwrap();
        let read = || {
            let before = read_bytes();
            let mut all = vec![0; 1 << 20];
            file.read_exact_at(&mut all, 0).unwrap();
            assert!(all.iter().all(|byte| *byte == 7), "it is what was written");
            read_bytes() - before
        };
        assert_eq!(read(), 0, "it has just been written");
        drop_pages(dir.path()).unwrap();
        assert!(read() >= 1 << 20, "all of it is fetched again");
        assert_eq!(read(), 0);
    }
}
