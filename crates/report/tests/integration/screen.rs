//! The screen of the golden result.

use std::path::Path;

use crate::written::assert_written;
use embermark_model::result::ResultFile;
use embermark_report::{Files, Format, Options, load, render, screen, text};
use textwrap::core::display_width;

const FIXTURE: &str = "tests/fixtures/schema-1.json";

fn shown(width: usize, colour: bool) -> String {
    let file = load(Path::new(FIXTURE)).unwrap();
    let path = Some(Path::new("out/result.json"));
    let files = Files {
        page: Some(Path::new("out/report.html")),
        tables: Some(Path::new("out/tables.txt")),
    };
    screen(&file, &Options { width, colour, path, ..Options::default() }, &files)
}

fn is_known(width: usize) {
    assert_written(&format!("tests/fixtures/screen-{width}.txt"), &shown(width, false));
}

#[test]
fn the_screen_at_120_columns_is_the_one_known_to_be_good() {
    is_known(120);
}

#[test]
fn the_screen_at_80_columns_is_the_one_known_to_be_good() {
    is_known(80);
}

#[test]
fn no_line_is_wider_than_the_terminal_and_all_fits_on_a_screen() {
    // Below 80 columns, the commands at its end stay on one line, so that they can be copied.
    for width in [80, 100, 120, 200] {
        let shown = shown(width, false);
        for line in shown.lines() {
            assert!(display_width(line) <= width, "{} > {width}: {line}", display_width(line));
            assert_eq!(line.trim_end(), line, "blanks at the end");
        }
        assert!(shown.lines().count() <= 45, "{} lines at {width}", shown.lines().count());
    }
}

/// Asserts that a text has colours, and is the plain text without them.
pub fn differ_in_colour_alone(plain: &str, coloured: &str) {
    assert!(coloured.contains("\x1b[") && !plain.contains('\x1b'));
    let squeezed = |shown: &str| shown.lines().map(text::plain).collect::<Vec<String>>();
    let (first, rest) = coloured.split_once("\x1b[").unwrap();
    let without = rest.split("\x1b[").map(|part| part.split_once('m').unwrap().1);
    assert_eq!(squeezed(&(first.to_owned() + &without.collect::<String>())), squeezed(plain));
}

#[test]
fn colour_changes_nothing_but_colour() {
    let (plain, coloured) = (shown(80, false), shown(80, true));
    differ_in_colour_alone(&plain, &coloured);
}

#[test]
fn what_may_not_be_published_says_so_on_the_face_of_the_screen() {
    let mut file = load(Path::new(FIXTURE)).unwrap();
    file.cells.iter_mut().for_each(|cell| cell.unpublishable = cell.id.engine == "lmdb");
    let shown = |file: &ResultFile| screen(file, &Options::default(), &Files::default());
    assert!(shown(&file).starts_with("NOT TO BE PUBLISHED: "), "{}", shown(&file));
    let allowed = shown(&file.clone().publishable());
    assert!(!allowed.contains("NOT TO BE PUBLISHED"), "{allowed}");
    assert!(!allowed.lines().any(|line| line.starts_with("lmdb")), "{allowed}");
    let words = allowed.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("left out by licence: lmdb"), "{allowed}");
    assert!(words.contains("unavailable mongodb;"), "what is not here is told apart: {allowed}");
    let allowed = render(&file.publishable(), Format::Table, &Options::default()).unwrap();
    assert!(allowed.contains("left out by licence: lmdb"), "{allowed}");
    assert!(!allowed.contains("unavailable: lmdb"), "{allowed}");
}
