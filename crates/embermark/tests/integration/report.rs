//! `embermark report` and the page that `embermark run` leaves.

use crate::common::{ProgramOutput, Sandbox};
use embermark_model::result::SCHEMA;
use embermark_report::html;
use embermark_skips::skipped;

/// Two runs take most of the time, so that all of these are of their results, `a` and `b`.
#[test]
fn results_of_runs_make_a_page_or_a_file_and_what_is_no_result_is_refused() {
    let sandbox = Sandbox::new();
    let run = |out| {
        let words = ["run", "sensors", "-e", "memory", "--scale", "200", "--effort", "quick"];
        let words = [&words[..], &["--variant", "single", "--no-counting", "--out", out]].concat();
        sandbox.embermark(&words).expect_status(0)
    };
    let ended = run("a");
    run("b");
    a_run_leaves_a_page_beside_its_result_or_a_note_that_this_build_has_none(&sandbox, ended);
    one_result_goes_to_a_file_in_the_form_that_was_asked_for(&sandbox);
    what_is_no_result_is_refused_with_the_reason_and_makes_no_page(&sandbox);
    several_results_make_one_page_and_nothing_else(&sandbox);
}

/// `ended` is the run of `a`.
fn a_run_leaves_a_page_beside_its_result_or_a_note_that_this_build_has_none(
    sandbox: &Sandbox,
    ended: ProgramOutput,
) {
    let page = sandbox.path("a/report.html");
    assert_eq!(page.exists(), html::is_built());
    if html::is_built() {
        let page = std::fs::read_to_string(page).unwrap();
        assert!(page.contains(&sandbox.result("a").manifest.run_id));
        assert!(!page.contains("EMBERMARK-DATA"));
    } else {
        skipped("page", "this build has none; make build");
        ended.expect_stderr(&["no report.html", "make build"]);
    }
}

#[test]
fn a_run_ends_in_one_screen_and_leaves_all_tables_beside_its_result() {
    let sandbox = Sandbox::new();
    let words = ["run", "sensors", "-e", "memory,redb,lmdb", "-s", "200", "--runs", "2"];
    let words = [&words[..], &["--trials", "1", "--out", "out"]].concat();
    let screen = sandbox
        .embermark(&words)
        .expect_status(0)
        .expect_stderr(&["trials, each limited to"])
        .stdout;
    assert!(screen.contains("sensors 200") && screen.contains("1.00x"), "{screen}");
    assert!(screen.contains("out/tables.txt"), "{screen}");
    assert!(!screen.lines().any(|line| line.starts_with("full_profile")), "{screen}");
    assert!(screen.lines().count() < 40, "{screen}");
    let tables = std::fs::read_to_string(sandbox.path("out/tables.txt")).unwrap();
    assert!(tables.contains("full_profile") && tables.contains("resources"), "{tables}");
    let report = |more: &[&str]| {
        sandbox.embermark(&[&["report", "out/result.json"], more].concat()).expect_status(0).stdout
    };
    assert_eq!(report(&[]), screen);
    // The output to a pipe has the width of the file.
    assert_eq!(
        (report(&["--show", "tables"]), report(&["-f", "table"])),
        (tables.clone(), tables.clone())
    );
    for detail in ["latency", "intervals", "published"] {
        assert!(report(&["--show", detail]).contains("full_profile"), "{detail}");
    }
    // The result has neither the workload nor a card.
    for idle in [["--weight", "cpu=1"], ["--rows-per-day", "1k"]] {
        let words = [&["report", "out/result.json"][..], &idle].concat();
        sandbox.embermark(&words).expect_status(2).expect_stderr(&[idle[0]]);
    }
    report(&["-o", "all.txt"]);
    assert_eq!(std::fs::read_to_string(sandbox.path("all.txt")).unwrap(), tables);
    sandbox
        .embermark(&["report", "out/result.json", "--show", "tables", "-f", "csv"])
        .expect_status(2);
    // A resumed run writes them again, and prints in the requested form.
    std::fs::remove_file(sandbox.path("out/tables.txt")).unwrap();
    let again =
        sandbox.embermark(&["run", "--resume", "out", "--show", "tables"]).expect_status(0).stdout;
    assert_eq!(again, tables);
    assert_eq!(std::fs::read_to_string(sandbox.path("out/tables.txt")).unwrap(), tables);
}

