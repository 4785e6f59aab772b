//! Every phase of every variant on every engine of this build, at several scales.

use std::time::Duration;

use crate::common::{Staged, drive_phases, options, real_rows, spread, store};
use embermark_model::Scale;
use embermark_model::plan::DataSource;
use embermark_workloads::find;

/// The limit of a run's time on many rows: a column store reads them one by one for seconds.
const CAP: Duration = Duration::from_millis(300);

/// Asserts that every answer is correct in every variant, on each of these rows with their label.
fn every_answer_is_right(staged: &[(Staged, String)], cap: Option<Duration>) {
    let info = find("sensors").unwrap().info();
    let cells = staged.iter().flat_map(|rows| info.variants.iter().map(move |of| (rows, of)));
    for (engine, ((staged, label), variant)) in spread(cells) {
        let (_dir, mut options) = options();
        let Some(store) = store(engine, &mut options) else { continue };
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
    let few = [1, 2, 10, 1_000].map(|rows| (Staged::synthetic(rows), format!("{rows} rows")));
    every_answer_is_right(&few, None);
}

#[test]
fn every_engine_answers_every_phase_rightly_on_many_rows() {
    let many = (Staged::synthetic(10_000), "10,000 rows".to_owned());
    every_answer_is_right(&[many], Some(CAP));
}

#[test]
fn every_engine_answers_every_phase_rightly_on_real_rows() {
    let Some(path) = real_rows() else { return };
    let data = DataSource::File(path);
    let real = [Scale::Full, Scale::Rows(1_000)];
    let real = real.map(|scale| (Staged::new(&data, scale), format!("{scale} real rows")));
    every_answer_is_right(&real, Some(CAP));
}
