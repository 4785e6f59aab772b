//! Help texts and messages do not use phrases that have a plainer replacement.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::Sandbox;

/// Phrases with a plainer replacement: *the number of*, *only*, *resume*, *per second*, *instead
/// of*,
/// *not a*.
const PHRASES: [&str; 15] = [
    " a second",
    " are no ",
    " by the clock",
    " go on ",
    " goes on",
    " is no ",
    " is none",
    " is there",
    " nobody ",
    " so many ",
    " somebody",
    " to be had",
    " whom",
    "for want of",
    "in place of",
];

/// Phrases that are banned only in help texts.
const PHRASES_OF_HELP: [&str; 7] =
    [" alone", " beside ", " says", " stands ", " tells", " told", " who "];

fn found<'a>(text: &str, phrases: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    phrases.into_iter().filter(|phrase| text.contains(phrase)).collect()
}

/// Returns the long help of a command and of all its subcommands.
fn helps(sandbox: &Sandbox, command: &[&str]) -> Vec<String> {
    let help = sandbox.embermark(&[command, &["--help"]].concat()).expect_status(0).stdout;
    let listed = help.split_once("\nCommands:\n").map_or("", |(_, listed)| listed);
    let listed = listed.lines().take_while(|line| !line.is_empty());
    let named = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let named = named.filter_map(|line| line.split_whitespace().next());
    let mut all = vec![help.split_whitespace().collect::<Vec<_>>().join(" ")];
    for name in named.filter(|name| *name != "help") {
        all.extend(helps(sandbox, &[command, &[name]].concat()));
    }
    all
}

#[test]
fn every_help_text_is_in_plain_english() {
    let all = helps(&Sandbox::new(), &[]);
    assert!(all.len() > 25, "{} help texts", all.len());
    for help in all {
        let found = found(&help, PHRASES.into_iter().chain(PHRASES_OF_HELP));
        assert!(found.is_empty(), "{found:?} in: {help}");
    }
}

/// Returns the lines of a source file without comments and unit tests.
fn lines_of_code(path: &Path) -> Vec<(usize, String)> {
    let text = fs::read_to_string(path).unwrap();
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = code.lines().enumerate().map(|(at, line)| (at + 1, line.to_owned()));
    lines.filter(|(_, line)| !line.trim_start().starts_with("//")).collect()
}

/// Returns the source files below a folder, without unit tests.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.file_stem().is_some_and(|name| name == "tests") {
            continue;
        }
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|end| end == "rs") {
            files.push(path);
        }
    }
    files
}

#[test]
fn every_message_is_in_plain_english() {
    for name in ["embermark", "harness", "report"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src");
        for path in sources(&folder) {
            for (number, line) in lines_of_code(&path) {
                let found = found(&line, PHRASES);
                assert!(found.is_empty(), "{found:?} in {}:{number}: {line}", path.display());
            }
        }
    }
}
