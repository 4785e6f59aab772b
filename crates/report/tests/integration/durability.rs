//! Results of `embermark durability`: old ones can be read, their schema is documented, and reports
//! and the page show them.

use std::collections::BTreeSet;
use std::path::Path;

use crate::written::assert_written;
use embermark_model::Durability;
use embermark_model::durability_result::{Outcome, Verdict};
use embermark_model::result::ResultFile;
use embermark_report::advise::{self, Needs, Weight};
use embermark_report::evidence::{Record, full_disk_markdown, full_disk_text, mark_advice};
use embermark_report::html::{self, PageOptions, Source};
use embermark_report::{Files, Format, Options, load, load_durability, render, screen, text};
use serde_json::Value;

/// A run in version 1 of the schema.
const FIXTURE: &str = "tests/fixtures/durability-1.json";
/// A run that filled the disks of one engine.
const FULL_DISK: &str = "tests/fixtures/durability-full-disk.json";
/// Input of the page's tests.
const PAGE_FIXTURE: &str = "page/tests/fixtures/durability.json";
const DOCUMENT: &str = "../../docs/result-journals.md";

fn fixture() -> Outcome {
    load_durability(Path::new(FIXTURE)).unwrap()
}

/// The run of version 1 with the disks that were filled.
fn everything() -> Outcome {
    let (mut run, filled) = (fixture(), load_durability(Path::new(FULL_DISK)).unwrap());
    (run.head.fills, run.head.disk_bytes) = (filled.head.fills, filled.head.disk_bytes);
    run.tested.extend(filled.tested);
    run
}

/// A result in the tier `power` with the tested versions of SQLite, LMDB and Berkeley DB.
fn result() -> ResultFile {
    let mut file = load(Path::new("tests/fixtures/schema-1.json")).unwrap();
    for cell in &mut file.cells {
        cell.id.durability = Durability::Power;
        cell.effective_durability = None;
        let version = match &*cell.id.engine {
            "sqlite" => "3.54.1",
            "lmdb" => "0.9.70",
            "berkeleydb" => "5.3.28",
            _ => continue,
        };
        cell.trials.iter_mut().for_each(|trial| trial.version = Some(version.to_owned()));
    }
    file
}

#[test]
fn a_file_of_schema_1_is_read_whole_by_its_path_and_by_its_folder() {
    let run = fixture();
    assert_eq!((run.tested.len(), run.not_tried.len()), (31, 2));
    let text = std::fs::read_to_string(FIXTURE).unwrap();
    let [read, written]: [Value; 2] =
        [serde_json::from_str(&text).unwrap(), serde_json::to_value(&run).unwrap()];
    // An absent field with a default is written, and nothing is lost.
    let missing = |read: &Value, written: &Value| without(read, written, String::new());
    assert_eq!(missing(&read, &written), Vec::<String>::new());
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("result.json"), text).unwrap();
    assert_eq!(load_durability(folder.path()).unwrap().head, run.head);
}

/// Lists paths of values in `read` that are missing or different in `written`.
fn without(read: &Value, written: &Value, path: String) -> Vec<String> {
    match (read, written) {
        (Value::Object(read), Value::Object(written)) => {
            let field = |(key, value): (&String, &Value)| {
                without(value, written.get(key).unwrap_or(&Value::Null), format!("{path}.{key}"))
            };
            read.iter().flat_map(field).collect()
        }
        (Value::Array(read), Value::Array(written)) if read.len() == written.len() => {
            let item = |(at, (read, written))| without(read, written, format!("{path}[{at}]"));
            read.iter().zip(written).enumerate().flat_map(item).collect()
        }
        _ if read == written => Vec::new(),
        _ => vec![path],
    }
}

#[test]
fn every_field_and_every_verdict_is_documented() {
    let document = std::fs::read_to_string(DOCUMENT).unwrap();
    let (_, section) = document.split_once("\n## Durability\n").unwrap();
    let mut names = BTreeSet::new();
    keys(&serde_json::to_value(everything()).unwrap(), &mut names);
    let verdicts = serde_json::to_value(Verdict::ALL.map(|(verdict, _)| verdict)).unwrap();
    names.extend(verdicts.as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()));
    assert!(names.len() > 50, "{names:?}");
    for name in names {
        assert!(section.contains(&format!("`{name}`")), "{DOCUMENT} does not tell of {name}");
    }
}

