//! `embermark run`, end to end on real engines.

use std::path::Path;

use crate::common::{self, Sandbox, name_absent, some_embedded, uncounted};
use embermark_model::{Durability, Status};
use embermark_skips::{sampled, skipped};

const QUICK: [&str; 6] = ["--runs", "2", "--trials", "1", "--out", "out"];

fn run(sandbox: &Sandbox, words: &[&str]) -> common::ProgramOutput {
    sandbox.embermark(&[&["run", "sensors"], words, &QUICK, uncounted()].concat())
}

#[test]
fn every_embedded_engine_answers_every_phase_as_the_oracle_does() {
    let sandbox = Sandbox::new();
    let ended = run(
        &sandbox,
        &[
            "--show",
            "tables",
            "--engines",
            &some_embedded(),
            "--scale",
            "1000",
            "--variant",
            "single,commit-each,bulk",
        ],
    )
    .expect_status(0);
    let result = sandbox.result("out");
    name_absent(&result);
    for cell in &result.cells {
        let expected = [Status::Ok, Status::Unavailable];
        assert!(expected.contains(&cell.status), "{}: {:?}", cell.id, cell.reason);
        let phases = cell.trials.first().map_or(0, |trial| trial.phases.len());
        let due = match (cell.status, cell.id.variant.as_str()) {
            (Status::Unavailable, _) => 0,
            (_, "single") => 13,
            (_, "commit-each") => 3,
            _ => 1,
        };
        assert_eq!(phases, due, "{}", cell.id);
    }
    for word in ["load", "full_profile", "process", "out/result.json", "synthetic"] {
        assert!(ended.stdout.contains(word), "no {word} in\n{}", ended.stdout);
    }
    assert!(result.manifest.floor.is_some_and(|floor| floor.read_ns > Some(0.0)));
}

#[test]
fn every_tier_an_engine_offers_is_measured_and_read_back() {
    let sandbox = Sandbox::new();
    let variants = sampled(["single", "bulk"], 1);
    run(
        &sandbox,
        &[
            "--engines",
            &some_embedded(),
            "--scale",
            "200",
            "--tier",
            "none,process,power",
            "--variant",
            &variants.join(","),
            "--phases",
            "load,update",
        ],
    )
    .expect_status(0);
    let result = sandbox.result("out");
    name_absent(&result);
    assert_eq!(result.cells.len(), result.plan.engines.len() * 3 * variants.len());
    let measured: Vec<_> = result.cells.iter().filter(|cell| cell.status == Status::Ok).collect();
    assert!(measured.iter().any(|cell| cell.id.durability == Durability::Power));
    for cell in measured.iter().filter(|cell| !cell.reference) {
        assert!(!cell.trials[0].settings.is_empty(), "{} read nothing back", cell.id);
    }
}

#[test]
fn real_rows_are_read_plain_and_their_account_is_kept() {
    let Ok(log) = Path::new("../../../shared/data/intel-lab/data-motes-55-58.txt").canonicalize()
    else {
        return skipped("sensor log", "none lies beside the project");
    };
    let sandbox = Sandbox::new();
    let log = log.to_str().unwrap();
    run(
        &sandbox,
        &["--engines", &some_embedded(), "--scale", "full", "--variant", "bulk", "--data", log],
    )
    .expect_status(0);
    let set = &sandbox.result("out").manifest.datasets["sensors"];
    assert_eq!((set.rows, set.sensors), (9_719 - set.dropped.values().sum::<u64>(), 3));
}

#[test]
fn the_result_reads_back_in_every_format() {
    let sandbox = Sandbox::new();
    let quiet = run(&sandbox, &["--engines", "memory", "--scale", "100", "--format", "json"])
        .expect_status(0);
    let printed: embermark_model::result::ResultFile = serde_json::from_str(&quiet.stdout).unwrap();
    assert_eq!(printed.manifest.run_id, sandbox.result("out").manifest.run_id);
    for (format, mark) in [("table", "full_profile"), ("csv", "elapsed_ns"), ("markdown", "| load")]
    {
        let shown =
            sandbox.embermark(&["report", "out/result.json", "--format", format]).expect_status(0);
        assert!(shown.stdout.contains(mark), "{format}:\n{}", shown.stdout);
    }
}

#[test]
fn a_plan_file_is_obeyed_and_the_command_line_wins() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "plan.toml",
        "engines = ['memory']\nscale = ['300']\ntrials = 1\nruns = 4\nphases = ['read']\n",
    );
    sandbox
        .embermark(&["run", "--plan", "plan.toml", "--runs", "2", "--out", "out"])
        .expect_status(0);
    let result = sandbox.result("out");
    let phases = &result.cells[0].trials[0].phases;
    assert_eq!((phases.len(), phases[0].ops, phases[0].runs.len()), (1, 300, 2));
}

#[test]
fn a_capped_run_is_marked_and_keeps_its_figures() {
    let sandbox = Sandbox::new();
    run(
        &sandbox,
        &[
            "--engines",
            "memory",
            "--scale",
            "50k",
            "--set",
            "max-run-time=1ms",
            "--phases",
            "load,read",
        ],
    )
    .expect_status(0);
    let result = sandbox.result("out");
    let cell = &result.cells[0];
    assert_eq!(cell.status, Status::Capped);
    let read = cell.trials[0].phases.iter().find(|phase| phase.phase == "read").unwrap();
    assert!(read.runs.iter().all(|run| run.capped && run.ops > 0 && run.ops < 50_000));
}

#[test]
fn a_dry_run_with_a_time_says_what_is_stopped_and_what_may_take_longer() {
    let sandbox = Sandbox::new();
    let shown = |words: &[&str]| {
        let words = [words, &["--for", "3s", "--dry-run"]].concat();
        sandbox.embermark(&words).expect_status(0).stdout
    };
    let stopped = shown(&["run", "sensors", "--variant", "single"]);
    let says = "in 3 s (--for); runs that would take longer are stopped\n";
    assert!(stopped.contains(says), "{stopped}");
    for words in [&["rate", "machine"][..], &["run", "machine"]] {
        let longer = shown(words);
        assert!(longer.contains("in 3 s (--for) or longer: "), "{longer}");
    }
}
