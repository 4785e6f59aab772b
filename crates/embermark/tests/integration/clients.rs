//! `run --clients` and `--rate`, end to end.

use crate::common::{self, Sandbox, name_absent};
use embermark_engines::{Kind, registry};
use embermark_model::Status;
use embermark_model::result::SCHEMA;
use embermark_skips::sampled;
use embermark_workloads::WORKLOADS;

const SHORT: [&str; 8] = ["run", "sensors", "-s", "300", "--runs", "2", "--trials", "1"];

fn run(sandbox: &Sandbox, words: &[&str], out: &str) -> common::ProgramOutput {
    sandbox.embermark(&[&SHORT, words, &["--out", out]].concat())
}

#[test]
fn every_embedded_engine_has_several_clients_with_right_answers_or_says_why_not() {
    let sandbox = Sandbox::new();
    let embedded = registry::ENGINES.iter().map(|engine| engine.info());
    let embedded = embedded.filter(|info| info.kind == Kind::Embedded).map(|info| info.id);
    let engines = [&["memory", "null"], &sampled(embedded, 4)[..]].concat().join(",");
    let words = ["-e", &engines, "--clients", "3", "--show", "tables"];
    let ended = run(&sandbox, &words, "out").expect_status(0);
    let result = sandbox.result("out");
    name_absent(&result);
    assert_eq!((result.schema, result.plan.clients, result.plan.target_rate), (SCHEMA, 3, None));
    for cell in &result.cells {
        let (id, reason) = (&cell.id, &cell.reason);
        assert_eq!(id.variant, "commit-each");
        match id.engine.as_str() {
            "sqlite" | "lmdb" | "redb" | "null" => {
                assert_eq!(cell.status, Status::Ok, "{id}: {reason:?}")
            }
            "memory" | "berkeleydb" => {
                assert_ne!(cell.status, Status::Ok, "{id}");
                assert!(reason.as_ref().is_some_and(|text| text.len() > 10), "{id}: {reason:?}");
            }
            _ => assert!(!cell.status.is_failure(), "{id}: {reason:?}"),
        }
        for phase in cell.trials.iter().flat_map(|trial| &trial.phases) {
            let clients = |run: &embermark_model::result::Run| run.clients.len();
            assert!(phase.runs.iter().all(|run| clients(run) == 3), "{id}: {phase:?}");
        }
    }
    for word in ["3 clients", "of the slowest and fastest one"] {
        assert!(ended.stdout.contains(word), "no {word} in\n{}", ended.stdout);
    }
}

#[test]
fn a_rate_gives_response_times_and_other_clients_or_rates_are_not_compared() {
    let sandbox = Sandbox::new();
    let paced = ["-e", "null", "--phases", "read", "--rate", "3000"];
    run(&sandbox, &paced, "paced").expect_status(0);
    let result = sandbox.result("paced");
    // No client machine takes part to which the rate could apply.
    assert_eq!((result.plan.target_rate, result.plan.rate), (Some(3_000), Default::default()));
    let read = &result.cells[0].trials[0].phases[0];
    assert!(read.response.is_some() && read.runs[0].schedule.is_some(), "{read:?}");
    assert!(read.runs[0].elapsed_ns > 99_000_000, "{read:?}");

    run(&sandbox, &["-e", "null", "--phases", "read", "--variant", "commit-each"], "plain")
        .expect_status(0);
    run(&sandbox, &["-e", "null", "--phases", "read", "--clients", "2"], "two").expect_status(0);
    for (old, new, saying) in [
        ("plain", "paced", "target rate: none, a closed loop, then 3.00 k/s"),
        ("plain", "two", "clients: 1, then 2"),
    ] {
        let [old, new] = [old, new].map(|out| format!("{out}/result.json"));
        sandbox.embermark(&["compare", &old, &new]).expect_status(2).expect_stderr(&[saying]);
        let forced = sandbox.embermark(&["compare", &old, &new, "--force"]);
        assert_ne!(forced.status, 2, "{}", forced.stderr);
    }
}

#[test]
fn a_run_that_is_gone_on_with_keeps_its_clients_and_its_rate() {
    let sandbox = Sandbox::new();
    let words = ["-e", "null", "--phases", "read", "--clients", "2", "--rate", "3000"];
    run(&sandbox, &words, "out").expect_status(0);
    let resumed = |more: &[&str]| {
        let words = ["-e", "null", "--phases", "read", "--resume", "out"];
        sandbox.embermark(&[&SHORT[..], &words, more].concat())
    };
    resumed(&["--clients", "2", "--rate", "3000"]).expect_status(0);
    resumed(&["--clients", "3", "--rate", "3000"])
        .expect_status(2)
        .expect_stderr(&["clients 2 (now 3)"]);
    resumed(&["--clients", "2", "--rate", "200"])
        .expect_status(2)
        .expect_stderr(&["target_rate 3000 (now 200)"]);
    sandbox.embermark(&["run", "--resume", "out"]).expect_status(0);
    let result = sandbox.result("out");
    assert_eq!((result.plan.clients, result.plan.target_rate), (2, Some(3_000)));
}

#[test]
fn help_names_every_workload_whose_operations_clients_can_share() {
    let sandbox = Sandbox::new();
    let options =
        [(&["run"][..], "--clients"), (&["run"], "--rate"), (&["fleet", "run"], "--clients-of")];
    for (command, option) in options {
        let help = sandbox.embermark(&[command, &["--help"]].concat()).expect_status(0).stdout;
        let (_, after) = help.split_once(&format!("{option} <")).unwrap();
        let text = after.split("\n      --").next().unwrap_or_default();
        let shared = WORKLOADS.iter().map(|workload| workload.info());
        for info in shared.filter(|info| !info.points.is_empty()) {
            assert!(text.contains(&format!("`{}`", info.id)), "{option}: {} in {text}", info.id);
        }
    }
}