fn several_results_make_one_page_and_nothing_else(sandbox: &Sandbox) {
    let (a, b) = ("a/result.json", "b/result.json");
    sandbox.embermark(&["report", a, b]).expect_status(2).expect_stderr(&["-o report.html"]);
    sandbox
        .embermark(&["report", a, b, "-o", "x.txt"])
        .expect_status(2)
        .expect_stderr(&["-o report.html"]);
    sandbox
        .embermark(&["report", a, a, "-o", "x.html"])
        .expect_status(2)
        .expect_stderr(&["hold the same run"]);
    assert!(!sandbox.path("x.html").exists());
    if html::is_built() {
        sandbox.embermark(&["report", a, b, "-o", "x.html"]).expect_status(0);
        let page = std::fs::read_to_string(sandbox.path("x.html")).unwrap();
        for out in ["a", "b"] {
            assert!(page.contains(&sandbox.result(out).manifest.run_id));
        }
    } else {
        skipped("page", "this build has none; make build");
        sandbox
            .embermark(&["report", a, b, "-o", "x.html"])
            .expect_status(1)
            .expect_stderr(&["make build"]);
    }
}

fn one_result_goes_to_a_file_in_the_form_that_was_asked_for(sandbox: &Sandbox) {
    let shown =
        sandbox.embermark(&["report", "a/result.json", "-f", "csv"]).expect_status(0).stdout;
    sandbox.embermark(&["report", "a/result.json", "-f", "csv", "-o", "a.csv"]).expect_status(0);
    assert_eq!(std::fs::read_to_string(sandbox.path("a.csv")).unwrap(), shown);
    // The file's name asks for the same.
    sandbox.embermark(&["report", "a/result.json", "-o", "b.CSV"]).expect_status(0);
    assert_eq!(std::fs::read_to_string(sandbox.path("b.CSV")).unwrap(), shown);
    sandbox.embermark(&["report", "a/result.json", "-o", "a.md"]).expect_status(0);
    assert!(std::fs::read_to_string(sandbox.path("a.md")).unwrap().contains("| --- |"));
}

fn what_is_no_result_is_refused_with_the_reason_and_makes_no_page(sandbox: &Sandbox) {
    let good = std::fs::read_to_string(sandbox.path("a/result.json")).unwrap();
    sandbox.write("cut.json", &good[..good.len() / 2]);
    sandbox.write(
        "newer.json",
        [": ", ":"].iter().fold(good.clone(), |text, colon| {
            let schema = |number: u32| format!("\"schema\"{colon}{number}");
            text.replacen(&schema(SCHEMA), &schema(99), 1)
        }),
    );
    sandbox.write("other.json", "{\"name\": \"something else\"}");
    sandbox.write("text.json", "no JSON at all");
    for (file, saying) in [
        ("cut.json", "ends in the middle"),
        ("newer.json", "upgrade embermark"),
        ("other.json", "not an embermark result"),
        ("text.json", "is not JSON"),
        ("missing.json", "no result file"),
        ("a/journal.jsonl", "journal"),
    ] {
        for words in [&["report", file][..], &["report", "a/result.json", file, "-o", "x.html"]] {
            sandbox.embermark(words).expect_status(2).expect_stderr(&[saying, file]);
        }
        assert!(!sandbox.path("x.html").exists(), "{file}");
    }
    sandbox.embermark(&["report"]).expect_status(2).expect_stderr(&["RESULT"]);
}
