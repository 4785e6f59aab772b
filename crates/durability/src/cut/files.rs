//! A digest of the content of a database's files.

use std::fs::{self, DirEntry, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use nix::errno::Errno;
use nix::unistd::{Whence, lseek64};

/// Returns a digest of everything below a folder. Folders with the same content have the
/// same digest, and others almost certainly do not.
///
/// # Errors
/// If some of it cannot be read.
pub(super) fn digest(folder: &Path) -> io::Result<u64> {
    let mut digest = DefaultHasher::new();
    read_all(folder, &mut digest)?;
    Ok(digest.finish())
}

/// Adds everything below a folder to a digest: names, and the content of files with its
/// positions, except holes.
fn read_all(folder: &Path, digest: &mut DefaultHasher) -> io::Result<()> {
    let mut entries: Vec<_> = fs::read_dir(folder)?.collect::<io::Result<_>>()?;
    entries.sort_by_key(DirEntry::file_name);
    digest.write_usize(entries.len());
    for entry in entries {
        entry.file_name().hash(digest);
        if entry.file_type()?.is_dir() {
            read_all(&entry.path(), digest)?;
        } else {
            read(&File::open(entry.path())?, digest)?;
        }
    }
    Ok(())
}

/// Adds a file to a digest. A map may be many times as long as its content.
fn read(file: &File, digest: &mut DefaultHasher) -> io::Result<()> {
    digest.write_u64(file.metadata()?.len());
    let seek = |from: u64, whence| match lseek64(file, from.cast_signed(), whence) {
        Ok(at) => Ok(Some(at.cast_unsigned())),
        Err(Errno::ENXIO) => Ok(None),
        Err(errno) => Err(io::Error::from(errno)),
    };
    let mut at = 0;
    while let Some(begin) = seek(at, Whence::SeekData)? {
        let Some(end) = seek(begin, Whence::SeekHole)? else { break };
        let mut bytes = vec![0; (end - begin) as usize];
        file.read_exact_at(&mut bytes, begin)?;
        (begin, bytes).hash(digest);
        at = end;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with a file in a folder.
    fn folder(content: &[u8], length: u64) -> u64 {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("inner")).unwrap();
        let path = folder.path().join("inner/file");
        fs::write(&path, content).unwrap();
        File::options().write(true).open(&path).unwrap().set_len(length).unwrap();
        digest(folder.path()).unwrap()
    }

    #[test]
    fn the_same_files_have_one_digest_wherever_they_are_and_others_another() {
        let same = folder(b"content", 7);
        assert_eq!(same, folder(b"content", 7));
        for other in [folder(b"contend", 7), folder(b"content", 8), folder(b"content", 6)] {
            assert_ne!(same, other);
        }
        // As long as a map may be, and as quickly read.
        assert_ne!(folder(b"content", 1 << 40), same);
        assert!(digest(Path::new("/nowhere")).is_err());
    }
}
