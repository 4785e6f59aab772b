//! The password of a server given by URL is for its client alone.

use std::fs;
use std::path::Path;

use crate::common::{self, Place, is_here};
use embermark_skips::skipped;

const PASSWORD: &str = "s3cr3t-of-ann";

/// Every file below a folder that holds the password, read as it is.
fn holders(dir: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(at) = open.pop() {
        for entry in fs::read_dir(&at).unwrap().flatten() {
            if entry.path().is_dir() {
                open.push(entry.path());
            } else if fs::read(entry.path())
                .unwrap()
                .windows(PASSWORD.len())
                .any(|part| part == PASSWORD.as_bytes())
            {
                found.push(entry.path().display().to_string());
            }
        }
    }
    found
}

#[test]
fn no_file_of_a_run_holds_it_and_resume_asks_for_it_again() {
    if !is_here("postgres") {
        return skipped("postgres", "its client library is not here");
    }
    let place = Place::new();
    // Nobody listens there: the cell fails with what the client says.
    let url = format!("postgres=postgresql://ann:{PASSWORD}@127.0.0.1:1/x?connect_timeout=2");
    let cells = ["run", "sensors", "-e", "postgres,sqlite", "-s", "100", "--phases", "load,read"];
    let more = ["--trials", "1", "--runs", "1", "--url", &url, "--out", "out"];
    let ended = place.embermark(&[&cells[..], &more].concat()).with(1);
    assert!(
        !ended.stdout.contains(PASSWORD) && !ended.stderr.contains(PASSWORD),
        "{}",
        ended.stderr
    );
    assert_eq!(holders(&place.path("out")), Vec::<String>::new());
    let journal = fs::read_to_string(place.path("out/journal.jsonl")).unwrap();
    assert!(journal.contains("postgresql://ann:***@127.0.0.1:1/x?connect_timeout=2"));

    // As if it had been cut off before its last trials.
    let begun: String = journal.split_inclusive('\n').take(2).collect();
    fs::remove_file(place.path("out/result.json")).unwrap();
    fs::write(place.path("out/journal.jsonl"), begun).unwrap();
    let refused = place.embermark(&["run", "--resume", "out"]).with(2);
    assert!(refused.stderr.contains("EMBERMARK_PASSWORD_POSTGRES"), "{}", refused.stderr);
    let mut command = place.command(&["run", "--resume", "out"]);
    common::Ended::from(command.env("EMBERMARK_PASSWORD_POSTGRES", PASSWORD).output().unwrap())
        .with(1);
    assert!(place.result("out").manifest.finished.is_some());
    assert_eq!(holders(&place.path("out")), Vec::<String>::new());
}

#[test]
fn an_engine_of_another_version_does_not_go_on_with_a_run() {
    let place = Place::new();
    let words = ["run", "sensors", "-e", "sqlite", "-s", "100", "--phases", "load", "--runs", "1"];
    place.embermark(&[&words[..], &["--trials", "3", "--out", "out"]].concat()).with(0);
    let journal = fs::read_to_string(place.path("out/journal.jsonl")).unwrap();
    let version = place.result("out").cells[0].trials[0].version.clone().unwrap();
    let first = journal.find("{\"cell\":").unwrap();
    let end = first + journal[first..].find('\n').unwrap() + 1;
    let begun = journal[..end].to_owned();
    let older = begun.replace(
        &format!("\"version\":\"{version}\",\"settings\""),
        "\"version\":\"3.0.1\",\"settings\"",
    );
    assert_ne!(begun, older);
    fs::remove_file(place.path("out/result.json")).unwrap();
    fs::write(place.path("out/journal.jsonl"), &older).unwrap();
    let refused = place.embermark(&["run", "--resume", "out"]).with(2);
    assert!(
        refused.stderr.contains(&format!("sqlite was 3.0.1 in the trials before and is {version}")),
        "{}",
        refused.stderr
    );
    // With the engine put back it goes on.
    fs::write(place.path("out/journal.jsonl"), &begun).unwrap();
    place.embermark(&["run", "--resume", "out"]).with(0);
}
