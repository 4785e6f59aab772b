//! Tests the commands in the example workflows of `examples/ci` and in the documents. This version
//! must accept each of them.

use std::fs;
use std::path::Path;

use clap::Parser;
use yaml_rust2::{Yaml, YamlLoader};

use crate::Cli;

/// Returns the texts of all steps that run something.
fn scripts(workflow: &Yaml) -> Vec<String> {
    let jobs = workflow["jobs"].as_hash().unwrap().values();
    let steps = jobs.flat_map(|job| job["steps"].as_vec().unwrap());
    steps.filter_map(|step| step["run"].as_str().map(str::to_owned)).collect()
}

/// Returns the words of each embermark command in a script. Lines that end in `\` continue.
fn commands(script: &str) -> Vec<Vec<String>> {
    let whole = script.replace("\\\n", " ");
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let lines = whole.lines().map(words);
    lines.filter(|words| words.first().is_some_and(|first| first == "embermark")).collect()
}

#[test]
fn example_workflows_are_yaml_and_their_commands_are_taken() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/ci");
    let mut files = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let workflow = &YamlLoader::load_from_str(&text).unwrap()[0];
        let found: Vec<_> = scripts(workflow).iter().flat_map(|script| commands(script)).collect();
        assert!(found.len() >= 2, "{}: {found:?}", path.display());
        assert_eq!(text.matches("embermark run ").count(), 1, "{}", path.display());
        for words in found {
            assert!(words.iter().all(|word| !word.contains(['"', '\'', '$'])), "{words:?}");
            if let Err(error) = Cli::try_parse_from(&words) {
                panic!("{}: {}: {error}", path.display(), words.join(" "));
            }
        }
        files += 1;
    }
    assert_eq!(files, 3);
}

/// Returns the documents whose commands are checked: the README, the contributor's guide and every
/// page below `docs/`.
fn documents() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    let mut paths = vec![root.join("README.md"), root.join("CONTRIBUTING.md"), root.join("docs")];
    while let Some(path) = paths.pop() {
        if path.is_dir() {
            paths.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            let name = path.strip_prefix(&root).unwrap().display().to_string();
            found.push((name, fs::read_to_string(&path).unwrap()));
        }
    }
    found
}

/// Returns the code lines of a document: fenced blocks, and lines that are indented by four spaces.
/// Lines that end in `\` are joined with the next one.
fn code(document: &str) -> String {
    let mut fenced = false;
    let mut code = String::new();
    for line in document.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if fenced || line.starts_with("    ") {
            code.push_str(line.trim());
            code.push('\n');
        }
    }
    code.replace("\\\n", " ")
}

/// Returns the embermark commands in a shell line, each as its words, without comments.
fn commands_in(line: &str) -> Vec<Vec<String>> {
    let words = shlex::split(line.strip_prefix("$ ").unwrap_or(line)).unwrap_or_default();
    // A semicolon, a pipe or a redirection ends a command; it may be at the end of a word.
    let words = words.iter().flat_map(|word| match word.strip_suffix(';') {
        Some(word) => vec![word, ";"],
        None => vec![word.as_str()],
    });
    let words: Vec<&str> = words.collect();
    let commands = words.split(|word| [";", "|", "&&", "||", ">", "<"].contains(word));
    let of_embermark = commands.filter_map(|words| {
        let prefix =
            |word: &&&str| **word == "sudo" || word.contains('=') && !word.starts_with('-');
        let skipped = words.iter().take_while(prefix).count();
        let command = &words[skipped..];
        let is_embermark = command.first()?.rsplit('/').next() == Some("embermark");
        is_embermark.then(|| command.iter().map(|word| (*word).to_owned()).collect())
    });
    of_embermark.collect()
}

#[test]
fn this_version_accepts_every_command_in_the_documents() {
    let (mut count, mut wrong) = (0, Vec::new());
    for (name, text) in documents() {
        for words in code(&text).lines().flat_map(commands_in) {
            count += 1;
            let shown = words.join(" ");
            if let Err(error) = Cli::try_parse_from(words) {
                // `--help` and `--version` are reported like errors, but succeed.
                if error.use_stderr() {
                    wrong.push(format!("{name}: {shown}: {error}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 150, "{count}");
}
