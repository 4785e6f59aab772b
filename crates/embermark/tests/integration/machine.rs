//! The workload `machine`: processes, losses, faults.

use std::fs;
use std::process::Stdio;

use crate::common::run_processes::{assert_nothing_left, companions, signal};
use crate::common::{ProgramOutput, Sandbox, is_here, processes, uncounted, wait_for};
use embermark_model::Status;
use embermark_model::result::{Cell, Observed, PhaseResult, ResultFile};
use nix::sys::signal::Signal;

/// Runs a short measurement of one engine with additional words.
fn run(sandbox: &Sandbox, engine: &str, words: &[&str]) -> ProgramOutput {
    let all = ["run", "machine", "-e", engine, "--out", "out", "--set", "warm-up=200ms"];
    sandbox.embermark(&[&all[..], words].concat())
}

fn phase<'a>(cell: &'a Cell, name: &str) -> &'a PhaseResult {
    cell.trials[0].phases.iter().find(|phase| phase.phase == name).unwrap()
}

fn observed<'a>(cell: &'a Cell, name: &str) -> &'a Observed {
    phase(cell, name).runs[0].observed.as_ref().unwrap()
}

fn only(result: &ResultFile) -> &Cell {
    assert_eq!(result.cells.len(), 1);
    &result.cells[0]
}

#[test]
fn each_process_is_measured_apart_and_every_sample_is_accounted_for() {
    let sandbox = Sandbox::new();
    let ended = run(
        &sandbox,
        "sqlite",
        &["--variant", "individual", "-s", "5k", "--set", "window=1s", "--show", "tables"],
    )
    .expect_status(0);
    let result = sandbox.result("out");
    let cell = only(&result);
    let write = observed(cell, "write");
    let roles: Vec<&str> = write.processes.keys().map(String::as_str).collect();
    assert_eq!(roles, ["sensor", "writer"]);
    let (samples, lost) = (write.counts["samples"], write.counts["lost"]);
    // The number of lost samples depends on the machine's other work.
    assert!(samples + lost == 1_000 && samples > 0, "{samples} and {lost}");
    assert!(write.window_ns > 500_000_000, "{}", write.window_ns);
    assert!(write.latencies["commit"].samples + 1 >= samples, "{write:?}");
    // Counted from when a sample was due: the wait before the commit, and the commit itself.
    let [response, commit] = ["response", "commit"].map(|of| &write.latencies[of]);
    assert!(response.samples == commit.samples && response.mean > commit.mean, "{write:?}");
    assert_eq!(write.counts["target-rate"], 1_000);
    assert_eq!(write.network_bytes, None, "an embedded engine has no network");
    for name in ["read_individual", "read_bulk", "read_bulk1"] {
        let read = observed(cell, name);
        assert_eq!(read.counts["reads"] + read.counts["missed-slots"], 3, "{name}: three a second");
        assert!(read.processes["reader"].cpu_ns.is_some(), "{name}: a process of its own");
    }
    let live = observed(cell, "live");
    // A reader that has read nothing reports no age.
    match live.latencies.get("staleness") {
        Some(age) => assert!(age.samples >= 1 && age.p50 < 60_000_000_000, "{age:?}"),
        None => assert_eq!(live.counts["reads"], 0, "{live:?}"),
    }
    for words in ["writing, ", "three cycles per second", "writing and reading at once", "score"] {
        assert!(ended.stdout.contains(words), "no {words} in:\n{}", ended.stdout);
    }
    assert_nothing_left(&sandbox);
}

/// Offers and writes samples for at least four seconds, so that there are cycles to read.
#[test]
fn what_was_written_in_the_sources_tables_is_what_is_read() {
    let sandbox = Sandbox::new();
    let words =
        ["--variant", "individual-published,bulk-published", "-s", "1k", "--set", "window=1s"];
    let phases = ["--phases", "write,read_individual,read_bulk,read_bulk1"];
    run(&sandbox, "sqlite", &[&words[..], &phases, uncounted()].concat()).expect_status(0);
    let result = sandbox.result("out");
    let [single, bulk] = &result.cells[..] else { panic!("two variants") };
    for (cell, readers) in
        [(single, &["read_individual", "read_bulk", "read_bulk1"][..]), (bulk, &["read_bulk"])]
    {
        let write = observed(cell, "write");
        assert!(write.counts["samples"] + write.counts["lost"] >= 3_800, "{write:?}");
        let disk = write.disk.as_ref().unwrap();
        assert!(disk.growth() > 50_000 && disk.cpu_ns.is_some(), "{disk:?}");
        let (first, last) = (disk.points[0], disk.points[disk.points.len() - 1]);
        assert!(first.1 < last.1 && last.0 > 3.5, "{disk:?}");
        assert!((20..=60).contains(&disk.points.len()), "every 100 ms: {}", disk.points.len());
        assert!(disk.points.is_sorted_by_key(|(at, _)| (at * 1e9) as u64), "{disk:?}");
        for name in readers {
            assert_eq!(
                phase(cell, name).status,
                Status::Ok,
                "{name}: {:?}",
                phase(cell, name).reason
            );
            assert!(observed(cell, name).counts["reads"] >= 1, "{name}");
            assert_eq!(observed(cell, name).disk, None, "{name}: nobody writes");
        }
    }
    assert_nothing_left(&sandbox);
}

