//! Runs that stop at the time cap.

use std::time::Duration;

use crate::common::{Outcome, Staged, drive, options, store};
use embermark_engines::registry;
use embermark_skips::sampled;

const ROWS: u64 = 20_000;

/// The phases of `single` and `bulk` that go from row to row.
const LOOPS: [&str; 5] = ["load", "read", "last_readings", "update", "delete"];

fn capped_on(id: &str, staged: &Staged, variant: &str) -> Option<Vec<Outcome>> {
    let (_dir, mut options) = options();
    let store = store(registry::find(id).ok()?, &mut options)?;
    Some(drive(staged.open(variant, store), 2, Some(Duration::from_nanos(1))))
}

#[test]
fn a_run_that_stops_at_the_cap_in_a_loop_or_between_statements_is_right_for_what_it_did() {
    let staged = Staged::synthetic(ROWS);
    // With the phases of each variant that have to stop.
    let variants = [
        ("single", &LOOPS[..]),
        ("commit-each", &[]),
        ("bulk", &LOOPS),
        ("by-range", &["update", "delete"]),
        ("csv", &["load"]),
        ("asked", &["avg_sensor", "anomalies", "daily_summary", "outages"]),
    ];
    for (variant, stopped) in variants {
        let outcomes = capped_on("memory", &staged, variant).unwrap();
        for Outcome { name, ops, measured, wrong, .. } in &outcomes {
            assert_eq!(*wrong, None, "{variant}: {name}");
            for measured in measured {
                assert!((1..=*ops).contains(&measured.ops), "{variant}: {name}");
                assert_eq!(measured.capped, measured.ops < *ops, "{variant}: {name}");
            }
            let (stops, has_to) = (measured[0].capped, stopped.contains(name));
            if ["single", "bulk"].contains(&variant) {
                // The other phases are questions, each of which runs to its end.
                assert_eq!(stops, has_to, "{variant}: {name}");
            } else {
                assert!(stops || !has_to, "{variant}: {name}");
            }
        }
        let load = &outcomes[0].measured;
        if ["single", "bulk"].contains(&variant) {
            let loaded = load[0].ops;
            assert!(loaded <= 4_096, "{loaded} of {ROWS} rows were loaded before the cap was seen");
        }
        if variant == "bulk" {
            // Its other phases, which are right, still meet every row.
            assert!(load.iter().all(|measured| measured.ops < ROWS));
            assert!(outcomes.iter().any(|outcome| outcome.name == "full_profile"));
        }
    }
}

#[test]
fn a_run_that_stops_at_the_cap_is_right_on_every_family_also_where_one_statement_answers_all() {
    let staged = Staged::synthetic(if embermark_skips::is_long() { ROWS } else { ROWS / 4 });
    for id in sampled(["sqlite", "duckdb", "mongodb", "influxdb"], 2) {
        for outcome in capped_on(id, &staged, "commit-each").into_iter().flatten() {
            assert_eq!(outcome.wrong, None, "{id}: {}", outcome.name);
        }
    }
}
