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
