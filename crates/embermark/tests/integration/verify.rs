//! The exit status of `embermark verify`.

use crate::common::{ProgramOutput, Sandbox, is_here};
use embermark_skips::skipped;

/// Verifies one workload without RocksDB's library.
fn without_rocksdb(engines: &[&str]) -> ProgramOutput {
    let sandbox = Sandbox::new();
    let words = ["-w", "htap", "-t", "process", "--scale", "100", "--dir", "."];
    let mut command = sandbox.command(&[&["verify"], engines, &words].concat());
    ProgramOutput::from(command.env("ROCKSDB_LIB_DIR", sandbox.path("")).output().unwrap())
}

#[test]
fn an_engine_that_was_named_and_is_not_here_was_not_verified() {
    if !is_here("lmdb") {
        return skipped("lmdb", "is not in this build");
    }
    let said = without_rocksdb(&["lmdb", "rocksdb"]).expect_status(1).stdout;
    assert!(said.contains("rocksdb: not verified: ") && said.contains(" lmdb "), "{said}");
}

#[test]
fn of_a_group_those_that_are_here_are_verified() {
    let said = without_rocksdb(&["embedded"]).expect_status(0).stdout;
    assert!(said.contains("rocksdb: not verified: ") && said.contains(" memory "), "{said}");
}
