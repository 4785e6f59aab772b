//! Reports of many result files: of a large fleet, and of thousands of files.

pub mod made_up;

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use crate::common::Sandbox;
use embermark_report::html;
use embermark_skips::{sampled, skipped};
use made_up::{MADE_UP, Shape};

/// Ten lines and ten engines: a hundred cells.
const LINES: &[(&str, &str, &str)] = &[
    ("sensors", "1k", "process"),
    ("sensors", "10k", "process"),
    ("sensors", "100k", "process"),
    ("contacts", "1k", "process"),
    ("contacts", "10k", "process"),
    ("contacts", "100k", "process"),
    ("events", "1k", "process"),
    ("events", "10k", "process"),
    ("htap", "1k", "process"),
    ("htap", "10k", "process"),
];
pub const ENGINES: &[&str] = &[
    "sqlite",
    "duckdb",
    "lmdb",
    "redb",
    "fjall",
    "rocksdb",
    "leveldb",
    "wiredtiger",
    "berkeleydb",
    "firebird",
];

fn fleet(devices: usize, trials: u32) -> Shape {
    Shape {
        devices,
        models: 7,
        lines: LINES,
        engines: ENGINES,
        phases: &["load", "read", "update"],
        trials,
        runs: 2,
        versions: 1,
    }
}

/// Returns the folder of made-up files. It is below `EMBERMARK_MADE_UP`, which is kept, or in the
/// sandbox.
fn folder(sandbox: &Sandbox, name: &str) -> PathBuf {
    env::var_os("EMBERMARK_MADE_UP")
        .map_or_else(|| sandbox.path(name), |kept| PathBuf::from(kept).join(name))
}

/// Tests one of two reports, as [`sampled`]. Each needs thousands of made-up results.
#[test]
fn a_report_of_many_results_is_small_in_memory_and_as_a_page() {
    let reports: [fn(); 2] = [
        the_page_of_many_devices_of_a_hundred_cells_is_small,
        many_times_the_files_take_no_more_memory,
    ];
    sampled(reports, 1).into_iter().for_each(|report| report());
}

fn the_page_of_many_devices_of_a_hundred_cells_is_small() {
    let sandbox = Sandbox::new();
    let made = folder(&sandbox, "fleet");
    // 20,000 cells, or 10,000. The page itself is 0.35 MB of it.
    let (devices, most) =
        if embermark_skips::is_long() { (200, 2_000_000) } else { (100, 1_200_000) };
    made_up::write(&made, &fleet(devices, 1));
    let pattern = made.join("**/*.json").display().to_string();
    let ended = sandbox.embermark(&["fleet", "report", &pattern, "-o", "fleet.html"]);
    if !html::is_built() {
        return skipped("page", "this build has none; make build");
    }
    let says = format!("{devices} of {devices} devices in fleet.html");
    ended.expect_status(0).expect_stderr(&[&says]);
    let page = fs::read_to_string(sandbox.path("fleet.html")).unwrap();
    assert!(page.contains(&format!("device-{:04}", devices - 1)) && page.contains(MADE_UP));
    assert!(page.len() < most, "{} bytes", page.len());
}

/// Returns the largest resident memory of a Parquet report of `files` files, in kB.
fn peak_kb(sandbox: &Sandbox, files: usize) -> u64 {
    let made = folder(sandbox, &format!("files-{files}"));
    let lines = &LINES[..1];
    let phases = &["load", "read"];
    let shape = Shape { lines, engines: &ENGINES[..2], phases, ..fleet(files, 2) };
    made_up::write(&made, &shape);
    let pattern = made.join("**/*.json").display().to_string();
    let words = ["report", &pattern, "--format", "parquet", "-o", "runs.parquet"];
    let mut report = sandbox.command(&words).stderr(Stdio::null()).spawn().unwrap();
    let mut peak = 0;
    while report.try_wait().unwrap().is_none() {
        let status =
            fs::read_to_string(format!("/proc/{}/status", report.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kb = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok());
        peak = kb.unwrap_or(peak);
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(report.wait().unwrap().success());
    assert!(peak > 0);
    peak
}

fn many_times_the_files_take_no_more_memory() {
    let sandbox = Sandbox::new();
    // Both have more rows than are collected before a write. A file has 16 rows.
    let files = if embermark_skips::is_long() { 6_000 } else { 3_600 };
    let (few, many) = (peak_kb(&sandbox, 1_200), peak_kb(&sandbox, files));
    assert!(many < few + 20_000, "{few} kB of 1,200 files, {many} kB of {files}");
}
