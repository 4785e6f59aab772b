//! Reads the wear of the disk below the databases: the disk's own counters, and the bytes that a
//! file system has written to it.

mod smart;

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use embermark_model::result::{Wear, WearCounter, WearUnit};

use crate::block_device::{self, Kind};
use crate::system::{self, System};

/// Counters of a disk, or why they are missing.
type Counted = Result<Vec<WearCounter>, String>;

/// Returns a counter as it is before a run.
fn counter(
    name: &str,
    source: String,
    unit: WearUnit,
    resolution: f64,
    before: f64,
) -> WearCounter {
    WearCounter { name: name.to_owned(), source, unit, resolution, before, after: None }
}

/// Reads the counters of the disk and the file system that hold `data`.
pub(crate) fn read(system: &System, data: &Path) -> Wear {
    read_with(system, data, Path::new(smart::PROGRAM))
}

fn read_with(system: &System, data: &Path, smartctl: &Path) -> Wear {
    let source = system.machine(data).device;
    let Ok(device) = fs::metadata(data).map(|data| data.dev()) else { return Wear::default() };
    let disk = block_device::find_disk(system, device, source.as_deref());
    let of_disk = match &disk {
        None => Err("the disk below the databases cannot be identified".to_owned()),
        Some(disk) => match block_device::kind(disk) {
            Kind::Emmc => emmc_counters(disk),
            Kind::Nvme | Kind::Ssd | Kind::Usb | Kind::HardDisk => {
                smart::counters(smartctl, &format!("/dev/{}", block_device::name(disk)))
            }
            kind @ (Kind::SdCard | Kind::Card) => {
                Err(format!("{} has no wear counters", kind.article()))
            }
            kind @ (Kind::Virtual | Kind::Loop | Kind::Memory) => Err(format!(
                "{} has no wear counters: the device below it has them",
                kind.article()
            )),
        },
    };
    let file_system = file_system_counters(system, device, source.as_deref());
    let mut wear = Wear {
        disk: disk.map(|disk| format!("/dev/{}", block_device::name(&disk))),
        ..Wear::default()
    };
    for counted in [of_disk, file_system] {
        match counted {
            Ok(counters) => wear.counters.extend(counters),
            Err(why) => wear.not_counted.push(why),
        }
    }
    wear
}

/// Adds the counters read after a run to those read before it.
pub(crate) fn add_after(before: &mut Wear, now: &Wear) {
    for counter in &mut before.counters {
        let same = |other: &&WearCounter| {
            (&other.name, &other.source, other.unit)
                == (&counter.name, &counter.source, counter.unit)
        };
        // A difference between two disks would be meaningless.
        let now = now.counters.iter().find(same).filter(|_| before.disk == now.disk);
        counter.after = now.map(|now| now.before);
    }
}

const LIFE: &str = "device/life_time";
const SPARE: &str = "device/pre_eol_info";

/// Returns the used life of each cell type that reports it, in tenths. 11 means that the life is
/// exceeded.
pub(crate) fn life_time(disk: &Path) -> Option<Vec<u32>> {
    let steps: Vec<u32> = all_life_time(disk)?.into_iter().filter(|step| *step > 0).collect();
    (!steps.is_empty()).then_some(steps)
}

/// Returns the used life of both cell types in tenths. 0 means not reported.
fn all_life_time(disk: &Path) -> Option<Vec<u32>> {
    let text = system::read(&disk.join(LIFE))?;
    Some(text.split_whitespace().filter_map(hexadecimal).collect())
}

/// Returns the use of its spare blocks: 1 few, 2 four fifths, 3 nearly all.
pub(crate) fn spare_blocks(disk: &Path) -> Option<u32> {
    system::read(&disk.join(SPARE)).and_then(|text| hexadecimal(&text)).filter(|step| *step > 0)
}

fn hexadecimal(text: &str) -> Option<u32> {
    u32::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

/// Reads an eMMC's own estimate of its life (kernel documentation, `driver-api/mmc/mmc-dev-attrs`;
/// JESD84-B51, 7.4.40 and 7.4.41).
fn emmc_counters(disk: &Path) -> Counted {
    let kinds = all_life_time(disk).unwrap_or_default();
    let life = ["A", "B"].iter().zip(kinds).filter(|(_, step)| *step > 0).map(|(kind, step)| {
        let name = format!("life used, cells of kind {kind}");
        counter(&name, format!("sysfs {LIFE}"), WearUnit::Percent, 10.0, f64::from(step) * 10.0)
    });
    let spare = spare_blocks(disk).map(|step| {
        counter("spare blocks used", format!("sysfs {SPARE}"), WearUnit::Step, 1.0, f64::from(step))
    });
    let counters: Vec<WearCounter> = life.chain(spare).collect();
    match counters.is_empty() {
        true => Err("the eMMC does not report its wear (no life_time and pre_eol_info)".to_owned()),
        false => Ok(counters),
    }
}

/// Reads the bytes that a file system has written to its device since it was made, by its own count:
/// ext4 and f2fs (kernel documentation, `ABI/testing/sysfs-fs-ext4` and `sysfs-fs-f2fs`). Writes of
/// all programs are included.
fn file_system_counters(system: &System, device: u64, source: Option<&str>) -> Counted {
    let partition = block_device::find(system, device, source);
    let name = partition.as_deref().map(block_device::name).unwrap_or_default();
    let found = ["ext4", "f2fs"].into_iter().find_map(|kind| {
        let file = format!("sys/fs/{kind}/{name}/lifetime_write_kbytes");
        Some((kind, system.text(&file)?.parse::<f64>().ok()?))
    });
    let absent = || "the file system does not count what it writes (ext4 and f2fs do)".to_owned();
    let (kind, kilobytes) = found.filter(|_| !name.is_empty()).ok_or_else(absent)?;
    let (source, bytes) = (format!("{kind} on {name}"), kilobytes * 1024.0);
    Ok(vec![counter("bytes written", source, WearUnit::Bytes, 1024.0, bytes)])
}

#[cfg(test)]
mod tests;
