//! Imitates a storage: mounts a file system on a device whose requests take the times of a model.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use embermark_blockdev::{
    DeviceError, DeviceParameters, FileSystem, PathCost, Request, TimedDevice, Timing,
    TimingAccuracy, Trace,
};
use embermark_flash::DeviceTooLarge;
use embermark_model::Storage;
use embermark_model::result::StoragePath;

use crate::awake::AwakeProcessors;
use crate::times::{FlashWork, Times};

/// A reason why a storage cannot be imitated.
#[derive(Debug, thiserror::Error)]
pub enum ImitationError {
    /// Root, FUSE or a loop device is not available.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The file that holds the file system cannot be removed.
    #[error("cannot remove {path}: {source}", path = .path.display())]
    Image {
        /// The file.
        path: PathBuf,
        /// The error.
        source: std::io::Error,
    },
    /// The file system is larger than the storage.
    #[error("{storage} holds {} bytes, fewer than the {} of the file system: use a smaller scale or another storage", .refused.capacity_bytes, .refused.device_bytes)]
    TooSmall {
        /// The storage's name.
        storage: String,
        /// Both sizes.
        refused: DeviceTooLarge,
    },
    /// The storage is faster than the path to an imitated device on this machine.
    #[error(
        "{storage} is too fast to be imitated on this machine: {what} takes {takes_us} µs there, and the path to an imitated device takes {path_us} µs here"
    )]
    TooFast {
        /// The storage's name.
        storage: String,
        /// `a read of 4 KiB`.
        what: &'static str,
        /// Its time by the model, in µs.
        takes_us: u64,
        /// Time of the path, in µs.
        path_us: u64,
    },
}

/// Imitates storages on this machine.
#[derive(Debug)]
pub struct Imitator {
    path: PathCost,
    _awake: AwakeProcessors,
}

impl Imitator {
    /// Measures the cost of the path to an imitated device, in `folder`. Call
    /// [`enter_mount_namespace`](embermark_blockdev::enter_mount_namespace) before. While this value
    /// lives, idle processors stay awake if the system allows it.
    ///
    /// # Errors
    /// If FUSE or a loop device is not available.
    pub fn begin(folder: &Path) -> Result<Self, DeviceError> {
        let awake = AwakeProcessors::start();
        Ok(Self { path: PathCost::measure(folder)?, _awake: awake })
    }

    /// Returns the cost of the path.
    pub const fn path(&self) -> StoragePath {
        let PathCost { read_ns, write_ns, flush_ns, kib_ns } = self.path;
        StoragePath { read_ns, write_ns, flush_ns, kib_ns }
    }

    /// Checks that a storage with a file system of `bytes` can be imitated here: it is slow enough,
    /// and large enough.
    ///
    /// # Errors
    /// [`ImitationError::TooFast`] or [`ImitationError::TooSmall`], with the figures, if it cannot.
    pub fn check_imitable(&self, storage: &Storage, bytes: u64) -> Result<(), ImitationError> {
        self.times(storage, bytes).map(drop)
    }

    /// Returns the model of a storage that can be imitated here.
    fn times(&self, storage: &Storage, bytes: u64) -> Result<Times, ImitationError> {
        self.check_slow_enough(storage)?;
        Times::new(storage, bytes).map_err(|refused| ImitationError::TooSmall {
            storage: storage.name.to_string(),
            refused,
        })
    }

    /// Checks that the requests of a storage are slower than the path. A write into a cache may be
    /// faster, and then takes as long as the path, because a commit waits for the flush anyway.
    fn check_slow_enough(&self, storage: &Storage) -> Result<(), ImitationError> {
        let cached = storage.cache_bytes > 0;
        let bytes_us = |kb_per_s: u32| 4_096 * 1_000 / u64::from(kb_per_s.max(1));
        let read =
            u64::from(storage.read.random_us.typical) + bytes_us(storage.read.kb_per_s.typical);
        let write =
            u64::from(storage.write.random_us.typical) + bytes_us(storage.write.kb_per_s.typical);
        let seeks = storage.disk.is_some();
        let steps = [
            (!seeks, "a read of 4 KiB", read, self.path.read_ns),
            (!seeks && !cached, "a write of 4 KiB", write, self.path.write_ns),
            (!seeks && cached, "a flush", u64::from(storage.flush_us.typical), self.path.flush_ns),
        ];
        let fast = steps.iter().find(|(asked, _, takes, path)| *asked && takes * 1_000 < *path);
        match fast {
            None => Ok(()),
            Some((_, what, takes_us, path_ns)) => Err(ImitationError::TooFast {
                storage: storage.name.to_string(),
                what,
                takes_us: *takes_us,
                path_us: path_ns / 1_000,
            }),
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
        let times = self.times(storage, bytes)?;
        let times = SharedTimes(Arc::new(Mutex::new(times)));
        let timing = Box::new(times.clone());
        let parameters = DeviceParameters {
            parallel_requests: storage.queue_depth,
            sector: storage.sector_bytes,
        };
        let device = TimedDevice::mount(folder, image, file_system, timing, parameters, self.path)?;
        fs::remove_file(image)
            .map_err(|source| ImitationError::Image { path: image.to_owned(), source })?;
        Ok(Imitated { at: device.at.clone(), device, times })
    }
}

/// A file system on an imitated storage. Dropping it unmounts it.
pub struct Imitated {
    /// The mount point.
    pub at: PathBuf,
    device: TimedDevice,
    times: SharedTimes,
}

impl Imitated {
    /// Returns how well the device has kept the times of its model so far.
    pub fn timing_accuracy(&self) -> TimingAccuracy {
        self.device.timing_accuracy()
    }

    /// Returns the work of the translation layer so far, if the storage has one.
    pub fn flash(&self) -> Option<FlashWork> {
        self.times.0.lock().unwrap_or_else(PoisonError::into_inner).flash()
    }

    /// Unmounts the file system. Returns the trace of the device, including the unmounting, and how
    /// well it kept the times of its model.
    ///
    /// # Errors
    /// If the file system is still in use.
    pub fn unmount(self) -> Result<(Trace, TimingAccuracy), DeviceError> {
        self.device.unmount()
    }
}

impl std::fmt::Debug for Imitated {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Imitated").field("at", &self.at).finish_non_exhaustive()
    }
}

/// A model shared by the threads that serve the device and its owner.
#[derive(Clone)]
struct SharedTimes(Arc<Mutex<Times>>);

impl Timing for SharedTimes {
    fn end(&mut self, request: Request, now: u64) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).end(request, now)
    }
}
