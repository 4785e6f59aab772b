//! Whatever a result file holds, it is shown or refused.

use std::fs;
use std::path::Path;

use embermark_report::{Files, Format, Options, load, overview, render};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

const FIXTURE: &str = "tests/fixtures/schema-1.json";

/// Every value that lies in this one, itself first.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(all) => all.iter().map(count).sum(),
        Value::Object(all) => all.values().map(count).sum(),
        _ => 0,
    }
}

/// The value at a place of that count.
fn nth<'a>(value: &'a mut Value, place: &mut usize) -> Option<&'a mut Value> {
    if *place == 0 {
        return Some(value);
    }
    *place -= 1;
    match value {
        Value::Array(all) => all.iter_mut().find_map(|one| nth(one, place)),
        Value::Object(all) => all.values_mut().find_map(|one| nth(one, place)),
        _ => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_mutated_result_is_shown_or_refused(edits in prop::collection::vec((any::<Index>(), 0..10_usize), 1..4)) {
        let mut result: Value = serde_json::from_slice(&fs::read(FIXTURE).unwrap()).unwrap();
        for (at, what) in edits {
            let all = count(&result);
            let place = nth(&mut result, &mut at.index(all)).unwrap();
            let others = [
                json!(null), json!(0), json!(-1), json!(1e300), json!(u64::MAX), json!(""),
                json!("=\u{1b}[2J"), json!([]), json!({}), json!("x".repeat(10_000)),
            ];
            *place = others[what].clone();
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result.json");
        fs::write(&path, serde_json::to_vec(&result).unwrap()).unwrap();
        if let Ok(file) = load(&path) {
            let options = Options { path: Some(Path::new("a")), ..Options::default() };
            for format in [Format::Table, Format::Csv, Format::Markdown, Format::Json] {
                prop_assert!(render(&file, format, &options).is_ok());
            }
            let files = Files { page: None, tables: None };
            let screen = overview(&file, &options, &files);
            prop_assert!(!screen.contains('\u{1b}'), "it has an escape");
        }
    }

    #[test]
    fn a_cut_or_noisy_file_is_shown_or_refused(cut in any::<Index>(), noise in "\\PC{0,8}") {
        let mut text = fs::read(FIXTURE).unwrap();
        text.truncate(cut.index(text.len()));
        text.extend(noise.as_bytes());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result.json");
        fs::write(&path, text).unwrap();
        prop_assert!(load(&path).is_err());
    }
}
