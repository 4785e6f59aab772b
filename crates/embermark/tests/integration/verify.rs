//! The exit status of `embermark verify`.

use crate::common::{ProgramOutput, Sandbox, is_here};
use embermark_skips::skipped;

/// A workload that each engine has verified in one trial.
const SHORT: &str = r#"
    [table.t]
    rows = 100
    key = ["id"]
    [table.t.columns]
    id = { type = "u32", make = "sequence" }
    n = { type = "u32", make = "random", from = 0, to = 9 }
    [phase.load]
    do = "insert"
    [phase.count]
    do = "group"
    compute = ["count(id)"]
    ops = 1
    [variant.only]
    about = "as written"
"#;

/// Verifies one workload without RocksDB's library.
fn without_rocksdb(engines: &[&str]) -> ProgramOutput {
    let sandbox = Sandbox::new();
    sandbox.write("short.toml", SHORT);
    let words = ["-w", "short.toml", "-t", "process", "--scale", "100", "--dir", "."];
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
