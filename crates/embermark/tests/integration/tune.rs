//! `embermark tune` as a user meets it.

use std::fs;
use std::process::Command;

use embermark_skips::skipped;
use serde_json::Value;

use crate::common::Place;

fn found(place: &Place, engine: &str) -> Value {
    let all: Value =
        serde_json::from_slice(&fs::read(place.path("out/tune.json")).unwrap()).unwrap();
    all["engines"][engine].clone()
}

fn tried<'a>(found: &'a Value, name: &str, value: &str) -> &'a Value {
    let all = found["tried"].as_array().unwrap();
    all.iter().find(|tried| tried["set"][name] == value).unwrap()
}

#[test]
fn candidates_are_measured_and_what_weakens_the_tier_is_told_and_not_taken() {
    let place = Place::new();
    let words =
        ["tune", "sqlite", "sensors:300", "--phases", "load", "--for", "30m", "--kills", "2"];
    let unsafe_one = ["--states", "0", "--try", "sqlite:synchronous=OFF", "--out", "out"];
    let ended = place.embermark(&[&words[..], &unsafe_one].concat()).with(0);
    assert!(ended.stdout.contains("sqlite, tier power, for sensors"), "{}", ended.stdout);
    let found = found(&place, "sqlite");
    // Every candidate of the table was tried, and the one that was given.
    assert!(found["tried"].as_array().unwrap().len() > 8, "{found}");
    let off = tried(&found, "synchronous", "OFF");
    // It saves a sync a commit. Where that is no gain, as on a disk in memory, it is not taken either.
    assert!(["broken", "not-faster"].contains(&off["outcome"].as_str().unwrap()), "{off}");
    if off["outcome"] == "broken" {
        assert!(off["lost"].as_str().unwrap().contains("synchronous"), "{off}");
        assert!(ended.stdout.contains("loses what the tier promises"), "{}", ended.stdout);
    }
    assert!(found["winner"]["synchronous"].is_null(), "{found}");
    if let Some(ratio) = found["gain"]["ratio"].as_f64() {
        assert!(ratio > 0.0 && found["gain"]["trials"].as_u64() >= Some(6), "{found}");
        assert!(ended.stdout.contains("that the search did not see"), "{}", ended.stdout);
    }
}

/// SQLite as a program has it with a rollback journal: its log is several times as fast on any disk, and a planted
/// setting without a sync is faster still.
#[test]
fn what_is_faster_and_unsafe_is_caught_by_the_cut_and_what_is_faster_and_safe_is_found() {
    if !nix::unistd::geteuid().is_root() {
        skipped("root", "power is cut on a recorded device, which is for root alone");
        return;
    }
    let place = Place::new();
    let told = Command::new("stat").args(["-f", "-c", "%T"]).arg(place.path("")).output().unwrap();
    if told.stdout.starts_with(b"tmpfs") {
        skipped("disk", "on a file system in memory a sync takes no time");
        return;
    }
    let words = ["tune", "mine", "--configuration", "mine=sqlite:journal_mode=TRUNCATE"];
    let planted = ["--try", "sqlite:synchronous=OFF", "--kills", "2", "--states", "40"];
    let work = ["sensors:300", "--phases", "load", "--variant", "commit-each", "--for", "30m"];
    let ended = place.embermark(&[&words[..], &planted, &work, &["--out", "out"]].concat()).with(0);
    let found = found(&place, "mine");
    let off = tried(&found, "synchronous", "OFF");
    assert_eq!(off["outcome"], "broken", "{off}");
    assert!(off["lost"].as_str().unwrap().starts_with("power cut: "), "{off}");
    assert_eq!(found["winner"]["journal_mode"], "WAL", "{found}");
    assert!(found["winner"]["synchronous"].is_null(), "{found}");
    assert_eq!(found["kept"]["kept"], "shown", "{found}");
    assert!(found["kept"]["states"].as_u64() > Some(40), "short works, too: {found}");
    assert!(found["gain"]["interval"][0].as_f64() > Some(1.05), "{found}");
    // As a program has it, with what the tier sets.
    let pasted = found["in_a_program"][1].to_string();
    assert!(pasted.contains("PRAGMA synchronous = 2;"), "{pasted}");
    let places = ["PRAGMA synchronous", "PRAGMA journal_mode = WAL;"].map(|line| pasted.find(line));
    assert!(places[0].is_some() && places[0] < places[1], "{pasted}");
    if ended.stdout.contains("report.html") {
        let page = fs::read_to_string(place.path("out/report.html")).unwrap();
        assert!(page.contains("loses what the tier promises"));
    } else {
        skipped("page", "this build has none; make build");
    }
}

#[test]
fn what_keeps_a_weaker_tier_by_its_manual_is_shown_and_not_tried() {
    let place = Place::new();
    let words = ["tune", "redb", "lmdb", "sensors:100", "--phases", "load", "--states", "0"];
    let words = [&words[..], &["--kills", "1", "--for", "30m", "--out", "out"]].concat();
    let ended = place.embermark(&words).with(0);
    let weaker = tried(&found(&place, "lmdb"), "MDB_NOMETASYNC", "ON").clone();
    assert_eq!((&weaker["outcome"], &weaker["keeps"]), (&"weaker".into(), &"process".into()));
    assert!(ended.stdout.contains("not tried: keeps process at most, by its manual"));
    assert_eq!(found(&place, "redb")["tried"].as_array().unwrap().len(), 2);
}

#[test]
fn what_cannot_be_tuned_is_refused_with_what_can() {
    let place = Place::new();
    for (words, says) in [
        (&["hybrid"][..], "hybrid has nothing to tune beside its cache; engines that have: "),
        (&["sqlight"], "sqlight"),
        (&["sqlite", "--try", "sqlite:page_sise=512"], "did you mean 'page_size'"),
        (&["sqlite", "--try", "lmdb:MDB_WRITEMAP=ON"], "name lmdb among the engines"),
        (&["sqlite", "--try", "page_size=512"], "write ENGINE:SETTING=VALUE"),
        (&["sqlite", "--tier", "strong"], "strong"),
        (
            &["sqlite", "sensors:300", "--for", "1ms"],
            "the time is too short for sqlite: a first look at its",
        ),
    ] {
        let ended = place.embermark(&[&["tune"][..], words].concat()).with(2);
        assert!(ended.stderr.contains(says), "{words:?}: {}", ended.stderr);
    }
}
