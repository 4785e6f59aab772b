//! A file system on a recorded device, mounted.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::mount::{MntFlags, umount2};

use crate::error::DeviceError;
use crate::file_system::FileSystem;
use crate::image::Image;
use crate::log::Log;
use crate::loop_device::LoopDevice;
use crate::recorder::{FILE, InMemory, Medium, Recorded, lock};
use crate::server::Server;
use crate::states::SECTOR;

/// Time in which a file system may still be in use after its last user has ended.
const PATIENCE: Duration = Duration::from_secs(10);

/// A file system, mounted on a device that is recorded, with its content in memory. Dropping it
/// unmounts it.
#[derive(Debug)]
pub struct Device {
    /// Directory at which the file system is mounted.
    pub at: PathBuf,
    recorded: Arc<Mutex<Recorded>>,
    mounted: Mounted,
}

impl Device {
    /// Mounts a device with that content, a file system of that kind, below `folder`, which it
    /// creates.
    ///
    /// # Errors
    /// If FUSE or a loop device is not available, or the file system cannot be mounted: the content
    /// is not a file system for the kernel, or a broken one.
    pub fn mount(
        folder: &Path,
        content: Image,
        file_system: FileSystem,
    ) -> Result<Self, DeviceError> {
        let log = Log { base: content.clone(), records: Vec::new(), times: Vec::new() };
        let recorded =
            Arc::new(Mutex::new(Recorded { image: content, log, begun: Instant::now() }));
        let medium = InMemory(Arc::clone(&recorded));
        let mounted = Mounted::mount(folder, move || Ok(medium), file_system, SECTOR as u32)?;
        Ok(Self { at: mounted.at.clone(), recorded, mounted })
    }

    /// Returns the number of records that have reached the device: the current position in its log.
    pub fn position(&self) -> usize {
        lock(&self.recorded).log.records.len()
    }

    /// Returns the time since it was mounted, as in the log.
    pub fn elapsed(&self) -> Duration {
        lock(&self.recorded).begun.elapsed()
    }

    /// Unmounts it, and returns what has reached it, including the writes of unmounting.
    ///
    /// # Errors
    /// If it is still in use.
    pub fn unmount(mut self) -> Result<Log, DeviceError> {
        self.mounted.take_down()?;
        Ok(lock(&self.recorded).log.clone())
    }
}

/// A file system that is mounted from the file of a medium. Dropping it unmounts it.
#[derive(Debug)]
pub(crate) struct Mounted {
    /// The mount point.
    pub at: PathBuf,
    fuse: PathBuf,
    server: Option<Server>,
    mounted: bool,
}

impl Mounted {
    /// Mounts a medium below `folder`, which it creates. A medium with direct requests has sectors
    /// of this size in bytes.
    pub fn mount<M: Medium>(
        folder: &Path,
        medium: impl FnOnce() -> io::Result<M> + Send + 'static,
        file_system: FileSystem,
        sector: u32,
    ) -> Result<Self, DeviceError> {
        let (fuse, at) = (folder.join("device"), folder.join("files"));
        for path in [&fuse, &at] {
            fs::create_dir_all(path).map_err(|error| DeviceError::io("make", path, error))?;
        }
        let server = Server::mount(medium, fuse.clone())
            .map_err(|error| DeviceError::io("mount a FUSE file system at", &fuse, error))?;
        let mut this = Self { at, fuse, server: Some(server), mounted: false };
        let file = this.fuse.join(FILE);
        match M::DIRECT {
            false => file_system.mount(&file, &this.at)?,
            true => {
                let device = LoopDevice::over(&file, sector)
                    .map_err(|error| DeviceError::io("have a loop device over", &file, error))?;
                file_system.mount_device(&device.path, &this.at)?;
            }
        }
        this.mounted = true;
        Ok(this)
    }

    /// Unmounts it.
    pub fn take_down(&mut self) -> Result<(), DeviceError> {
        if self.mounted {
            unmount(&self.at)
                .map_err(|errno| DeviceError::io("unmount", &self.at, errno.into()))?;
            self.mounted = false;
        }
        if let Some(server) = self.server.take() {
            // The loop device releases its file some time after it was unmounted.
            let unmounted = unmount(&self.fuse).map_err(io::Error::from);
            let ended = unmounted.and_then(|()| server.join());
            ended.map_err(|error| DeviceError::io("unmount", &self.fuse, error))?;
        }
        for path in [&self.at, &self.fuse] {
            fs::remove_dir(path).map_err(|error| DeviceError::io("remove", path, error))?;
        }
        Ok(())
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        if self.take_down().is_err() {
            // Remaining users get errors from now on. The mount disappears with its last user.
            let _ = umount2(&self.at, MntFlags::MNT_DETACH);
            let _ = umount2(&self.fuse, MntFlags::MNT_DETACH);
        }
    }
}

/// Unmounts a file system as soon as nothing uses it. A process that is being started holds what
/// its parent had open until it executes its own program.
pub(crate) fn unmount(at: &Path) -> nix::Result<()> {
    let until = Instant::now() + PATIENCE;
    loop {
        match umount2(at, MntFlags::empty()) {
            Err(Errno::EBUSY) if Instant::now() < until => thread::sleep(Duration::from_millis(2)),
            ended => return ended,
        }
    }
}
