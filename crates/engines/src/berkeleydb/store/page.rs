//! The size of a table's pages.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use embermark_model::Durability;
use libc::{major, minor};

/// Bytes of a page, on every file system, unless durability requires a smaller one. The library
/// would use the file system's block size.
const DEFAULT_SIZE: u32 = 4096;
/// Bytes of the smallest page that the library accepts, and of a disk's smallest sector.
const MIN_SIZE: u32 = 512;

/// Returns the bytes of a page of a new table below `dir`. The log has only the changed
/// part of a page, so recovery needs the whole page as it was before or after a write. A page that
/// must survive a power cut is therefore not larger than what the device writes atomically
/// (<https://docs.oracle.com/cd/E17276_01/html/programmer_reference/transapp_reclimit.html>). A
/// device that does not report it writes 512 bytes.
pub(super) fn size(dir: &Path, durability: Durability) -> u32 {
    if durability < Durability::Power {
        return DEFAULT_SIZE;
    }
    sector(dir).unwrap_or(MIN_SIZE).clamp(MIN_SIZE, DEFAULT_SIZE)
}

/// Returns the number of bytes that the device of a file writes atomically, if the device reports
/// it. For a loop device this is the value of the device below its file, if that is known.
fn sector(path: &Path) -> Option<u32> {
    let device = fs::metadata(path).ok()?.dev();
    let device = format!("/sys/dev/block/{}:{}", major(device), minor(device));
    let file = fs::read_to_string(format!("{device}/loop/backing_file"));
    if let Some(of_file) = file.ok().and_then(|file| sector(Path::new(file.trim_end()))) {
        return Some(of_file);
    }
    // The disk reports it for its partitions.
    let size = ["queue", "../queue"]
        .iter()
        .find_map(|queue| fs::read_to_string(format!("{device}/{queue}/physical_block_size")).ok());
    size?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use embermark_model::Durability;

    use super::{DEFAULT_SIZE, MIN_SIZE, sector, size};
    use crate::berkeleydb::{CANDIDATES, PAGE_SIZE};

    #[test]
    fn pages_to_try_in_power_are_written_at_once_by_every_device() {
        let sets =
            CANDIDATES.iter().filter(|one| one.keeps == Durability::Power).map(|one| one.set);
        let pages: Vec<_> = sets.flatten().filter(|(name, _)| *name == PAGE_SIZE).collect();
        assert_eq!(pages, [&(PAGE_SIZE, "512")]);
    }

    #[test]
    fn only_the_tier_power_uses_small_pages() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        for durability in [Durability::None, Durability::Process] {
            assert_eq!(size(here, durability), DEFAULT_SIZE);
        }
        let page = size(here, Durability::Power);
        assert!(page.is_power_of_two() && (MIN_SIZE..=DEFAULT_SIZE).contains(&page), "{page}");
        // A file system without a device reports nothing.
        assert_eq!(sector(Path::new("/proc/self/status")), None);
        assert_eq!(size(Path::new("/proc/self"), Durability::Power), MIN_SIZE);
    }
}
