//! Results of `embermark tune` in a terminal and on the page.

use crate::written::assert_written;
use embermark_model::tuning_result::{Outcome, TuningResult};
use embermark_report::{html, tuned};

/// A result of this version: SQLite with a program's rollback journal, and LMDB.
const FIXTURE: &str = "tests/fixtures/tune.json";
/// Input of the page's tests.
const PAGE_FIXTURE: &str = "page/tests/fixtures/tuned.json";

fn fixture() -> TuningResult {
    serde_json::from_str(&std::fs::read_to_string(FIXTURE).unwrap()).unwrap()
}

#[test]
fn the_best_settings_are_shown_with_what_they_gain_cost_and_rest_on_and_what_to_paste() {
    let result = fixture();
    let text = tuned::text("mine", &result.engines["mine"], &result);
    for says in [
        "mine, tier power, for sensors",
        "  today      journal_mode=TRUNCATE",
        "  best       journal_mode=WAL",
        "x as fast (95 % interval ",
        "  by phase   load ",
        "  uses       memory ",
        "  trades     journal_mode=WAL: two more files beside the database while it is open (https://",
        "  keeps      power: 5 kills and ",
        "      PRAGMA journal_mode = WAL;",
        "      settings = { journal_mode = \"WAL\"",
        "loses what the tier promises: power cut: ",
        "not tried: keeps process at most, by its manual: ",
    ] {
        assert!(text.contains(says), "{says}\n{text}");
    }
}

#[test]
fn where_todays_settings_stay_there_is_nothing_to_paste() {
    let mut result = fixture();
    let lmdb = result.engines.get_mut("lmdb").unwrap();
    lmdb.found.gain.iter_mut().for_each(|gain| gain.interval = Some([0.9, 1.2]));
    let text = tuned::text("lmdb", &result.engines["lmdb"], &result);
    assert!(text.contains("  best       today's settings"), "{text}");
    assert!(!text.contains("in a program"), "{text}");
}

#[test]
fn a_winner_without_a_gain_is_no_winner_in_the_table_either() {
    let mut result = fixture();
    let mine = result.engines.get_mut("mine").unwrap();
    mine.found.gain.as_mut().unwrap().interval = Some([0.9, 9.0]);
    assert!(mine.found.tried.iter().any(|tried| tried.outcome == Outcome::Taken));
    let text = tuned::text("mine", &result.engines["mine"], &result);
    assert!(text.contains("the best, and no gain when measured again"), "{text}");
    assert!(text.contains("less than 5 %, or not certain"), "{text}");
}

#[test]
fn the_page_is_given_what_this_version_writes() {
    let page = html::tuning_data(&fixture(), &["harperdb"]);
    let text = serde_json::to_string_pretty(&page).unwrap() + "\n";
    assert_written(PAGE_FIXTURE, &text);
    assert_eq!(page.face, None);
}

#[test]
fn figures_that_may_not_be_published_are_marked_on_the_face_of_the_page() {
    let page = html::tuning_data(&fixture(), &["lmdb"]);
    assert!(page.face.unwrap().contains("lmdb"));
}
