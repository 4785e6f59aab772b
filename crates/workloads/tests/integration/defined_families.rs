//! Workload files on document and series stores, beside one SQL engine and one key-value store:
//! every answer is correct, and what an engine cannot express is refused with the reason.

use std::path::Path;

use crate::common::{connecting, options};
use embermark_engines::{Engine, Tier, registry};
use embermark_language::{BUILT_IN, parse};
use embermark_meter::Meter;
use embermark_model::plan::DataSource;
use embermark_model::result::Execution;
use embermark_model::{Durability, Scale};
use embermark_skips::{is_here, sampled};
use embermark_workloads::defined::Defined;
use embermark_workloads::{Spec, Workload};

/// The result of a phase.
#[derive(Debug, PartialEq)]
enum Outcome {
    Native,
    ClientSide,
    /// It was refused, for this reason.
    Refused(String),
    /// Its answer is wrong, or the engine failed.
    Wrong(String),
}

/// Whether a phase is run, by the names of all phases up to it.
type Wanted = fn(&[&str]) -> bool;

/// Returns the workload of a file whose data are in a folder.
fn workload(text: &str, folder: &Path) -> &'static dyn Workload {
    let definition = parse("test.toml", text, &[]).unwrap_or_else(|e| panic!("{e}"));
    Defined::leak(definition, folder.to_owned(), 0.01)
}

/// Runs some phases of a file twice on an engine. Returns `None` if the engine is missing.
fn outcomes(
    engine: &dyn Engine,
    workload: &dyn Workload,
    rows: &Path,
    wanted: Wanted,
) -> Option<Vec<(&'static str, Outcome)>> {
    let (_dir, mut options) = options();
    if !is_here(engine) {
        return None;
    }
    // Mixes have several clients, which not every engine accepts in its weakest tier.
    (options.clients, options.durability) = (4, Durability::Process);
    if matches!(engine.tier(options.durability), Tier::Unsupported { .. }) {
        options.durability = Durability::Power;
    }
    let store = engine.open(&options).unwrap_or_else(|e| panic!("{e}")).store;
    let spec = Spec::of(rows.to_owned(), "as-written", 7);
    let mut bench = workload.prepare(&spec).unwrap().open(store, connecting()).unwrap();
    let phases = bench.phases().to_vec();
    let mut outcomes = Vec::new();
    let names: Vec<&str> = phases.iter().map(|phase| phase.name).collect();
    for (place, phase) in phases.iter().enumerate().filter(|(at, _)| wanted(&names[..=*at])) {
        let mut outcome = match phase.execution {
            Execution::ClientSide => Outcome::ClientSide,
            _ => Outcome::Native,
        };
        for _ in 0..2 {
            let mut meter = Meter::new(None);
            bench.ready(place).unwrap_or_else(|e| panic!("{}: {e}", phase.name));
            match bench.run(place, &mut meter) {
                Err(error) if error.is_unsupported() => {
                    outcome = Outcome::Refused(error.to_string());
                }
                Err(error) => outcome = Outcome::Wrong(error.to_string()),
                Ok(answer) => {
                    if let Err(error) = bench.check(place, &answer, meter.measured()) {
                        outcome = Outcome::Wrong(error.to_string());
                    }
                }
            }
        }
        outcomes.push((phase.name, outcome));
    }
    bench.finish().unwrap_or_else(|e| panic!("{e}"));
    Some(outcomes)
}

/// Engines of every family; the servers among them are those that this test is about.
const ENGINES: [&str; 6] = ["sqlite", "lmdb", "hybrid", "mongodb", "harperdb", "influxdb"];

/// Runs a file on one of them, as [`sampled`], or on all. Nothing is wrong anywhere, and SQL and
/// key-value stores refuse nothing; `look` gets the result of each phase on the others.
fn everywhere(text: &str, look: impl Fn(&str, &str, &Outcome)) {
    everywhere_at(text, Scale::Full, look);
}

