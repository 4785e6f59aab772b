//! Staging and inference use memory that does not grow with the rows.
#![cfg(target_os = "linux")]

use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::common::tables::*;
use embermark_data::table::{StagedTable, infer, stage};
use embermark_skips::sampled;

/// Memory of this process in KiB, including pages of mapped files.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim_end_matches("kB").trim().parse().unwrap()
}

/// Peak memory of `work` beyond what was used before it, in KiB.
fn peak<R>(work: impl FnOnce() -> R) -> (u64, R) {
    let before = resident();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watching = scope.spawn(|| {
            let mut most = 0;
            while !done.load(Ordering::Relaxed) {
                most = most.max(resident());
                std::thread::sleep(Duration::from_millis(1));
            }
            most
        });
        let result = work();
        done.store(true, Ordering::Relaxed);
        (watching.join().unwrap().saturating_sub(before), result)
    })
}

/// Memory in KiB of DuckDB and its buffers, and of rows that are read, for any number of rows. The
/// staged file has 110 MB. (DuckDB 2.0.1 was seen to take 101 MiB, 1.5.6 less than 96.)
const MOST: u64 = 120 * 1024;

#[test]
fn a_million_rows_are_staged_sorted_and_looked_at_in_memory_that_does_not_grow() {
    const ROWS: u64 = 1_000_000;
    let mut csv = "time,sensor,note,temp\n".to_owned();
    for row in 0..ROWS {
        let (time, sensor) = (1_700_000_000 + row / 50, row % 50);
        writeln!(csv, "{time},{sensor},a note of some length {row},{}.25", row % 40).unwrap();
    }
    let folder = file("r.csv", &csv);
    drop(csv);
    let columns = [("sensor", U16), ("time", SECONDS), ("note", TEXT), ("temp", FLOAT)];
    for key in sampled([vec![0, 1], vec![2]], 1) {
        let of = [table("r.csv", &columns, &key)];
        let to = folder.path().join("staged");
        let (kib, staged) = peak(|| stage(&of, 0, folder.path(), None, 42, 0.0, &to).unwrap());
        assert_eq!((staged.rows, staged.dropped.len()), (ROWS, 0));
        let table = StagedTable::open(&to).unwrap();
        let bytes = || (0..table.rows()).map(|row| table.user_bytes(row)).sum::<u64>();
        assert!(kib < MOST, "key {key:?}: {kib} KiB for {} bytes of rows", bytes());
    }
    let (kib, inferred) = peak(|| infer(&"r.csv".into(), folder.path()).unwrap());
    assert_eq!((inferred.rows, &inferred.keys[0][..]), (ROWS, &[1, 0][..]));
    assert!(kib < MOST, "{kib} KiB");
}

#[test]
fn two_thousand_objects_of_json_may_have_40_kb_each() {
    let (mut json, body) = (String::new(), "x".repeat(40_000));
    for row in 0..2_100 {
        writeln!(json, "{{\"id\":{row},\"body\":\"{body}\"}}").unwrap();
    }
    let folder = file("r.jsonl", &json);
    drop(json);
    let of = [table("r.jsonl", &[("id", U64), ("body", TEXT)], &[0])];
    let to = folder.path().join("staged");
    assert_eq!(stage(&of, 0, folder.path(), None, 42, 0.0, &to).unwrap().rows, 2_100);
}
