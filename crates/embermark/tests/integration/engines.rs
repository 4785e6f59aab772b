//! `embermark engines`, and the engines that a build has.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::common::{Sandbox, is_here};
use embermark_engines::registry;
use serde::Deserialize;

#[derive(Deserialize)]
struct Manifest {
    /// Features, each with those that it turns on.
    features: BTreeMap<String, Vec<String>>,
}

/// Returns the features in the manifest of a crate of the workspace.
fn features(name: &str) -> BTreeMap<String, Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("Cargo.toml");
    toml::from_str::<Manifest>(&fs::read_to_string(path).unwrap()).unwrap().features
}

#[test]
fn every_engine_is_a_feature_of_the_program_and_on_by_default() {
    const SHARED: [&str; 5] = ["default", "all", "engine-library", "server", "http"];
    let (program, engines) = (features("embermark"), features("engines"));
    let all = &engines["all"];
    assert_eq!(program["default"], *all);
    for engine in engines.keys().filter(|name| !SHARED.contains(&name.as_str())) {
        assert!(all.contains(engine), "{engine} is not in 'all'");
        assert_eq!(program.get(engine), Some(&vec![format!("embermark-engines/{engine}")]));
    }
}

/// Returns the columns of an engine's line, which two or more blanks separate.
fn line<'a>(text: &'a str, engine: &str) -> Vec<&'a str> {
    let line = text.lines().find(|line| line.split_whitespace().next() == Some(engine)).unwrap();
    line.split("  ").map(str::trim).filter(|column| !column.is_empty()).collect()
}

#[test]
fn each_engine_says_where_it_comes_from_and_how_old_it_is() {
    let text = Sandbox::new().embermark(&["engines"]).expect_status(0).stdout;
    let head = text.lines().next().unwrap();
    assert!(head.contains("from") && head.contains("released"), "{head}");
    assert_eq!(line(&text, "memory")[4..6], ["-", "-"]);
    if is_here("sqlite") {
        assert_eq!(line(&text, "sqlite")[4], "compiled in");
    }
    if is_here("rocksdb") {
        let origin = registry::find("rocksdb").unwrap().origin().unwrap();
        assert_eq!(line(&text, "rocksdb")[4], origin.to_string());
        let path = origin.path().unwrap().display();
        assert!(text.contains(&format!("rocksdb, library: {path}")), "{text}");
    }
}
