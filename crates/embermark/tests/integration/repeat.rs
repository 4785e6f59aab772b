//! Published comparisons, repeated with few rows.

use std::fs;
use std::process::Stdio;

use crate::common::run_processes::signal;
use crate::common::{Sandbox, processes_using, wait_for};
use nix::sys::signal::Signal;

/// Repeats two pieces without a server, which take one or two seconds each.
const WORDS: [&str; 10] = [
    "reproduce",
    "mcknight",
    "--pieces",
    "sqlite,journal",
    "--scale",
    "200",
    "--runs",
    "2",
    "--out",
    "out",
];

#[test]
fn a_source_is_repeated_also_when_killed_and_a_document_says_what_came_out() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&WORDS);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let journal = sandbox.path("out/mcknight/journal-200/journal.jsonl");
    let ended = wait_for("the second part", || {
        let ended = child.try_wait().unwrap();
        (journal.exists() || ended.is_some()).then_some(ended)
    });
    assert_eq!(ended, None, "it ended without the second part");
    signal(child.id(), Signal::SIGKILL);
    child.wait().unwrap();
    wait_for("its processes' end", || processes_using(&sandbox.path("")).is_empty().then_some(()));
    let first = sandbox.result("out/mcknight/sqlite-200");
    assert!(first.manifest.finished.is_some());
    assert!(!sandbox.path("out/reproduction.md").exists());

    let ended = sandbox.embermark(&["run", "--resume", "out"]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let result = sandbox.result("out/mcknight/sqlite-200");
    assert_eq!(result.manifest.run_id, first.manifest.run_id);
    let repeats = result.plan.repeats.unwrap();
    assert_eq!(repeats.to_string(), "mcknight/sqlite");
    assert_eq!((result.plan.runs, result.plan.warmup_runs), (2, 0));
    let second = sandbox.result("out/mcknight/journal-200");
    assert!(second.manifest.finished.is_some());
    assert_eq!((second.plan.engines.len(), second.plan.runs), (4, 2));
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
    let again = sandbox.embermark(&WORDS);
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
    let ended = sandbox.embermark(&WORDS);
    assert_eq!(ended.status, 2, "{}", ended.stderr);
    assert!(ended.stderr.contains("has other files"), "{}", ended.stderr);
    let none = sandbox.embermark(&["report", "--reproduction", "out"]);
    assert_eq!(none.status, 2, "{}", none.stderr);
}
