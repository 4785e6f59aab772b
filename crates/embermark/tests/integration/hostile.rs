//! Text from others cannot control the terminal or become a formula: results, file names, words of
//! a command line, and the description of a library.

use std::collections::BTreeSet;
use std::fs;

use crate::common::{ProgramOutput, Sandbox};
use embermark_report::html;
use embermark_skips::sampled;
use serde_json::Value;

const HOSTILE: &str = "=1+1\x1b[31m\x1b]0;title\x07\u{9b}2J\u{202e}<script>alert(1)</script>\r\n@x";

/// Asserts that the output has no control characters that a terminal obeys.
#[track_caller]
pub fn assert_harmless(ended: &ProgramOutput, about: &str) {
    for said in [&ended.stdout, &ended.stderr] {
        let obeyed = |c: char| c.is_control() && !"\n\t".contains(c) || c == '\u{202e}';
        assert_eq!(said.find(obeyed), None, "{about}: {said:?}");
    }
    assert!([0, 1, 2].contains(&ended.status), "{about}: {} {}", ended.status, ended.stderr);
}

/// Collects the paths of all fields that hold a text.
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
    let sandbox = Sandbox::new();
    let words = ["run", "sensors", "-e", "sqlite,memory", "-s", "100", "--runs", "2"];
    sandbox.embermark(&[&words[..], &["--trials", "1", "--out", "out"]].concat()).expect_status(0);
    let result = serde_json::to_value(sandbox.result("out")).unwrap();
    let mut all = BTreeSet::new();
    fields(&result, "", &mut all);
    assert!(all.len() > 30, "{all:?}");
    for field in sampled(&all, 6) {
        let mut spoilt = result.clone();
        spoil(&mut spoilt, "", field);
        sandbox.write("spoilt.json", serde_json::to_vec(&spoilt).unwrap());
        let report = |more: &[&str]| {
            let ended = sandbox.embermark(&[&["report", "spoilt.json"], more].concat());
            assert_harmless(&ended, field);
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
            let page = fs::read_to_string(sandbox.path("page.html")).unwrap();
            assert!(!page.contains("<script>alert(1)"), "{field}");
        }
        for words in [
            &["compare", "spoilt.json", "spoilt.json"][..],
            &["gate", "spoilt.json", "spoilt.json"],
            &["check", "spoilt.json"],
            &["advise", "spoilt.json"],
        ] {
            assert_harmless(&sandbox.embermark(words), field);
        }
    }
}

#[test]
fn words_of_a_command_line_and_names_of_files_are_shown_as_text() {
    let sandbox = Sandbox::new();
    let name = "x\x1b[31m\u{9b}2J\u{202e}";
    let (file, csv) = (format!("{name}.json"), format!("{name}.csv"));
    sandbox.write(&file, "{}");
    sandbox.write(&csv, "a,b\n1,2\n");
    let toml = format!("{name}.toml");
    sandbox.write(&toml, "name = 'x\u{1b}[2J'\nfoo\u{1b} = 1\n");
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
        let ended = sandbox.embermark(words);
        assert_harmless(&ended, words[0]);
        let shown = words.iter().any(|word| word.contains("toml")) || ended.status == 2;
        assert!(shown || words[0] == "init", "{words:?}: {}", ended.stderr);
    }
}
