//! The workload `retention`.

use crate::common::{Sandbox, is_here};
use embermark_model::Status;
use embermark_model::result::{Cell, Observed, Run, Timeline};
use embermark_skips::{sampled, skipped};
use nix::unistd::geteuid;

fn run(cell: &Cell) -> &Run {
    assert_eq!(cell.status, Status::Ok, "{:?}", cell.reason);
    &cell.trials[0].phases[0].runs[0]
}

fn seen(cell: &Cell) -> (&Observed, &Timeline) {
    let seen = run(cell).observed.as_ref().unwrap();
    (seen, seen.timeline.as_ref().unwrap())
}

#[test]
fn a_day_is_kept_over_time_until_the_longest_time_and_shown() {
    let sandbox = Sandbox::new();
    let engines = sampled(["sqlite", "lmdb"], 1);
    let named = engines.join(",");
    let words =
        ["run", "retention", "-e", &named, "-s", "2k", "--set", "window=2500ms", "--out", "out"];
    let ended = sandbox.embermark(&[&words[..], &["--show", "tables"]].concat()).expect_status(0);
    assert!(ended.stdout.contains("keep until it is steady"), "{}", ended.stdout);
    assert!(ended.stdout.contains("old rows go"), "{}", ended.stdout);
    let result = sandbox.result("out");
    assert_eq!(result.cells.len(), engines.len());
    for cell in &result.cells {
        let ((seen, timeline), run) = (seen(cell), run(cell));
        assert_eq!((timeline.window_rows, timeline.row_bytes), (2_000, 32));
        assert!(!timeline.expiry.is_empty());
        let (came, went): (u64, u64) = (
            timeline.slices.iter().map(|slice| slice.rows_in).sum(),
            timeline.slices.iter().map(|slice| slice.rows_out).sum(),
        );
        assert_eq!((came, came), (run.ops, seen.counts["rows"]));
        // What is left is a day, and less than two hours more, of 80 or 100 rows.
        assert!((2_000..=2_000 + 2 * 100).contains(&(came - went)), "{came} came, {went} went");
        let commits: u64 =
            timeline.slices.iter().filter_map(|slice| Some(slice.commits?.samples)).sum();
        assert_eq!(commits, seen.latencies["commit"].samples);
        let elapsed: u64 = timeline.slices.iter().map(|slice| slice.elapsed_ns).sum();
        assert_eq!(elapsed, run.elapsed_ns);
        assert!(timeline.steady.figures.contains_key("throughput"));
        assert!(timeline.steady.figures.contains_key("space"));
        assert!(timeline.steady.reached || timeline.steady.after_s >= 2.4, "{:?}", timeline.steady);
        match geteuid().is_root() {
            true => {
                let whole = cell.trials[0].device_io.unwrap().written_bytes;
                assert!(run.device_io.unwrap().written_bytes <= whole);
            }
            false => skipped("root", "a file system of a trial's own takes it"),
        }
    }
    let csv = sandbox
        .embermark(&["report", "out/result.json", "--format", "csv"])
        .expect_status(0)
        .stdout;
    let header = csv.lines().next().unwrap();
    for column in [
        "steady",
        "steady_rows_per_second",
        "stalls_above_100ms",
        "timeline",
        "observed_commit_last_p99_ns",
    ] {
        assert!(header.split(',').any(|name| name == column), "no {column} in {header}");
    }
}

#[test]
fn at_a_rate_rows_come_when_they_are_due() {
    let sandbox = Sandbox::new();
    let words = [
        "run",
        "retention",
        "-e",
        "lmdb",
        "-s",
        "1k",
        "--set",
        "window=3s",
        "--rate",
        "1000",
        "--card",
        "sd-32gb",
        "--out",
        "out",
    ];
    // On a busy machine the rows may be late, but not in every attempt.
    let began = std::time::Instant::now();
    loop {
        // The timed trials use the disk.
        sandbox
            .embermark(&words)
            .expect_status(0)
            .expect_stderr(&["no card is modelled for retention"]);
        let result = sandbox.result("out");
        std::fs::remove_dir_all(sandbox.path("out")).unwrap();
        let (_, timeline) = seen(&result.cells[0]);
        assert!(timeline.steady.figures.contains_key("latency"), "{:?}", timeline.steady);
        let run = run(&result.cells[0]);
        let rate = run.ops as f64 * 1e9 / run.elapsed_ns as f64;
        assert!(rate < 1_050.0, "{rate}");
        if rate > 900.0 {
            break;
        }
        assert!(began.elapsed().as_secs() < 300, "{rate}");
    }
}

#[test]
fn what_cannot_be_had_is_refused_with_what_to_do() {
    let sandbox = Sandbox::new();
    for (words, says) in [
        (&["--set", "disk-size=1MiB"][..], "give at least 64MiB"),
        (&["--set", "disk-size=much"], "is not a size"),
        (&["--clients", "2"], "'retention' has no point operations"),
        (&["--rate", "max"], "embermark rate"),
        (&["--variant", "single"], "single"),
        (&["-s", "10000M"], "at most"),
    ] {
        let ended = sandbox.embermark(&[&["run", "retention", "-e", "sqlite"][..], words].concat());
        // The worker checks the scale.
        assert!([1, 2].contains(&ended.status), "{words:?}: {}", ended.stderr);
        let said = ended.stderr + &ended.stdout;
        assert!(said.contains(says), "{words:?}: {said}");
    }
}

#[test]
fn partitions_go_and_what_servers_do_in_the_background_is_told() {
    let sandbox = Sandbox::new();
    let here = sampled(["postgres", "mariadb"].into_iter().filter(|id| is_here(id)), 1);
    if here.is_empty() {
        return;
    }
    let engines = here.join(",");
    let words =
        ["run", "retention", "-e", &engines, "-s", "1k", "--set", "window=500ms", "--out", "out"];
    sandbox.embermark(&words).expect_status(0);
    for cell in &sandbox.result("out").cells {
        let (_, timeline) = seen(cell);
        assert!(timeline.expiry.contains("artition") || timeline.expiry.contains("PARTITION"));
        assert!(timeline.background.iter().any(|name| name == "checkpoints"), "{timeline:?}");
    }
}

#[test]
fn it_is_no_part_of_a_run_of_every_workload() {
    let sandbox = Sandbox::new();
    for words in [&["run"][..], &["run", "all"]] {
        let more = ["-e", "lmdb", "--set", "max-run-time=50ms", "--dry-run"];
        let shown = sandbox.embermark(&[words, &more].concat()).expect_status(0).stdout;
        let has = |id: &str| shown.lines().any(|line| line.starts_with(&format!("{id} ")));
        for id in ["sensors", "contacts", "machine", "events", "htap"] {
            assert!(has(id), "no {id} in:\n{shown}");
        }
        assert!(!has("retention"), "{shown}");
    }
}
