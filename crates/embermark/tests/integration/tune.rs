//! `embermark tune` as a user meets it.

use std::fs;

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

#[test]
fn what_cannot_be_tuned_is_refused_with_what_can() {
    let place = Place::new();
    for (words, says) in [
        (&["redb"][..], "redb has nothing to tune beside its cache; engines that have: "),
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
