//! Sequences: an insert into a new table and questions, timed as one, with every answer checked.

use std::time::Duration;

use crate::common::{connecting, drive_phases, options, some_candidates, store};
use embermark_language::parse;
use embermark_model::Scale;
use embermark_model::plan::DataSource;
use embermark_workloads::Spec;
use embermark_workloads::defined::Defined;

const FILE: &str = r#"
[table.log]
rows = 20_000
key = ["id"]
[table.log.columns]
id = { type = "text", make = "hashed" }
n = { type = "u32", make = "random", to = 99 }
[phase.insert]
do = "insert"
[phase.load]
do = "insert"
commit = "bulk"
[phase.count]
do = "group"
compute = ["count(id)", "sum(n)"]
[phase.few]
do = "find"
where = [["n", "<", 10]]
[phase.one-by-one]
sequence = ["insert", "count", "few"]
[phase.at-once]
sequence = ["load", "count", "few"]
[phase.asked]
sequence = ["few", "count"]
"#;

/// Runs a sequence on some engines, with a limit of a run's time, and passes on the results.
fn runs(phases: &[&str], cap: Option<Duration>, look: impl Fn(&str, u64, bool)) {
    let folder = tempfile::tempdir().unwrap();
    let rows = folder.path().join("rows");
    let definition = parse("log.toml", FILE, &[]).unwrap_or_else(|e| panic!("{e}"));
    let workload = Defined::leak(definition, folder.path().to_owned(), 0.0);
    let source = workload.source(&DataSource::Synthetic, 42).unwrap();
    source.stage(Scale::Full, &rows).unwrap();
    for engine in some_candidates() {
        let (_dir, mut options) = options();
        let Some(store) = store(engine, &mut options) else { continue };
        let cell = workload.prepare(&Spec::of(rows.clone(), "as-written", 7)).unwrap();
        let bench = cell.open(store, connecting()).unwrap();
        for outcome in drive_phases(bench, 2, cap, |name| phases.contains(&name)) {
            let id = engine.info().id;
            assert_eq!(outcome.wrong, None, "{id} {}", outcome.name);
            outcome.measured.iter().for_each(|run| look(outcome.name, run.ops, run.capped));
        }
    }
}

#[test]
fn rows_are_inserted_and_then_asked_for() {
    runs(&["at-once", "asked"], None, |name, ops, capped| {
        assert!(!capped && (ops == 20_000) == (name == "at-once"), "{name}: {ops}");
    });
}

#[test]
fn questions_after_an_insert_that_its_limit_ended_are_of_the_rows_that_are_there() {
    let cap = Some(Duration::from_nanos(1));
    runs(&["one-by-one", "at-once"], cap, |name, ops, capped| {
        assert!(capped && ops < 20_000, "{name}: {ops}");
    });
}
