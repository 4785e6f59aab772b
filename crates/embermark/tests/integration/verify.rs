//! `embermark verify`, as scripts call it: by its exit status.

use crate::common::{Ended, Place, is_here};
use embermark_skips::skipped;

/// Verifies one workload where RocksDB's library is not.
fn without_rocksdb(engines: &[&str]) -> Ended {
    let place = Place::new();
    let words = ["-w", "htap", "-t", "process", "--scale", "100", "--dir", "."];
    let mut command = place.command(&[&["verify"], engines, &words].concat());
    Ended::from(command.env("ROCKSDB_LIB_DIR", place.path("")).output().unwrap())
}

#[test]
fn an_engine_that_was_named_and_is_not_here_was_not_verified() {
    if !is_here("lmdb") {
        return skipped("lmdb", "is not in this build");
    }
    let said = without_rocksdb(&["lmdb", "rocksdb"]).with(1).stdout;
    assert!(said.contains("rocksdb: not verified: ") && said.contains(" lmdb "), "{said}");
}

#[test]
fn of_a_group_those_that_are_here_are_verified() {
    let said = without_rocksdb(&["embedded"]).with(0).stdout;
    assert!(said.contains("rocksdb: not verified: ") && said.contains(" memory "), "{said}");
}
