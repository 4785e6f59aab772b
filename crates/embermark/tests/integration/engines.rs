//! `embermark engines`.

use crate::common::{Sandbox, is_here};
use embermark_engines::registry;

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
