//! The trials that count what reaches a disk, which takes root, loop devices and mkfs.ext4.

use std::fs;
use std::process::Stdio;

use crate::common::{Place, left_in, wait_for};
use embermark_model::result::Cell;
use embermark_skips::skipped;

const RUN: [&str; 13] = [
    "run",
    "sensors",
    "-e",
    "sqlite",
    "--scale",
    "300",
    "--phases",
    "load,update",
    "--runs",
    "3",
    "--trials",
    "1",
    "--out",
];

/// The cell of a run with these further words; `None` where bytes cannot be counted.
fn run(place: &Place, out: &str, words: &[&str]) -> Option<Cell> {
    place.embermark(&[&RUN[..], &[out], words].concat()).with(0);
    let result = place.result(out);
    if let Some(why) = &result.manifest.not_counted {
        skipped("loop devices", why);
        return None;
    }
    Some(result.cells[0].clone())
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
    let each = ["--tier", "power", "--variant", "commit-each"];
    let Some(synced) = run(&place, "power", &each) else { return };
    let bulk = run(&place, "bulk", &["--tier", "power", "--variant", "bulk"]).unwrap();
    let (each_row, all_rows) = (synced.counted("load").unwrap(), bulk.counted("load").unwrap());
    // 300 commits, each of them synced: a block or more of a row of 10 to 42 bytes.
    let loaded = each_row.loaded.unwrap();
    assert!((3_000..=12_600).contains(&loaded.user_bytes), "{loaded:?}");
    let io = each_row.device_io.unwrap();
    assert!(io.flushes >= 300 && io.written_bytes >= 300 * 4096, "{io:?}");
    assert!(each_row.write_amplification().unwrap() > 4096.0 / 42.0, "{loaded:?}");
    let io = all_rows.device_io.unwrap();
    assert!(io.flushes < 100 && io.written_bytes >= 300 * 33, "{io:?}");
    let maintenance = loaded.maintenance.unwrap().device_io.unwrap();
    assert!(
        maintenance.written_bytes > 0,
        "the checkpoint wrote the rows to the table: {maintenance:?}"
    );
    // An update of every row writes as well, and every phase ran once.
    let updates = bulk.counted("update").unwrap().device_io.unwrap();
    assert!(updates.written_bytes >= 300 * 33, "{updates:?}");
    let counting = bulk.counting.unwrap();
    assert!(counting.phases.iter().all(|phase| phase.runs.len() == 1));
    assert!(bulk.trials.iter().all(|trial| trial.device_io.is_none()), "no timed trial");
    assert_eq!(loops(&place), 0);
}

#[test]
fn a_run_that_is_killed_while_it_counts_leaves_no_mount_and_no_loop_device_and_can_be_gone_on_with()
{
    let place = Place::new();
    let words = [&RUN[..], &["out", "--tier", "power", "--variant", "commit-each"]].concat();
    let mut command = place.command(&words);
    let mut run = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let up = wait_for("a disk or the end", || match run.try_wait().unwrap() {
        Some(_) => Some(false),
        None => (fs::read_to_string(place.path("out/journal.jsonl")).is_ok()
            && place.path("out/data/sqlite-sensors-300-power-commit-each-counting.img").exists())
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
    assert!(result.cells[0].counted("load").unwrap().device_io.is_some());
    assert!(!place.path("out/data").exists());
    assert_eq!(loops(&place), 0);
}

/// A run that loads as often as it has runs.
fn loads<'a>(runs: &'a str, out: &'a str) -> Vec<&'a str> {
    let cells = ["run", "sensors", "-e", "lmdb,berkeleydb", "-s", "2k", "--trials", "1"];
    let phases = ["--phases", "load,delete", "--variant", "bulk", "--runs", runs, "--out", out];
    [&cells[..], &phases].concat()
}

#[test]
fn the_size_is_that_of_rows_loaded_once_however_often_a_trial_loads() {
    let place = Place::new();
    let sizes = |runs: &str, out: &str| {
        place.embermark(&loads(runs, out)).with(0);
        let cells = place.result(out).cells;
        cells.iter().map(|cell| cell.disk().unwrap()).collect::<Vec<_>>()
    };
    let (once, often) = (sizes("1", "once"), sizes("7", "often"));
    assert_eq!(once, often);
    let left_out = place.embermark(&[&loads("1", "none")[..], &["--no-counting"]].concat());
    left_out.with(0);
    let cells = place.result("none").cells;
    assert!(cells.iter().all(|cell| cell.counting.is_none() && cell.disk().is_none()));
}
