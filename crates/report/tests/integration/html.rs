//! The data of the HTML page: its content, and that the page's tests get the same.

use std::collections::BTreeMap;
use std::path::Path;

use crate::counted::counted;
use crate::metered::metered;
use crate::with_explanations::explained;
use crate::written::assert_written;
use embermark_model::Durability;
use embermark_model::result::{EngineFacts, Observed, Resources, ResultFile};
use embermark_report::html::{self, Page, PageOptions, PhaseFacts, Source, WorkloadFacts};
use embermark_report::{ReportError, load};

const FIXTURE: &str = "tests/fixtures/schema-1.json";
/// Input of the page's tests in `page/tests`.
const PAGE_FIXTURE: &str = "page/tests/fixtures/page.json";

fn fixture() -> ResultFile {
    metered(explained(counted(load(Path::new(FIXTURE)).unwrap())))
}

fn options() -> PageOptions<'static> {
    let engine = |id: &str, kind: &str, data_model: &str| {
        let facts = EngineFacts {
            name: id.to_uppercase(),
            kind: kind.into(),
            data_model: data_model.into(),
            licence: "MIT".into(),
            configuration: None,
            engine_library: None,
        };
        (id.to_owned(), facts)
    };
    PageOptions {
        order: &["load", "read", "outages", "full_profile"],
        explanations: &[],
        engines: BTreeMap::from([
            engine("sqlite", "embedded", "SQL"),
            engine("duckdb", "embedded", "SQL"),
            engine("lmdb", "embedded", "key-value"),
            engine("berkeleydb", "embedded", "key-value"),
            engine("postgres", "server", "SQL"),
            engine("mongodb", "server", "document"),
        ]),
        workloads: vec![WorkloadFacts {
            id: "sensors".into(),
            about: "room sensors: ingest, point access, analytics".into(),
            phases: vec![PhaseFacts { name: "load".into(), about: "insert every row".into() }],
        }],
        durability: Default::default(),
        rows_per_day: None,
    }
}

fn data(file: &ResultFile) -> Page<'_> {
    let path = Path::new("pi/result.json");
    html::data(&[Source { path, result: file }], options()).unwrap()
}

#[test]
fn the_pages_tests_are_given_what_this_version_writes() {
    let text = serde_json::to_string_pretty(&data(&fixture())).unwrap() + "\n";
    assert_written(PAGE_FIXTURE, &text);
}

#[test]
fn every_cell_of_the_result_is_in_the_page_with_every_phase_of_its_row() {
    let file = fixture();
    let page = data(&file);
    assert_eq!(page.cells.len(), file.cells.len());
    for (index, cell) in page.cells.iter().enumerate() {
        assert!(page.entries.iter().any(|entry| entry.cell == index), "{cell:?}");
    }
}

#[test]
fn figures_are_those_of_the_terminals_table() {
    let file = fixture();
    let page = data(&file);
    let comparison = embermark_report::summary::compare(&file, options().order);
    let measured =
        comparison.groups.iter().flat_map(|group| &group.rows).flat_map(|row| &row.entries);
    let measured: Vec<f64> = measured
        .filter_map(|entry| match entry {
            embermark_report::summary::Entry::Measured(measured) => Some(measured.figure.per_op_ns),
            _ => None,
        })
        .collect();
    let given: Vec<f64> =
        page.entries.iter().filter_map(|entry| Some(entry.figure.as_ref()?.per_op_ns)).collect();
    assert_eq!(given, measured);
}

#[test]
fn an_engine_that_nothing_is_known_of_is_a_server_when_it_had_a_client_beside_it() {
    let file = fixture();
    let options = PageOptions { engines: BTreeMap::new(), ..options() };
    let path = Path::new("a.json");
    let page = html::data(&[Source { path, result: &file }], options).unwrap();
    let kind = |engine: &str| {
        let mut cells = page.cells.iter().filter(|cell| cell.engine == engine);
        cells.find_map(|cell| cell.kind.clone())
    };
    assert_eq!(kind("sqlite").as_deref(), Some("embedded"));
    assert_eq!(kind("memory").as_deref(), Some("reference"));
}

fn both<'a>(one: &'a ResultFile, two: &'a ResultFile) -> Result<Page<'a>, ReportError> {
    let first = Source { path: Path::new("pi/result.json"), result: one };
    let second = Source { path: Path::new("server/result.json"), result: two };
    html::data(&[first, second], options())
}

