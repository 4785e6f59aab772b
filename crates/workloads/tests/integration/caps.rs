//! Runs that stop at the time cap.

use std::time::Duration;

use crate::common::{Outcome, Staged, drive, options, store};
use embermark_engines::registry;
use embermark_skips::sampled;

const ROWS: u64 = 20_000;

fn capped_on_memory(variant: &str) -> Vec<Outcome> {
    let (_dir, mut options) = options();
    let store = store(registry::find("memory").unwrap(), &mut options).unwrap();
    drive(Staged::synthetic(ROWS).open(variant, store), 2, Some(Duration::from_nanos(1)))
}

#[test]
fn a_run_that_stops_at_the_cap_is_right_for_what_it_did() {
    for variant in sampled(["single", "commit-each", "bulk", "by-range", "csv", "asked"], 3) {
        for outcome in capped_on_memory(variant) {
            assert_eq!(outcome.wrong, None, "{variant}: {}", outcome.name);
            for measured in outcome.measured {
                let name = outcome.name;
                assert!((1..=outcome.ops).contains(&measured.ops), "{variant}: {name}");
                assert_eq!(measured.capped, measured.ops < outcome.ops, "{variant}: {name}");
            }
        }
    }
}

#[test]
fn a_run_that_stops_at_the_cap_is_right_on_every_family_also_where_one_statement_answers_all() {
    for id in sampled(["sqlite", "duckdb", "mongodb", "influxdb"], 2) {
        let Ok(engine) = registry::find(id) else { continue };
        let (_dir, mut options) = options();
        let Some(store) = store(engine, &mut options) else { continue };
        let cap = Some(Duration::from_nanos(1));
        for outcome in drive(Staged::synthetic(ROWS).open("commit-each", store), 2, cap) {
            assert_eq!(outcome.wrong, None, "{id}: {}", outcome.name);
        }
    }
}

#[test]
fn the_loops_over_rows_stop_at_the_cap_and_a_question_runs_to_its_end() {
    for variant in ["single", "bulk"] {
        for outcome in capped_on_memory(variant) {
            let looping = ["load", "read", "last_readings", "update", "delete"];
            let whole = !looping.contains(&outcome.name);
            assert_eq!(outcome.measured[0].capped, !whole, "{variant}: {}", outcome.name);
        }
        let loaded = capped_on_memory(variant)[0].measured[0].ops;
        assert!(loaded <= 4_096, "{loaded} of {ROWS} rows were loaded before the cap was seen");
    }
}

#[test]
fn statements_over_ranges_and_questions_of_one_sensor_each_stop_at_the_cap() {
    for (variant, phases) in [
        ("by-range", &["update", "delete"][..]),
        ("csv", &["load"]),
        ("asked", &["avg_sensor", "anomalies", "daily_summary", "outages"]),
    ] {
        let outcomes = capped_on_memory(variant);
        for outcome in outcomes.iter().filter(|outcome| phases.contains(&outcome.name)) {
            assert!(outcome.measured[0].capped, "{variant}: {}", outcome.name);
        }
    }
}

#[test]
fn after_a_capped_load_the_other_phases_still_meet_every_row() {
    let outcomes = capped_on_memory("bulk");
    assert!(outcomes[0].measured.iter().all(|m| m.ops < ROWS));
    let profile = outcomes.iter().find(|o| o.name == "full_profile").unwrap();
    assert_eq!(profile.wrong, None);
}
