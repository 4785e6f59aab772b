//! Trials that count what reaches a disk. They need root, loop devices and mkfs.ext4.

use std::fs;
use std::process::Stdio;

use crate::common::{Sandbox, processes_using, wait_for};
use embermark_skips::{sampled, skipped};

const RUN: [&str; 15] = [
    "run",
    "sensors",
    "-e",
    "sqlite",
    "--scale",
    "300",
    "--tier",
    "power",
    "--phases",
    "load,update",
    "--runs",
    "3",
    "--trials",
    "1",
    "--out",
];

/// Returns the loop devices whose image is below a folder.
fn loops(sandbox: &Sandbox) -> usize {
    let files = fs::read_dir("/sys/block").unwrap().flatten();
    let below = fs::canonicalize(sandbox.path("")).unwrap();
    let images =
        files.filter_map(|device| fs::read_to_string(device.path().join("loop/backing_file")).ok());
    images.filter(|image| image.starts_with(below.to_str().unwrap())).count()
}

#[test]
fn a_flush_reaches_the_disk_for_every_synced_commit_and_the_bytes_of_every_row() {
    let sandbox = Sandbox::new();
    // The first one has every phase.
    let both = ["out", "--variant", "bulk,commit-each"];
    sandbox.embermark(&[&RUN[..], &both].concat()).expect_status(0);
    let result = sandbox.result("out");
    if let Some(why) = &result.manifest.not_counted {
        return skipped("loop devices", why);
    }
    let of = |variant: &str| result.cells.iter().find(|cell| cell.id.variant == variant).unwrap();
    let (synced, bulk) = (of("commit-each"), of("bulk"));
    let (each_row, all_rows) = (synced.counted("load").unwrap(), bulk.counted("load").unwrap());
    // 300 synced commits of a row of 10 to 42 bytes each write at least one block.
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
    // An update of every row also writes, and every phase ran once.
    let updates = bulk.counted("update").unwrap().device_io.unwrap();
    assert!(updates.written_bytes >= 300 * 33, "{updates:?}");
    let counting = bulk.counting.as_ref().unwrap();
    assert!(counting.phases.iter().all(|phase| phase.runs.len() == 1));
    assert!(bulk.trials.iter().all(|trial| trial.device_io.is_none()), "no timed trial");
    assert_eq!(loops(&sandbox), 0);
}

#[test]
fn a_run_that_is_killed_while_it_counts_leaves_no_mount_and_no_loop_device_and_can_be_gone_on_with()
{
    let sandbox = Sandbox::new();
    let words = [&RUN[..], &["out", "--variant", "commit-each"]].concat();
    let mut command = sandbox.command(&words);
    let mut run = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let up = wait_for("a disk or the end", || match run.try_wait().unwrap() {
        Some(_) => Some(false),
        None => (fs::read_to_string(sandbox.path("out/journal.jsonl")).is_ok()
            && sandbox.path("out/data/sqlite-sensors-300-power-commit-each-counting.img").exists())
        .then_some(true),
    });
    if !up {
        return skipped("loop devices", "the run ended before it had a disk of its own");
    }
    run.kill().unwrap();
    run.wait().unwrap();
    wait_for("its loop devices to go", || (loops(&sandbox) == 0).then_some(()));
    let out = fs::canonicalize(sandbox.path("out")).unwrap();
    wait_for("its processes to end", || processes_using(&out).is_empty().then_some(()));
    sandbox.embermark(&["run", "--resume", "out"]).expect_status(0);
    let result = sandbox.result("out");
    assert!(result.cells[0].counted("load").unwrap().device_io.is_some());
    assert!(!sandbox.path("out/data").exists());
    assert_eq!(loops(&sandbox), 0);
}

/// Returns the words of a run that loads the rows as often as it has runs.
fn loads<'a>(engines: &'a str, runs: &'a str, out: &'a str) -> Vec<&'a str> {
    let cells = ["run", "sensors", "-e", engines, "-s", "2k", "--trials", "1"];
    let phases = ["--phases", "load,delete", "--variant", "bulk", "--runs", runs, "--out", out];
    [&cells[..], &phases].concat()
}

#[test]
fn the_size_is_that_of_rows_loaded_once_however_often_a_trial_loads() {
    let sandbox = Sandbox::new();
    let engines = sampled(["lmdb", "berkeleydb"], 1).join(",");
    let sizes = |runs: &str, out: &str| {
        sandbox.embermark(&loads(&engines, runs, out)).expect_status(0);
        let cells = sandbox.result(out).cells;
        cells.iter().map(|cell| cell.disk().unwrap()).collect::<Vec<_>>()
    };
    let (once, often) = (sizes("1", "once"), sizes("7", "often"));
    assert_eq!(once, often);
    let words = [&loads(&engines, "1", "none")[..], &["--no-counting"]].concat();
    sandbox.embermark(&words).expect_status(0);
    let cells = sandbox.result("none").cells;
    assert!(cells.iter().all(|cell| cell.counting.is_none() && cell.disk().is_none()));
}
