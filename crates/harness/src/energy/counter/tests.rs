use std::fs;

use super::*;

#[test]
fn a_counter_that_began_anew_counts_on() {
    let zone = Zone { path: "/nowhere".into(), range: 999 };
    assert_eq!(zone.since(100, 700), 600);
    // 999 is its largest value, and 0 comes after it.
    assert_eq!(zone.since(990, 9), 19);
    assert_eq!(zone.since(999, 0), 1);
}

#[test]
fn a_zone_that_vanishes_counts_nothing_and_the_others_what_they_did() {
    let folder = tempfile::tempdir().unwrap();
    let zone = |name: &str, value: &str| {
        let path = folder.path().join(name);
        fs::write(&path, value).unwrap();
        Zone { path, range: 1_000_000 }
    };
    let zones = vec![zone("a", "5\n"), zone("b", "999999\n")];
    let counters = [Counter { source: "package".to_owned(), zones: zones.clone() }];
    let readings = Readings::begin(&counters);
    fs::remove_file(&zones[0].path).unwrap();
    fs::write(&zones[1].path, "4\n").unwrap();
    let window = readings.end().unwrap();
    assert!(window.between.0 <= window.between.1);
    assert_eq!(window.counted[0].microjoules, [None, Some(6)]);
}