fn keys(value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| {
            names.insert(key.clone());
            keys(value, names);
        }),
        Value::Array(items) => items.iter().for_each(|item| keys(item, names)),
        _ => {}
    }
}

#[test]
fn what_is_no_such_result_is_refused_and_says_what_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.json");
    let says = |text: &str| {
        std::fs::write(&path, text).unwrap();
        load_durability(&path).unwrap_err().to_string()
    };
    assert!(says("[]").contains("is not a result of `embermark durability`"));
    assert!(says("{\"schema\": \"embermark-durability-9\"}").contains("embermark-durability-9"));
    assert!(says("{\"schema\": 3}").contains("no such schema"));
    assert!(says("{\"schema\": \"embermark-durability-1\"}").contains("missing field"));
    let missing = load_durability(&folder.path().join("nothing")).unwrap_err().to_string();
    assert!(missing.starts_with("no result at "), "{missing}");
    // A result of the other kind is rejected too.
    let says = load(Path::new(FIXTURE)).unwrap_err().to_string();
    assert!(
        says.contains("it is one of `embermark durability`, which --durability takes"),
        "{says}"
    );
}

#[test]
fn reports_tell_what_was_shown_and_mark_who_broke_its_promise() {
    let (file, record) = (result(), Record::from_run(fixture()));
    let options = Options { width: 120, durability: &record, ..Options::default() };
    let screen = screen(&file, &options, &Files::default());
    let line = "durability power: BROKEN by berkeleydb; shown for sqlite, lmdb (20 kills and 75 \
                states at least); by its manual for duckdb, postgres";
    assert!(text::plain(&screen).contains(line), "{screen}");
    let line = screen.lines().find(|line| line.contains("berkeleydb†")).unwrap();
    assert!(line.contains("broken") && !line.contains('x'), "it has no ratio: {line}");
    assert!(screen.contains("† broke what the tier promises"), "{screen}");
    assert!(!screen.contains("sqlite†"), "{screen}");

    let tables = render(&file, Format::Table, &Options { width: 400, ..options }).unwrap();
    for line in [
        "power  berkeleydb 5.3.28: broken: 6 of 375 states: 3 × a hole, 3 × corrupt rows, 6 of them by a torn \
         block; no violation in 100 kills (ext4, 2026-11-22)",
        "power  sqlite 3.54.1: shown: no violation in 100 kills and 375 states (ext4, 2026-11-22)",
        "power  lmdb 0.9.70: shown: no violation in 20 kills and 75 states (ext4, 2026-11-22)",
        "power  postgres: by its manual: never tried",
        "†          broke what the tier promises",
    ] {
        assert!(tables.contains(line), "no '{line}' in {tables}");
    }
    assert!(
        tables.contains("duckdb: by its manual: tried with another version, 1.5.6"),
        "{tables}"
    );
    // Without a record nothing is shown, and no engine is marked.
    let options = Options { width: 120, ..Options::default() };
    let without = embermark_report::screen(&file, &options, &Files::default());
    assert!(!without.contains('†') && !without.contains("shown for"), "{without}");
}

#[test]
fn what_a_full_disk_did_is_told_alike_by_the_terminal_markdown_and_the_page_and_is_no_kill() {
    let run = everything();
    let terminal = full_disk_text(&run, 200).unwrap();
    let markdown = full_disk_markdown(&run).unwrap();
    let page = serde_json::to_value(html::durability_data(&run, &[])).unwrap();
    let rows = page["durability"]["full_disk"]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    for row in rows {
        let texts = row[1].as_array().unwrap().iter().map(|text| text["value"].as_str().unwrap());
        let words = [row[0].as_str().unwrap()].into_iter().chain(texts).collect::<Vec<_>>();
        assert_eq!(words.len(), 7, "{words:?}");
        let has = |line: &str| words.iter().all(|word| line.contains(word));
        assert!(terminal.lines().any(has), "{words:?} in\n{terminal}");
        assert!(markdown.lines().any(has), "{words:?} in\n{markdown}");
    }
    assert!(full_disk_text(&fixture(), 200).is_none());
    // Only kills and power cuts are evidence for a tier.
    let words = |run: Outcome| {
        let standing = Record::from_run(run);
        let power = Durability::Power;
        standing.standing("sqlite", "3.54.1", power, power).unwrap().words()
    };
    assert_eq!(words(run), words(fixture()));
}

