//! Trials with disks of their own, which takes root, loop devices and mkfs.ext4.

#![allow(clippy::unwrap_used, reason = "a test has nobody to hand an error to")]

mod common;

use std::fs;
use std::process::Stdio;

use common::{Place, left_in, wait_for};
use embermark_model::result::Trial;
use embermark_skips::skipped;

const RUN: [&str; 14] = [
    "run",
    "sensors",
    "-e",
    "sqlite",
    "--scale",
    "300",
    "--phases",
    "load",
    "--runs",
    "1",
    "--trials",
    "1",
    "--isolate-disk",
    "--out",
];

/// A trial of these further words; `None` where such disks cannot be had.
fn run(place: &Place, out: &str, words: &[&str]) -> Option<Trial> {
    let ended = place.embermark(&[&RUN[..], &[out], words].concat());
    if ended.status == 2 && ended.stderr.contains("--isolate-disk: ") {
        assert!(!place.path(out).exists());
        skipped("loop devices", ended.stderr);
        return None;
    }
    ended.with(0);
    let result = place.result(out);
    assert!(result.manifest.warnings.iter().any(|text| text.contains("loop device")));
    Some(result.cells[0].trials[0].clone())
}

/// Loop devices whose image lies below a folder.
fn loops(place: &Place) -> usize {
    let files = fs::read_dir("/sys/block").unwrap().flatten();
    let below = fs::canonicalize(place.path("")).unwrap();
    let images =
        files.filter_map(|device| fs::read_to_string(device.path().join("loop/backing_file")).ok());
    images.filter(|image| image.starts_with(below.to_str().unwrap())).count()
}

#[test]
fn a_flush_reaches_the_disk_for_every_synced_commit_and_the_bytes_of_every_row() {
    let place = Place::new();
    let each = ["--durability", "power", "--variant", "commit-each"];
    let Some(synced) = run(&place, "power", &each) else { return };
    let bulk = run(&place, "bulk", &["--durability", "power", "--variant", "bulk"]).unwrap();
    let of_load = |trial: &Trial| trial.phases[0].runs[0].clone();
    let (each_row, all_rows) = (of_load(&synced), of_load(&bulk));
    let (synced, bulk) = (synced.device_io.unwrap(), bulk.device_io.unwrap());
    // 300 commits, each of them synced, and a 33-byte value with every row.
    assert!(synced.flushes >= 300, "{synced:?}");
    assert!(synced.written_bytes >= 300 * 4096, "{synced:?}");
    assert!(bulk.flushes < 100 && bulk.written_bytes >= 300 * 33, "{bulk:?}");
    // The same of the load alone: of 10 to 42 bytes of a row a commit makes a block or more.
    let loaded = each_row.loaded.unwrap();
    assert!((3_000..=12_600).contains(&loaded.user_bytes), "{loaded:?}");
    let io = loaded.device_io.unwrap();
    assert!(io.flushes >= 300 && io.flushes <= synced.flushes, "{io:?}");
    assert!(each_row.device_amplification().unwrap() > 4096.0 / 42.0, "{loaded:?}");
    assert!(all_rows.device_amplification() < each_row.device_amplification());
    let maintenance = loaded.maintenance.unwrap().device_io.unwrap();
    assert!(
        maintenance.written_bytes > 0,
        "the checkpoint wrote the rows to the table: {maintenance:?}"
    );
    assert_eq!(loops(&place), 0);
}

#[test]
fn a_run_that_is_killed_leaves_no_mount_and_no_loop_device_and_can_be_gone_on_with() {
    let place = Place::new();
    let words = [&RUN[..], &["out", "--durability", "power", "--variant", "commit-each"]].concat();
    let mut command = place.command(&words);
    let mut run = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let up = wait_for("a disk or the end", || match run.try_wait().unwrap() {
        Some(_) => Some(false),
        None => (fs::read_to_string(place.path("out/journal.jsonl")).is_ok()
            && place.path("out/data/sqlite-sensors-300-power-commit-each-0.img").exists())
        .then_some(true),
    });
    if !up {
        return skipped("loop devices", "the run ended before it had a disk of its own");
    }
    run.kill().unwrap();
    run.wait().unwrap();
    wait_for("its loop devices to go", || (loops(&place) == 0).then_some(()));
    let out = fs::canonicalize(place.path("out")).unwrap();
    wait_for("its processes to end", || left_in(&out).is_empty().then_some(()));
    place.embermark(&["run", "--resume", "out"]).with(0);
    let result = place.result("out");
    assert!(result.cells[0].trials[0].device_io.is_some());
    assert!(!place.path("out/data").exists());
    assert_eq!(loops(&place), 0);
}
