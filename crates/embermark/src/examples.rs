//! The example workflows in `examples/ci`: they are YAML, and each command of embermark in them is one that this
//! version takes.

use std::fs;
use std::path::Path;

use clap::Parser;
use yaml_rust2::{Yaml, YamlLoader};

use crate::Cli;

/// The texts of all steps that run something.
fn scripts(workflow: &Yaml) -> Vec<String> {
    let jobs = workflow["jobs"].as_hash().unwrap().values();
    let steps = jobs.flat_map(|job| job["steps"].as_vec().unwrap());
    steps.filter_map(|step| step["run"].as_str().map(str::to_owned)).collect()
}

/// The words of each command of embermark in a script: lines that end in `\` go on.
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