#[test]
fn several_results_are_told_apart_and_the_same_one_is_refused_twice() {
    let (one, mut two) = (fixture(), fixture());
    let error = both(&one, &two).unwrap_err();
    assert!(matches!(error, ReportError::SameRun { .. }));
    for word in ["pi/result.json", "server/result.json", &one.manifest.run_id] {
        assert!(error.to_string().contains(word), "{error}");
    }
    two.manifest.run_id = "another".into();
    let page = both(&one, &two).unwrap();
    let labels: Vec<&str> = page.results.iter().map(|result| result.label.as_str()).collect();
    assert_eq!(labels, ["pi", "server"]);
    assert_eq!(page.cells.len(), 2 * one.cells.len());
    assert_eq!((page.advice.len(), &page.advice[0].of), (1, &None), "measured alike: one advice");
    assert!(page.unlike.is_empty(), "{:?}", page.unlike);
    two.manifest.machine.cpu = Some("another".into());
    let page = both(&one, &two).unwrap();
    assert_eq!(page.unlike, ["pi, server: CPU: Example CPU, then another"]);
    let of: Vec<Option<&str>> = page.advice.iter().map(|advice| advice.of.as_deref()).collect();
    assert_eq!(of, [Some("pi"), Some("server")]);
    assert!(page.entries.iter().all(|entry| entry.cell < page.cells.len()));
}

#[test]
fn results_with_other_versions_of_an_engine_are_alike_and_advised_on_one_at_a_time() {
    let (one, mut two) = (fixture(), fixture());
    two.manifest.run_id = "another".into();
    for trial in two.cells.iter_mut().flat_map(|cell| &mut cell.trials) {
        trial.version = trial.version.as_ref().map(|version| format!("{version}.1"));
    }
    let page = both(&one, &two).unwrap();
    assert_eq!((page.unlike.len(), page.advice.len()), (0, 2));
}

#[test]
fn figures_that_may_not_be_published_are_named_on_the_face() {
    let mut file = fixture();
    assert_eq!(data(&file).face, None);
    for cell in file.cells.iter_mut().filter(|cell| cell.id.engine == "lmdb") {
        cell.unpublishable = true;
    }
    let page = data(&file);
    let face = page.face.as_deref().unwrap();
    assert!(face.contains("NOT TO BE PUBLISHED") && face.contains("lmdb"), "{face}");
    let left_out = file.publishable();
    let page = data(&left_out);
    assert_eq!(page.face, None);
    let cells = || page.cells.iter().filter(|cell| cell.engine == "lmdb");
    assert!(cells().all(|cell| cell.trials.is_empty()) && cells().count() > 0);
}

#[test]
fn a_reference_and_an_engine_of_lower_durability_are_not_ranked() {
    let mut file = fixture();
    for cell in file.cells.iter_mut().filter(|cell| cell.id.engine == "lmdb") {
        cell.effective_durability = Some(Durability::None);
    }
    let page = data(&file);
    let ranked = |engine: &str| page.cells.iter().any(|cell| cell.engine == engine && cell.ranked);
    assert!(ranked("sqlite") && ranked("duckdb"));
    assert!(!ranked("lmdb") && !ranked("memory"));
}

#[test]
fn what_was_watched_in_a_phase_is_told_once_and_its_network_bytes_are_a_median() {
    let mut file = fixture();
    let cell = file.cells.iter_mut().find(|cell| cell.trials.len() == 2).unwrap();
    for (trial, bytes) in cell.trials.iter_mut().zip([100, 300]) {
        for run in trial.phases[0].runs.iter_mut().filter(|run| !run.discarded) {
            run.observed = Some(Observed {
                network_bytes: Some(bytes),
                remarks: vec!["did not keep up".into()],
                processes: [("writer".to_owned(), Resources::default())].into(),
                ..Observed::default()
            });
        }
    }
    let page = data(&file);
    let seen: Vec<_> = page.entries.iter().filter(|entry| !entry.remarks.is_empty()).collect();
    assert_eq!(seen.len(), 1);
    assert_eq!((seen[0].network_bytes, seen[0].remarks.len()), (Some(200.0), 1));
    let windows: Vec<_> =
        seen[0].watched.iter().map(|of| (of.trial, of.seen.network_bytes)).collect();
    assert!(windows.contains(&(0, Some(100))) && windows.contains(&(1, Some(300))), "{windows:?}");
    let json = serde_json::to_value(&seen[0].watched[0]).unwrap();
    assert_eq!(json["processes"]["writer"], serde_json::json!({}), "not measured is absent");
}

#[test]
fn a_build_with_the_page_puts_the_data_into_it_and_one_without_says_how_to_get_it() {
    let mut file = fixture();
    file.manifest.warnings.push("</script><img src=x onerror=alert(1)>".into());
    let path = Path::new("result.json");
    let page = html::data(&[Source { path, result: &file }], options()).unwrap().html();
    if html::is_built() {
        let page = page.unwrap();
        assert!(!page.contains("</script><img"), "markup of a warning got through");
        assert!(page.contains(&file.manifest.run_id));
        assert!(!page.contains("EMBERMARK-DATA"));
    } else {
        embermark_skips::skipped("page", "this build has none; make build");
        assert!(page.unwrap_err().to_string().contains("make build"));
    }
}
