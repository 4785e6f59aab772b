//! A disk for each trial: an ext4 file system in an image on a loop device. The device's counters
//! count this trial only.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use embermark_blockdev::{
    self as blockdev, FileSystem, Trace, TracedDevice, enter_mount_namespace,
};
use embermark_model::Storage;
use embermark_model::result::{DeviceIo, StorageTimes};
use embermark_storage::{Imitated, Imitator};
use nix::sys::stat::{major, minor};
use nix::unistd::{geteuid, syncfs};

use crate::system::{self, System};
use crate::{HarnessError, Result, clock, disk};

/// Smallest size of an image in bytes. An image is sparse: only what is written takes space.
const MIN_IMAGE_BYTES: u64 = 1 << 30;

/// Size in bytes of the image for the test.
const TEST_IMAGE_BYTES: u64 = 16 << 20;

/// The folder for the database on the file system, whose root has `lost+found`.
const SITE: &str = "database";

/// Gives trials disks. Only this process and its children see the mounts, which end with them: a
/// run that is killed leaves no mount behind.
#[derive(Debug)]
pub(crate) struct TrialDisks {
    bytes: u64,
}

impl TrialDisks {
    /// Gives this thread, and the processes that it starts, their own mounts, and tests a disk in
    /// `data`. Disks have room for databases of `needed` bytes.
    ///
    /// # Errors
    /// If the user is not root, or the system has no such mounts. The error gives the reason and
    /// what to do.
    pub fn begin(data: &Path, needed: u64) -> Result<Self, String> {
        if !geteuid().is_root() {
            return Err("only root may give each trial a block device of its own; run as root \
                        to have them counted"
                .to_owned());
        }
        enter_mount_namespace().map_err(|error| error.to_string())?;
        let this = Self { bytes: bytes_for(needed, data) };
        Disk::create(&data.join("try"), TEST_IMAGE_BYTES, Device::Plain).and_then(Disk::remove)?;
        Ok(this)
    }

    /// Tests in `data` whether requests to a disk can be recorded.
    ///
    /// # Errors
    /// If they cannot. The error gives the reason.
    pub fn try_recording(&self, data: &Path) -> Result<(), String> {
        Disk::create(&data.join("try"), TEST_IMAGE_BYTES, Device::Recorded)
            .and_then(Disk::remove)
            .map(drop)
    }

    /// Creates a disk for a trial, with its image and mount point next to `site`. Its requests are
    /// `recorded`, or only counted.
    pub fn disk(&self, site: &Path, recorded: bool) -> Result<Disk> {
        let device = if recorded { Device::Recorded } else { Device::Plain };
        Disk::create(site, self.bytes, device).map_err(HarnessError::TrialDisk)
    }

    /// Creates a plain disk of `bytes` bytes.
    pub fn disk_of(&self, site: &Path, bytes: u64) -> Result<Disk> {
        Disk::create(site, bytes, Device::Plain).map_err(HarnessError::TrialDisk)
    }
}

/// Returns the size in bytes of a disk below `data` that has room for databases of `needed` bytes.
pub(crate) fn bytes_for(needed: u64, data: &Path) -> u64 {
    let free = disk::free_bytes(data).unwrap_or(u64::MAX);
    MIN_IMAGE_BYTES.max(needed.saturating_mul(2)).min(free).max(TEST_IMAGE_BYTES)
}

/// The block device that a disk is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Device<'a> {
    /// A loop device.
    Plain,
    /// A device that records its requests.
    Recorded,
    /// A device that takes the times of a storage, and records its requests too.
    Imitated(&'a Imitator, &'a Storage),
}

/// Outcome of a disk, known after its removal.
#[derive(Debug, Default)]
pub(crate) struct Removed {
    /// The requests that reached it, if they were recorded.
    pub trace: Option<Trace>,
    /// How well it kept the times of its storage, if it imitated one.
    pub storage_times: Option<StorageTimes>,
}

