//! The block device below a file system, and its disk.

use std::fs;
use std::path::{Path, PathBuf};

use nix::sys::stat::{major, minor};

use crate::system::{System, read};

/// Returns the directory in `/sys` of the device with this number. If the number belongs only to a
/// file system, as with Btrfs, it is that of the device it was mounted from, found by name.
pub(crate) fn find(system: &System, device: u64, source: Option<&str>) -> Option<PathBuf> {
    let named = source.and_then(|source| source.strip_prefix("/dev/"));
    let named = named.map(|name| format!("sys/class/block/{name}"));
    let numbered = format!("sys/dev/block/{}:{}", major(device), minor(device));
    let places = [Some(numbered), named].into_iter().flatten();
    places.filter_map(|place| system.path(place).canonicalize().ok()).next()
}

/// Returns the directory in `/sys` of the whole disk of a device.
pub(crate) fn find_disk(system: &System, device: u64, source: Option<&str>) -> Option<PathBuf> {
    find(system, device, source).map(whole)
}

/// Returns the disk of a partition. For a device made of disks (volumes, encryption, RAID) it is
/// the first disk.
fn whole(mut device: PathBuf) -> PathBuf {
    if device.join("partition").exists() {
        device.pop();
    }
    let below = fs::read_dir(device.join("slaves")).into_iter().flatten().flatten();
    let first = below.filter_map(|entry| entry.path().canonicalize().ok()).min();
    first.map_or(device, whole)
}

/// Returns the name of a device in `/dev`, from its directory in `/sys`.
pub(crate) fn name(device: &Path) -> &str {
    device.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

/// Kind of a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    SdCard,
    Emmc,
    /// A memory card of unknown kind.
    Card,
    Nvme,
    Virtual,
    /// Backed by a file.
    Loop,
    /// Backed by memory.
    Memory,
    Usb,
    HardDisk,
    Ssd,
}

impl Kind {
    /// Returns the name of the kind.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SdCard => "SD card",
            Self::Emmc => "eMMC",
            Self::Card => "memory card",
            Self::Nvme => "NVMe SSD",
            Self::Virtual => "virtual disk",
            Self::Loop => "file as a disk",
            Self::Memory => "disk in memory",
            Self::Usb => "disk by USB",
            Self::HardDisk => "hard disk",
            Self::Ssd => "SSD",
        }
    }

    /// Returns the name with its article: `a virtual disk`.
    pub fn article(self) -> String {
        let is_spelled = matches!(self, Self::SdCard | Self::Emmc | Self::Nvme | Self::Ssd);
        let article = if is_spelled { "an" } else { "a" };
        format!("{article} {}", self.name())
    }
}

/// Returns the kind of the disk in a directory of `/sys`.
pub(crate) fn kind(disk: &Path) -> Kind {
    let is = |file: &str, value: &str| read(&disk.join(file)).is_some_and(|text| text == value);
    let by_usb = disk
        .components()
        .any(|part| part.as_os_str().to_str().is_some_and(|name| name.starts_with("usb")));
    match name(disk) {
        name if name.starts_with("mmcblk") && is("device/type", "SD") => Kind::SdCard,
        name if name.starts_with("mmcblk") && is("device/type", "MMC") => Kind::Emmc,
        name if name.starts_with("mmcblk") => Kind::Card,
        name if name.starts_with("nvme") => Kind::Nvme,
        name if name.starts_with("vd") || name.starts_with("xvd") => Kind::Virtual,
        name if name.starts_with("loop") => Kind::Loop,
        name if name.starts_with("zram") || name.starts_with("ram") => Kind::Memory,
        _ if by_usb => Kind::Usb,
        _ if is("queue/rotational", "1") => Kind::HardDisk,
        _ => Kind::Ssd,
    }
}
