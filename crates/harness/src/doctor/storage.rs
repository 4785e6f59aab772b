//! The disk below a directory: its kind, its wear, and whether that disturbs a measurement.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::size;
use crate::block_device::{self, kind, name};
use crate::system::{System, read};
use crate::wear::{life_time, spare_blocks};

/// Returns the directory in `/sys` of the disk that holds `data`, whose file system was mounted
/// from `source`.
pub(super) fn disk_below(system: &System, data: &Path, source: Option<&str>) -> Option<PathBuf> {
    block_device::find_disk(system, fs::metadata(data).ok()?.dev(), source)
}

/// Describes a disk: kind, model, size, name and cache.
pub(super) fn describe(disk: &Path) -> String {
    let text = |file: &str| read(&disk.join(file));
    let mut words = vec![kind(disk).name().to_owned()];
    // For a card, the name that its manufacturer gave it.
    words.extend(text("device/model").or_else(|| text("device/name")));
    let mut said = vec![words.join(" ")];
    // In sectors of 512 bytes, whatever the disk's own (kernel documentation,
    // `ABI/stable/sysfs-block`).
    let sectors = text("size").and_then(|sectors| sectors.parse::<u64>().ok());
    said.extend(sectors.map(|sectors| size(sectors.saturating_mul(512))));
    said.push(format!("/dev/{}", name(disk)));
    said.extend(text("queue/write_cache").map(|cache| format!("its cache: {cache}")));
    said.join(", ")
}

/// Describes the wear that an eMMC reports, in steps of a tenth of its life. `life_time` covers two
/// types of cells, `pre_eol_info` the spare blocks (kernel documentation,
/// `driver-api/mmc/mmc-dev-attrs`; JESD84-B51, 7.4.40 and 7.4.41).
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
        1 => "; it has spare blocks",
        2 => "; four fifths of its spare blocks are used",
        _ => "; nearly all of its spare blocks are used",
    });
    Some(format!("{} of its life used{spare}", cells.join(" and ")))
}

/// Returns the warning about a worn disk.
pub(super) fn warning(disk: &Path) -> Option<String> {
    let worn = life_time(disk).is_some_and(|steps| steps.iter().any(|step| *step >= 10));
    (worn || spare_blocks(disk).is_some_and(|step| step >= 2)).then(|| {
        format!(
            "the disk is nearly worn out ({}): a worn one is slower, and fails; replace it",
            wear(disk).unwrap_or_default()
        )
    })
}
