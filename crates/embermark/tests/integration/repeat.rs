//! Published comparisons, repeated with few rows.

use std::fs;
use std::process::Stdio;

use crate::common::run_processes::signal;
use crate::common::{Sandbox, processes_using, wait_for};
use nix::sys::signal::Signal;

/// Returns the words that repeat two pieces without a server, which take one or two seconds each.
fn words(runs: &str) -> Vec<&str> {
    let always = ["reproduce", "mcknight", "--pieces", "sqlite,journal"];
    always.into_iter().chain(["--scale", "200", "--runs", runs, "--out", "out"]).collect()
}

#[test]
fn a_source_is_repeated_and_a_document_says_what_came_out() {
    let sandbox = Sandbox::new();
    let ended = sandbox.embermark(&words("2"));
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let result = sandbox.result("out/mcknight/sqlite-200");
    let repeats = result.plan.repeats.unwrap();
    assert_eq!(repeats.to_string(), "mcknight/sqlite");
    assert_eq!((result.plan.runs, result.plan.warmup_runs), (2, 0));
    assert_eq!(sandbox.result("out/mcknight/journal-200").plan.engines.len(), 4);
    let document = fs::read_to_string(sandbox.path("out/reproduction.md")).unwrap();
    assert!(document.contains("| sqlite | as published |"), "{document}");
    assert!(ended.stdout.contains("open and close"), "{}", ended.stdout);
    assert!(ended.stdout.contains("reproduction.md"), "{}", ended.stdout);

    // The same from the kept results, and from their folder.
    let made = sandbox.embermark(&["report", "--reproduction", "out"]);
    assert_eq!((made.status, made.stdout), (0, document));

    // Kept results also count without the rest of their folder. Results without an answer are
    // named.
    fs::remove_file(sandbox.path("out/as-published.json")).unwrap();
    fs::remove_file(sandbox.path("out/reproduction.md")).unwrap();
    assert!(ended.stdout.contains("no answer yet for "), "{}", ended.stdout);

    // Completed parts are kept. Nothing runs twice.
    let again = sandbox.embermark(&words("2"));
    assert_eq!(again.status, 0, "{}", again.stderr);
    assert_eq!(again.stdout, ended.stdout, "the document is of the same results");
    assert!(!again.stderr.contains("trials"), "{}", again.stderr);
    let same = sandbox.result("out/mcknight/sqlite-200").manifest.run_id;
    assert_eq!(same, result.manifest.run_id);
    sandbox
        .embermark(&["run", "--resume", "out", "--device", "pi3"])
        .expect_status(2)
        .expect_stderr(&["leave out --device"]);
}

#[test]
fn one_that_was_killed_is_gone_on_with() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&words("6"));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let journal = sandbox.path("out/mcknight/journal-200/journal.jsonl");
    wait_for("the second part", || journal.exists().then_some(()));
    signal(child.id(), Signal::SIGKILL);
    child.wait().unwrap();
    wait_for("its processes' end", || processes_using(&sandbox.path("")).is_empty().then_some(()));

    let went_on = sandbox.embermark(&["run", "--resume", "out"]);
    assert_eq!(went_on.status, 0, "{}", went_on.stderr);
    for part in ["sqlite", "journal"] {
        let result = sandbox.result(&format!("out/mcknight/{part}-200"));
        assert!(result.manifest.finished.is_some(), "{part}");
        assert_eq!(result.plan.runs, 6, "{part}");
    }
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_runs() {
    let sandbox = Sandbox::new();
    for (words, says) in [
        (&["reproduce", "tpc-c"][..], "unknown source 'tpc-c'"),
        (&["reproduce", "ulb", "--set", "variant=['bulk']"], "--variant is set by"),
        (&["reproduce", "ulb", "--engines", "sqlite"], "unexpected argument"),
        (&["reproduce", "ulb", "--for", "soon"], "--for 'soon'"),
        (&["reproduce", "highfreq", "--for", "1s"], "nothing fits"),
        (&["reproduce", "ulb", "--resume", "out"], "unexpected argument"),
    ] {
        let ended = sandbox.embermark(words);
        assert_eq!(ended.status, 2, "{words:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(says), "{words:?}: {}", ended.stderr);
    }
    fs::create_dir(sandbox.path("out")).unwrap();
    sandbox.write("out/something", "else");
    let ended = sandbox.embermark(&words("2"));
    assert_eq!(ended.status, 2, "{}", ended.stderr);
    assert!(ended.stderr.contains("has other files"), "{}", ended.stderr);
    let none = sandbox.embermark(&["report", "--reproduction", "out"]);
    assert_eq!(none.status, 2, "{}", none.stderr);
}
