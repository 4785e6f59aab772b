//! Bytes that a file system has written to its device since it was made, by its own count: ext4 and
//! f2fs (kernel documentation, `ABI/testing/sysfs-fs-ext4` and `sysfs-fs-f2fs`). Writes of all
//! programs are included.

use embermark_model::result::WearUnit;

use super::{Counted, counter};
use crate::block_device;
use crate::system::System;

pub(super) fn counters(system: &System, device: u64, source: Option<&str>) -> Counted {
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
