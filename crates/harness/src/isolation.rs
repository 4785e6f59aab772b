//! A disk of its own for each trial: an ext4 file system in an image on a loop device, whose
//! counters are nobody else's.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use embermark_blockdev::{self as blockdev, FileSystem, Kept, Trace, TracedDevice, own_mounts};
use embermark_model::Storage;
use embermark_model::result::DeviceIo;
use embermark_storage::{FlashWork, Imitated, Imitator};
use nix::sys::stat::{major, minor};
use nix::unistd::{geteuid, syncfs};

use crate::machine::{self, System};
use crate::{HarnessError, clock, disk};

/// Bytes of an image at least. It is sparse: what is not written takes no room.
const LEAST: u64 = 1 << 30;

/// Bytes of the image that shows whether it works here.
const TRY: u64 = 16 << 20;

/// The folder of a disk's file system that is the database's directory: its root has `lost+found`.
const SITE: &str = "database";

/// The way to disks of their own. What is mounted is seen by this process and its children alone,
/// and gone with them: a run that is killed leaves no mount behind.
#[derive(Debug)]
pub(crate) struct Isolation {
    bytes: u64,
}

impl Isolation {
    /// Makes this thread, and the processes it will start, see mounts of their own; tries one out
    /// in `data`. Disks will have room for databases of `needed` bytes.
    ///
    /// # Errors
    /// Why not, and what to do, when the user or the system may not.
    pub fn begin(data: &Path, needed: u64) -> Result<Self, String> {
        if !geteuid().is_root() {
            return Err("only root may give each trial a block device of its own; run as root \
                        to have them counted"
                .to_owned());
        }
        own_mounts().map_err(|error| error.to_string())?;
        let this = Self { bytes: bytes_for(needed, data) };
        Disk::create(&data.join("try"), TRY, Device::Plain).and_then(Disk::remove)?;
        Ok(this)
    }

    /// Tries out in `data` whether what reaches a disk can be recorded.
    ///
    /// # Errors
    /// Why not.
    pub fn try_recording(&self, data: &Path) -> Result<(), String> {
        Disk::create(&data.join("try"), TRY, Device::Recorded).and_then(Disk::remove).map(drop)
    }

    /// A disk for a trial, its image and mount point beside `site`; what reaches it is `recorded`, or
    /// counted alone.
    pub fn disk(&self, site: &Path, recorded: bool) -> Result<Disk, HarnessError> {
        let device = if recorded { Device::Recorded } else { Device::Plain };
        Disk::create(site, self.bytes, device).map_err(HarnessError::Isolation)
    }

    /// A plain one of a size.
    pub fn disk_of(&self, site: &Path, bytes: u64) -> Result<Disk, HarnessError> {
        Disk::create(site, bytes, Device::Plain).map_err(HarnessError::Isolation)
    }
}

/// Bytes of a disk below `data` with room for databases of `needed` bytes.
pub(crate) fn bytes_for(needed: u64, data: &Path) -> u64 {
    let free = disk::free_bytes(data).unwrap_or(u64::MAX);
    LEAST.max(needed.saturating_mul(2)).min(free).max(TRY)
}

/// The block device that a disk is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Device<'a> {
    /// A loop device.
    Plain,
    /// One that records what reaches it.
    Recorded,
    /// One that takes the times of a storage, and records too.
    Imitated(&'a Imitator, &'a Storage),
}

/// What a disk has to tell once it is removed.
#[derive(Debug, Default)]
pub(crate) struct Removed {
    /// What reached it, where that was recorded.
    pub trace: Option<Trace>,
    /// How well it kept the times of its storage, where it imitated one.
    pub kept: Option<Kept>,
    /// What the flash of its storage went through, where it has some.
    pub flash: Option<FlashWork>,
}

/// A mounted disk. Dropping it unmounts it and removes its image.
#[derive(Debug)]
pub(crate) struct Disk {
    image: PathBuf,
    /// The folder that it has; a plain one is mounted there, and others below it.
    at: PathBuf,
    mounted: Option<Mounted>,
    begun: Option<Before>,
}

/// Its file system, as it is mounted.
#[derive(Debug)]
enum Mounted {
    Plain(blockdev::Disk),
    Recorded(TracedDevice),
    Imitated(Imitated),
}

impl Mounted {
    fn new(image: &Path, at: &Path, device: Device<'_>) -> Result<Self, String> {
        let says = |error: blockdev::DeviceError| error.to_string();
        let ext4 = FileSystem::Ext4;
        match device {
            Device::Plain => blockdev::Disk::mount(image, at, ext4).map(Self::Plain).map_err(says),
            Device::Recorded => {
                TracedDevice::mount(at, image, ext4).map(Self::Recorded).map_err(says)
            }
            Device::Imitated(imitator, storage) => imitator
                .mount(storage, at, image, ext4)
                .map(Self::Imitated)
                .map_err(|error| error.to_string()),
        }
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
            Self::Plain(disk) => disk.unmount().map(|()| Removed::default()),
            Self::Recorded(device) => {
                device.unmount().map(|trace| Removed { trace: Some(trace), ..Removed::default() })
            }
            Self::Imitated(device) => {
                let flash = device.flash();
                device.unmount().map(|(trace, kept)| Removed {
                    trace: Some(trace),
                    kept: Some(kept),
                    flash,
                })
            }
        };
        removed.map_err(|error| error.to_string())
    }
}

