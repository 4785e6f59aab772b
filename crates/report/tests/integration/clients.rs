//! Columns that are used from other languages, in tables, exports, comparisons and the page.

use std::path::Path;

use crate::written::assert_written;
use embermark_model::result::ResultFile;
use embermark_model::{Configuration, Scale};
use embermark_report::compare::compare;
use embermark_report::html::{self, PageOptions, Source};
use embermark_report::{Files, Format, Options, load, render, screen};

const FIXTURE: &str = "tests/fixtures/schema-1.json";
/// Input of the page's tests.
const PAGE_FIXTURE: &str = "page/tests/fixtures/clients.json";

fn native() -> ResultFile {
    load(Path::new(FIXTURE)).unwrap()
}

/// The golden result with three engines that were also used from Python, which takes `times` as
/// long.
fn languages() -> ResultFile {
    let mut file = native();
    for (engine, times) in [("sqlite", 3), ("lmdb", 9), ("berkeleydb", 2)] {
        let column = format!("{engine}-python");
        let own = file.cells.iter().filter(|cell| cell.id.engine == engine);
        let mut cells: Vec<_> = own.cloned().collect();
        for cell in &mut cells {
            cell.id.engine.clone_from(&column);
            let phases = cell.trials.iter_mut().flat_map(|trial| &mut trial.phases);
            phases.flat_map(|phase| &mut phase.runs).for_each(|run| run.elapsed_ns *= times);
        }
        file.cells.extend(cells);
        file.plan.engines.push(column.clone());
        let facts = file.manifest.engines.get(engine).cloned();
        file.manifest.engines.extend(facts.map(|facts| (column.clone(), facts)));
        let client = Some("python".parse().unwrap());
        let own = Configuration { client, ..Configuration::new(engine) };
        file.plan.configurations.insert(column, own);
    }
    file
}

fn shown(format: Format) -> String {
    render(&languages(), format, &Options { width: 200, ..Options::default() }).unwrap()
}

#[test]
fn a_result_keeps_the_client_and_one_without_reads_as_before() {
    let file = languages();
    let text = serde_json::to_string(&file).unwrap();
    assert!(text.contains(r#"{"engine":"sqlite","settings":{},"client":"python"}"#), "{text}");
    let read: ResultFile = serde_json::from_str(&text).unwrap();
    assert_eq!(read.plan, file.plan);
    assert_eq!(native().plan.language_of("sqlite"), "native");
}

#[test]
fn a_column_with_a_client_is_ranked_and_rests_on_no_authors_word() {
    let text = shown(Format::Table);
    assert!(text.contains("sqlite-python") && !text.contains("sqlite-python§"), "{text}");
    assert!(!text.contains("as its author claims"), "{text}");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("(sqlite with client=python)"), "{text}");
}

#[test]
fn exports_have_the_client_of_a_column_and_nothing_for_embermark_itself() {
    let csv = shown(Format::Csv);
    let mut rows = csv::Reader::from_reader(csv.as_bytes());
    let header = rows.headers().unwrap().clone();
    let column = |name| header.iter().position(|known| known == name).unwrap();
    let (engine, client) = (column("engine"), column("client"));
    let mut python = 0;
    for line in rows.records().map(Result::unwrap) {
        let is_python = line[engine].ends_with("-python");
        assert_eq!(&line[client], if is_python { "python" } else { "" });
        python += usize::from(is_python);
    }
    assert!(python > 0);
}

#[test]
fn the_screen_takes_of_embermark_itself_and_says_what_to_take_from_each_language() {
    let options = Options { width: 200, ..Options::default() };
    let native = screen(&native(), &options, &Files::default());
    let screen = screen(&languages(), &options, &Files::default());
    let of = |screen: &str, about: &str| {
        let line = screen.lines().find(|line| line.trim_start().starts_with(about));
        line.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let all = of(&native, "all work");
    assert!(!all.is_empty(), "{native}");
    assert_eq!(of(&screen, "all work"), all, "as if nothing else had been measured: {screen}");
    let python = of(&screen, "from python");
    assert!(
        python.starts_with("from python sqlite-python, 1.17x ahead of lmdb-python"),
        "{screen}"
    );
    assert!(screen.contains("lmdb-python"), "every column is in the table: {screen}");
}

#[test]
fn nothing_is_taken_from_engines_that_are_used_from_different_languages() {
    let options = Options { width: 200, ..Options::default() };
    let shown = |columns: &[&str]| {
        let mut file = languages();
        file.cells.retain(|cell| columns.contains(&&*cell.id.engine));
        screen(&file, &options, &Files::default())
    };
    let python = shown(&["sqlite", "sqlite-python", "lmdb-python"]);
    let words = python.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("used from python commits (process) "), "{python}");
    let (_, take) = words.split_once("What to take").unwrap();
    assert!(!take.contains(" sqlite, ") && !take.contains("ahead of sqlite "), "{python}");
    let neither = shown(&["sqlite", "sqlite-python"]);
    assert!(neither.contains("no two engines are used from the same language"), "{neither}");
    assert!(!neither.contains("ahead of"), "{neither}");
}

#[test]
fn results_of_other_clients_compare_by_the_names_of_columns() {
    let (native, languages) = (native(), languages());
    let changes = compare(&native, &languages);
    assert!(changes.differences.incomparable.is_empty(), "{:?}", changes.differences);
    assert!(changes.turned.is_empty() && changes.only_old.is_empty());
    assert!(!changes.only_new.is_empty());
    assert!(changes.only_new.iter().all(|cell| cell.engine.ends_with("-python")));
}

#[test]
fn the_page_has_the_client_of_a_cell_and_an_answer_for_each_language() {
    let mut file = languages();
    file.cells.retain(|cell| cell.id.scale == Scale::Rows(10_000));
    let path = Path::new("pi/result.json");
    let page = html::data(&[Source { path, result: &file }], PageOptions::default()).unwrap();
    let text = serde_json::to_string_pretty(&page).unwrap() + "\n";
    assert_written(PAGE_FIXTURE, &text);
    let page: serde_json::Value = serde_json::from_str(&text).unwrap();
    for cell in page["cells"].as_array().unwrap() {
        let is_python = cell["engine"].as_str().unwrap().ends_with("-python");
        let expected = is_python.then_some("python");
        assert_eq!((cell["client"].as_str(), cell["language"].as_str()), (expected, expected));
    }
    let answers = page["answer"].as_array().unwrap();
    let clients: Vec<_> = answers.iter().map(|answer| answer["client"].as_str()).collect();
    assert_eq!(clients, [None, Some("native"), Some("python")]);
    let best = |at: usize| answers[at]["orders"][0]["ranked"][0]["engine"].as_str().unwrap();
    assert!(!best(0).ends_with("-python"));
    assert_eq!(best(2), "sqlite-python");
    let tables = page["advice"][0]["tables"].as_array().unwrap();
    let mut languages: Vec<_> = tables.iter().map(|table| table["client"].as_str()).collect();
    languages.dedup();
    assert_eq!(languages, [None, Some("python")]);
}
