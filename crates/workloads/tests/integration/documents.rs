//! Columns of JSON documents as text, in an engine's binary form, and as separate columns: every
//! answer is correct in every form, and an engine that lacks a form reports it. Also months, which
//! have different lengths.

use std::path::PathBuf;

use crate::common::{connecting, options, some_candidates, store};
use embermark_language::parse;
use embermark_meter::Meter;
use embermark_model::Scale;
use embermark_model::plan::DataSource;
use embermark_workloads::defined::Defined;
use embermark_workloads::{Bench, Spec, Workload};

const FILE: &str = r#"
[table.events]
rows = 1500
key = ["id"]
index = [["bucket", "ts"]]
[table.events.columns]
id = { type = "u32", make = "sequence", from = 1 }
ts = { type = "timestamp", unit = "ms", make = "sequence", from = "2023-11-20", step = "100m" }
bucket = { type = "text", make = "choice", values = ["air", "log", "spot"] }
n = { type = "i16?", make = "random", from = -9, to = 9, absent = 0.2 }
[table.events.columns.data]
type = "json"
[table.events.columns.data.fields]
value = { type = "f64?", make = "random", from = -50, to = 50, absent = 0.3 }
user = { type = "text?", make = "words", distinct = 40, absent = 0.1 }
span = { type = "i64", make = "random" }
level = { type = "u8?", make = "random", to = 4, absent = 0.5 }
fine = { type = "bool", make = "random" }
seen = { type = "timestamp?", unit = "s", make = "sequence", step = "1h", absent = 0.2 }
[table.events.columns.place]
type = "json"
fields = { east = { type = "f64?", make = "walk", lowest = -180, highest = 180, absent = 0.4 } }
[phase.insert]
do = "insert"
[phase.buffered]
do = "insert"
commit = 400
[phase.load]
do = "insert"
commit = "bulk"
[phase.get]
do = "get"
ops = 100
absent = 0.1
[phase.range]
do = "range"
rows = 20
ops = 20
[phase.whole]
do = "find"
where = [["data.value", ">", 0], ["data.user", "!=", "x"], ["bucket", "=", "air"]]
[phase.some]
do = "find"
where = [["place.east", "<=", 20.5], ["data.level", ">=", 1], ["data.fine", "=", true]]
select = ["data.value", "place.east", "data.span"]
[phase.by-month]
do = "group"
where = [["bucket", "=", "air"]]
by = ["month(ts)"]
compute = ["avg(data.value)", "count"]
order = ["month(ts)"]
[phase.by-month-seen]
do = "group"
by = ["month(data.seen)", "bucket"]
compute = ["count", "max(data.seen)"]
[phase.by-user]
do = "group"
where = [["ts", ">", "end - 30d"], ["data.level", "!=", 3]]
by = ["data.user"]
compute = ["count", "sum(data.level)", "min(data.value)", "max(data.span)", "count(data.user)"]
order = ["count"]
[phase.by-field-and-day]
do = "group"
by = ["data.level", "day(data.seen)"]
compute = ["count"]
[phase.all]
do = "group"
compute = ["count(data.value)", "avg(place.east)", "count(data.fine)"]
[phase.newest]
do = "latest"
by = "data.level"
time = "ts"
[phase.newest-each]
do = "latest"
by = "data.level"
time = "ts"
each = "data.level"
ops = 2
[phase.far]
do = "outliers"
of = "data.value"
by = "data.level"
deviations = 1.5
[phase.together]
do = "correlate"
of = "data.value"
by = "bucket"
time = "ts"
bucket = "1d"
[phase.gaps]
do = "gaps"
by = "data.user"
time = "ts"
longer-than = "2d"
[phase.put]
do = "upsert"
set = ["data.value", "data.user", "n"]
ops = 200
absent = 0.2
commit = "each"
[phase.set]
do = "update"
set = ["n"]
ops = 100
[phase.forget]
do = "delete"
where = [["data.level", "=", 2]]
[variant.text]
about = "as text"
[variant.binary]
about = "in the engine's binary form"
table.events.json = "binary"
[variant.columns]
about = "as columns"
table.events.json = "columns"
"#;

