//! The workload `events`: every phase of every variant, on every engine of this build.

use std::time::Duration;

use crate::common::{events_seed, options, spread, store};
use embermark_engines::{Engine, EngineError, Reopener, registry};
use embermark_meter::{Measured, Meter};
use embermark_model::Scale;
use embermark_model::plan::DataSource;
use embermark_workloads::{Bench, Spec, find};
use tempfile::TempDir;

const ROWS: u64 = 2_000;

/// The limit of a run's time.
const CAP: Duration = Duration::from_millis(200);

/// A phase that needs a process beside it, which this program does not start: `embermark verify`
/// runs it.
const NEEDS_COMPANION: &str = "insert_http";

/// Runs of phases: each is a measurement, or why it was not correct.
type Runs = Vec<(&'static str, Result<Measured, String>)>;

/// Stages rows in a folder.
fn staged(rows: u64) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let source = find("events").unwrap().source(&DataSource::Synthetic, events_seed(ROWS)).unwrap();
    source.stage(Scale::Rows(rows), &dir.path().join("rows")).unwrap();
    dir
}

/// Returns two runs of each phase of a variant: each is a measurement, or why it was not correct.
/// Returns none if the engine is missing.
fn runs(
    engine: &'static dyn Engine,
    rows: &TempDir,
    variant: &str,
    cap: Option<Duration>,
) -> Option<Result<Runs, EngineError>> {
    let (_dir, mut options) = options();
    let store = store(engine, &mut options)?;
    let spec = Spec::of(rows.path().join("rows"), variant, 7);
    let cell = find("events").unwrap().prepare(&spec).unwrap();
    Some(cell.open(store, Reopener::for_engine(engine, options)).map(|bench| of_bench(bench, cap)))
}

fn of_bench(mut bench: Box<dyn Bench>, cap: Option<Duration>) -> Runs {
    let mut all = Vec::new();
    for (place, phase) in bench.phases().to_vec().into_iter().enumerate() {
        let name = phase.name;
        for _ in 0..2 {
            let mut meter = Meter::new(cap);
            bench.ready(place).unwrap_or_else(|e| panic!("{name}: {e}"));
            let right = match bench.run(place, &mut meter) {
                Err(error) if error.is_unsupported() => {
                    let lacks = name.starts_with("open") || name == NEEDS_COMPANION;
                    // The engine may lack a form of documents.
                    let known = lacks || error.to_string().contains("JSON");
                    if known { break } else { Err(error.to_string()) }
                }
                Err(error) => Err(error.to_string()),
                Ok(answer) => {
                    let checked = bench.check(place, &answer, meter.measured());
                    checked.map(|_| meter.measured()).map_err(|error| error.to_string())
                }
            };
            all.push((name, right));
        }
    }
    bench.finish().unwrap();
    all
}

#[test]
fn every_engine_answers_every_phase_of_every_variant_rightly_or_says_why_not() {
    let (rows, mut wrong) = (staged(ROWS), Vec::new());
    for (engine, variant) in spread(find("events").unwrap().info().variants) {
        let what = format!("{} {}", engine.info().id, variant.name);
        match runs(engine, &rows, variant.name, Some(CAP)) {
            Some(Ok(runs)) => wrong.extend(runs.into_iter().filter_map(|(phase, run)| {
                let why = match run {
                    Err(why) => why,
                    Ok(run) if run.ops == 0 => "nothing was done".to_owned(),
                    Ok(_) => return None,
                };
                Some(format!("{what} {phase}: {why}"))
            })),
            // The documents are JSON, which an engine may lack.
            Some(Err(error)) if error.is_unsupported() && error.to_string().contains("JSON") => {}
            Some(Err(error)) => wrong.push(format!("{what}: {error}")),
            None => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn one_row_is_answered_too() {
    let rows = staged(1);
    for id in ["memory", "sqlite", "duckdb"] {
        let Some(runs) = runs(registry::find(id).unwrap(), &rows, "none", Some(CAP)) else {
            continue;
        };
        for (phase, run) in runs.unwrap() {
            assert!(run.is_ok(), "{id} {phase}: {run:?}");
        }
    }
}

#[test]
fn a_closed_loop_runs_for_its_window_and_is_not_capped() {
    let runs = runs(registry::find("memory").unwrap(), &staged(ROWS), "none", None);
    for (phase, run) in runs.unwrap().unwrap() {
        if let "gps" | "co2" | "logs" = phase {
            let run = run.unwrap();
            assert!(run.ops > 1 && !run.capped, "{phase}: {run:?}");
            assert!(run.elapsed_ns >= 50_000_000, "{phase}: {run:?}");
        }
    }
}

#[test]
fn documents_in_another_form_count_for_no_criterion_as_not_every_engine_has_them() {
    let rows = staged(ROWS);
    for (variant, counts) in
        [("none", true), ("timestamp", true), ("jsonb", false), ("typed", false)]
    {
        let (_dir, mut options) = options();
        let engine = registry::find("sqlite").unwrap();
        let Some(store) = store(engine, &mut options) else { return };
        let spec = Spec::of(rows.path().join("rows"), variant, 7);
        let cell = find("events").unwrap().prepare(&spec).unwrap();
        let bench = cell.open(store, Reopener::for_engine(engine, options.clone())).unwrap();
        let insert = bench.phases().iter().find(|phase| phase.name == "insert").unwrap();
        assert_eq!(insert.kind.counts.is_some(), counts, "{variant}");
    }
}
