//! Columns whose engine is used from other languages.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use embermark_model::Configuration;
use embermark_model::result::ResultFile;

use crate::common::{Sandbox, is_here};

/// Returns the output of a dry run, and the plan that a run would have.
fn dry(sandbox: &Sandbox, words: &[&str]) -> String {
    let words = [&["run", "sensors", "--variant", "single", "--dry-run"], words].concat();
    sandbox.embermark(&words).expect_status(0).stdout
}

#[test]
fn a_dry_run_names_a_column_for_each_client() {
    if !is_here("sqlite") || !is_here("lmdb") {
        return;
    }
    let sandbox = Sandbox::new();
    let shown = dry(&sandbox, &["-e", "sqlite,lmdb,memory", "--client", "native,python"]);
    assert!(shown.contains(": sqlite, sqlite-python, lmdb, lmdb-python, memory\n"), "{shown}");
    let fast = "fast=sqlite:synchronous=OFF";
    let shown = dry(&sandbox, &["-e", "sqlite", "--configuration", fast, "--client", "python"]);
    assert!(shown.contains(": sqlite-python, fast-python\n"), "{shown}");
    let shown =
        dry(&sandbox, &["-e", "sqlite,sqlite-node", "--configuration", "p=lmdb:client=python"]);
    assert!(shown.contains(": sqlite, sqlite-node, p\n"), "{shown}");
    sandbox.write(
        "plan.toml",
        "client = [\"native\", \"node:better-sqlite3\"]\nengines = [\"sqlite\", \"slow\"]\n\
         [configuration.slow]\nengine = \"sqlite\"\nclient = \"python\"\n",
    );
    let shown = dry(&sandbox, &["--plan", "plan.toml"]);
    assert!(shown.contains(": sqlite, sqlite-node-better-sqlite3, slow\n"), "{shown}");
    let shown = dry(&sandbox, &["--plan", "plan.toml", "--client", "native"]);
    assert!(shown.contains(": sqlite, slow\n"), "the line's wins: {shown}");
}

#[test]
fn a_program_of_ones_own_is_found_from_the_current_folder_and_must_be_executable() {
    if !is_here("sqlite") {
        return;
    }
    let sandbox = Sandbox::new();
    let own = sandbox.write("my-client.sh", "#!/bin/sh\n");
    let words = ["run", "sensors", "-e", "sqlite", "--client", "./my-client.sh", "--dry-run"];
    let says = ["--client: client './my-client.sh'", "not executable"];
    sandbox.embermark(&words).expect_status(2).expect_stderr(&says);
    fs::set_permissions(&own, fs::Permissions::from_mode(0o755)).unwrap();
    let shown = sandbox.embermark(&words).expect_status(0).stdout;
    assert!(shown.contains(": sqlite-my-client\n"), "{shown}");
    fs::remove_file(&own).unwrap();
    sandbox.embermark(&words).expect_status(2).expect_stderr(&["'./my-client.sh'", "No such file"]);
}

#[test]
fn what_is_no_client_or_has_none_is_refused_before_anything_runs() {
    if !is_here("sqlite") {
        return;
    }
    let sandbox = Sandbox::new();
    let refused = |words: &[&str], says: &[&str]| {
        sandbox
            .embermark(&[words, &["--out", "out"]].concat())
            .expect_status(2)
            .expect_stderr(says);
        assert!(!sandbox.path("out").exists());
    };
    refused(&["run", "-e", "sqlite", "--client", "ruby"], &["'ruby' is not a client", "native"]);
    refused(&["run", "-e", "memory-python"], &["memory", "takes no client"]);
    let own = "own=sqlite:client=python";
    refused(
        &["durability", "--configuration", own],
        &["'own' has the client python", "durability"],
    );
    refused(&["durability", "sqlite-node"], &["'sqlite-node' has the client node"]);
    refused(&["tune", "sqlite-python"], &["'sqlite-python' has the client python", "tune"]);
    refused(&["reproduce", "ulb", "--client", "python"], &["--client"]);
}

/// A hand-made result in which SQLite was used from Python.
fn result(sandbox: &Sandbox) {
    let path = Path::new("../report/tests/fixtures/schema-2.json");
    let mut file: ResultFile = embermark_report::load(path).unwrap();
    let own = file.cells.iter().filter(|cell| cell.id.engine == "sqlite").cloned();
    let mut cells: Vec<_> = own.collect();
    cells.iter_mut().for_each(|cell| cell.id.engine = "sqlite-python".to_owned());
    file.cells.extend(cells);
    file.plan.engines.push("sqlite-python".to_owned());
    let client = Some("python".parse().unwrap());
    let own = Configuration { client, ..Configuration::new("sqlite") };
    file.plan.configurations.insert("sqlite-python".to_owned(), own);
    sandbox.write("result.json", serde_json::to_string(&file).unwrap());
}

#[test]
fn advice_is_for_each_language_or_for_one() {
    let sandbox = Sandbox::new();
    result(&sandbox);
    let advise = |more: &[&str]| sandbox.embermark(&[&["advise", "result.json"], more].concat());
    let all = advise(&[]).expect_status(0).stdout;
    assert!(all.contains("· native\n") && all.contains("· python\n"), "{all}");
    let python = advise(&["--client", "python"]).expect_status(0).stdout;
    assert!(python.contains("· python\n") && !python.contains("· native\n"), "{python}");
    let native = advise(&["--client", "native", "--show", "tables", "--weight", "ingest=1"]);
    let native = native.expect_status(0).stdout;
    assert!(!native.contains("sqlite-python"), "{native}");
    advise(&["--client", "node"])
        .expect_status(2)
        .expect_stderr(&["--client node, but with native, python"]);
}