/// Runs every phase of a variant on some engines. Returns those that have the variant, and why the
/// others do not.
fn engines_with(workload: &dyn Workload, variant: &str) -> (Vec<&'static str>, Vec<String>) {
    let staged = tempfile::tempdir().unwrap();
    let file = staged.path().join("rows");
    workload.source(&DataSource::Synthetic, 42).unwrap().stage(Scale::Full, &file).unwrap();
    let (mut with, mut without, mut wrong) = (Vec::new(), Vec::new(), Vec::new());
    for engine in some_candidates() {
        let (_dir, mut options) = options();
        let Some(store) = store(engine, &mut options) else { continue };
        let id = engine.info().id;
        let cell = workload.prepare(&Spec::of(file.clone(), variant, 7)).unwrap();
        let bench = match cell.open(store, connecting()) {
            Ok(bench) => bench,
            Err(error) => {
                assert!(error.is_unsupported(), "{id} {variant}: {error}");
                without.push(format!("{id}: {error}"));
                continue;
            }
        };
        for (phase, why) in outcomes(bench) {
            wrong.push(format!("{id} {variant} {phase}: {why}"));
        }
        with.push(id);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    (with, without)
}

/// Returns what is wrong with the phases that the engine does not refuse, each run twice.
fn outcomes(mut bench: Box<dyn Bench>) -> Vec<(&'static str, String)> {
    let mut wrong = Vec::new();
    for (place, phase) in bench.phases().to_vec().into_iter().enumerate() {
        for _ in 0..2 {
            let mut meter = Meter::new(None);
            bench.ready(place).unwrap_or_else(|e| panic!("{}: {e}", phase.name));
            match bench.run(place, &mut meter) {
                Err(error) if error.is_unsupported() => eprintln!("{}: {error}", phase.name),
                Err(error) => wrong.push((phase.name, error.to_string())),
                Ok(answer) => {
                    let checked = bench.check(place, &answer, meter.measured());
                    wrong.extend(checked.err().map(|error| (phase.name, error.to_string())));
                }
            }
        }
    }
    bench.finish().unwrap();
    wrong
}

/// In `make test`, a third of the rows covers the same months.
fn workload() -> &'static dyn Workload {
    let fewer = [("rows = 1500", "rows = 500"), ("\"100m\"", "\"300m\""), ("\"1h\"", "\"3h\"")];
    let mut text = FILE.to_owned();
    for (all, third) in fewer.iter().filter(|_| !embermark_skips::is_long()) {
        text = text.replace(all, third);
    }
    let definition = parse("events.toml", &text, &[]).unwrap_or_else(|e| panic!("{e}"));
    Defined::leak(definition, PathBuf::new(), 0.0)
}

#[test]
fn documents_as_text_are_right() {
    let (_, without) = engines_with(workload(), "text");
    assert!(without.iter().all(|why| why.contains("JSON")), "{without:?}");
}

#[test]
fn documents_in_binary_form_are_right_or_refused() {
    let (with, without) = engines_with(workload(), "binary");
    assert!(without.iter().all(|why| why.contains("JSON")), "{without:?}");
    for id in with {
        assert!(!["lmdb", "duckdb", "mariadb"].contains(&id), "{id} has no such form");
    }
}

#[test]
fn fields_as_columns_are_right() {
    assert_eq!(engines_with(workload(), "columns").1, [""; 0]);
}

#[test]
fn texts_that_json_writes_otherwise_come_back() {
    let text = r#"
[table.t]
rows = 60
key = ["id"]
[table.t.columns]
id = { type = "u32", make = "sequence" }
data = { type = "json", fields = { note = { type = "text?", make = "choice", values = ["a\"b", "c\\d", "é\n", "'"], absent = 0.2 } } }
[phase.load]
do = "insert"
[phase.notes]
do = "group"
by = ["data.note"]
[phase.note]
do = "find"
where = [["data.note", "=", "a\"b"]]
"#;
    let definition = parse("t.toml", text, &[]).unwrap_or_else(|e| panic!("{e}"));
    let (_, without) = engines_with(Defined::leak(definition, PathBuf::new(), 0.0), "as-written");
    assert!(without.iter().all(|why| why.contains("JSON")), "{without:?}");
}
