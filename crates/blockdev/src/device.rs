//! Mounts a file system on a recorded device.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::mount::{MntFlags, umount2};

use crate::error::{DeviceError, Result};
use crate::file_system::FileSystem;
use crate::image::Image;
use crate::log::Log;
use crate::loop_device::LoopDevice;
use crate::medium::{FILE, InMemoryMedium, Medium, Recording, lock};
use crate::server::Server;
use crate::states::SECTOR;

/// Time in which a file system may still be in use after its last user has ended.
const PATIENCE: Duration = Duration::from_secs(10);

/// A file system, mounted on a device that is recorded, with its content in memory. Dropping it
/// unmounts it.
#[derive(Debug)]
pub struct Device {
    /// Mount point of the file system.
    pub at: PathBuf,
    recorded: Arc<Mutex<Recording>>,
    mounted: Mounted,
}

impl Device {
    /// Mounts a device with that content, which is a file system of that kind, below `folder`.
    /// Creates the folder.
    ///
    /// # Errors
    /// If FUSE or a loop device is not available, or the file system cannot be mounted: the content
    /// is not a file system for the kernel, or a broken one.
    pub fn mount(folder: &Path, content: Image, file_system: FileSystem) -> Result<Self> {
        let log = Log { base: content.clone(), records: Vec::new(), times: Vec::new() };
        let recorded =
            Arc::new(Mutex::new(Recording { image: content, log, begun: Instant::now() }));
        let medium = InMemoryMedium(Arc::clone(&recorded));
        let mounted = Mounted::mount(folder, move || Ok(medium), file_system, SECTOR as u32)?;
        Ok(Self { at: mounted.at.clone(), recorded, mounted })
    }

    /// Returns the current position in the log: the number of requests that have reached the device.
    pub fn position(&self) -> usize {
        lock(&self.recorded).log.records.len()
    }

    /// Returns the time since the device was mounted, as in the log.
    pub fn elapsed(&self) -> Duration {
        lock(&self.recorded).begun.elapsed()
    }

    /// Unmounts the file system, and returns the log, including the writes of unmounting.
    ///
    /// # Errors
    /// If the file system is still in use.
    pub fn unmount(mut self) -> Result<Log> {
        self.mounted.unmount()?;
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
    /// Mounts a medium below `folder`, which it creates. `sector` is the sector size in bytes of a
    /// medium with direct requests.
    pub fn mount<M: Medium>(
        folder: &Path,
        medium: impl FnOnce() -> io::Result<M> + Send + 'static,
        file_system: FileSystem,
        sector: u32,
    ) -> Result<Self> {
        let (fuse, at) = (folder.join("device"), folder.join("files"));
        for path in [&fuse, &at] {
            fs::create_dir_all(path).map_err(DeviceError::io("make", path))?;
        }
        let server = Server::mount(medium, fuse.clone())
            .map_err(DeviceError::io("mount a FUSE file system at", &fuse))?;
        let mut this = Self { at, fuse, server: Some(server), mounted: false };
        let file = this.fuse.join(FILE);
        match M::DIRECT {
            false => file_system.mount(&file, &this.at)?,
            true => {
                let device = LoopDevice::attach(&file, sector)
                    .map_err(DeviceError::io("attach a loop device to", &file))?;
                file_system.mount_device(&device.path, &this.at)?;
            }
        }
        this.mounted = true;
        Ok(this)
    }

    /// Unmounts the file system and ends the server.
    pub fn unmount(&mut self) -> Result<()> {
        if self.mounted {
            unmount(&self.at).map_err(DeviceError::io("unmount", &self.at))?;
            self.mounted = false;
        }
        if let Some(server) = self.server.take() {
            // The loop device releases its file some time after it was unmounted.
            let ended = unmount(&self.fuse).map_err(io::Error::from).and_then(|()| server.join());
            ended.map_err(DeviceError::io("unmount", &self.fuse))?;
        }
        for path in [&self.at, &self.fuse] {
            fs::remove_dir(path).map_err(DeviceError::io("remove", path))?;
        }
        Ok(())
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        if self.unmount().is_err() {
            // Remaining users get errors from now on. The mount disappears with its last user.
            let _ = umount2(&self.at, MntFlags::MNT_DETACH);
            let _ = umount2(&self.fuse, MntFlags::MNT_DETACH);
        }
    }
}

/// Unmounts a file system as soon as nothing uses it. A process that is being started holds its
/// parent's open files until it executes its own program.
pub(crate) fn unmount(at: &Path) -> nix::Result<()> {
    let until = Instant::now() + PATIENCE;
    loop {
        match umount2(at, MntFlags::empty()) {
            Err(Errno::EBUSY) if Instant::now() < until => thread::sleep(Duration::from_millis(2)),
            ended => return ended,
        }
    }
}
