//! The size of a table's pages.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use embermark_model::Durability;
use libc::{major, minor};

/// Bytes of a page where nothing asks for less, on every file system: the library would take that
/// one's block size.
const USUAL: u32 = 4096;
/// Bytes of the smallest page that the library takes, and of the smallest sector of a disk.
const LEAST: u32 = 512;

/// Bytes of a page of a new table below `dir`. The log holds what a commit changed of a page, so that
/// recovery needs the page as it was before or after a write, not a part of each: a page that is to
/// survive a power cut is no larger than what the device writes at once
/// (<https://docs.oracle.com/cd/E17276_01/html/programmer_reference/transapp_reclimit.html>). A device
/// that does not say writes 512 bytes.
pub(super) fn size(dir: &Path, durability: Durability) -> u32 {
    if durability < Durability::Power {
        return USUAL;
    }
    sector(dir).unwrap_or(LEAST).clamp(LEAST, USUAL)
}

/// Bytes that the device below a file writes at once, as it says itself. A loop device writes to a
/// file as its own device does, where that one is known.
fn sector(path: &Path) -> Option<u32> {
    let device = fs::metadata(path).ok()?.dev();
    let device = format!("/sys/dev/block/{}:{}", major(device), minor(device));
    let file = fs::read_to_string(format!("{device}/loop/backing_file"));
    if let Some(of_file) = file.ok().and_then(|file| sector(Path::new(file.trim_end()))) {
        return Some(of_file);
    }
    // Of a part of a disk the disk says it.
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
        // A file system without a device says nothing.
        assert_eq!(sector(Path::new("/proc/self/status")), None);
        assert_eq!(size(Path::new("/proc/self"), Durability::Power), LEAST);
    }
}
