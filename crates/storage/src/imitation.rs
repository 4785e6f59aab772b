//! A storage that is imitated: a file system on a device that takes the times of a model.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use embermark_blockdev::{
    DeviceError, FileSystem, Kept, PathCost, Request, TimedDevice, Timing, Trace,
};
use embermark_flash::{Done, Refused};
use embermark_model::Storage;

use crate::times::Times;

/// Why a storage is not imitated.
#[derive(Debug, thiserror::Error)]
pub enum ImitationError {
    /// The system does not give what it takes: root, FUSE, a loop device.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The file system is larger than the storage.
    #[error("{storage} holds {} bytes, fewer than the {} of the file system: give a smaller scale or another storage", .refused.capacity_bytes, .refused.device_bytes)]
    TooSmall {
        /// The storage's name.
        storage: String,
        /// Both sizes.
        refused: Refused,
    },
    /// It is faster than the way to it on this machine.
    #[error(
        "{storage} is too fast to be imitated on this machine: {what} takes {takes_us} µs there, and the way to an imitated \
         device alone {path_us} µs here"
    )]
    TooFast {
        /// The storage's name.
        storage: String,
        /// `a read of 4 KiB`.
        what: &'static str,
        /// What that takes by the model, in µs.
        takes_us: u64,
        /// What the way takes, in µs.
        path_us: u64,
    },
}

/// The means to imitate storages on this machine.
#[derive(Debug)]
pub struct Imitator {
    path: PathCost,
    /// Open for as long as processors are not to sleep.
    _awake: Option<File>,
}

impl Imitator {
    /// Measures what the way to an imitated device takes here, below `folder`, which has to be seen with
    /// [mounts of one's own](embermark_blockdev::own_mounts). As long as this value lives, processors that have nothing to do wait
    /// without sleeping, where the system lets them (`/dev/cpu_dma_latency`, the kernel's PM QoS interface): waking takes as long
    /// as some media's requests.
    ///
    /// # Errors
    /// When FUSE or a loop device cannot be had.
    pub fn begin(folder: &Path) -> Result<Self, DeviceError> {
        let awake = OpenOptions::new().write(true).open("/dev/cpu_dma_latency").ok();
        let awake = awake.filter(|mut file| file.write_all(&0_i32.to_ne_bytes()).is_ok());
        Ok(Self { path: PathCost::measure(folder)?, _awake: awake })
    }

    /// What the way takes.
    pub const fn path(&self) -> PathCost {
        self.path
    }

    /// Whether a storage is slow enough to be imitated here. A write that a cache takes may be faster than the way: it takes as
    /// long as the way then, and what is waited for in a commit is the flush.
    ///
    /// # Errors
    /// [Too fast](ImitationError::TooFast), with the figures.
    pub fn can(&self, storage: &Storage) -> Result<(), ImitationError> {
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

    /// Mounts the file system in the file `image` on an imitated storage, below `folder`, which is made. The storage is
    /// [filled](embermark_model::Card::filled_permille) as its file says, and its cache is empty.
    ///
    /// # Errors
    /// When it is too fast or too small, or cannot be mounted.
    pub fn mount(
        &self,
        storage: &Storage,
        folder: &Path,
        image: &Path,
        file_system: FileSystem,
    ) -> Result<Imitated, ImitationError> {
        self.can(storage)?;
        let bytes = image.metadata().map_or(0, |image| image.len());
        let times = Times::new(storage, bytes).map_err(|refused| ImitationError::TooSmall {
            storage: storage.name.to_string(),
            refused,
        })?;
        let times = Shared(Arc::new(Mutex::new(times)));
        let timing = Box::new(times.clone());
        let queue = storage.queue_depth;
        let device = TimedDevice::mount(folder, image, file_system, timing, queue, self.path)?;
        Ok(Imitated { at: device.at.clone(), device, times })
    }
}

/// A file system on an imitated storage. Dropping it unmounts it.
pub struct Imitated {
    /// The folder at which it is mounted.
    pub at: PathBuf,
    device: TimedDevice,
    times: Shared,
}

impl Imitated {
    /// How well it has kept its times so far.
    pub fn kept(&self) -> Kept {
        self.device.kept()
    }

    /// What its translation layer has done so far, where it has one.
    pub fn done(&self) -> Option<Done> {
        self.times.0.lock().unwrap_or_else(PoisonError::into_inner).done()
    }

    /// Unmounts it, and returns what has reached it, what unmounting brought there included, and how well it kept its
    /// times.
    ///
    /// # Errors
    /// When it is in use still.
    pub fn unmount(self) -> Result<(Trace, Kept), DeviceError> {
        self.device.unmount()
    }
}

impl std::fmt::Debug for Imitated {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Imitated").field("at", &self.at).finish_non_exhaustive()
    }
}

/// Times that the serving threads and those who ask share.
#[derive(Clone)]
struct Shared(Arc<Mutex<Times>>);

impl Timing for Shared {
    fn end(&mut self, request: Request, now: u64) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).end(request, now)
    }
}