#[test]
fn what_nobody_wrote_cannot_be_read_and_no_store_of_keys_has_the_sources_tables() {
    let sandbox = Sandbox::new();
    let words = ["--variant", "individual-published", "-s", "1k", "--set", "window=200ms"];
    // Nothing is measured.
    run(&sandbox, "sqlite", &[&words[..], &["--phases", "read_bulk"]].concat()).expect_status(1);
    let result = sandbox.result("out");
    let read = phase(only(&result), "read_bulk");
    assert_eq!(read.status, Status::Unsupported);
    assert!(
        read.reason.as_ref().unwrap().contains("choose it as well (--phases write"),
        "{:?}",
        read.reason
    );
    let sandbox = Sandbox::new();
    run(&sandbox, "memory", &words).expect_status(1);
    let result = sandbox.result("out");
    let cell = only(&result);
    assert_eq!(cell.status, Status::Unsupported);
    assert!(
        cell.reason.as_ref().unwrap().contains("no form for key-value stores"),
        "{:?}",
        cell.reason
    );
}

#[test]
fn an_engine_for_one_process_is_read_in_it_and_says_so() {
    let sandbox = Sandbox::new();
    let words = ["--variant", "bulk", "-s", "5k", "--set", "window=1s"];
    let phases = ["--phases", "read_individual,live"];
    run(&sandbox, "redb", &[&words[..], &phases, uncounted()].concat()).expect_status(0);
    let result = sandbox.result("out");
    let live = observed(only(&result), "live");
    assert!(!live.processes.contains_key("reader") && live.counts["reads"] >= 1, "{live:?}");
    assert!(
        live.remarks
            .iter()
            .any(|remark| remark.contains("the process that has the database open also"))
    );
    // Two of the questions need single samples. Here one value contains a whole second.
    let single = phase(only(&result), "read_individual");
    assert_eq!(single.status, Status::Unsupported);
    assert!(single.reason.as_ref().unwrap().contains("read_bulk"), "{:?}", single.reason);
}

#[test]
fn samples_that_do_not_fit_are_counted_as_lost() {
    let sandbox = Sandbox::new();
    let words =
        ["--variant", "individual", "--phases", "write", "-s", "1k", "--set", "window=500ms"];
    let fast = ["-t", "power", "--rate", "400000"];
    run(&sandbox, "sqlite", &[&words[..], &fast, uncounted()].concat()).expect_status(0);
    let result = sandbox.result("out");
    let write = observed(only(&result), "write");
    let (samples, lost) = (write.counts["samples"], write.counts["lost"]);
    assert!(lost > 0, "400,000 synced commits a second are beyond any disk: {write:?}");
    assert_eq!(samples + lost, 200_000, "every sample of the window is one or the other");
}

#[test]
fn the_highest_rate_is_found_and_is_kept() {
    let words = [
        "--variant",
        "bulk",
        "-s",
        "1k",
        "--set",
        "window=500ms",
        "--rate",
        "max",
        "--set",
        "p99-limit=50ms",
    ];
    let sandbox = Sandbox::new();
    run(&sandbox, "memory", &words).expect_status(0);
    let result = sandbox.result("out");
    let cell = only(&result);
    assert_eq!(cell.trials[0].phases.len(), 1, "nothing else runs");
    let found = observed(cell, "sustained");
    let rate = found.counts["sustained-rate"];
    // On a busy machine the sensor may offer fewer than a thousand per second, and reports that.
    let is_starved = found.remarks.iter().any(|r| r.contains("sensor itself is the bottleneck"));
    assert!(rate >= 1_000 || is_starved, "{found:?}");
    // It was confirmed by a window of at least two seconds on a store with the same number of
    // samples.
    assert_eq!((found.counts["samples"], found.counts["filled"]), (2 * rate, 2 * rate));
    assert_eq!((found.counts["lost"], found.counts["lost-ever"]), (0, 0));
    assert_eq!(found.counts["target-rate"], rate);
    let p99 = found.latencies.get("response").and_then(|response| response.p99);
    assert!(p99.is_none_or(|p99| p99 <= 50_000_000), "{found:?}");
    assert_eq!(found.remarks.len(), 1, "what stopped it: {:?}", found.remarks);
}

