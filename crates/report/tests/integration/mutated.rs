//! Any content of a result file is either shown or rejected.

use std::collections::BTreeSet;
use std::fs;
use std::panic;
use std::path::Path;

use embermark_model::tuning_result::TuningResult;
use embermark_report::check::check;
use embermark_report::compare::compare;
use embermark_report::evidence::full_disk_text;
use embermark_report::html::{self, PageOptions, Source};
use embermark_report::{Files, Format, Options, load, load_durability, render, screen, tuned};
use embermark_skips::{cases, sampled};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

const FIXTURE: &str = "tests/fixtures/schema-1.json";

/// Counts the values in a value, itself first.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(all) => all.iter().map(count).sum(),
        Value::Object(all) => all.values().map(count).sum(),
        _ => 0,
    }
}

/// Returns the value at an index of that count.
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

/// Collects the path of every number in `value`, which consists of the names of its fields.
/// Elements of arrays and entries of maps of numbers share one path, because they may be summed.
fn paths(value: &Value, at: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Number(_) => _ = found.insert(at.to_owned()),
        Value::Array(all) => all.iter().for_each(|one| paths(one, at, found)),
        Value::Object(all) => all.iter().for_each(|(name, one)| match one {
            Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                paths(one, &format!("{at}.{name}"), found);
            }
            _ => {}
        }),
        _ => {}
    }
}

/// Sets every number with this path.
fn set(value: &mut Value, path: &str, to: u64) {
    match value {
        Value::Number(number) if path.is_empty() => *number = to.into(),
        Value::Array(all) => all.iter_mut().for_each(|one| set(one, path, to)),
        Value::Object(all) => {
            for (name, one) in all {
                let rest = path.strip_prefix('.').and_then(|path| path.strip_prefix(name.as_str()));
                let rest = rest.filter(|rest| rest.is_empty() || rest.starts_with('.'));
                rest.into_iter().for_each(|rest| set(one, rest, to));
            }
        }
        _ => {}
    }
}

/// Makes every output of a result. Returns whether it could be read.
fn show(path: &Path) -> bool {
    let Ok(file) = load(path) else { return false };
    let options = Options { path: Some(path), ..Options::default() };
    render(&file, Format::Csv, &options).unwrap();
    screen(&file, &options, &Files { page: None, tables: None });
    html::data(&[Source { path, result: &file }], PageOptions::default()).unwrap();
    compare(&file, &file);
    check(&file);
    true
}

fn show_durability(path: &Path) -> bool {
    let Ok(run) = load_durability(path) else { return false };
    let _ = full_disk_text(&run, 80);
    html::durability_data(&run, &[]);
    true
}

fn show_tuning(path: &Path) -> bool {
    let read = serde_json::from_slice::<TuningResult>(&fs::read(path).unwrap());
    let Ok(result) = read else { return false };
    for (name, tuned) in &result.engines {
        let _ = tuned::text(name, tuned, &result);
    }
    html::tuning_data(&result, &[]);
    true
}

/// Sums and differences of what a file has neither overflow nor underflow. Tests are compiled with
/// overflow checks. If a number of 64 bits is rejected, the largest of 32 bits is used. `make test`
/// sets some of the numbers.
fn with_extremes(fixture: &str, show: fn(&Path) -> bool) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("result.json");
    let file = format!("tests/fixtures/{fixture}.json");
    let result: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    let (mut all, mut panics) = (BTreeSet::new(), BTreeSet::new());
    paths(&result, "", &mut all);
    for at in sampled(all, 16) {
        let mut with = |to: u64| {
            let mut result = result.clone();
            set(&mut result, &at, to);
            fs::write(&path, serde_json::to_vec(&result).unwrap()).unwrap();
            panic::catch_unwind(|| show(&path)).unwrap_or_else(|_| {
                panics.insert(format!("{at} = {to}"));
                true
            })
        };
        let _ = with(u64::MAX) || with(u32::MAX.into());
        with(0);
    }
    assert!(panics.is_empty(), "{panics:#?}");
}

#[test]
fn a_result_with_the_largest_or_smallest_numbers_is_shown_or_refused() {
    with_extremes("schema-1", show);
}

#[test]
fn a_result_of_a_machine_with_the_largest_or_smallest_numbers_is_shown_or_refused() {
    with_extremes("schema-1-machine", show);
    with_extremes("schema-2", show);
}

#[test]
fn other_results_with_the_largest_or_smallest_numbers_are_shown_or_refused() {
    with_extremes("durability-1", show_durability);
    with_extremes("durability-full-disk", show_durability);
    with_extremes("tune", show_tuning);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(24, 64)))]

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
            let screen = screen(&file, &options, &files);
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
