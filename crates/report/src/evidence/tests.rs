use embermark_model::Durability::{None as Nothing, Power, Process};
use serde_json::json;

use super::*;
use crate::summary::tests::{cell, file, phase, run as timed, trial};

/// Makes a run with a kill and a power cut of one engine in one tier.
fn run(version: &str, tier: &str, kills: u32, states: &[(&str, u32)]) -> Outcome {
    let tested = |experiment: &str, verdicts: serde_json::Value, tried: u32| {
        json!({
            "engine": "one", "version": version, "durability": tier, "experiment": experiment,
            "tried": tried, "verdicts": verdicts,
        })
    };
    let mut all = vec![tested("kill", json!({"holds": kills}), kills)];
    let verdicts = states.iter().map(|(id, count)| ((*id).to_owned(), json!(count))).collect();
    let tried = states.iter().map(|(_, count)| count).sum();
    all.push(tested("power-cut", serde_json::Value::Object(verdicts), tried));
    all.retain(|tested| tested["tried"] != 0);
    serde_json::from_value(json!({
        "schema": "embermark-durability-1", "begun": "2026-11-22T09:44:28Z", "embermark": "0.1.0",
        "kernel": "Linux 6", "engines": ["one"], "durabilities": [tier], "states": 9, "kills": 9,
        "file_system": "ext4", "seed": 1, "tested": all,
    }))
    .unwrap()
}

fn words(record: &Record, version: &str, tier: Durability) -> String {
    record.standing("one", version, tier, tier).map_or_else(String::new, |all| all.words())
}

#[test]
fn what_a_tier_promises_to_survive_counts_and_nothing_else() {
    let weaker = Record::from_run(run("1", "process", 20, &[("holds", 3), ("lost-commits", 30)]));
    assert_eq!(
        words(&weaker, "1", Process),
        "shown: no violation in 20 kills (2026-11-22)",
        "a power cut breaks no promise of it"
    );
    assert_eq!(words(&weaker, "1", Power), "by its manual: never tried");
    assert_eq!(weaker.standing("one", "1", Nothing, Nothing), None, "it promises nothing");
    assert_eq!(weaker.standing("one", "1", Power, Process), None, "the setting keeps less");
    let power = Record::from_run(run("1", "power", 100, &[("holds", 368), ("half-made", 7)]));
    assert_eq!(
        words(&power, "1", Power),
        "shown: no violation in 100 kills and 375 states (ext4, 2026-11-22)"
    );
    // The same setting, requested under the name of a weaker tier.
    let standing = power.standing("one", "1", Process, Power).unwrap();
    assert_eq!(standing.words(), "shown: no violation in 100 kills (2026-11-22)");
    assert_eq!(words(&power, "1", Process), "by its manual: never tried", "another setting");
}

#[test]
fn a_broken_promise_is_told_with_what_was_found() {
    let mut broken = run("1", "power", 100, &[("holds", 369), ("hole", 2), ("corrupt-row", 4)]);
    broken.tested[1].torn_blocks = 5;
    let record = Record::from_run(broken.clone());
    let says = "broken: 6 of 375 states: 2 × a hole, 4 × corrupt rows, 5 of them by a torn block; no \
                violation in 100 kills (ext4, 2026-11-22)";
    assert_eq!(words(&record, "1", Power), says);
    assert!(record.standing("one", "1", Power, Power).unwrap().is_broken());
    // A further run without findings does not change it.
    let held = run("1", "power", 0, &[("holds", 25)]);
    let record = Record { own: vec![held, broken], shipped: Vec::new() };
    assert!(words(&record, "1", Power).starts_with("broken: 6 of 400 states"));
}

#[test]
fn nothing_is_shown_of_another_version_nor_of_half_a_promise() {
    let record = Record::from_run(run("1", "power", 100, &[("holds", 375)]));
    assert_eq!(words(&record, "2", Power), "by its manual: tried with another version, 1");
    let killed = Record::from_run(run("1", "power", 3, &[]));
    let says = "by its manual: no violation in 3 kills, and its power was not cut";
    assert_eq!(words(&killed, "1", Power), says);
    let cut = Record::from_run(run("1", "power", 0, &[("holds", 1)]));
    let says = "by its manual: no violation in 1 state after a power cut, and it was not killed";
    assert_eq!(words(&cut, "1", Power), says);
}

#[test]
fn who_packaged_a_version_makes_no_other_of_it() {
    for (tried, at_hand, same) in [
        ("15.18", "15.18 (Debian 15.18-0+deb12u1)", true),
        ("10.11.19-MariaDB-0+deb12u1", "10.11.19", true),
        ("1.6.7", "1.6.7~rc0", false),
        ("4.4.0", "4.4.0-beta1", false),
        ("1.5", "1.5.6", false),
        ("", "1", false),
    ] {
        let record = Record::from_run(run(tried, "process", 3, &[]));
        let words = words(&record, at_hand, Process);
        assert_eq!(words.starts_with("shown: "), same, "{tried}, {at_hand}: {words}");
    }
}

#[test]
fn the_readers_own_runs_win_over_the_record_where_they_show_something() {
    let shipped = || vec![run("1", "power", 100, &[("holds", 374), ("hole", 1)])];
    let with = |own| Record { own: vec![own], shipped: shipped() };
    let own = with(run("1", "power", 5, &[("holds", 7)]));
    assert!(words(&own, "1", Power).starts_with("shown: no violation in 5 kills and 7 states"));
    for own in [run("2", "power", 5, &[("holds", 7)]), run("1", "power", 5, &[])] {
        assert!(words(&with(own), "1", Power).starts_with("broken: 1 of 375 states"));
    }
}

#[test]
fn the_record_of_this_build_is_read_and_names_what_it_shows() {
    let record = Record::with(Vec::new());
    assert!(!record.engines().is_empty());
}

#[test]
fn who_broke_the_promise_of_a_tier_is_not_ranked_in_it_and_the_best_of_the_others_is_the_best() {
    let of = |engine: &str, ns: u64| {
        let phases = vec![phase("load", vec![timed(ns, 10)])];
        let mut cell = cell(engine, "single", vec![trial(phases)]);
        cell.id.durability = Power;
        cell.trials[0].version = Some("1".to_owned());
        cell
    };
    let file = file(vec![of("one", 100), of("a", 200), of("b", 400)]);
    let held = Record::from_run(run("1", "power", 100, &[("holds", 4)]));
    let broke = Record::from_run(run("1", "power", 100, &[("holds", 3), ("hole", 1)]));
    for (record, expected) in [
        (held, [(Some(1.0), true), (Some(2.0), false), (Some(4.0), false)]),
        (broke, [(None, false), (Some(1.0), true), (Some(2.0), false)]),
    ] {
        let (comparison, _) = compare(&file, &[], &record);
        let group = &comparison.groups[0];
        let found = ["one", "a", "b"].map(|id| {
            let at = group.engines.iter().position(|engine| engine.id == id).unwrap();
            let measured = group.rows[0].entries[at].measured().unwrap();
            (measured.ratio, measured.best)
        });
        assert_eq!(found, expected);
    }
}

#[test]
fn the_largest_numbers_of_violations_are_violations() {
    let tries = Tries { violations: u32::MAX, ..Tries::default() };
    let (file_systems, date, version) = (Vec::new(), String::new(), String::new());
    let shown = Shown { kills: tries.clone(), states: tries, file_systems, date, version };
    assert!(Standing::Shown(shown).is_broken());
}
