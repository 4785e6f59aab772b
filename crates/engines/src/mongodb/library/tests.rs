use std::path::Path;

use super::*;

#[test]
fn the_driver_leaves_no_shared_memory_for_whoever_kills_its_process() {
    if library().is_ok() {
        let name = format!("/dev/shm/mongoc-{}", std::process::id());
        assert!(!Path::new(&name).exists(), "{name}");
    }
}
