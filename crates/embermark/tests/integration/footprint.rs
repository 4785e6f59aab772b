//! `embermark footprint`.

use std::fs::{self, DirEntry};
use std::process::Stdio;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::common::run_processes::{assert_nothing_left, signal};
use crate::common::{ProgramOutput, Sandbox, is_here, wait_for};
use embermark_skips::sampled;

/// Returns the lines of the JSON output, by engine.
fn shown(sandbox: &Sandbox, words: &[&str]) -> Vec<Value> {
    let dir = sandbox.path("databases");
    fs::create_dir_all(&dir).unwrap();
    let dir = dir.to_str().unwrap();
    let options = ["--idle", "200ms", "--dir", dir, "-f", "json"];
    let ended = sandbox.embermark(&[&["footprint"], words, &options].concat()).expect_status(0);
    assert_eq!(fs::read_dir(dir).unwrap().count(), 0, "a database is left");
    serde_json::from_str(&ended.stdout).unwrap()
}

#[test]
fn an_embedded_engine_takes_memory_of_its_client_and_a_server_its_own() {
    let sandbox = Sandbox::new();
    let embedded = ["sqlite", "berkeleydb", "rocksdb"].into_iter();
    let engines = embedded.chain(sampled(["postgres", "mongodb"], 1));
    let here: Vec<&str> = engines.filter(|id| is_here(id)).collect();
    let lines = shown(&sandbox, &here);
    assert_eq!(lines.len(), here.len());
    for line in &lines {
        let engine = line["engine"].as_str().unwrap();
        let footprint = &line["footprint"];
        let number = |name: &str| footprint[name].as_u64();
        assert!(number("disk_bytes") >= Some(4_096) && number("open_ns") > Some(0), "{line}");
        assert!(number("idle_ns") >= Some(200_000_000) && number("cpu_ns").is_some(), "{line}");
        assert!(line["adapter_lines"].as_u64() > Some(50), "{line}");
        let files = footprint["files"].as_array().unwrap();
        let is_server = engine == "postgres" || engine == "mongodb";
        assert_eq!(number("server_bytes") > Some(1 << 20), is_server, "{line}");
        let ends = |name: &str| files.iter().any(|file| file[0].as_str().unwrap().ends_with(name));
        match engine {
            "sqlite" => assert!(files.is_empty(), "{line}"),
            // embermark is linked with it.
            "berkeleydb" => assert!(files[0][0].as_str().unwrap().contains("/libdb"), "{line}"),
            "rocksdb" => assert!(ends("librocksdb.so"), "{line}"),
            "postgres" => assert!(ends("/postgres"), "{line}"),
            _ => assert!(ends("/mongod"), "{line}"),
        }
    }
    assert_nothing_left(&sandbox);
}

#[test]
fn the_engine_that_does_nothing_takes_nothing() {
    let sandbox = Sandbox::new();
    let null = &shown(&sandbox, &["null"])[0];
    let taken = null["footprint"]["client_bytes"].as_u64().unwrap();
    // Pages of a debug build's own code are loaded as well.
    assert!(taken < 4 << 20, "{null}");
    assert_eq!(null["footprint"]["disk_bytes"], 0);
    assert_eq!(null["footprint"]["files"].as_array().unwrap().len(), 0);
}

#[test]
fn what_cannot_be_opened_says_why_and_ends_with_one_where_it_was_named() {
    let sandbox = Sandbox::new();
    let idle = ["--idle", "1ms"];
    let zen = sandbox.embermark(&[&["footprint", "zen"], &idle[..]].concat());
    if !is_here("zen") {
        let text = zen.expect_status(1).stdout;
        assert!(text.contains("zen: not opened: "), "{text}");
    }
    if is_here("duckdb") {
        let words = ["footprint", "duckdb", "-t", "power"];
        let text = sandbox.embermark(&[&words, &idle[..]].concat()).expect_status(1).stdout;
        assert!(text.contains("duckdb: not opened: it does not offer the tier 'power'"), "{text}");
    }
    if is_here("sqlite") {
        let words = ["footprint", "--configuration", "bad=sqlite:page_size=513"];
        let text = sandbox.embermark(&[&words, &idle[..]].concat()).expect_status(1).stdout;
        assert!(text.contains("bad: not opened: "), "{text}");
    }
    let text = sandbox
        .embermark(&[&["footprint", "harperdb"], &idle[..]].concat())
        .expect_status(1)
        .stdout;
    assert!(text.contains("harperdb: not opened: its licence forbids publishing"), "{text}");
}

#[test]
fn an_interrupt_keeps_the_lines_that_were_measured_and_names_the_others() {
    if !is_here("sqlite") {
        return;
    }
    let sandbox = Sandbox::new();
    let databases = sandbox.path("databases");
    fs::create_dir_all(&databases).unwrap();
    let words = ["footprint", "null", "sqlite", "memory", "--idle", "3s", "--dir", "databases"];
    let mut command = sandbox.command(&words);
    let run = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The first one makes no file.
    wait_for("the second database", || {
        let mut folders = fs::read_dir(&databases).ok()?.flatten();
        let has = |folder: DirEntry| fs::read_dir(folder.path()).ok()?.next();
        folders.find_map(has).map(drop)
    });
    assert!(signal(run.id(), Signal::SIGINT));
    let ended = ProgramOutput::from(run.wait_with_output().unwrap()).expect_status(130);
    let has = |engine| ended.stdout.lines().any(|line| line.trim_start().starts_with(engine));
    assert!(has("null ") && !has("sqlite "), "{}", ended.stdout);
    ended.expect_stderr(&["interrupted: not shown: sqlite, memory"]);
    assert_eq!(fs::read_dir(&databases).unwrap().count(), 0, "a database is left");
}

#[test]
fn a_mistake_is_refused_before_anything_is_opened() {
    let sandbox = Sandbox::new();
    for (words, named) in [
        (&["sqlit"][..], "sqlite"),
        (&["sqlite", "--idle", "soon"], "--idle 'soon' is not a time"),
        (&["sqlite", "--cache", "1k"], "--cache 1k is too little"),
        (&["sqlite", "-t", "some"], "power"),
        (&["sqlite", "--accept-license", "sqlite"], "need not be accepted"),
        (&["sqlite", "--accept-license", "harperbd"], "harperdb"),
        (&["sqlite", "--dir", "nowhere"], "nowhere"),
        (&["--configuration", "big=sqlite:cach_size=1"], "cach_size"),
    ] {
        sandbox
            .embermark(&[&["footprint"], words].concat())
            .expect_status(2)
            .expect_stderr(&[named]);
    }
}