/// A mounted disk. Dropping it unmounts it and removes its image.
#[derive(Debug)]
pub(crate) struct Disk {
    image: PathBuf,
    /// Its folder. A plain disk is mounted there, the others below it.
    at: PathBuf,
    mounted: Option<Mounted>,
    begun: Option<DeviceSnapshot>,
}

/// A mounted file system on one of the devices.
#[derive(Debug)]
enum Mounted {
    Plain(blockdev::Disk),
    Recorded(TracedDevice),
    Imitated(Imitated),
}

impl Mounted {
    fn new(image: &Path, at: &Path, device: Device<'_>) -> Result<Self, String> {
        let ext4 = FileSystem::Ext4;
        let mounted = match device {
            Device::Plain => blockdev::Disk::mount(image, at, ext4).map(Self::Plain),
            Device::Recorded => TracedDevice::mount(at, image, ext4).map(Self::Recorded),
            Device::Imitated(imitator, storage) => {
                let mounted = imitator.mount(storage, at, image, ext4);
                return mounted.map(Self::Imitated).map_err(|error| error.to_string());
            }
        };
        mounted.map_err(|error| error.to_string())
    }

    fn at(&self) -> &Path {
        match self {
            Self::Plain(disk) => &disk.at,
            Self::Recorded(device) => &device.at,
            Self::Imitated(device) => &device.at,
        }
    }

    fn unmount(self) -> Result<Removed, String> {
        let removed = match self {
            Self::Plain(disk) => disk.unmount().map(|()| (None, None)),
            Self::Recorded(device) => device.unmount().map(|trace| (Some(trace), None)),
            Self::Imitated(device) => {
                device.unmount().map(|(trace, times)| (Some(trace), Some(times)))
            }
        };
        let (trace, storage_times) = removed.map_err(|error| error.to_string())?;
        Ok(Removed { trace, storage_times })
    }
}

impl Disk {
    /// Creates a disk of `bytes` bytes, with its image and mount point next to `at`.
    pub fn create(at: &Path, bytes: u64, device: Device<'_>) -> Result<Self, String> {
        let image = at.with_extension("img");
        let at = at.to_owned();
        let failed = |what: &Path, error: io::Error| format!("{}: {error}", what.display());
        let mut this = Self { image, at, mounted: None, begun: None };
        let file = File::create(&this.image).map_err(|e| failed(&this.image, e))?;
        file.set_len(bytes).map_err(|e| failed(&this.image, e))?;
        fs::create_dir_all(&this.at).map_err(|e| failed(&this.at, e))?;
        // Initialises everything now. Otherwise the kernel's later work would count as the
        // engine's.
        let mut mkfs = Command::new("mkfs.ext4");
        mkfs.args(["-q", "-F", "-N", "16384", "-E", "lazy_itable_init=0,lazy_journal_init=0"]);
        let made = mkfs.arg(&this.image).stdin(Stdio::null()).stdout(Stdio::null()).output();
        let made = made.map_err(|error| format!("mkfs.ext4: {error}; apt install e2fsprogs"))?;
        if !made.status.success() {
            return Err(format!("mkfs.ext4: {}", String::from_utf8_lossy(&made.stderr).trim()));
        }
        this.mounted = Some(Mounted::new(&this.image, &this.at, device)?);
        let site = this.site();
        fs::create_dir(&site).map_err(|e| failed(&site, e))?;
        this.begun = DeviceSnapshot::at(this.root());
        Ok(this)
    }

    /// Returns the root of its file system.
    fn root(&self) -> &Path {
        self.mounted.as_ref().map_or(&self.at, Mounted::at)
    }

    /// Returns the directory for the database.
    pub fn site(&self) -> PathBuf {
        self.root().join(SITE)
    }

    /// Syncs the file system and returns what has reached the device since it was mounted. `None`
    /// if the counters cannot be read.
    pub fn used(&self) -> Option<DeviceIo> {
        self.begun.as_ref()?.since().map(|since| since.io)
    }

    /// Unmounts it and removes it.
    pub fn remove(mut self) -> Result<Removed, String> {
        self.unmount()
    }

