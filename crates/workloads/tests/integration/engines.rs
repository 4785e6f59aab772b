//! Every phase of every variant on every engine of this build, at several scales.

use std::time::Duration;

use crate::common::{Staged, drive_phases, options, real_rows, some_candidates, store};
use embermark_engines::Engine;
use embermark_model::Scale;
use embermark_model::plan::DataSource;
use embermark_workloads::find;

/// The limit of a run's time on many rows: a column store reads them one by one for seconds.
const CAP: Duration = Duration::from_millis(300);

/// Asserts that every answer is correct, whatever the variant.
fn every_answer_is_right(engine: &dyn Engine, staged: &Staged, cap: Option<Duration>, label: &str) {
    let info = find("sensors").unwrap().info();
    for variant in info.variants {
        let (_dir, mut options) = options();
        let Some(store) = store(engine, &mut options) else { return };
        let bench = staged.open(variant.name, store);
        let outcomes = if ["single", "commit-each", "bulk"].contains(&variant.name) {
            // Phases that only sequences use are not run separately.
            let is_run = |name: &str| info.phases.iter().any(|phase| phase.name == name);
            let outcomes = drive_phases(bench, 2, cap, is_run);
            assert_eq!(outcomes.len(), 13);
            outcomes
        } else {
            let outcomes = drive_phases(bench, 2, cap, |name| variant.changes.contains(&name));
            assert_eq!(outcomes.len(), variant.changes.len());
            outcomes
        };
        for outcome in outcomes {
            let what =
                format!("{} {} of {label}: {}", engine.info().id, variant.name, outcome.name);
            assert_eq!(outcome.wrong, None, "{what}");
            for measured in outcome.measured {
                if measured.ops < outcome.ops {
                    let elapsed = Duration::from_nanos(measured.elapsed_ns);
                    assert!(measured.capped && cap.is_some_and(|cap| elapsed >= cap), "{what}");
                } else {
                    assert_eq!((measured.ops, measured.capped), (outcome.ops, false), "{what}");
                }
            }
        }
    }
}

#[test]
fn every_engine_answers_every_phase_rightly_on_few_rows() {
    for rows in [1, 2, 10, 1_000] {
        let staged = Staged::synthetic(rows);
        for engine in some_candidates() {
            every_answer_is_right(engine, &staged, None, &format!("{rows} rows"));
        }
    }
}

#[test]
fn every_engine_answers_every_phase_rightly_on_many_rows() {
    let staged = Staged::synthetic(10_000);
    for engine in some_candidates() {
        every_answer_is_right(engine, &staged, Some(CAP), "10,000 rows");
    }
}

#[test]
fn every_engine_answers_every_phase_rightly_on_real_rows() {
    let Some(path) = real_rows() else { return };
    let data = DataSource::File(path);
    for scale in [Scale::Full, Scale::Rows(1_000)] {
        let staged = Staged::new(&data, scale);
        for engine in some_candidates() {
            every_answer_is_right(engine, &staged, Some(CAP), &format!("{scale} real rows"));
        }
    }
}