/// Does the same with this many rows.
fn everywhere_at(text: &str, scale: Scale, look: impl Fn(&str, &str, &Outcome)) {
    let folder = tempfile::tempdir().unwrap();
    everywhere_in(text, folder.path(), scale, |_| true, look);
}

/// Does the same with the files of a folder, and with some phases.
fn everywhere_in(
    text: &str,
    folder: &Path,
    scale: Scale,
    wanted: Wanted,
    look: impl Fn(&str, &str, &Outcome),
) {
    let workload = workload(text, folder);
    let rows = folder.join("rows");
    let source = workload.source(&DataSource::Synthetic, 42).unwrap();
    source.stage(scale, &rows).unwrap();
    let mut wrong = Vec::new();
    for id in sampled(ENGINES, 1) {
        let Some(engine) = registry::ENGINES.iter().find(|engine| engine.info().id == id) else {
            continue;
        };
        let Some(outcomes) = outcomes(*engine, workload, &rows, wanted) else { continue };
        for (phase, outcome) in outcomes {
            let here = format!("{id}, {phase}: {outcome:?}");
            eprintln!("{here}");
            match outcome {
                // Its sums of whole numbers wrap around at 64 bits (docs/engines/influxdb.md).
                Outcome::Wrong(_) if (id, phase) == ("influxdb", "sum") => {}
                Outcome::Wrong(_) => wrong.push(here),
                // Other tests check a file's own SQL.
                Outcome::Refused(why) if why.contains("SQL") => {}
                Outcome::Refused(_) if ["sqlite", "lmdb"].contains(&id) => wrong.push(here),
                outcome => look(id, phase, &outcome),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Sensors of several stations, with a key that is the tags and the time of a series. How each
/// family executes each phase: [`on_readings`].
const READINGS: &str = r#"
name = "readings"
[table.readings]
rows = "1200"
key = ["station", "time"]
index = [["level"], ["title", "time"]]
[table.readings.columns]
station = { type = "u16", make = "cycle", distinct = 20 }
time = { type = "timestamp", unit = "ms", make = "sequence", from = "1969-12-31", step = "30m", repeat = 20 }
value = { type = "f64", make = "walk", from = 20, step = 0.5, lowest = -10, highest = 40 }
level = { type = "i32?", make = "random", from = -5, to = 5, absent = 0.2 }
title = { type = "text?", make = "choice", values = ["Linz", "linz", "Wörgl", "it's", "a\\b \"c\"", "z"], absent = 0.3 }
count = { type = "u32", make = "random", from = 0, to = 1000 }
[phase.insert]
do = "insert"
commit = "each"
[phase.load]
do = "insert"
commit = "bulk"
[phase.get]
do = "get"
ops = 300
absent = 0.2
[phase.latest]
do = "latest"
by = "station"
[phase.latest-level]
do = "latest"
by = "level"
[phase.latest-name]
do = "latest"
by = "title"
[phase.last]
do = "range"
of = "station"
last = "5h"
ops = 50
[phase.last-all]
do = "range"
last = "1h"
ops = 20
[phase.span]
do = "range"
of = "station"
span = "90m"
ops = 50
[phase.span-level]
do = "range"
of = "level"
span = "90m"
ops = 50
[phase.span-name]
do = "range"
of = "title"
span = "90m"
ops = 50
[phase.rows]
do = "range"
rows = [1, 50]
ops = 40
absent = 0.3
[phase.buckets]
do = "group"
by = ["station", "hour(time)"]
compute = ["count", "avg(value)", "max(level)", "sum(level)", "count(level)"]
[phase.ninety]
do = "group"
by = ["90m(time)", "station"]
compute = ["count", "avg(value)"]
[phase.having]
do = "group"
by = ["station"]
compute = ["count", "avg(value)", "sum(level)", "max(time)"]
having = [["count", ">=", 10], ["avg(value)", ">", 15.5], ["sum(level)", "!=", 0], ["max(time)", ">", "1969-12-31T12:00:00Z"]]
order = ["-avg(value)"]
limit = 5
[phase.having-none]
do = "group"
compute = ["count", "sum(count)"]
having = [["count", "<", 1200]]
[phase.each]
do = "get"
ops = 100
absent = 0.1
snapshot = "each"
[phase.rows-each]
do = "range"
rows = 7
ops = 20
snapshot = "each"
[phase.all]
do = "group"
compute = ["count", "count(level)", "sum(level)", "avg(level)", "min(value)", "max(count)"]
[phase.none]
do = "group"
where = [["value", ">", 1000], ["level", "<=", 2]]
compute = ["count", "count(level)", "sum(level)", "avg(level)", "min(value)"]
[phase.ordered]
do = "group"
where = [["time", ">=", "end - 20h"], ["time", "<", "end - 1h"], ["level", "!=", 3]]
by = ["station"]
compute = ["count", "sum(level)"]
order = ["-sum(level)", "station"]
limit = 5
[phase.of-key]
do = "group"
where = [["station", "=", 3], ["time", ">", "start + 10h"], ["time", "<=", "start + 20h"]]
by = ["hour(time)"]
compute = ["count", "min(value)"]
[phase.of-station]
do = "group"
where = [["station", "=", 7], ["value", ">=", 0.0]]
compute = ["count", "max(value)", "min(time)"]
[phase.stations]
do = "group"
where = [["station", ">=", 17], ["station", "!=", 18]]
by = ["station"]
compute = ["count"]
[phase.names]
do = "group"
where = [["title", "!=", "linz"]]
by = ["title"]
compute = ["count", "avg(value)"]
order = ["title"]
[phase.named]
do = "group"
where = [["title", "=", "it's"]]
by = ["level"]
compute = ["count", "sum(count)", "count(title)"]
[phase.later-names]
do = "group"
where = [["title", ">=", "b"]]
by = ["day(time)", "title"]
compute = ["count", "max(level)"]
[phase.gaps]
do = "gaps"
by = "title"
longer-than = "90m"
[phase.gaps-key]
do = "gaps"
by = "station"
longer-than = "29m"
[phase.gaps-each]
do = "gaps"
by = "title"
longer-than = "90m"
each = "title"
ops = 3
[phase.gaps-key-each]
do = "gaps"
by = "station"
longer-than = "29m"
each = "station"
ops = { "1k" = 1, "10k" = 2 }
[phase.far]
do = "outliers"
of = "value"
by = "station"
deviations = 1.5
[phase.far-title]
do = "outliers"
of = "level"
by = "title"
deviations = 1.2
[phase.far-each]
do = "outliers"
of = "count"
by = "station"
deviations = 1
each = "station"
ops = 3
[phase.together]
do = "correlate"
of = "value"
by = "station"
bucket = "3h"
[phase.together-titles]
do = "correlate"
of = "level"
by = "title"
bucket = "12h"
between = ["linz", "Linz"]
[phase.together-most]
do = "correlate"
of = "count"
by = "title"
bucket = "2h"
ops = 2
[phase.together-none]
do = "correlate"
of = "value"
by = "station"
bucket = "1d"
between = [3, 60_000]
[phase.latest-each]
do = "latest"
by = "station"
each = "station"
ops = 4
[phase.latest-title-each]
do = "latest"
by = "title"
each = "title"
ops = 2
[phase.latest-among]
do = "latest"
by = "title"
each = "station"
ops = 2
[phase.buckets-each]
do = "group"
where = [["time", ">", "start + 2h"]]
by = ["hour(time)"]
compute = ["count", "avg(value)", "max(level)"]
each = "station"
ops = "1%"
[phase.titles-each]
do = "group"
by = ["station"]
order = ["-count", "station"]
limit = 3
each = "title"
[phase.counts-each]
do = "group"
each = "station"
ops = 3
[phase.find]
do = "find"
where = [["title", "=", "it's"]]
[phase.find-some]
do = "find"
where = [["value", ">=", 20.5], ["level", "!=", 2], ["time", "<", "end - 1h"]]
select = ["title", "station", "level"]
[phase.low]
do = "find"
where = [["level", "<", 2]]
[phase.low-count]
do = "group"
where = [["level", "<=", -1]]
[phase.set-equal]
do = "update"
where = [["title", "=", "linz"], ["level", "=", 1]]
set = { title = "a longer name than before", level = -3 }
[phase.set-some]
do = "update"
where = [["value", "<", 19], ["title", ">", "a"]]
set = { count = 7, title = "z" }
[phase.gone-equal]
do = "delete"
where = [["title", "=", "Wörgl"]]
[phase.gone-some]
do = "delete"
where = [["station", "=", 3], ["level", ">=", 0]]
[phase.gone-low]
do = "delete"
where = [["level", "<", -3]]
[phase.profile]
sequence = ["all", "gaps-key", "latest", "find", "buckets"]
[phase.write-then-ask]
sequence = ["insert", "all", "latest"]
[phase.load-then-ask]
sequence = ["load", "ordered", "find-some"]
[phase.update]
do = "update"
set = ["value", "count", "title"]
ops = 200
[phase.update-rows]
do = "update"
set = ["value", "level"]
rows = 7
ops = "5%"
[phase.update-titles]
do = "update"
set = ["title"]
rows = 3
ops = 20
commit = "all"
[phase.delete-rows]
do = "delete"
rows = 10
ops = "1%"
commit = 5
[phase.upsert]
do = "upsert"
ops = 300
absent = 0.4
keys = "zipfian"
[phase.upsert-some]
do = "upsert"
set = ["value", "title"]
commit = 50
ops = 100
[phase.update-absent]
do = "update"
set = ["level"]
ops = 200
absent = 0.5
[phase.modify]
do = "read-modify-write"
set = ["value"]
ops = 200
keys = "zipfian"
absent = 0.1
[phase.delete]
do = "delete"
ops = 200
absent = 0.1
[phase.expire]
do = "delete"
older = "10h"
"#;

#[test]
fn every_question_is_right_on_readings_of_stations() {
    on_readings(|names| !names.contains(&FIRST_CHANGE));
}

#[test]
fn every_change_is_right_on_readings_of_stations() {
    on_readings(|names| names.contains(&FIRST_CHANGE));
}

/// The phases of [`READINGS`] from here on change rows or are sequences.
const FIRST_CHANGE: &str = "set-equal";

fn on_readings(wanted: Wanted) {
    let folder = tempfile::tempdir().unwrap();
    everywhere_in(READINGS, folder.path(), Scale::Full, wanted, |id, phase, outcome| {
        let (native, client) = (*outcome == Outcome::Native, *outcome == Outcome::ClientSide);
        match (id, phase) {
            (_, "low" | "low-count" | "gone-low") => {}
            (_, "having-none") => {
                assert!(client || id == "sqlite" || id == "hybrid", "{outcome:?}")
            }
            ("harperdb", "profile") => assert!(client, "{outcome:?}"),
            ("influxdb", "profile") => assert!(native, "{outcome:?}"),
            ("harperdb", "write-then-ask" | "load-then-ask") => assert!(client, "{outcome:?}"),
            ("influxdb", "load-then-ask") => assert!(client, "{outcome:?}"),
            ("harperdb", _) if phase.starts_with("gaps") || phase.starts_with("far") => {
                assert!(client, "{phase}: {outcome:?}");
            }
            ("harperdb" | "influxdb", _) if phase.starts_with("together") => {
                assert!(client, "{phase}: {outcome:?}");
            }
            ("influxdb", "gaps-key" | "gaps-key-each" | "far" | "far-each") => {
                assert!(native, "{phase}: {outcome:?}");
            }
            ("influxdb", "gaps" | "gaps-each" | "far-title" | "titles-each") => {
                assert!(client, "{phase}: {outcome:?}");
            }
            ("mongodb" | "harperdb", "set-some" | "gone-some") => assert!(client, "{outcome:?}"),
            ("harperdb", "find-some") => assert!(client, "{outcome:?}"),
            ("influxdb", "find-some") => assert!(native, "{outcome:?}"),
            ("influxdb", "update-rows" | "set-equal" | "set-some" | "gone-equal" | "gone-some") => {
                assert!(client, "{outcome:?}");
            }
            // Some titles become absent, and a point cannot lose its field.
            ("influxdb", "update-titles") => {
                let refused =
                    matches!(outcome, Outcome::Refused(why) if why.contains("lose a field"));
                assert!(refused, "{outcome:?}");
            }
            ("mongodb", _) => assert!(native, "{phase}: {outcome:?}"),
            ("influxdb", "rows" | "rows-each") => {
                let refused =
                    matches!(outcome, Outcome::Refused(why) if why.contains("order of tags"));
                assert!(refused, "{outcome:?}");
            }
            (
                "influxdb",
                "latest-title-each" | "latest-among" | "latest-level" | "latest-name" | "ordered"
                | "of-station" | "stations" | "names" | "named" | "later-names" | "update-absent"
                | "having",
            ) => assert!(client, "{phase}: {outcome:?}"),
            ("influxdb", _) => assert!(native, "{phase}: {outcome:?}"),
            (
                "harperdb",
                "latest" | "latest-level" | "latest-name" | "latest-each" | "latest-title-each"
                | "latest-among" | "buckets" | "buckets-each" | "titles-each" | "all" | "none"
                | "of-key" | "of-station" | "names" | "named" | "later-names" | "having",
            ) => assert!(client, "{phase}: {outcome:?}"),
            ("harperdb", _) => assert!(native, "{phase}: {outcome:?}"),
            _ => {}
        }
    });
}

/// Rows of an application: a text as key, bytes, nullable columns, an index of two columns.
const USERS: &str = r#"
name = "users"
[table.people]
rows = "1500"
key = ["id"]
index = [["city", "since"], ["since"]]
[table.people.columns]
id = { type = "text", make = "hashed", prefix = "user" }
city = { type = "text", make = "words", distinct = 30, skew = 0.9 }
since = { type = "timestamp", unit = "s", make = "random", from = "2015-01-01", to = "2023-12-31" }
photo = { type = "bytes?", make = "random", length = [1, 40], absent = 0.1 }
active = { type = "bool", make = "choice", values = [true, false] }
[phase.load]
do = "insert"
commit = "bulk"
[phase.insert]
do = "insert"
commit = "each"
[phase.get]
do = "get"
ops = 300
keys = "zipfian"
absent = 0.2
[phase.scan]
do = "range"
rows = [1, 100]
ops = 50
keys = "zipfian"
[phase.newest]
do = "latest"
by = "city"
time = "since"
[phase.joined]
do = "range"
of = "city"
span = "1000d"
time = "since"
ops = 40
[phase.years]
do = "group"
where = [["active", "=", true]]
by = ["week(since)", "active"]
compute = ["count", "count(photo)", "count(city)"]
order = ["-count"]
[phase.update]
do = "update"
set = ["photo", "active"]
ops = 200
[phase.modify]
do = "read-modify-write"
set = ["city"]
ops = 200
[phase.delete]
do = "delete"
ops = 300
[phase.old]
do = "delete"
older = "900d"
time = "since"
"#;

#[test]
fn every_verb_is_right_on_users_with_texts_as_keys_and_bytes() {
    everywhere(USERS, |id, phase, outcome| match id {
        "influxdb" => {
            let refused = matches!(outcome, Outcome::Refused(words) if words.contains("bytes"));
            assert!(refused, "{phase}: {outcome:?}");
        }
        "mongodb" => assert_eq!(*outcome, Outcome::Native, "{phase}"),
        "harperdb" => {
            let refused = matches!(outcome, Outcome::Refused(words) if words.contains("bytes"));
            assert!(refused, "{phase}: {outcome:?}");
        }
        _ => {}
    });
}

/// A log whose key is only its time, beside a table without a time.
const LOG: &str = r#"
name = "log"
[table.log]
rows = "120"
key = ["moment"]
[table.log.columns]
moment = { type = "timestamp", unit = "s", make = "sequence", from = "2023-11-14", step = "3s" }
host = { type = "text?", make = "choice", values = ["a", "b c", "d,e", "é"], absent = 0.2 }
size = { type = "i64?", make = "random", from = -9, to = 9, absent = 0.3 }
[table.hosts]
rows = "4"
key = ["host"]
[table.hosts.columns]
host = { type = "text", make = "hashed", prefix = "host" }
[phase.load]
do = "insert"
table = "log"
commit = "bulk"
[phase.hosts]
do = "insert"
table = "hosts"
commit = "each"
[phase.host]
do = "get"
table = "hosts"
[phase.all-hosts]
sequence = ["hosts", "many-hosts", "one-host"]
[phase.many-hosts]
do = "group"
table = "hosts"
compute = ["count(host)"]
[phase.one-host]
do = "find"
table = "hosts"
where = [["host", "!=", "a"]]
[phase.get]
do = "get"
table = "log"
ops = 50
absent = 0.5
[phase.rows]
do = "range"
table = "log"
rows = [1, 9]
ops = 60
absent = 0.3
[phase.span]
do = "range"
table = "log"
span = "1m"
ops = 30
[phase.sizes]
do = "group"
table = "log"
by = ["minute(moment)"]
compute = ["count", "sum(size)"]
[phase.by-host]
do = "group"
table = "log"
by = ["host"]
compute = ["count", "max(size)"]
[phase.newest]
do = "latest"
table = "log"
by = "host"
[phase.expire]
do = "delete"
table = "log"
older = "2m"
"#;

#[test]
fn a_key_that_is_a_time_and_rows_of_nothing_else_are_right() {
    everywhere(LOG, |id, phase, outcome| match (id, phase) {
        ("influxdb", "host") => {
            let why = "rows by a key without a time";
            assert!(
                matches!(outcome, Outcome::Refused(words) if words.contains(why)),
                "{outcome:?}"
            );
        }
        ("influxdb", "by-host" | "newest") => assert_eq!(*outcome, Outcome::ClientSide),
        ("influxdb" | "mongodb", _) => assert_eq!(*outcome, Outcome::Native, "{phase}"),
        ("harperdb", "newest" | "by-host" | "one-host" | "all-hosts") => {
            assert_eq!(*outcome, Outcome::ClientSide, "{phase}");
        }
        ("harperdb", _) => assert_eq!(*outcome, Outcome::Native, "{phase}"),
        _ => {}
    });
}

/// Parts of two kinds, whose key is a text, and doors, whose key is a time: questions about the
/// rows of each value.
const VALUES: &str = r#"
name = "values"
[table.parts]
rows = "300"
key = ["part"]
index = [["kind"]]
[table.parts.columns]
part = { type = "text", make = "hashed", prefix = "part" }
kind = { type = "text", make = "choice", values = ["bolt", "nut"] }
weight = { type = "f64", make = "random", from = -5, to = 100 }
made = { type = "timestamp", unit = "s", make = "sequence", step = "1m" }
[table.doors]
rows = "300"
key = ["moment"]
[table.doors.columns]
moment = { type = "timestamp", unit = "s", make = "sequence", from = "2023-11-14", step = "1s" }
door = { type = "text", make = "choice", values = ["front", "the back"] }
count = { type = "i32?", make = "random", from = -60, to = 60, absent = 0.1 }
[phase.load-parts]
do = "insert"
table = "parts"
commit = "bulk"
[phase.load-doors]
do = "insert"
table = "doors"
commit = "each"
[phase.heavy]
do = "outliers"
table = "parts"
of = "weight"
by = "kind"
deviations = 1
[phase.together]
do = "correlate"
table = "parts"
of = "weight"
by = "kind"
bucket = "5m"
[phase.front]
do = "find"
table = "doors"
where = [["door", "=", "front"]]
[phase.newest]
do = "latest"
table = "doors"
by = "door"
[phase.newest-each]
do = "latest"
table = "doors"
by = "door"
each = "door"
[phase.silent]
do = "gaps"
table = "doors"
by = "door"
longer-than = "3s"
[phase.many]
do = "outliers"
table = "doors"
of = "count"
by = "door"
deviations = 1
[phase.both]
do = "correlate"
table = "doors"
of = "count"
by = "door"
bucket = "10s"
"#;

#[test]
fn questions_about_each_value_are_right_where_the_key_is_a_text_or_only_a_time() {
    everywhere(VALUES, |id, phase, outcome| {
        let expected = match (id, phase) {
            ("influxdb", "heavy" | "together" | "both") => Outcome::ClientSide,
            ("harperdb", phase) if !phase.starts_with("load") && phase != "front" => {
                Outcome::ClientSide
            }
            ("influxdb" | "mongodb" | "harperdb", _) => Outcome::Native,
            _ => return,
        };
        assert_eq!(*outcome, expected, "{phase}");
    });
}

/// Several rows of a value may have its newest time.
const TIES: &str = r#"
name = "ties"
[table.t]
rows = "900"
key = ["site", "time", "part"]
[table.t.columns]
site = { type = "text", make = "words", distinct = 5, skew = 0 }
time = { type = "timestamp", unit = "us", make = "sequence", step = "1s", repeat = 30 }
part = { type = "i64", make = "sequence" }
gauge = { type = "f64?", make = "random", from = -1, to = 1, absent = 0.5 }
[phase.load]
do = "insert"
commit = "bulk"
[phase.latest]
do = "latest"
by = "site"
[phase.parts]
do = "latest"
by = "part"
[phase.get]
do = "get"
ops = 100
[phase.rows]
do = "range"
rows = 20
ops = 100
[phase.last]
do = "range"
of = "site"
last = "5s"
ops = 20
[phase.sites]
do = "group"
where = [["time", ">", "end - 10s"]]
by = ["site"]
compute = ["count", "count(gauge)", "avg(gauge)"]
[phase.delete]
do = "delete"
ops = 100
[phase.expire]
do = "delete"
older = "20s"
"#;

/// More rows than a key-value store changes in one transaction.
const MANY: &str = r#"
name = "many"
[table.readings]
rows = "25k"
key = ["id"]
[table.readings.columns]
id = { type = "u32", make = "sequence" }
level = { type = "i32", make = "random", from = 1, to = 100 }
[phase.load]
do = "insert"
commit = "bulk"
[phase.set]
do = "update"
where = [["level", ">", 0]]
set = { level = 7 }
[phase.gone]
do = "delete"
where = [["level", "<=", 90]]
"#;

/// Reads and updates of keys that upserts of the same mix insert: a byte leaves few of them.
const ADDED: &str = r#"
name = "added"
[table.t]
rows = "50"
key = ["id"]
[table.t.columns]
id = { type = "u8", make = "sequence" }
level = { type = "i32", make = "random", from = 1, to = 100 }
[phase.load]
do = "insert"
commit = "bulk"
[phase.read]
do = "get"
absent = 0.5
only = "mix"
[phase.add]
do = "upsert"
absent = 0.5
only = "mix"
[phase.fix]
do = "update"
set = ["level"]
absent = 0.5
only = "mix"
[phase.all]
mix = { read = 0.4, add = 0.3, fix = 0.3 }
"#;

#[test]
fn changes_by_conditions_go_on_over_several_transactions() {
    all_is_right_on_lmdb(MANY);
}

#[test]
fn reads_and_updates_in_a_mix_may_find_what_an_upsert_adds() {
    all_is_right_on_lmdb(ADDED);
}

fn all_is_right_on_lmdb(text: &str) {
    let folder = tempfile::tempdir().unwrap();
    let (workload, rows) = (workload(text, folder.path()), folder.path().join("rows"));
    let source = workload.source(&DataSource::Synthetic, 42).unwrap();
    source.stage(Scale::Full, &rows).unwrap();
    let engine = registry::find("lmdb").unwrap();
    let Some(outcomes) = outcomes(engine, workload, &rows, |_| true) else { return };
    for (phase, outcome) in outcomes {
        assert!(matches!(outcome, Outcome::Native | Outcome::ClientSide), "{phase}: {outcome:?}");
    }
}

#[test]
fn several_newest_rows_of_a_value_are_all_found() {
    everywhere(TIES, |id, phase, outcome| match (id, phase) {
        ("influxdb", "rows") => assert!(matches!(outcome, Outcome::Refused(_))),
        ("influxdb", "latest" | "parts") => assert_eq!(*outcome, Outcome::ClientSide),
        ("influxdb" | "mongodb", _) => assert_eq!(*outcome, Outcome::Native, "{phase}"),
        _ => {}
    });
}

/// The files that come with the program, with few rows and operations, among them mixes and several
/// clients.
#[test]
fn built_in_files_are_right() {
    let some = ["ycsb-a", "ycsb-d", "ycsb-e", "gateway", "shop"];
    for (name, text) in sampled(BUILT_IN.iter().filter(|(name, _)| some.contains(name)), 1) {
        eprintln!("{name}");
        let text = ["\"100k\"", "\"10k\""].iter().fold((*text).to_owned(), |text, many| {
            text.replace(&format!("ops = {many}"), "ops = 200")
        });
        let text = ["10s", "30s"]
            .iter()
            .fold(text, |text, long| text.replace(&format!("for = \"{long}\""), "for = \"300ms\""));
        everywhere_at(&text, Scale::Rows(300), |id, phase, outcome| match (*name, id) {
            ("gateway", "influxdb" | "mongodb") => {
                assert!(!matches!(outcome, Outcome::Refused(_)), "{phase}: {outcome:?}");
            }
            // A key of one integer is the time of a point.
            ("shop", "influxdb") => {}
            // Keys are not times: rows are stored, and none is found by its key.
            (_, "influxdb") => {
                let inserts = ["load", "insert"].contains(&phase);
                assert_eq!(
                    matches!(outcome, Outcome::Refused(_)),
                    !inserts,
                    "{phase}: {outcome:?}"
                );
            }
            _ => {}
        });
    }
}

/// Shapes at the edges: groups without a mean to order by, whole numbers as times whose bounds are
/// below the smallest, a sum beyond 64 bits, texts of several bytes a character, changes that follow
/// one another.
const EDGES: &str = r#"
name = "edges"
[table.places]
file = "edges.csv"
key = ["id"]
[table.places.columns]
id = "u32"
station = "u16"
temp = "f64?"
large = "i64"
city = "text(7)"
[phase.load]
do = "insert"
commit = "all"
[phase.best]
do = "group"
by = ["station"]
compute = ["avg(temp)"]
order = ["-avg(temp)"]
limit = 20
[phase.sum]
do = "group"
compute = ["sum(large)"]
[phase.tail]
do = "range"
last = 1000
time = "id"
[phase.cities]
do = "update"
ops = 40
set = ["city"]
[phase.repeated]
do = "group"
by = ["station"]
compute = ["count", "max(temp)"]
ops = 5
[phase.old]
do = "delete"
older = 1000
time = "id"
[phase.most]
do = "delete"
ops = 300
absent = "20%"
[phase.up]
do = "upsert"
ops = 50
set = ["temp"]
only = "mix"
[phase.fix]
do = "update"
ops = 50
set = ["large"]
only = "mix"
[phase.both]
mix = { up = 0.5, fix = 0.5 }
clients = 2
ops = 300
"#;

#[test]
fn shapes_at_the_edges_have_right_answers_on_every_family() {
    let folder = tempfile::tempdir().unwrap();
    let row = |id: i64| {
        let temp = match id % 60 {
            at if at % 3 == 0 => String::new(),
            at => format!("{}.5", at * 37 % 61),
        };
        let city = if id % 2 == 0 { "Zürich" } else { "Köln" };
        format!("{id},{},{temp},{},{city}\n", id % 60, i64::MAX - id)
    };
    let rows: String = (0..500).map(row).collect();
    let text = format!("id,station,temp,large,city\n{rows}");
    std::fs::write(folder.path().join("edges.csv"), text).unwrap();
    everywhere_in(EDGES, folder.path(), Scale::Full, |_| true, |_, _, _| {});
}
