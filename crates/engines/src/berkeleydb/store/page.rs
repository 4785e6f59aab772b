//! The size of a table's pages.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use embermark_model::Durability;
use libc::{major, minor};

/// Bytes of a page where nothing requires fewer, on every file system. The library would use the
/// file system's block size.
const USUAL: u32 = 4096;
/// Bytes of the smallest page that the library accepts, and of a disk's smallest sector.
const LEAST: u32 = 512;

/// Returns the bytes of a page of a new table below `dir`. The log has what a commit changed in a
/// page, so recovery needs the page as it was before or after a write, and not a part of each. A
/// page that must survive a power cut is no larger than what the device writes atomically
/// (<https://docs.oracle.com/cd/E17276_01/html/programmer_reference/transapp_reclimit.html>). A
/// device that does not report it writes 512 bytes.
pub(super) fn size(dir: &Path, durability: Durability) -> u32 {
    if durability < Durability::Power {
        return USUAL;
    }
    sector(dir).unwrap_or(LEAST).clamp(LEAST, USUAL)
}

/// Returns the bytes that the device below a file writes atomically, as it reports. A loop device
/// writes to a file as its own device does, if that is known.
fn sector(path: &Path) -> Option<u32> {
    let device = fs::metadata(path).ok()?.dev();
    let device = format!("/sys/dev/block/{}:{}", major(device), minor(device));
    let file = fs::read_to_string(format!("{device}/loop/backing_file"));
    if let Some(of_file) = file.ok().and_then(|file| sector(Path::new(file.trim_end()))) {
        return Some(of_file);
    }
    // The disk reports it for its partitions.
    let said = ["queue", "../queue"]
        .iter()
        .find_map(|queue| fs::read_to_string(format!("{device}/{queue}/physical_block_size")).ok());
    said?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use embermark_model::Durability;

    use super::{LEAST, USUAL, sector, size};

    #[test]
    fn only_what_survives_a_power_cut_asks_for_small_pages() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        for durability in [Durability::None, Durability::Process] {
            assert_eq!(size(here, durability), USUAL);
        }
        let page = size(here, Durability::Power);
        assert!(page.is_power_of_two() && (LEAST..=USUAL).contains(&page), "{page}");
        // A file system without a device reports nothing.
        assert_eq!(sector(Path::new("/proc/self/status")), None);
        assert_eq!(size(Path::new("/proc/self"), Durability::Power), LEAST);
    }
}
