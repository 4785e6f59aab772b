//! Reads the wear of the disk below the databases: the disk's own counters, and the bytes that a
//! file system has written to it.

mod emmc;
mod file_system;
mod smart;

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use embermark_model::result::{Wear, WearCounter, WearUnit};

use crate::block_device::{self, Kind};
use crate::system::System;

pub(crate) use emmc::{life_time, spare_blocks};

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
            Kind::Emmc => emmc::counters(disk),
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
    let file_system = file_system::counters(system, device, source.as_deref());
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

#[cfg(test)]
mod tests;
