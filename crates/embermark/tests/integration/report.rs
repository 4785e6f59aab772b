//! `embermark report` and the page that `embermark run` leaves.

use crate::common::Place;
use embermark_model::result::SCHEMA;
use embermark_report::html;
use embermark_skips::skipped;

/// A place with two real results, `a` and `b`.
fn measured() -> Place {
    let place = Place::new();
    for out in ["a", "b"] {
        let words = ["run", "sensors", "-e", "memory", "--scale", "200", "--runs", "2"];
        place.embermark(&[&words[..], &["--trials", "1", "--out", out]].concat()).with(0);
    }
    place
}

#[test]
fn a_run_leaves_a_page_beside_its_result_or_a_note_that_this_build_has_none() {
    let place = Place::new();
    let words = ["run", "sensors", "-e", "memory", "--scale", "200", "--runs", "2", "--out", "out"];
    let ended = place.embermark(&words).with(0);
    let page = place.path("out/report.html");
    assert_eq!(page.exists(), html::is_built());
    if html::is_built() {
        let page = std::fs::read_to_string(page).unwrap();
        assert!(page.contains(&place.result("out").manifest.run_id));
        assert!(!page.contains("EMBERMARK-DATA"));
    } else {
        skipped("page", "this build has none; make build");
        ended.saying(&["no report.html", "make build"]);
    }
}

#[test]
fn a_run_ends_in_one_screen_and_leaves_all_tables_beside_its_result() {
    let place = Place::new();
    let words = ["run", "sensors", "-e", "memory,redb,lmdb", "-s", "200", "--runs", "2"];
    let words = [&words[..], &["--trials", "1", "--out", "out"]].concat();
    let screen = place.embermark(&words).with(0).saying(&["trials, each ended after"]).stdout;
    assert!(screen.contains("sensors 200") && screen.contains("1.00x"), "{screen}");
    assert!(screen.contains("out/tables.txt"), "{screen}");
    assert!(!screen.lines().any(|line| line.starts_with("full_profile")), "{screen}");
    assert!(screen.lines().count() < 40, "{screen}");
    let tables = std::fs::read_to_string(place.path("out/tables.txt")).unwrap();
    assert!(tables.contains("full_profile") && tables.contains("resources"), "{tables}");
    let report = |more: &[&str]| {
        place.embermark(&[&["report", "out/result.json"], more].concat()).with(0).stdout
    };
    assert_eq!(report(&[]), screen);
    // A pipe is as wide as the file.
    assert_eq!(
        (report(&["--show", "tables"]), report(&["-f", "table"])),
        (tables.clone(), tables.clone())
    );
    for detail in ["latency", "intervals", "published"] {
        assert!(report(&["--show", detail]).contains("full_profile"), "{detail}");
    }
    // Neither workload nor card is there.
    for idle in [["--weight", "cpu=1"], ["--rows-per-day", "1k"]] {
        let words = [&["report", "out/result.json"][..], &idle].concat();
        place.embermark(&words).with(2).saying(&[idle[0]]);
    }
    report(&["-o", "all.txt"]);
    assert_eq!(std::fs::read_to_string(place.path("all.txt")).unwrap(), tables);
    place.embermark(&["report", "out/result.json", "--show", "tables", "-f", "csv"]).with(2);
    // A run that is gone on with makes them anew, and prints in the form that is asked for.
    std::fs::remove_file(place.path("out/tables.txt")).unwrap();
    let again = place.embermark(&["run", "--resume", "out", "--show", "tables"]).with(0).stdout;
    assert_eq!(again, tables);
    assert_eq!(std::fs::read_to_string(place.path("out/tables.txt")).unwrap(), tables);
}

#[test]
fn several_results_make_one_page_and_nothing_else() {
    let place = measured();
    let (a, b) = ("a/result.json", "b/result.json");
    place.embermark(&["report", a, b]).with(2).saying(&["-o report.html"]);
    place.embermark(&["report", a, b, "-o", "x.csv"]).with(2).saying(&["-o report.html"]);
    place.embermark(&["report", a, a, "-o", "x.html"]).with(2).saying(&["hold the same run"]);
    assert!(!place.path("x.html").exists());
    if html::is_built() {
        place.embermark(&["report", a, b, "-o", "x.html"]).with(0);
        let page = std::fs::read_to_string(place.path("x.html")).unwrap();
        for out in ["a", "b"] {
            assert!(page.contains(&place.result(out).manifest.run_id));
        }
    } else {
        skipped("page", "this build has none; make build");
        place.embermark(&["report", a, b, "-o", "x.html"]).with(1).saying(&["make build"]);
    }
}

#[test]
fn one_result_goes_to_a_file_in_the_form_that_was_asked_for() {
    let place = measured();
    let shown = place.embermark(&["report", "a/result.json", "-f", "csv"]).with(0).stdout;
    place.embermark(&["report", "a/result.json", "-f", "csv", "-o", "a.csv"]).with(0);
    assert_eq!(std::fs::read_to_string(place.path("a.csv")).unwrap(), shown);
}

#[test]
fn what_is_no_result_is_refused_with_the_reason_and_makes_no_page() {
    let place = measured();
    let good = std::fs::read_to_string(place.path("a/result.json")).unwrap();
    place.write("cut.json", &good[..good.len() / 2]);
    place.write(
        "newer.json",
        [": ", ":"].iter().fold(good.clone(), |text, colon| {
            let schema = |number: u32| format!("\"schema\"{colon}{number}");
            text.replacen(&schema(SCHEMA), &schema(99), 1)
        }),
    );
    place.write("other.json", "{\"name\": \"something else\"}");
    place.write("text.json", "no JSON at all");
    for (file, saying) in [
        ("cut.json", "ends in the middle"),
        ("newer.json", "upgrade embermark"),
        ("other.json", "not an embermark result"),
        ("text.json", "is not JSON"),
        ("missing.json", "no result file"),
        ("a/journal.jsonl", "journal"),
    ] {
        for words in [&["report", file][..], &["report", "a/result.json", file, "-o", "x.html"]] {
            place.embermark(words).with(2).saying(&[saying, file]);
        }
        assert!(!place.path("x.html").exists(), "{file}");
    }
    place.embermark(&["report"]).with(2).saying(&["RESULT"]);
}
