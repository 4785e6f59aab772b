//! The workload `htap` driven by a Node.js program.

use std::process::Command;

use crate::common::{Ended, Place, is_here};
use embermark_model::Status;
use embermark_model::result::{Cell, PhaseResult, ResultFile};
use embermark_skips::skipped;

const RUN: [&str; 15] = [
    "run",
    "htap",
    "--scale",
    "300",
    "--runs",
    "2",
    "--trials",
    "1",
    "--no-counting",
    "--tier",
    "process,power",
    "--out",
    "out",
    "--variant",
    "node,node-batch",
];

fn run(place: &Place, more: &[&str], prepare: impl FnOnce(&mut Command)) -> ResultFile {
    let mut command = place.command(&[&RUN[..], more].concat());
    prepare(&mut command);
    let ended = Ended::from(command.output().unwrap());
    assert!(place.path("out/result.json").exists(), "{}{}", ended.stdout, ended.stderr);
    place.result("out")
}

/// Whether an engine's client is here; where it is not, the test is skipped.
fn has_client(result: &ResultFile, engine: &str) -> bool {
    let lacks = |cell: &&Cell| cell.id.engine == engine && cell.status == Status::Unsupported;
    let lacking = result.cells.iter().find(lacks).and_then(|cell| cell.reason.clone());
    if let Some(why) = &lacking {
        assert!(why.contains("make node-clients") || why.contains("apt-get install"), "{why}");
        skipped("node-sqlite3", why);
    }
    lacking.is_none()
}

fn phase(cell: &Cell) -> &PhaseResult {
    &cell.trials[0].phases[0]
}

#[test]
fn a_program_of_node_inserts_counts_and_takes_the_time() {
    if !is_here("sqlite") {
        return;
    }
    let place = Place::new();
    let result = run(&place, &["--engines", "sqlite,sqlite-defaults"], |_| {});
    if !has_client(&result, "sqlite") {
        return;
    }
    assert_eq!(result.cells.len(), 8);
    for cell in &result.cells {
        assert_eq!(cell.status, Status::Ok, "{}: {:?}", cell.id, cell.reason);
        let phase = phase(cell);
        let by = phase.timed_by.as_deref().unwrap();
        assert!(by.starts_with("Node.js v") && by.contains(", sqlite3 "), "{by}");
        for run in &phase.runs {
            assert!(run.ops == 300 && run.elapsed_ns > 0 && run.client.is_none());
            // Node.js by itself has more, and the worker, which has the database closed, less.
            assert!(run.engine.peak_bytes.unwrap() > 30 << 20, "{:?}", run.engine);
            assert!(run.engine.cpu_ns.unwrap() > 0);
        }
    }
    let said = place.embermark(&["report", "out/result.json", "--format", "table"]).with(0).stdout;
    for words in ["Times by a client's own clock", "sqlite htap insert_count (node-batch)"] {
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn a_run_that_ends_at_its_cap_has_the_rows_that_it_counted() {
    if !is_here("sqlite") {
        return;
    }
    let place = Place::new();
    let result = run(&place, &["--engines", "sqlite", "--set", "max-run-time=1ms"], |_| {});
    if !has_client(&result, "sqlite") {
        return;
    }
    for cell in &result.cells {
        let each = cell.id.variant == "node";
        let expected = if each { Status::Capped } else { Status::Ok };
        assert_eq!(cell.status, expected, "{}: {:?}", cell.id, cell.reason);
        let few = |ops| (1..300).contains(&ops);
        assert!(phase(cell).runs.iter().all(|run| few(run.ops) == each && run.capped == each));
    }
}

#[test]
fn what_is_missing_is_named_with_what_gets_it() {
    if !is_here("sqlite") {
        return;
    }
    let place = Place::new();
    let result = run(&place, &["--engines", "sqlite,lmdb"], |command| {
        command.env("EMBERMARK_NODE_SQLITE3", "/nowhere");
    });
    for cell in result.cells.iter().filter(|cell| cell.status != Status::Unavailable) {
        assert_eq!(cell.status, Status::Unsupported, "{}", cell.id);
        let why = cell.reason.as_deref().unwrap();
        let expected = match &*cell.id.engine {
            "sqlite" => "EMBERMARK_NODE_SQLITE3",
            _ => "embermark has no Node.js client for it",
        };
        assert!(why.contains(expected), "{why}");
    }
}

#[test]
fn an_answer_that_is_not_the_database_s_is_wrong() {
    if !is_here("sqlite") {
        return;
    }
    // In place of the package one that keeps nothing, and counts it.
    let place = Place::new();
    let package = place.path("sqlite3");
    std::fs::create_dir_all(package.join("lib")).unwrap();
    place.write("sqlite3/package.json", r#"{"version": "0", "main": "lib/sqlite3.js"}"#);
    place.write("sqlite3/lib/sqlite3.js", LIAR);
    let result = run(&place, &["--engines", "sqlite"], |command| {
        command.env("EMBERMARK_NODE_SQLITE3", &package);
    });
    if !has_client(&result, "sqlite") {
        return;
    }
    for cell in &result.cells {
        assert_eq!(cell.status, Status::Wrong, "{}: {:?}", cell.id, cell.reason);
        let why = cell.trials[0].phases[0].reason.as_deref().unwrap();
        assert!(why.contains("the row of dog with id") && why.contains("is missing"), "{why}");
    }
}

/// A package like `sqlite3` that keeps nothing.
const LIAR: &str = r#"
let rows = 0;
const later = (back, ...values) => setImmediate(() => back?.(null, ...values));
exports.VERSION = "0";
exports.Database = class {
  constructor(file, back) { later(back); }
  exec(text, back) { later(back); }
  prepare(text, back) { later(back); return { run: (values, done) => { rows += 1; later(done); }, finalize: later }; }
  get(text, back) { later(back, { n: rows }); }
  close(back) { later(back); }
};
"#;