    fn unmount(&mut self) -> Result<Removed, String> {
        let known = self.mounted.take().map_or(Ok(Removed::default()), Mounted::unmount)?;
        let removed = fs::remove_dir(&self.at).and_then(|()| fs::remove_file(&self.image));
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(format!("{}: {error}", self.image.display()))
            }
            _ => Ok(known),
        }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // The mount ends with this process at the latest.
        let _ = self.unmount();
    }
}

/// The counters of the device under a file system at one time.
#[derive(Clone, Debug)]
pub(crate) struct DeviceSnapshot {
    at: PathBuf,
    counters: PathBuf,
    then: DeviceIo,
    began_ns: Option<u64>,
}

/// What reached a device between two times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeviceDelta {
    /// The amounts.
    pub io: DeviceIo,
    /// Both times, in ns of the monotonic clock.
    pub between: Option<(u64, u64)>,
}

impl DeviceSnapshot {
    /// Syncs the file system at `at` and reads its device's counters. `None` if they cannot be
    /// read.
    pub fn at(at: &Path) -> Option<Self> {
        let counters = counters_of(at)?;
        let then = synced(at, &counters)?;
        Some(Self { at: at.to_owned(), counters, then, began_ns: clock::monotonic_ns() })
    }

    /// Syncs the file system and returns what has reached the device since. `None` if the counters
    /// cannot be read.
    pub fn since(&self) -> Option<DeviceDelta> {
        let now = synced(&self.at, &self.counters)?;
        let between = self.began_ns.zip(clock::monotonic_ns());
        let io = DeviceIo {
            read_bytes: now.read_bytes.checked_sub(self.then.read_bytes)?,
            written_bytes: now.written_bytes.checked_sub(self.then.written_bytes)?,
            flushes: now.flushes.checked_sub(self.then.flushes)?,
        };
        Some(DeviceDelta { io, between })
    }
}

/// Returns the file in `/sys` with the counters of the device under `at`.
pub(crate) fn counters_of(at: &Path) -> Option<PathBuf> {
    let dev = at.metadata().ok()?.dev();
    let counters = format!("sys/dev/block/{}:{}/stat", major(dev), minor(dev));
    Some(System::here().path(counters))
}

fn synced(at: &Path, counters: &Path) -> Option<DeviceIo> {
    syncfs(File::open(at).ok()?).ok()?;
    read_counters(counters)
}

/// Reads the counters in such a file without a sync.
pub(crate) fn read_counters(counters: &Path) -> Option<DeviceIo> {
    counted(&system::read(counters)?)
}

/// Parses `/sys/block/DEVICE/stat` (kernel documentation, `block/stat`): sectors of 512 bytes read
/// and written, and flushes.
fn counted(stat: &str) -> Option<DeviceIo> {
    const SECTOR: u64 = 512;
    let fields: Vec<&str> = stat.split_ascii_whitespace().collect();
    let field = |number: usize| fields.get(number - 1)?.parse::<u64>().ok();
    Some(DeviceIo {
        read_bytes: field(3)?.checked_mul(SECTOR)?,
        written_bytes: field(7)?.checked_mul(SECTOR)?,
        flushes: field(16)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sectors_are_bytes_by_512_and_old_kernels_that_count_no_flushes_are_not_measured() {
        let stat = "  113 1 4212 10 23 19 10306 36 0 40 78 0 0 0 0 17 31\n";
        let expected = DeviceIo { read_bytes: 4212 * 512, written_bytes: 10306 * 512, flushes: 17 };
        assert_eq!(counted(stat), Some(expected));
        assert_eq!(counted("113 1 4212 10 23 19 10306 36 0 40 78"), None);
        assert_eq!(
            counted("113 1 4212 10 23 19 18446744073709551615 36 0 40 78 0 0 0 0 17 31"),
            None
        );
        assert_eq!(counted(""), None);
    }

    #[test]
    fn what_lies_on_no_block_device_is_not_measured() {
        for place in ["/proc", "/nowhere"] {
            assert!(DeviceSnapshot::at(Path::new(place)).is_none(), "{place}");
        }
    }
}
