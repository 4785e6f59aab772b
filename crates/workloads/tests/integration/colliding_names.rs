//! Names of tables, columns and indexes that an engine could confuse with one another.

use crate::common::{connecting, drive_phases, options, store};
use embermark_engines::{Engine, registry};
use embermark_language::parse;
use embermark_model::Scale;
use embermark_model::plan::DataSource;
use embermark_skips::sampled;
use embermark_workloads::Spec;
use embermark_workloads::defined::Defined;

/// The names differ only by underscores or by the last of 63 letters, or are those of something
/// made for a table by the hybrid, for an index, or within a statement. With two indexes each, they
/// are no more than the hybrid accepts.
const TABLES: [&str; 11] = [
    "a_b",
    "ab",
    "a",
    "_",
    "a_hot",
    "a_by_key",
    "index_0_0",
    "index_0_0_",
    "each_of",
    "LONG1",
    "LONG2",
];

fn text() -> String {
    let tables = TABLES.map(|name| {
        let name = name.replace("LONG", &"l".repeat(62));
        format!(
            r#"
            [table.{name}]
            rows = 120
            key = ["c1", "t"]
            index = [["a_b"], ["a", "b"]]
            [table.{name}.columns]
            c1 = {{ type = "u16", make = "cycle", distinct = 4 }}
            t = {{ type = "timestamp", unit = "ms", make = "sequence", from = "2020-01-01", step = "1s" }}
            c0 = {{ type = "i32", make = "random", from = 0, to = 1000000 }}
            v = {{ type = "i32", make = "random", from = 0, to = 9 }}
            a_b = {{ type = "i32", make = "random", from = 0, to = 1000 }}
            ab = {{ type = "i32", make = "random", from = 0, to = 1000 }}
            a = {{ type = "i32", make = "random", from = 0, to = 1000 }}
            b = {{ type = "i32", make = "random", from = 0, to = 1000 }}
            hybrid_run = {{ type = "i32", make = "random", from = 0, to = 1000 }}
            [phase.get-{name}]
            do = "get"
            table = "{name}"
            ops = 20
            [phase.update-{name}]
            do = "update"
            table = "{name}"
            set = ["a_b", "ab"]
            ops = 20
            [phase.latest-{name}]
            do = "latest"
            table = "{name}"
            by = "c1"
            [phase.group-{name}]
            do = "group"
            table = "{name}"
            by = ["v", "c1"]
            compute = ["count", "max(c0)"]
            order = ["-max(c0)", "c1", "v"]
            limit = 7
            "#
        )
    });
    tables.concat()
}

#[test]
fn names_that_are_alike_stay_apart_in_every_engine() {
    let folder = tempfile::tempdir().unwrap();
    let definition = parse("test.toml", &text(), &[]).unwrap_or_else(|e| panic!("{e}"));
    let workload = Defined::leak(definition, folder.path().to_owned(), 0.0);
    let rows = folder.path().join("rows");
    let source = workload.source(&DataSource::Synthetic, 42).unwrap();
    source.stage(Scale::Rows(120), &rows).unwrap();
    let mut wrong = Vec::new();
    // Rows are changed as well.
    let of = |engine: &&&dyn Engine| engine.info().id != "null" && !engine.is_append_only();
    let engines = registry::ENGINES.iter().filter(of);
    for engine in sampled(engines, 1) {
        let id = engine.info().id;
        let (_dir, mut options) = options();
        let Some(store) = store(*engine, &mut options) else { continue };
        let spec = Spec { engine: id.to_owned(), ..Spec::of(rows.clone(), "as-written", 7) };
        let bench = workload.prepare(&spec).unwrap().open(store, connecting());
        let bench = bench.unwrap_or_else(|error| panic!("{id}: {error}"));
        for outcome in drive_phases(bench, 1, None, |_| true) {
            wrong.extend(outcome.wrong.map(|why| format!("{id}, {}: {why}", outcome.name)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
