//! Mounts a file system on a device that keeps its content in a file and records a trace.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::device::Mounted;
use crate::error::{DeviceError, Result};
use crate::file_system::FileSystem;
use crate::medium::{Medium, lock, monotonic_ns, punch};
use crate::states::SECTOR;
use crate::trace::{Access, RequestKind, Trace};

/// A file system mounted on a device that keeps its content in a file and a [`Trace`] of its
/// requests. Dropping it unmounts it.
///
/// A flush is recorded but not done, so a power cut of this machine may lose any data.
#[derive(Debug)]
pub struct TracedDevice {
    /// Mount point of the file system.
    pub at: PathBuf,
    trace: Arc<Mutex<Trace>>,
    mounted: Mounted,
}

impl TracedDevice {
    /// Mounts the file system in the file `image`, below `folder`, which it creates.
    ///
    /// # Errors
    /// If FUSE or a loop device is not available, or the file system cannot be mounted.
    pub fn mount(folder: &Path, image: &Path, file_system: FileSystem) -> Result<Self> {
        let image = image.canonicalize().map_err(DeviceError::io("find", image))?;
        let bytes = image.metadata().map_err(DeviceError::io("read the size of", &image))?.len();
        let trace = Arc::new(Mutex::new(Trace::new(bytes)));
        let shared_trace = Arc::clone(&trace);
        let medium = move || {
            let file = OpenOptions::new().read(true).write(true).open(&image)?;
            Ok(FileMedium { file, bytes, trace: shared_trace })
        };
        let mounted = Mounted::mount(folder, medium, file_system, SECTOR as u32)?;
        Ok(Self { at: mounted.at.clone(), trace, mounted })
    }

    /// Unmounts the file system, and returns the trace, including the writes of unmounting.
    ///
    /// # Errors
    /// If the file system is still in use.
    pub fn unmount(mut self) -> Result<Trace> {
        self.mounted.unmount()?;
        Ok(std::mem::take(&mut *lock(&self.trace)))
    }
}

/// A medium in a file. Its descriptor belongs to the serving thread.
struct FileMedium {
    file: File,
    bytes: u64,
    trace: Arc<Mutex<Trace>>,
}

impl FileMedium {
    fn record(&self, kind: RequestKind, offset: u64, length: u64) {
        let mut trace = lock(&self.trace);
        // Read under the lock, so that accesses are in the order of their times.
        trace.add(Access { ns: monotonic_ns(), kind, offset, length });
    }
}

impl Medium for FileMedium {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(into, offset)
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.record(RequestKind::Write, offset, data.len() as u64);
        self.file.write_all_at(data, offset)
    }

    fn discard(&self, offset: u64, length: u64) -> io::Result<()> {
        self.record(RequestKind::Discard, offset, length);
        punch(&self.file, offset, length)
    }

    fn flush(&self) {
        self.record(RequestKind::Flush, 0, 0);
    }
}
