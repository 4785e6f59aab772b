//! What confirmed the answers of questions that no oracle checks, and questions without
//! confirmation.

use std::path::Path;

use embermark_model::Status;
use embermark_model::result::ResultFile;
use embermark_report::html::{self, PageOptions, Source};
use embermark_report::{Files, Format, Options, load, render, screen};

/// A run in which two referees agree on `load`, and differ on `read`.
fn questions() -> ResultFile {
    let mut file = load(Path::new("tests/fixtures/schema-1.json")).unwrap();
    let trials = file.cells.iter_mut().flat_map(|cell| &mut cell.trials);
    for phase in trials.flat_map(|trial| &mut trial.phases) {
        match &*phase.phase {
            "load" => phase.checked_by = Some("agreed by sqlite and duckdb".to_owned()),
            "read" => {
                phase.status = Status::Disputed;
                phase.reason = Some("sqlite says (3), duckdb says (3.5)".to_owned());
            }
            _ => {}
        }
    }
    file
}

#[test]
fn tables_say_who_checked_an_answer_and_give_disputed_phases_no_figures() {
    let shown = render(&questions(), Format::Table, &Options::default()).unwrap();
    let row = shown.lines().find(|line| line.starts_with("read")).unwrap();
    assert!(row.contains("disputed") && !row.contains('x'), "{row}");
    let checked = shown.split("\nAnswers\n").nth(1).unwrap().lines().next().unwrap();
    assert_eq!(checked.trim(), "agreed by sqlite and duckdb: sensors load");
    assert!(shown.contains("duckdb says (3.5)"), "{shown}");
    let csv = render(&questions(), Format::Csv, &Options::default()).unwrap();
    assert!(csv.contains(",disputed,"), "{csv}");
}

#[test]
fn the_screen_tells_a_dispute_once_for_all_engines() {
    let shown = screen(&questions(), &Options::default(), &Files::default());
    let disputes = shown.lines().filter(|line| line.trim_start().starts_with("disputed"));
    let disputes: Vec<&str> = disputes.collect();
    assert_eq!(disputes.len(), 1, "{shown}");
    assert!(
        disputes[0].contains("read") && disputes[0].contains("sqlite says (3)"),
        "{disputes:?}"
    );
}

#[test]
fn the_page_is_given_both() {
    let file = questions();
    let path = Path::new("result.json");
    let page = html::data(&[Source { path, result: &file }], PageOptions::default()).unwrap();
    let page = serde_json::to_value(&page).unwrap();
    let entries = page["entries"].as_array().unwrap();
    let of = |phase: &'static str| entries.iter().filter(move |entry| entry["phase"] == phase);
    let checked = of("load").filter(|entry| !entry["figure"].is_null());
    assert!(checked.clone().count() > 0);
    assert!(checked.into_iter().all(|entry| entry["checked_by"] == "agreed by sqlite and duckdb"));
    let disputed = of("read").filter(|entry| entry["status"] == "disputed");
    assert!(disputed.clone().count() > 0);
    assert!(disputed.into_iter().all(|entry| entry["figure"].is_null()));
}
