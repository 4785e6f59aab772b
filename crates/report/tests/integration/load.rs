//! Valid and invalid result files, and the errors of invalid ones.

use std::io::Write;
use std::path::{Path, PathBuf};

use embermark_model::Status;
use embermark_model::result::SCHEMA;
use embermark_report::{ReportError, load};
use flate2::Compression;
use flate2::write::GzEncoder;

const FIXTURE: &str = "tests/fixtures/schema-1.json";

fn load_text(text: impl AsRef<[u8]>) -> Result<embermark_model::result::ResultFile, ReportError> {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("result.json");
    std::fs::write(&path, text).unwrap();
    load(&path)
}

fn fixture() -> serde_json::Value {
    serde_json::from_str(&std::fs::read_to_string(FIXTURE).unwrap()).unwrap()
}

#[test]
fn a_result_of_schema_1_still_loads_with_every_status_in_it() {
    let file = load(Path::new(FIXTURE)).unwrap();
    assert_eq!((file.schema, file.cells.len()), (SCHEMA, 28));
    let statuses: std::collections::BTreeSet<Status> = file
        .cells
        .iter()
        .flat_map(|cell| {
            let trials = cell.trials.iter().chain(&cell.lost_trials);
            [cell.status]
                .into_iter()
                .chain(trials.flat_map(|t| t.phases.iter().map(|p| p.status).chain([t.status])))
        })
        .collect();
    assert_eq!(statuses.len(), 7, "{statuses:?}");
}

#[test]
fn unknown_fields_are_ignored_and_absent_optional_ones_have_defaults() {
    let mut value = fixture();
    value["of_the_future"] = serde_json::json!({"a": [1]});
    value["cells"][0]["of_the_future"] = serde_json::json!(1);
    let manifest = value["manifest"].as_object_mut().unwrap();
    manifest.retain(|name, _| name != "floor" && name != "warnings" && name != "finished");
    let file = load_text(value.to_string()).unwrap();
    assert!(file.manifest.floor.is_none() && file.manifest.warnings.is_empty());
}

#[test]
fn a_missing_file_is_answered_with_how_to_make_one() {
    let error = load(Path::new("no/such/result.json")).unwrap_err();
    assert!(matches!(error, ReportError::Missing(_)));
    assert!(error.to_string().contains("no/such/result.json"));
    assert!(error.to_string().contains("embermark run"));
    assert!(matches!(load(Path::new("tests")).unwrap_err(), ReportError::Unreadable { .. }));
}

#[test]
fn a_file_cut_anywhere_is_called_truncated() {
    let text = std::fs::read_to_string(FIXTURE).unwrap();
    for length in [0, 1, 20, 500, text.len() / 2, text.len() - 3] {
        let error = load_text(&text[..length]).unwrap_err();
        assert!(matches!(error, ReportError::Truncated(_)), "{length}: {error}");
        assert!(error.to_string().contains("--resume"));
    }
}

#[test]
fn a_compressed_file_loads_whatever_its_name_and_a_damaged_one_is_named() {
    let text = std::fs::read(FIXTURE).unwrap();
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(&text).unwrap();
    let gzip = gzip.finish().unwrap();
    let [compressed, plain] = [load_text(&gzip), load(Path::new(FIXTURE))]
        .map(|file| serde_json::to_value(file.unwrap()).unwrap());
    assert!(compressed == plain);
    let mut damaged: Vec<Vec<u8>> =
        [2, 5, 10, gzip.len() / 2, gzip.len() - 1].map(|length| gzip[..length].to_vec()).into();
    // In the data, and in the checksum after it.
    for at in [gzip.len() / 2, gzip.len() - 6] {
        damaged.push(gzip.clone());
        damaged.last_mut().unwrap()[at] ^= 0xff;
    }
    damaged.push([&gzip[..], b"more"].concat());
    for file in damaged {
        let error = load_text(&file).unwrap_err();
        assert!(matches!(error, ReportError::Damaged(..)), "{}: {error}", file.len());
        let says = error.to_string();
        assert!(says.contains("result.json is a damaged gzip file"), "{says}");
    }
}

#[test]
fn what_is_not_json_or_not_a_result_is_told_apart() {
    let error = load_text("run_id,workload\n1,sensors\n").unwrap_err();
    assert!(matches!(error, ReportError::NotJson { .. }), "{error}");
    for text in ["3", "\"text\"", "{}", "{\"schema\": \"1\"}", "{\"schema\": 1, \"cells\": []}"] {
        let error = load_text(text).unwrap_err();
        assert!(matches!(error, ReportError::NotAResult { .. }), "{text}: {error}");
    }
    let error = load_text("{\"schema\": 1, \"manifest\": {}, \"cells\": []}").unwrap_err();
    assert!(matches!(error, ReportError::Malformed { .. }), "{error}");
    assert!(error.to_string().contains("run_id"), "{error}");
}

#[test]
fn a_newer_schema_says_upgrade_even_when_the_rest_has_changed() {
    let error = load_text("{\"schema\": 5, \"everything\": \"else\"}").unwrap_err();
    assert!(matches!(error, ReportError::TooNew(_, 5)));
    assert!(error.to_string().contains("upgrade embermark"), "{error}");
}

#[test]
fn a_journal_is_recognized_and_sent_to_resume() {
    let error =
        load_text("{\"embermark_journal\": 1, \"plan\": {}}\n{\"trial\": {}}\n").unwrap_err();
    assert!(matches!(error, ReportError::Journal(_)));
    assert!(error.to_string().contains("--resume"));
}

#[test]
fn a_field_that_cannot_be_read_is_named_by_its_path() {
    let mut value = fixture();
    value["cells"][3]["trials"][0]["phases"][0]["ops"] = serde_json::json!("many");
    for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
        let error = load_text(&text).unwrap_err().to_string();
        assert!(error.contains("(cells[3].trials[0].phases[0].ops: invalid type"), "{error}");
        assert!(!error.contains("column"), "{error}");
    }
}

#[test]
fn what_stands_twice_is_refused_and_named() {
    let twice = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut value = fixture();
        change(&mut value);
        load_text(value.to_string()).unwrap_err().to_string()
    };
    let again = |list: &mut serde_json::Value| {
        let first = list[0].clone();
        list.as_array_mut().unwrap().push(first);
    };
    let error = twice(&|value| again(&mut value["cells"]));
    assert!(
        error.contains("holds the cell sqlite sensors 1k") && error.contains("twice"),
        "{error}"
    );
    let error = twice(&|value| again(&mut value["cells"][0]["trials"]));
    assert!(error.contains("holds trial 0 of the cell"), "{error}");
    let error = twice(&|value| again(&mut value["cells"][0]["trials"][0]["phases"]));
    assert!(error.contains("holds the phase 'load' of the cell"), "{error}");
}

#[test]
fn a_text_that_no_run_keeps_is_refused_with_the_limit() {
    for (field, what) in [("version", "a version of"), ("reason", "a reason of")] {
        let mut value = fixture();
        value["cells"][0]["trials"][0][field] = serde_json::json!("v".repeat(5_000_000));
        let error = load_text(value.to_string()).unwrap_err().to_string();
        let says =
            error.contains(what) && error.contains("5000000 bytes in the cell sqlite sensors");
        assert!(says && error.contains("1 MiB is the most") && error.len() < 300, "{error}");
    }
}
