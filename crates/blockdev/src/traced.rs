//! A file system on a device whose content is a file, with a trace.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::device::Mounted;
use crate::error::DeviceError;
use crate::file_system::FileSystem;
use crate::recorder::{Medium, lock, monotonic_ns, punch};
use crate::states::SECTOR;
use crate::trace::{Access, AccessKind, Trace};

/// A file system, mounted on a device whose content is a file. It keeps a [`Trace`] of what reaches
/// it. Dropping it unmounts it.
///
/// Nothing is promised about the file after a power cut: a flush is recorded, but not done.
#[derive(Debug)]
pub struct TracedDevice {
    /// Directory at which the file system is mounted.
    pub at: PathBuf,
    trace: Arc<Mutex<Trace>>,
    mounted: Mounted,
}

impl TracedDevice {
    /// Mounts the file system in the file `image`, below `folder`, which it creates.
    ///
    /// # Errors
    /// If FUSE or a loop device is not available, or the file system cannot be mounted.
    pub fn mount(
        folder: &Path,
        image: &Path,
        file_system: FileSystem,
    ) -> Result<Self, DeviceError> {
        let image = image.canonicalize().map_err(|e| DeviceError::io("find", image, e))?;
        let bytes = image.metadata().map_err(|e| DeviceError::io("look at", &image, e))?.len();
        let trace = Arc::new(Mutex::new(Trace::of(bytes)));
        let noted = Arc::clone(&trace);
        let medium = move || {
            let file = OpenOptions::new().read(true).write(true).open(&image)?;
            Ok(OnFile { file, bytes, trace: noted })
        };
        let mounted = Mounted::mount(folder, medium, file_system, SECTOR as u32)?;
        Ok(Self { at: mounted.at.clone(), trace, mounted })
    }

    /// Unmounts it, and returns what has reached it, including the writes of unmounting.
    ///
    /// # Errors
    /// If it is still in use.
    pub fn unmount(mut self) -> Result<Trace, DeviceError> {
        self.mounted.take_down()?;
        Ok(std::mem::take(&mut *lock(&self.trace)))
    }
}

/// A file whose descriptor belongs to the serving thread.
struct OnFile {
    file: File,
    bytes: u64,
    trace: Arc<Mutex<Trace>>,
}

impl OnFile {
    fn note(&self, kind: AccessKind, offset: u64, length: u64) {
        let mut trace = lock(&self.trace);
        // Read under the lock, so that accesses are in the order of their times.
        trace.add(Access { ns: monotonic_ns(), kind, offset, length });
    }
}

impl Medium for OnFile {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(into, offset)
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.note(AccessKind::Write, offset, data.len() as u64);
        self.file.write_all_at(data, offset)
    }

    fn discard(&self, offset: u64, length: u64) -> io::Result<()> {
        self.note(AccessKind::Discard, offset, length);
        punch(&self.file, offset, length)
    }

    fn flush(&self) {
        self.note(AccessKind::Flush, 0, 0);
    }
}
