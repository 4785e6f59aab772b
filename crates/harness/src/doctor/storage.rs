//! The disk below a folder: what kind it is, how worn, and what of it disturbs.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use embermark_model::result::Machine;

use super::size;
use crate::block_device::{self, kind, name};
use crate::machine::{System, read};
use crate::wear::{life_time, spare_blocks};

/// The folder in `/sys` of the disk that holds `data`, whose file system was mounted from `source`.
pub(super) fn disk_below(system: &System, data: &Path, source: Option<&str>) -> Option<PathBuf> {
    block_device::below(system, fs::metadata(data).ok()?.dev(), source)
}

/// Kind, model, size, name and cache of a disk.
pub(super) fn described(disk: &Path) -> String {
    let text = |file: &str| read(&disk.join(file));
    let mut words = vec![kind(disk).name().to_owned()];
    // Of a card the name that its maker gave it.
    words.extend(text("device/model").or_else(|| text("device/name")));
    let mut said = vec![words.join(" ")];
    // In sectors of 512 bytes, whatever the disk's own (kernel documentation, `ABI/stable/sysfs-block`).
    let sectors = text("size").and_then(|sectors| sectors.parse::<u64>().ok());
    said.extend(sectors.map(|sectors| size(sectors.saturating_mul(512))));
    said.push(format!("/dev/{}", name(disk)));
    said.extend(text("queue/write_cache").map(|cache| format!("its cache: {cache}")));
    said.join(", ")
}

/// What an eMMC says of its cells, in steps of a tenth of their life: `life_time` has two kinds of
/// cells, `pre_eol_info` the spare blocks (kernel documentation, `driver-api/mmc/mmc-dev-attrs`;
/// JESD84-B51, 7.4.40 and 7.4.41).
pub(super) fn wear(disk: &Path) -> Option<String> {
    let (cells, spare) = (life_time(disk)?, spare_blocks(disk));
    let cells: Vec<_> = cells
        .into_iter()
        .map(|step| match step {
            1..=10 => format!("{} to {} %", (step - 1) * 10, step * 10),
            _ => "more than all".to_owned(),
        })
        .collect();
    let spare = spare.map_or("", |spare| match spare {
        1 => "; spare blocks are there",
        2 => "; four fifths of its spare blocks are used",
        _ => "; nearly all of its spare blocks are used",
    });
    Some(format!("{} of its life used{spare}", cells.join(" and ")))
}

/// What of the file system and the disk disturbs.
pub(super) fn warnings(machine: &Machine, disk: Option<&Path>) -> Vec<String> {
    let mut warnings = Vec::new();
    let option = |wanted: &str| {
        machine.mount_options.iter().flat_map(|all| all.split(',')).any(|option| option == wanted)
    };
    if let Some(option) = ["nobarrier", "barrier=0"].into_iter().find(|wanted| option(wanted)) {
        warnings.push(format!(
            "the file system is mounted with {option}: what is synced may still be in the disk's \
             cache, so that the tier power promises what is not kept; mount it without"
        ));
    }
    if option("sync") {
        warnings.push(
            "the file system is mounted with sync: every write waits for the disk, in every tier; \
             mount it without"
                .to_owned(),
        );
    }
    if machine.file_system.as_deref() == Some("overlay") {
        warnings.push(
            "the databases would live in a container's layers (overlay), through which no device \
             is seen; name a folder of a volume with --dir"
                .to_owned(),
        );
    }
    let Some(disk) = disk else { return warnings };
    let worn = life_time(disk).is_some_and(|steps| steps.iter().any(|step| *step >= 10));
    if worn || spare_blocks(disk).is_some_and(|step| step >= 2) {
        warnings.push(format!(
            "the disk is nearly worn out ({}): a worn one is slower, and fails; replace it",
            wear(disk).unwrap_or_default()
        ));
    }
    warnings
}