impl Disk {
    /// A disk of a size, its image and mount point beside `at`.
    pub fn create(at: &Path, bytes: u64, device: Device<'_>) -> Result<Self, String> {
        let image = at.with_extension("img");
        let at = at.to_owned();
        let failed = |what: &Path, error: io::Error| format!("{}: {error}", what.display());
        let mut this = Self { image, at, mounted: None, begun: None };
        let file = File::create(&this.image).map_err(|e| failed(&this.image, e))?;
        file.set_len(bytes).map_err(|e| failed(&this.image, e))?;
        fs::create_dir_all(&this.at).map_err(|e| failed(&this.at, e))?;
        // Nothing may be left for the kernel to do later: it would be counted as the engine's.
        let mut mkfs = Command::new("mkfs.ext4");
        mkfs.args(["-q", "-F", "-N", "16384", "-E", "lazy_itable_init=0,lazy_journal_init=0"]);
        call(mkfs.arg(&this.image), "apt install e2fsprogs")?;
        this.mounted = Some(Mounted::new(&this.image, &this.at, device)?);
        let site = this.site();
        fs::create_dir(&site).map_err(|e| failed(&site, e))?;
        this.begun = Before::at(this.root());
        Ok(this)
    }

    /// Where its file system is.
    fn root(&self) -> &Path {
        self.mounted.as_ref().map_or(&self.at, Mounted::at)
    }

    /// The directory for the database.
    pub fn site(&self) -> PathBuf {
        self.root().join(SITE)
    }

    /// What has reached the device since it was mounted, what the file system still held back
    /// included; `None` where it cannot be read.
    pub fn used(&self) -> Option<DeviceIo> {
        self.begun.as_ref()?.since().map(|since| since.io)
    }

    /// Unmounts it and removes it.
    pub fn remove(mut self) -> Result<Removed, String> {
        self.unmount()
    }

    fn unmount(&mut self) -> Result<Removed, String> {
        let told = self.mounted.take().map_or(Ok(Removed::default()), Mounted::unmount)?;
        let removed = fs::remove_dir(&self.at).and_then(|()| fs::remove_file(&self.image));
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(format!("{}: {error}", self.image.display()))
            }
            _ => Ok(told),
        }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // The mount ends with this process at the latest.
        let _ = self.unmount();
    }
}

/// The counters of the device under a file system, read without a sync.
pub(crate) struct Counters(PathBuf);

impl Counters {
    /// Of the device under `at`; `None` where it has none.
    pub fn of(at: &Path) -> Option<Self> {
        let this = Self(counters_of(at)?);
        this.written_bytes().is_some().then_some(this)
    }

    /// Bytes that were written to it so far.
    pub fn written_bytes(&self) -> Option<u64> {
        Some(counted(&machine::read(&self.0)?)?.written_bytes)
    }
}

/// What had reached the device under a file system at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Before {
    at: PathBuf,
    counters: PathBuf,
    then: DeviceIo,
    began_ns: Option<u64>,
}

/// What has reached a device since a moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Since {
    /// How much.
    pub io: DeviceIo,
    /// That moment and this one, in ns of the monotonic clock.
    pub between: Option<(u64, u64)>,
}

impl Before {
    /// Now, on the device under `at`, what its file system held back included; `None` where it
    /// cannot be read.
    pub fn at(at: &Path) -> Option<Self> {
        let counters = counters_of(at)?;
        let then = synced(at, &counters)?;
        Some(Self { at: at.to_owned(), counters, then, began_ns: clock::monotonic_ns() })
    }

    /// What has reached it since, what its file system held back included; `None` where it cannot
    /// be read.
    pub fn since(&self) -> Option<Since> {
        let now = synced(&self.at, &self.counters)?;
        let between = self.began_ns.zip(clock::monotonic_ns());
        let io = DeviceIo {
            read_bytes: now.read_bytes.checked_sub(self.then.read_bytes)?,
            written_bytes: now.written_bytes.checked_sub(self.then.written_bytes)?,
            flushes: now.flushes.checked_sub(self.then.flushes)?,
        };
        Some(Since { io, between })
    }
}

/// Where the system shows the counters of the device under `at`.
fn counters_of(at: &Path) -> Option<PathBuf> {
    let dev = at.metadata().ok()?.dev();
    let counters = format!("sys/dev/block/{}:{}/stat", major(dev), minor(dev));
    Some(System::here().path(counters))
}

fn synced(at: &Path, counters: &Path) -> Option<DeviceIo> {
    syncfs(File::open(at).ok()?).ok()?;
    counted(&machine::read(counters)?)
}

/// Reads `/sys/block/DEVICE/stat` (kernel documentation, `block/stat`): sectors of 512 bytes read
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

/// Runs a program to its end; what it said where it fails, and what to do where it is not here.
fn call(command: &mut Command, remedy: &str) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).stdout(Stdio::null()).output();
    let output = output.map_err(|error| format!("{name}: {error}; {remedy}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{name}: {}", String::from_utf8_lossy(&output.stderr).trim())),
    }
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
            assert!(Before::at(Path::new(place)).is_none(), "{place}");
        }
    }
}
