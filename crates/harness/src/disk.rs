//! Sizes on disk.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use embermark_model::result::DiskSize;
use nix::sys::statvfs::statvfs;

/// Size of everything under a directory, the directories themselves not counted; a file with
/// several names counts once.
///
/// # Errors
/// When something in it cannot be read.
pub(crate) fn size_of(dir: &Path) -> io::Result<DiskSize> {
    const BLOCK: u64 = 512; // the unit of st_blocks, whatever the file system's own
    let mut size = DiskSize::default();
    let mut seen = HashSet::new();
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir)? {
            let entry = entry?;
            let meta = entry.metadata()?; // of a symbolic link: the link's own
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
mod tests {
    use std::io::{Seek, SeekFrom, Write};

    use super::*;

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
}
