//! `embermark doctor`, `completions`, `man` and `--version`.

use std::path::Path;

use crate::common::{ProgramOutput, Sandbox};

#[test]
fn it_says_what_the_device_is_and_ends_with_one_where_something_disturbs() {
    let sandbox = Sandbox::new();
    let ended = sandbox.embermark(&["doctor", "--format", "json"]);
    let found: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    let warnings = found["warnings"].as_array().unwrap();
    // A debug build is one of them.
    assert!(warnings[0].as_str().unwrap().contains("debug build"), "{warnings:?}");
    let ended = ended.expect_status(1);
    let names: Vec<&str> = found["facts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|fact| fact["name"].as_str().unwrap())
        .collect();
    assert!(names.starts_with(&["device", "cpu"]) || names.contains(&"memory"), "{}", ended.stdout);

    let shown = sandbox.embermark(&["doctor"]).expect_status(1).stdout;
    assert!(shown.contains("\nmemory    ") && shown.contains("Would disturb a measurement\n  - "));
}

#[test]
fn a_folder_in_memory_disturbs_and_one_that_is_not_there_is_refused() {
    let sandbox = Sandbox::new();
    if Path::new("/dev/shm").is_dir() {
        let shown = sandbox.embermark(&["doctor", "--dir", "/dev/shm"]).expect_status(1).stdout;
        assert!(shown.contains("the databases are in memory"), "{shown}");
    }
    sandbox
        .embermark(&["doctor", "--dir", "nowhere"])
        .expect_status(2)
        .expect_stderr(&["nowhere", "--dir"]);
    sandbox
        .embermark(&["doctor", "--dir", "/etc/hostname"])
        .expect_status(2)
        .expect_stderr(&["is not a folder", "--dir"]);
}

#[test]
fn a_folder_of_path_that_is_closed_and_an_empty_tmpdir_are_none() {
    let sandbox = Sandbox::new();
    // The system refuses a folder as it does a program in a folder that may not be read, also to
    // root.
    for program in ["vcgencmd", "smartctl"] {
        std::fs::create_dir_all(sandbox.path("bin").join(program)).unwrap();
    }
    let path = format!("{}:{}", sandbox.path("bin").display(), std::env::var("PATH").unwrap());
    let output = sandbox.command(&["doctor"]).env("PATH", path).env("TMPDIR", "").output();
    let shown = ProgramOutput::from(output.unwrap()).expect_status(1).stdout;
    assert!(!shown.contains("cannot be started"), "{shown}");
}

#[test]
fn a_package_has_completions_manual_pages_and_a_version_that_says_what_is_in_it() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = sandbox.embermark(&["completions", shell]).expect_status(0).stdout;
        assert!(script.contains("engine-library") && script.contains("doctor"), "{shell}");
        assert!(!script.contains("durability-worker"), "{shell}: what is hidden");
    }
    let page = sandbox.embermark(&["man"]).expect_status(0).stdout;
    assert!(page.contains(".TH embermark 1") && page.contains("embermark\\-run(1)"), "{page}");
    let page = sandbox.embermark(&["man", "run"]).expect_status(0).stdout;
    assert!(page.contains(".TH embermark-run 1") && page.contains("\\-\\-trials"), "{page}");
    let page = sandbox.embermark(&["man", "fleet", "run"]).expect_status(0).stdout;
    assert!(page.contains(".TH embermark-fleet-run 1"), "{page}");
    sandbox
        .embermark(&["man", "nothing"])
        .expect_status(2)
        .expect_stderr(&["unknown command 'nothing'", "doctor"]);
    sandbox
        .embermark(&["man", "run", "nothing"])
        .expect_status(2)
        .expect_stderr(&["`embermark-run` has no command 'nothing'"]);
    // A hidden command has no page.
    sandbox.embermark(&["man", "worker"]).expect_status(2);
    let version = sandbox.embermark(&["--version"]).expect_status(0).stdout;
    assert!(version.contains("engines built in: sqlite, ") && version.contains(" (debug)"));
}