#[test]
fn a_sensor_that_dies_fails_the_cell_with_its_reason_and_leaves_nothing() {
    let sandbox = Sandbox::new();
    let words = ["run", "machine", "-e", "sqlite", "--variant", "individual", "--phases", "write"];
    let words = [&words[..], &["-s", "1k", "--set", "window=60s", "--out", "out"]].concat();
    let run =
        sandbox.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let sensor = wait_for("the sensor", || companions(&sandbox).first().copied());
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(signal(sensor, Signal::SIGKILL));
    ProgramOutput::from(run.wait_with_output().unwrap()).expect_status(1);
    let result = sandbox.result("out");
    let reason = only(&result).reason.as_ref().unwrap();
    assert!(reason.contains("the sensor") && reason.contains("signal: 9"), "{reason}");
    assert!(reason.contains("samples had been stored"), "{reason}");
    assert_nothing_left(&sandbox);
}

#[test]
fn a_worker_that_dies_leaves_nothing() {
    let sandbox = Sandbox::new();
    let words = ["run", "machine", "-e", "sqlite", "--variant", "bulk", "--phases", "write"];
    let words = [&words[..], &["-s", "1k", "--set", "window=60s", "--out", "out"]].concat();
    let run =
        sandbox.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let sensor = wait_for("the sensor", || companions(&sandbox).first().copied());
    let stat = fs::read_to_string(format!("/proc/{sensor}/stat")).unwrap();
    let worker = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(1).unwrap().to_owned();
    assert!(signal(worker.parse().unwrap(), Signal::SIGKILL));
    ProgramOutput::from(run.wait_with_output().unwrap()).expect_status(1);
    assert!(fs::metadata(format!("/proc/{sensor}")).is_err(), "the sensor still runs");
    assert_nothing_left(&sandbox);
}

#[test]
fn a_server_that_dies_fails_the_cell_and_tells_what_was_lost() {
    let sandbox = Sandbox::new();
    let words = ["run", "machine", "-e", "mariadb", "--variant", "individual", "--phases", "write"];
    let words = [&words[..], &["-s", "1k", "--set", "window=60s", "--out", "out"]].concat();
    if !is_here("mariadb") {
        return;
    }
    let run =
        sandbox.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("the sensor", || companions(&sandbox).first().copied());
    std::thread::sleep(std::time::Duration::from_millis(500));
    let options = sandbox.path("out/data");
    let server = processes().into_iter().find(|pid| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words = String::from_utf8_lossy(&words).into_owned();
        words.contains("mariadbd") && words.contains(&*options.to_string_lossy())
    });
    let server = server.or_else(|| {
        // The paths may be open folders. Then it is the process with files below the folder.
        processes().into_iter().find(|pid| {
            let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
            let folder = fs::read_dir(format!("/proc/{pid}/fd")).ok();
            let has = folder.is_some_and(|files| {
                files.flatten().any(|file| {
                    fs::read_link(file.path()).is_ok_and(|target| target.starts_with(&options))
                })
            });
            name.starts_with("mariadbd") && has
        })
    });
    assert!(signal(server.unwrap(), Signal::SIGKILL));
    ProgramOutput::from(run.wait_with_output().unwrap()).expect_status(1);
    let result = sandbox.result("out");
    let cell = only(&result);
    let reason = cell.reason.as_ref().unwrap();
    assert_eq!(cell.status, Status::Failed);
    assert!(reason.contains("samples had been stored") && reason.contains("are lost"), "{reason}");
    assert_nothing_left(&sandbox);
}

#[test]
fn what_makes_no_sense_of_a_machine_is_refused() {
    let sandbox = Sandbox::new();
    for (words, says) in [
        (&["machine", "--rate", "0"][..], "a rate of 0 samples per second measures nothing"),
        (&["machine", "--rate", "2000000"], "the rate exceeds the most samples per second"),
        (&["machine", "--rate", "fast"], "neither a number of samples per second nor max"),
        (&["sensors", "--rate", "max"], "has a highest rate to search for"),
        (
            &["machine", "--rate", "max", "--phases", "read_bulk"],
            "'read_bulk' has no highest rate to search for: name sustained in",
        ),
        (&["machine", "--phases", "sustained"], "run it with `embermark rate`"),
        (&["machine", "--set", "window=0s"], "window '0s' is not a time"),
        (&["machine", "--set", "p99-limit=0s"], "p99-limit '0s'"),
        (&["machine", "--weight", "gpu=1"], "is not a weight"),
        (&["machine", "-s", "0"], "0"),
    ] {
        let words = [&["run", "-e", "sqlite"], words].concat();
        sandbox.embermark(&words).expect_status(2).expect_stderr(&[says]);
    }
    // The readers report that a single sample is not a history, and the writer still writes.
    run(&sandbox, "sqlite", &["--variant", "individual", "-s", "1", "--set", "window=200ms"])
        .expect_status(0);
    let result = sandbox.result("out");
    assert_eq!(phase(only(&result), "write").status, Status::Ok);
    let read = phase(only(&result), "read_bulk");
    assert_eq!(read.status, Status::Unsupported);
    assert!(read.reason.as_ref().unwrap().contains("--scale"), "{:?}", read.reason);
}
