//! What comes from others moves no cursor and is no formula: results, file names, words of a command line,
//! and what a library says of itself.

use std::collections::BTreeSet;
use std::fs;

use crate::common::{Ended, Place};
use embermark_report::html;
use embermark_skips::sampled;
use serde_json::Value;

const HOSTILE: &str = "=1+1\x1b[31m\x1b]0;title\x07\u{9b}2J\u{202e}<script>alert(1)</script>\r\n@x";

/// Asserts that a terminal obeys nothing of what was said.
#[track_caller]
pub fn is_harmless(ended: &Ended, about: &str) {
    for said in [&ended.stdout, &ended.stderr] {
        let obeyed = |c: char| c.is_control() && !"\n\t".contains(c) || c == '\u{202e}';
        assert_eq!(said.find(obeyed), None, "{about}: {said:?}");
    }
    assert!([0, 1, 2].contains(&ended.status), "{about}: {} {}", ended.status, ended.stderr);
}

/// The names of the fields that hold a text, or lie in a map, each with the fields that it lies in.
fn fields(value: &Value, at: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::String(_) => drop(found.insert(at.to_owned())),
        Value::Array(all) => all.iter().for_each(|one| fields(one, at, found)),
        Value::Object(all) => {
            all.iter().for_each(|(name, one)| fields(one, &format!("{at}/{name}"), found));
        }
        _ => {}
    }
}

/// Makes the texts of one field hostile, wherever it is.
fn spoil(value: &mut Value, at: &str, field: &str) {
    match value {
        Value::String(text) if at == field => HOSTILE.clone_into(text),
        Value::Array(all) => all.iter_mut().for_each(|one| spoil(one, at, field)),
        Value::Object(all) => {
            all.iter_mut().for_each(|(name, one)| spoil(one, &format!("{at}/{name}"), field));
        }
        _ => {}
    }
}

#[test]
fn no_text_of_a_result_gets_through_to_a_terminal_a_page_or_a_spreadsheet() {
    let place = Place::new();
    let words = ["run", "sensors", "-e", "sqlite,memory", "-s", "100", "--runs", "2"];
    place.embermark(&[&words[..], &["--trials", "1", "--out", "out"]].concat()).with(0);
    let result = serde_json::to_value(place.result("out")).unwrap();
    let mut all = BTreeSet::new();
    fields(&result, "", &mut all);
    assert!(all.len() > 30, "{all:?}");
    for field in sampled(&all, 16) {
        let mut spoilt = result.clone();
        spoil(&mut spoilt, "", field);
        place.write("spoilt.json", serde_json::to_vec(&spoilt).unwrap());
        let report = |more: &[&str]| {
            let ended = place.embermark(&[&["report", "spoilt.json"], more].concat());
            is_harmless(&ended, field);
            ended
        };
        report(&[]);
        report(&["--show", "tables"]);
        let markdown = report(&["-f", "markdown"]).stdout.replace("\\<", "");
        assert!(!markdown.contains("<script"), "{field}: {markdown}");
        let csv = report(&["-f", "csv"]);
        for record in csv::Reader::from_reader(csv.stdout.as_bytes()).records() {
            for cell in &record.unwrap() {
                let is_formula = cell.starts_with(['=', '+', '-', '@']);
                assert!(!is_formula || cell.parse::<f64>().is_ok(), "{field}: {cell}");
            }
        }
        if html::is_built() && report(&["-o", "page.html"]).status == 0 {
            let page = fs::read_to_string(place.path("page.html")).unwrap();
            assert!(!page.contains("<script>alert(1)"), "{field}");
        }
        for words in [
            &["compare", "spoilt.json", "spoilt.json"][..],
            &["gate", "spoilt.json", "spoilt.json"],
            &["check", "spoilt.json"],
            &["advise", "spoilt.json"],
        ] {
            is_harmless(&place.embermark(words), field);
        }
    }
}

#[test]
fn words_of_a_command_line_and_names_of_files_are_shown_as_text() {
    let place = Place::new();
    let name = "x\x1b[31m\u{9b}2J\u{202e}";
    let (file, csv) = (format!("{name}.json"), format!("{name}.csv"));
    place.write(&file, "{}");
    place.write(&csv, "a,b\n1,2\n");
    let toml = format!("{name}.toml");
    place.write(&toml, "name = 'x\u{1b}[2J'\nfoo\u{1b} = 1\n");
    for words in [
        &["report", &file][..],
        &["compare", &file, &file],
        &["gate", &file, &file],
        &["check", &file],
        &["advise", &file],
        &["init", &csv],
        &["run", &toml],
        &["run", name],
        &["run", "--scale", name],
        &["run", "-e", name],
        &["run", "--set", name],
        &["run", "--set", &format!("timeout={name}")],
        &["run", "--runs", name],
        &["run", "--url", name],
        &["run", "--plan", name],
        &["run", "--out", name, "--data", name],
        &[name],
        &["report", &format!("--{name}")],
    ] {
        let ended = place.embermark(words);
        is_harmless(&ended, words[0]);
        let shown = words.iter().any(|word| word.contains("toml")) || ended.status == 2;
        assert!(shown || words[0] == "init", "{words:?}: {}", ended.stderr);
    }
}