#[test]
fn advice_names_a_broken_promise() {
    let (file, record) = (result(), Record::from_run(fixture()));
    let mut tables = advise::tables(&[&file], None, &[]);
    mark_advice(&mut tables, &[&file], &record);
    let needs = Needs::only(Durability::Power);
    let weights = [Weight { criterion: "point".to_owned(), weight: 1.0 }];
    let all = advise::advise_each(&tables, needs, &weights).unwrap();
    let words = advise::words(&all, &tables, None, 400);
    assert!(words.contains("berkeleydb: broke what power promises: 6 of 375 states"), "{words}");
    assert!(words.contains("1. lmdb 1.00x"), "{words}");
    assert!(!words.contains(". berkeleydb"), "it is not ranked: {words}");
}

#[test]
fn programs_are_told_too() {
    let (file, record) = (result(), Record::from_run(fixture()));
    let options = Options { durability: &record, ..Options::default() };
    let csv = render(&file, Format::Csv, &options).unwrap();
    let mut lines = csv::Reader::from_reader(csv.as_bytes());
    let header = lines.headers().unwrap().clone();
    let at = |name: &str| header.iter().position(|other| other == name).unwrap();
    let (engine, shown) = (at("engine"), at("durability_shown"));
    let mut seen = BTreeSet::new();
    for line in lines.records() {
        let line = line.unwrap();
        let start = line[shown].split(':').next().unwrap().to_owned();
        seen.insert((line[engine].to_owned(), start));
    }
    let has = |engine: &str, shown: &str| seen.contains(&(engine.to_owned(), shown.to_owned()));
    assert!(has("berkeleydb", "broken") && has("sqlite", "shown"), "{seen:?}");
    assert!(has("postgres", "by its manual") && has("memory", ""), "{seen:?}");

    let json = render(&file, Format::Json, &options).unwrap();
    let json: Value = serde_json::from_str(&json).unwrap();
    let all = json["durability_shown"].as_array().unwrap();
    let of = |engine: &str| all.iter().find(|one| one["engine"] == engine).unwrap();
    let states = &of("berkeleydb")["shown"]["states"];
    assert_eq!((&states["tried"], &states["violations"]), (&375.into(), &6.into()));
    assert_eq!(of("postgres")["by_manual"], "never_tried");
    assert!(all.iter().all(|one| one["engine"] != "memory"));
}

#[test]
fn the_page_of_a_run_tells_of_its_engines_and_versions_alone() {
    let (file, record) = (result(), Record::from_run(fixture()));
    let source = Source { path: Path::new("pi/result.json"), result: &file };
    let options = PageOptions { durability: &record, ..PageOptions::default() };
    let page = serde_json::to_value(html::data(&[source], options).unwrap()).unwrap();
    let tested = page["durability"]["tested"].as_array().unwrap();
    let engines: BTreeSet<&str> =
        tested.iter().map(|one| one["engine"].as_str().unwrap()).collect();
    assert_eq!(engines, BTreeSet::from(["sqlite", "lmdb", "berkeleydb"]));
    assert_eq!(tested[0]["tier"], "power", "the strongest tier comes first");
    let sections = page["results"][0]["sections"].as_array().unwrap();
    assert!(sections.iter().all(|section| section["title"] != "Durability"), "told twice");
    let cells = page["cells"].as_array().unwrap();
    let broken = |cell: &&Value| cell["broken"] == true;
    assert!(cells.iter().filter(broken).all(|cell| cell["engine"] == "berkeleydb"));
    assert!(cells.iter().filter(broken).all(|cell| cell["ranked"] == false));
    assert!(cells.iter().any(|cell| broken(&cell)));
}

#[test]
fn the_page_of_a_durability_run_is_given_what_its_tests_are_given() {
    let page = html::durability_data(&fixture(), &["lmdb", "zen"]);
    let face = "NOT TO BE PUBLISHED: the licence forbids publishing figures of lmdb";
    assert_eq!(page.face.as_deref(), Some(face), "of those that were tried");
    let page = html::durability_data(&everything(), &[]);
    let text = serde_json::to_string_pretty(&page).unwrap() + "\n";
    assert_written(PAGE_FIXTURE, &text);
}
