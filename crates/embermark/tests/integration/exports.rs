//! The examples of docs/result-exports.md, on a table of many results.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use embermark_skips::skipped;

use crate::common::Place;
use crate::many_results::made_up::{self, Shape};

/// A file of the repository.
fn of_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// The fenced blocks of a language in the document.
fn examples(language: &str) -> Vec<String> {
    let text = fs::read_to_string(of_repository("docs/result-exports.md")).unwrap();
    let fence = format!("```{language}\n");
    let blocks = text.split(&fence).skip(1);
    blocks.map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

/// Two devices with two results each, as one table of their runs.
fn table() -> Place {
    let place = Place::new();
    let shape = Shape {
        devices: 2,
        models: 2,
        lines: &[("sensors", "1k", "process"), ("contacts", "1k", "power")],
        engines: &["sqlite", "lmdb", "redb"],
        phases: &["load", "read"],
        trials: 3,
        runs: 2,
        versions: 2,
    };
    made_up::write(&place.path("results"), &shape);
    place.embermark(&["report", "results", "--format", "parquet", "-o", "runs.parquet"]).with(0);
    place
}

/// What Python prints for this program, run where the table is; nothing where it lacks a module.
fn python(place: &Place, modules: &[&str], program: &str) -> Option<String> {
    // A link to Python is an environment of its own.
    let deps = of_repository(".deps").canonicalize().ok()?;
    let python = deps.join("python-clients/bin/python3");
    let run = |program: &str| {
        let mut command = Command::new(&python);
        command
            .args(["-c", program])
            .current_dir(place.path(""))
            .env("PYTHONPATH", deps.join("pandas"));
        command.output().ok()
    };
    let all = modules.iter().map(|module| format!("import {module}\n")).collect::<String>();
    if !run(&all).is_some_and(|output| output.status.success()) {
        skipped(
            modules[0],
            format!("no {} in .deps: make python-clients test-deps", modules.join(", ")),
        );
        return None;
    }
    let output = run(program)?;
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    assert!(output.status.success(), "{program}\n{stderr}");
    Some(stdout)
}

#[test]
fn duckdb_reads_many_results_as_one_table() {
    let place = table();
    let examples = examples("sql");
    assert!(!examples.is_empty());
    for example in examples {
        let program = format!(
            "import duckdb\nfor row in duckdb.sql('''{example}''').fetchall(): print(*row, sep='|')"
        );
        let Some(printed) = python(&place, &["duckdb"], &program) else { return };
        let rows: Vec<Vec<&str>> = printed.lines().map(|line| line.split('|').collect()).collect();
        // Of the rows that the example asks for: three engines in two phases on two boards.
        assert_eq!(rows.len(), 12, "{printed}");
        assert!(
            rows.iter().all(|row| row.last().unwrap().parse::<f64>().unwrap() > 0.0),
            "{printed}"
        );
    }
    let counted = "import duckdb\nprint(duckdb.sql('''SELECT count(*), count(DISTINCT run_id), \
                   count(DISTINCT device) FROM 'runs.parquet' ''').fetchall()[0])";
    if let Some(printed) = python(&place, &["duckdb"], counted) {
        // 4 results of 6 cells with 3 trials of 2 phases of 2 runs.
        assert_eq!(printed.trim(), "(288, 4, 4)");
    }
}

#[test]
fn pandas_reads_many_results_as_one_table() {
    let place = table();
    for example in examples("python") {
        let Some(printed) = python(&place, &["pandas", "pyarrow"], &example) else { return };
        for engine in ["sqlite", "lmdb", "redb"] {
            assert!(printed.contains(engine), "{printed}");
        }
    }
}
