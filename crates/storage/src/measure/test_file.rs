//! The file that a device is measured with.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::sys::statfs::{TMPFS_MAGIC, statfs};
use nix::sys::statvfs::statvfs;

/// A mebibyte, in bytes.
pub(super) const MIB: u64 = 1 << 20;
/// Largest alignment of memory that direct I/O requires, in bytes.
const ALIGNED: usize = 4_096;

/// Result of a measurement.
pub(super) type Result<T> = std::result::Result<T, MeasureError>;

/// Why a device cannot be measured.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// The path is not a usable folder, its file system does not support direct I/O, or the device is
    /// too full.
    #[error("{path}: {why}", path = .path.display())]
    Folder {
        /// The path.
        path: PathBuf,
        /// Why it cannot be used, and what to do.
        why: String,
    },
    /// A request to the device failed.
    #[error("cannot {doing} the file in {path}: {source}", path = .path.display())]
    Io {
        /// The operation.
        doing: &'static str,
        /// The folder.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
}

impl MeasureError {
    /// Whether another command line would help.
    pub const fn is_usage(&self) -> bool {
        !matches!(self, Self::Io { .. })
    }
}

/// Memory for a request, aligned for direct I/O.
pub(super) struct Buffer {
    memory: Vec<u8>,
    begin: usize,
}

impl Buffer {
    pub fn new() -> Self {
        let memory = vec![0; MIB as usize + ALIGNED];
        let begin = memory.as_ptr().align_offset(ALIGNED);
        Self { memory, begin }
    }

    pub fn all(&mut self) -> &mut [u8] {
        self.first_mut(MIB)
    }

    fn first(&self, bytes: u64) -> &[u8] {
        &self.memory[self.begin..self.begin + bytes as usize]
    }

    fn first_mut(&mut self, bytes: u64) -> &mut [u8] {
        &mut self.memory[self.begin..self.begin + bytes as usize]
    }
}

/// A file for direct I/O. Its name is removed, so that nothing is left of it, however the process
/// ends.
pub(super) struct TestFile {
    file: File,
    folder: PathBuf,
    /// Its size, in bytes.
    pub bytes: u64,
    /// Bytes written so far.
    pub written: u64,
    /// Largest number of bytes to write.
    pub limit: u64,
}

impl TestFile {
    /// Creates an empty file in a folder that has `room` bytes free.
    pub fn create(folder: &Path, limit: u64, room: u64) -> Result<Self> {
        let unusable = |why: String| MeasureError::Folder { path: folder.to_owned(), why };
        let refused =
            |why: String| unusable(format!("{why}; name a folder on the device to measure"));
        let found = folder.metadata().map_err(|error| refused(error.to_string()))?;
        if !found.is_dir() {
            return Err(refused("it is not a folder".into()));
        }
        let no_direct = |why: &str| {
            unusable(format!(
                "its file system ({why}) takes no direct I/O, so memory would be measured instead of a device; name a folder on a disk's \
                 own file system"
            ))
        };
        let kind = statfs(folder).map_err(|errno| refused(errno.to_string()))?.filesystem_type();
        // Newer kernels open files of tmpfs with O_DIRECT and ignore it.
        if kind == TMPFS_MAGIC {
            return Err(no_direct("tmpfs, in memory"));
        }
        let stat = statvfs(folder).map_err(|errno| refused(errno.to_string()))?;
        let free = stat.blocks_available() * stat.fragment_size();
        if free < room {
            let (free, wanted) = (free / 1_000_000, room.div_ceil(1_000_000));
            return Err(unusable(format!(
                "{free} MB are free, but {wanted} MB are needed: delete something, or write less with --write-limit"
            )));
        }
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).mode(0o600);
        // A plain file first, which shows whether the folder accepts files at all.
        let named = tempfile::Builder::new()
            .prefix(".embermark-storage-")
            .make_in(folder, |path| options.open(path))
            .map_err(|error| refused(error.to_string()))?;
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_DIRECT)
            .open(named.path())
            .map_err(|error| no_direct(&error.to_string()))?;
        named.close().map_err(|error| refused(error.to_string()))?;
        Ok(Self { file, folder: folder.to_owned(), bytes: 0, written: 0, limit })
    }

    fn failed(&self, doing: &'static str) -> impl Fn(io::Error) -> MeasureError {
        let path = self.folder.clone();
        move |source| MeasureError::Io { doing, path: path.clone(), source }
    }

    /// Extends the file by a MiB of content.
    pub fn grow(&mut self, buffer: &Buffer) -> Result<()> {
        self.write(buffer, self.bytes, MIB)?;
        self.bytes += MIB;
        Ok(())
    }

    /// Returns the smallest request that the file accepts: 512 bytes or a page.
    pub fn min_request_bytes(&self, buffer: &mut Buffer) -> Result<u64> {
        match self.file.read_exact_at(buffer.first_mut(512), 512) {
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(super::PAGE),
            Err(error) => Err(self.failed("read")(error)),
            Ok(()) => Ok(512),
        }
    }

    pub fn read(&self, buffer: &mut Buffer, offset: u64, bytes: u64) -> Result<()> {
        self.file.read_exact_at(buffer.first_mut(bytes), offset).map_err(self.failed("read"))
    }

    pub fn write(&mut self, buffer: &Buffer, offset: u64, bytes: u64) -> Result<()> {
        self.written += bytes;
        self.file.write_all_at(buffer.first(bytes), offset).map_err(self.failed("write"))
    }

    /// Flushes written data to the device.
    pub fn flush(&self) -> Result<()> {
        self.file.sync_data().map_err(self.failed("flush"))
    }
}
