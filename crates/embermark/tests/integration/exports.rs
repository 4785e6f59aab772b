//! The examples of docs/result-exports.md, on a table of many results.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use embermark_skips::skipped;

use crate::common::Sandbox;
use crate::many_results::made_up::{self, Shape};

/// A file of the repository.
fn of_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Returns the fenced blocks of a language in the document.
fn examples(language: &str) -> Vec<String> {
    let text = fs::read_to_string(of_repository("docs/result-exports.md")).unwrap();
    let fence = format!("```{language}\n");
    let blocks = text.split(&fence).skip(1);
    blocks.map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

/// Exports two devices with two results each as one table of their runs.
fn table() -> Sandbox {
    let sandbox = Sandbox::new();
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
    made_up::write(&sandbox.path("results"), &shape);
    sandbox
        .embermark(&["report", "results", "--format", "parquet", "-o", "runs.parquet"])
        .expect_status(0);
    sandbox
}

/// Returns the output of a Python program that runs in the table's folder. `None` if a module is
/// missing.
fn python(sandbox: &Sandbox, modules: &[&str], program: &str) -> Option<String> {
    // A link to Python is a separate environment.
    let deps = of_repository(".deps").canonicalize().ok()?;
    let python = deps.join("python-clients/bin/python3");
    let run = |program: &str| {
        let mut command = Command::new(&python);
        command
            .args(["-c", program])
            .current_dir(sandbox.path(""))
            .env("PYTHONPATH", deps.join("pandas"));
        command.output().ok()
    };
    // To import them takes longer than the programs.
    let missing = format!(
        "import sys\nfrom importlib.util import find_spec\nsys.exit(None in map(find_spec, {modules:?}))"
    );
    if !run(&missing).is_some_and(|output| output.status.success()) {
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
    let sandbox = table();
    let examples = examples("sql");
    assert!(!examples.is_empty());
    for example in examples {
        let program = format!(
            "import duckdb\nfor row in duckdb.sql('''{example}''').fetchall(): print(*row, sep='|')"
        );
        let Some(printed) = python(&sandbox, &["duckdb"], &program) else { return };
        let rows: Vec<Vec<&str>> = printed.lines().map(|line| line.split('|').collect()).collect();
        // The example selects three engines in two phases on two boards.
        assert_eq!(rows.len(), 12, "{printed}");
        assert!(
            rows.iter().all(|row| row.last().unwrap().parse::<f64>().unwrap() > 0.0),
            "{printed}"
        );
    }
    let counted = "import duckdb\nprint(duckdb.sql('''SELECT count(*), count(DISTINCT run_id), \
                   count(DISTINCT device) FROM 'runs.parquet' ''').fetchall()[0])";
    if let Some(printed) = python(&sandbox, &["duckdb"], counted) {
        // 4 results of 6 cells with 3 trials of 2 phases of 2 runs.
        assert_eq!(printed.trim(), "(288, 4, 4)");
    }
}

#[test]
fn pandas_reads_many_results_as_one_table() {
    let sandbox = table();
    for example in examples("python") {
        let Some(printed) = python(&sandbox, &["pandas", "pyarrow"], &example) else { return };
        for engine in ["sqlite", "lmdb", "redb"] {
            assert!(printed.contains(engine), "{printed}");
        }
    }
}
