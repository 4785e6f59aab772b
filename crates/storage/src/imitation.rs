//! Imitates a storage: mounts a file system on a device whose requests take the times of a model.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use embermark_blockdev::{DeviceError, FileSystem, TimedDevice, Trace, measure_path};
use embermark_flash::DeviceTooLarge;
use embermark_model::Storage;
use embermark_model::result::{StoragePath, StorageTimes};
use embermark_model::storage::Transfer;

use crate::times::Times;

/// A reason why a storage cannot be imitated.
#[derive(Debug, thiserror::Error)]
pub enum ImitationError {
    /// Root, FUSE or a loop device is not available.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The storage holds fewer bytes than the file system, it is faster than the path to an imitated
    /// device on this machine, or the file that holds the file system cannot be removed.
    #[error("{0}")]
    Unfit(String),
}

/// Imitates storages on this machine.
#[derive(Debug)]
pub struct Imitator {
    path: StoragePath,
    _awake: Option<File>,
}

impl Imitator {
    /// Measures the cost of the path to an imitated device, in `folder`. Call
    /// [`enter_mount_namespace`](embermark_blockdev::enter_mount_namespace) before. While this value
    /// lives, idle processors stay awake if the system allows it.
    ///
    /// # Errors
    /// If FUSE or a loop device is not available.
    pub fn begin(folder: &Path) -> Result<Self, DeviceError> {
        let awake = keep_awake();
        Ok(Self { path: measure_path(folder)?, _awake: awake })
    }

    /// Returns the cost of the path.
    pub const fn path(&self) -> StoragePath {
        self.path
    }

    /// Checks that a storage with a file system of `bytes` can be imitated here: it is slow enough,
    /// and large enough.
    ///
    /// # Errors
    /// If it cannot, with the figures.
    pub fn check_imitable(&self, storage: &Storage, bytes: u64) -> Result<(), ImitationError> {
        self.times(storage, bytes).map(drop)
    }

    /// Returns the model of a storage that can be imitated here.
    fn times(&self, storage: &Storage, bytes: u64) -> Result<Times, ImitationError> {
        self.check_slow_enough(storage)?;
        let name = storage.name;
        Times::new(storage, bytes).map_err(|DeviceTooLarge { device_bytes, capacity_bytes }| {
            ImitationError::Unfit(format!(
                "{name} holds {capacity_bytes} bytes, fewer than the {device_bytes} of the file system: use a smaller scale or another storage"
            ))
        })
    }

    /// Checks that the requests of a storage are slower than the path. A write into a cache may be
    /// faster, and then takes as long as the path, because a commit waits for the flush anyway.
    fn check_slow_enough(&self, storage: &Storage) -> Result<(), ImitationError> {
        let page_us = |of: Transfer| {
            let bytes_us = 4_096 * 1_000 / u64::from(of.kb_per_s.typical.max(1));
            u64::from(of.random_us.typical) + bytes_us
        };
        let durable = match storage.cache_bytes {
            0 => ("a write of 4 KiB", page_us(storage.write), self.path.write_ns),
            _ => ("a flush", storage.flush_us.typical.into(), self.path.flush_ns),
        };
        let steps = [("a read of 4 KiB", page_us(storage.read), self.path.read_ns), durable];
        let fast = steps.into_iter().find(|(_, takes_us, path_ns)| takes_us * 1_000 < *path_ns);
        match fast.filter(|_| storage.disk.is_none()) {
            None => Ok(()),
            Some((what, takes_us, path_ns)) => Err(ImitationError::Unfit(format!(
                "{} is too fast to be imitated on this machine: {what} takes {takes_us} µs there, and the path to an imitated device takes {} µs here",
                storage.name,
                path_ns / 1_000
            ))),
        }
    }

    /// Mounts the file system in the file `image` on an imitated storage, below `folder`, which it
    /// creates. The flash is [filled](embermark_model::Card::filled_permille) by the storage's file,
    /// and the cache is empty.
    ///
    /// Removes the file's name once the device has it open, so that its space is free again however
    /// this process ends.
    ///
    /// # Errors
    /// If the storage is too fast or too small, or the file system cannot be mounted.
    pub fn mount(
        &self,
        storage: &Storage,
        folder: &Path,
        image: &Path,
        file_system: FileSystem,
    ) -> Result<Imitated, ImitationError> {
        let bytes = image.metadata().map_or(0, |image| image.len());
        let times = Arc::new(Mutex::new(self.times(storage, bytes)?));
        let timing = Box::new(Arc::clone(&times));
        let (parallel, sector) = (storage.queue_depth, storage.sector_bytes);
        let device =
            TimedDevice::mount(folder, image, file_system, timing, parallel, sector, self.path)?;
        fs::remove_file(image).map_err(|error| {
            ImitationError::Unfit(format!("cannot remove {}: {error}", image.display()))
        })?;
        Ok(Imitated { at: device.at.clone(), device, times })
    }
}

/// Keeps idle processors from sleeping while the returned file lives, because waking one takes as
/// long as a request to a fast medium. It needs root (`/dev/cpu_dma_latency`, the kernel's PM QoS
/// interface). `None` if the system refuses.
pub(crate) fn keep_awake() -> Option<File> {
    let asked = OpenOptions::new().write(true).open("/dev/cpu_dma_latency").ok();
    asked.filter(|mut file| file.write_all(&0_i32.to_ne_bytes()).is_ok())
}

/// A file system on an imitated storage. Dropping it unmounts it.
pub struct Imitated {
    /// The mount point.
    pub at: PathBuf,
    device: TimedDevice,
    /// The model, which the device shares.
    times: Arc<Mutex<Times>>,
}

impl Imitated {
    /// Unmounts the file system. Returns the trace of the device and how well it kept the times of
    /// its model, including the unmounting, and the work of its flash before.
    ///
    /// # Errors
    /// If the file system is still in use.
    pub fn unmount(self) -> Result<(Trace, StorageTimes), DeviceError> {
        let flash = self.times.lock().unwrap_or_else(PoisonError::into_inner).flash();
        let (trace, times) = self.device.unmount()?;
        let programmed_bytes = flash.map(|flash| flash.programmed_bytes);
        let erases = flash.map(|flash| flash.erases);
        Ok((trace, StorageTimes { programmed_bytes, erases, ..times }))
    }
}

impl std::fmt::Debug for Imitated {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Imitated").field("at", &self.at).finish_non_exhaustive()
    }
}
