//! Result files of older schemas, as embermark wrote them.

use std::path::{Path, PathBuf};

use embermark_model::Status;
use embermark_model::result::{ResultFile, SCHEMA};
use embermark_report::compare::{compare, differences};
use embermark_report::{Format, Options, advise, load, render};
use serde_json::{Map, Value};

/// `embermark run sensors -e sqlite,redb,rocksdb,memory,postgres -s 1k --runs 3 --discard 1
/// --trials 1 --clients 2 --rate 2000 --cap 5s --phases load,read --isolate-disk`.
const CLIENTS: &str = "schema-2.json";
/// `embermark run machine -e sqlite,redb,postgres,memory -s 1k --trials 1 --rate max --bound 50ms
/// --window 400ms --warm-up 100ms`.
const MACHINE: &str = "schema-1-machine.json";

/// Fields of schemas 1 and 2 that have another name in schema 3. `arrivals` was two of them: the
/// rate of a plan and the schedule of a run.
const RENAMED: [(&str, &str); 13] = [
    ("family", "data_model"),
    ("keeps", "effective_durability"),
    ("how", "execution"),
    ("others", "background_cpu"),
    ("of_ns", "total_cpu_ns"),
    ("arrivals", ""),
    ("per_second", "target_rate"),
    ("reached", "achieved_rate"),
    ("waited", "on_time"),
    ("discard", "warmup_runs"),
    ("cap_ms", "max_run_time_ms"),
    ("bound_ms", "p99_limit_ms"),
    ("settling", "maintenance"),
];

fn path(name: &str) -> PathBuf {
    Path::new("tests/fixtures").join(name)
}

fn text(name: &str) -> String {
    std::fs::read_to_string(path(name)).unwrap()
}

/// Renames the fields to those of schema 3.
fn renamed(value: Value) -> Value {
    let name = |old: String, value: &Value| match (old.as_str(), value) {
        ("arrivals", Value::Number(_)) => "target_rate".to_owned(),
        ("arrivals", _) => "schedule".to_owned(),
        _ => RENAMED.iter().find(|(known, _)| *known == old).map_or(old, |(_, new)| (*new).into()),
    };
    // Rates were whole numbers.
    let value_of = |old: &str, value: Value| match old {
        "per_second" => value.as_f64().into(),
        _ => renamed(value),
    };
    match value {
        Value::Object(fields) => Value::Object(Map::from_iter(
            fields
                .into_iter()
                .map(|(old, value)| (name(old.clone(), &value), value_of(&old, value))),
        )),
        Value::Array(values) => Value::Array(values.into_iter().map(renamed).collect()),
        other => other,
    }
}

#[test]
fn every_value_of_an_older_file_is_read_under_its_new_name() {
    for name in [CLIENTS, MACHINE] {
        let file = load(&path(name)).unwrap();
        let mut expected = renamed(serde_json::from_str(&text(name)).unwrap());
        // The length of adapters is no longer read.
        for engine in expected["manifest"]["engines"].as_object_mut().unwrap().values_mut() {
            assert!(engine.as_object_mut().unwrap().remove("adapter_lines").is_some());
        }
        expected["schema"] = SCHEMA.into();
        assert_eq!(serde_json::to_value(&file).unwrap(), expected, "{name}");
    }
    let both = text(CLIENTS) + &text(MACHINE);
    for (old, _) in RENAMED {
        assert!(both.contains(&format!("\"{old}\":")), "{old} is in neither file");
    }
}

#[test]
fn an_older_file_is_reported_in_every_format() {
    let shown = |name: &str, format: Format| {
        let options = Options { width: 120, latency: true, ..Options::default() };
        render(&load(&path(name)).unwrap(), format, &options).unwrap()
    };
    let clients = shown(CLIENTS, Format::Table);
    for part in ["3 runs (1 warm-up)", "2 clients", "target rate 2.00 k/s", "redb+", "maintenance"]
    {
        assert!(clients.contains(part), "{part}: {clients}");
    }
    let machine = shown(MACHINE, Format::Table);
    // The plan requested six runs, but a phase with a fixed duration has one.
    for part in ["· 1 run x 1 trial ·", "redb+", "memory (ref)", "background CPU"] {
        assert!(machine.contains(part), "{part}: {machine}");
    }
    assert!(!machine.contains("6 runs"), "{machine}");
    for format in [Format::Csv, Format::Markdown, Format::Json] {
        assert!(shown(CLIENTS, format).contains("redb") && shown(MACHINE, format).contains("redb"));
    }
    let json: ResultFile = serde_json::from_str(&shown(CLIENTS, Format::Json)).unwrap();
    assert_eq!((json.schema, json.plan.target_rate), (SCHEMA, Some(2_000)));
}

#[test]
fn an_older_file_is_compared_with_one_of_this_schema_and_advises() {
    let folder = tempfile::tempdir().unwrap();
    for name in [CLIENTS, MACHINE] {
        let old = load(&path(name)).unwrap();
        let new = folder.path().join(name);
        std::fs::write(&new, serde_json::to_vec(&old).unwrap()).unwrap();
        let new = load(&new).unwrap();
        assert_eq!(differences(&old, &new).incomparable, Vec::<String>::new(), "{name}");
        let changes = compare(&old, &new);
        assert!(changes.turned.is_empty() && changes.only_old.is_empty(), "{name}");
        let table = advise::tables(&[&old], None, &[]).tables.swap_remove(0);
        let redb = table.engines.iter().find(|engine| engine.engine == "redb").unwrap();
        assert!(redb.effective_durability.is_some() && redb.facts.data_model == "key-value");
        assert!(!redb.ratios.is_empty(), "{name}: {redb:?}");
    }
}

#[test]
fn a_cell_that_was_never_begun_is_not_run_and_a_lost_trial_is_apart_in_an_older_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut old: Value = serde_json::from_str(&text(CLIENTS)).unwrap();
    let cell = &mut old["cells"][0];
    (cell["status"], cell["trials"]) = ("failed".into(), Value::Array(Vec::new()));
    let cell = &mut old["cells"][1];
    let mut lost = cell["trials"][0].clone();
    (lost["index"], lost["status"]) = (1.into(), "failed".into());
    cell["status"] = "failed".into();
    cell["trials"].as_array_mut().unwrap().push(lost);
    let path = folder.path().join("result.json");
    std::fs::write(&path, old.to_string()).unwrap();
    let file = load(&path).unwrap();
    assert_eq!(file.cells[0].status, Status::NotRun);
    let cell = &file.cells[1];
    assert_eq!((cell.status, cell.trials.len(), cell.lost_trials.len()), (Status::Ok, 1, 1));
    let csv = render(&file, Format::Csv, &Options::default()).unwrap();
    let lost = csv.lines().next().unwrap().split(',').position(|name| name == "lost").unwrap();
    let of_lost = csv.lines().filter(|line| line.split(',').nth(lost) == Some("true")).count();
    assert!(of_lost > 0, "{csv}");
}
