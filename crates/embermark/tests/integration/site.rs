//! `embermark site`: many results, folders with other files, and the commands that cells show.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use embermark_model::result::ResultFile;
use embermark_report::site;
use embermark_skips::skipped;
use serde_json::Value;

use crate::common::Sandbox;
use crate::hostile::assert_harmless;
use crate::many_results::ENGINES;
use crate::many_results::made_up::{self, Shape};

/// Bytes that a browser loads before it shows the first figure.
const FIRST_VIEW: u64 = 300_000;

/// Five workloads at five scales in two tiers.
const LINES: &[(&str, &str, &str)] = &{
    const WORKLOADS: [&str; 5] = ["sensors", "contacts", "events", "htap", "ycsb-a"];
    const SCALES: [&str; 5] = ["1k", "10k", "100k", "300k", "1M"];
    const TIERS: [&str; 2] = ["process", "power"];
    let mut lines = [("", "", ""); 50];
    let mut at = 0;
    while at < lines.len() {
        lines[at] = (WORKLOADS[at / 10], SCALES[at / 2 % 5], TIERS[at % 2]);
        at += 1;
    }
    lines
};

/// Makes 1,000 results of 500 cells in long campaigns, otherwise 12 of 40.
fn shape() -> Shape {
    let is_long = embermark_skips::is_long();
    let (devices, versions, lines) = if is_long { (100, 10, 50) } else { (4, 3, 4) };
    Shape {
        devices,
        models: 26,
        lines: &LINES[..lines],
        engines: ENGINES,
        phases: &["load", "read", "update", "summary"],
        trials: 3,
        runs: 2,
        versions,
    }
}

/// Whether this build has the page, which a site needs.
fn is_built() -> bool {
    if !site::is_built() {
        skipped("page", "this build has none; make build");
    }
    site::is_built()
}

fn size(path: PathBuf) -> u64 {
    fs::metadata(path).unwrap().len()
}

/// Returns the size of the largest file below a folder.
fn largest(folder: &Path) -> u64 {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let sizes = paths.map(|path| if path.is_dir() { largest(&path) } else { size(path) });
    sizes.max().unwrap()
}

/// Returns the data that a data file passes to the page.
fn data(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap();
    let inside = text.strip_prefix("embermark(").and_then(|rest| rest.strip_suffix(")\n")).unwrap();
    serde_json::from_str(inside.split_once(',').unwrap().1).unwrap()
}

#[test]
fn each_view_of_many_results_is_small_where_it_is_the_first() {
    if !is_built() {
        return;
    }
    let (sandbox, shape) = (Sandbox::new(), shape());
    // The folder that EMBERMARK_MADE_UP names is kept, to open it in a browser.
    let folder = std::env::var_os("EMBERMARK_MADE_UP")
        .map_or_else(|| sandbox.path("made-up"), PathBuf::from);
    made_up::write(&folder.join("results"), &shape);
    let words =
        [folder.join("results"), folder.join("site")].map(|path| path.display().to_string());
    let began = Instant::now();
    let made = sandbox.embermark(&["site", &words[0], "-o", &words[1]]).expect_status(0);
    println!("made in {:.1?}", began.elapsed());
    let (results, cells) =
        (shape.devices * shape.versions, shape.lines.len() * shape.engines.len());
    let cells_in_all = embermark_report::format::count((results * cells) as u64);
    made.expect_stderr(&[&format!("{results} results with {cells_in_all} cells of ")]);
    let site = folder.join("site");
    let page: u64 =
        ["index.html", "site.css", "site.js"].map(|name| size(site.join(name))).iter().sum();
    let index = size(site.join("data/index.js"));
    let largest = |folder: &str| largest(&site.join("data").join(folder));
    // A cell has a program for each language.
    let views = [
        ("all machines", largest("table")),
        ("a machine's ranking", largest("result") + largest("figures")),
        ("an engine", largest("history")),
        ("a cell", largest("result") + largest("cells") + 2 * largest("snippets")),
    ];
    println!("page {page}, index {index}, beside them {views:?} bytes");
    for (view, own) in views {
        assert!(page + index + own <= FIRST_VIEW, "{view}: {page} + {index} + {own}");
    }
}

#[test]
fn files_that_are_no_results_are_named_and_left_out() {
    if !is_built() {
        return;
    }
    let sandbox = Sandbox::new();
    let small = Shape { devices: 2, versions: 1, lines: &LINES[..1], ..shape() };
    made_up::write(&sandbox.path("results"), &small);
    let good = fs::read(sandbox.path("results/device-0000/result.json")).unwrap();
    let mut future: Value = serde_json::from_slice(&good).unwrap();
    future["schema"] = 99.into();
    sandbox.write("results/cut.json", &good[..good.len() / 3]);
    sandbox.write("results/foreign.json", "{\"packages\": []}");
    sandbox.write("results/future.json", future.to_string());
    sandbox.write("results/same-run.json", &good);
    sandbox.write("results/\u{1b}[2Jname.json", "\u{1b}[2J");
    // Gzip is recognized by its first bytes.
    sandbox.write("results/cut.json.gz", [0x1f, 0x8b, 8]);
    sandbox.write("results/notes.txt", "not looked at");
    let ended = sandbox.embermark(&["site", "results", "-o", "site"]).expect_status(0);
    assert_harmless(&ended, "names of files");
    let named = [
        "cut.json ",
        "cut.json.gz",
        "foreign.json",
        "future.json",
        "hold the same run",
        "2 results",
    ];
    let ended = ended.expect_stderr(&named).expect_stderr(&["upgrade embermark"]);
    assert!(!ended.stderr.contains("notes.txt"), "{}", ended.stderr);
    sandbox
        .embermark(&["site", "results", "-o", "site", "--strict"])
        .expect_status(1)
        .expect_stderr(&["2 results"]);
    // The made-up results name a tree with changes, or an unknown one.
    let checked =
        sandbox.embermark(&["site", "results/device-0000/result.json", "--checked", "-o", "site"]);
    checked.expect_status(2).expect_stderr(&["fails ", "clean-tree", "embermark check"]);
    sandbox
        .embermark(&["site", "results/cut.json", "-o", "site"])
        .expect_status(2)
        .expect_stderr(&["no result"]);
    // The earlier site still exists, without any file of the unfinished one.
    assert!(sandbox.path("site/index.html").exists());
    fs::remove_file(sandbox.path("results/cut.json")).unwrap();
    sandbox
        .embermark(&["site", "results", "-o", "results"])
        .expect_status(2)
        .expect_stderr(&["is not a site"]);
    let left = fs::read_dir(sandbox.path("")).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(left.collect::<BTreeSet<_>>(), ["results", "site"].map(Into::into).into());
}

#[test]
fn the_command_of_a_cell_repeats_it() {
    if !is_built() {
        return;
    }
    let sandbox = Sandbox::new();
    let words =
        ["run", "sensors", "-e", "sqlite-defaults", "-s", "100", "--runs", "3", "--trials", "2"];
    let more = [
        "--variant",
        "single,commit-each",
        "--phases",
        "load,read",
        "-t",
        "none",
        "--set",
        "seed=7",
        "--no-counting",
        "-o",
        "first",
    ];
    sandbox.embermark(&[&words[..], &more].concat()).expect_status(0);
    sandbox.embermark(&["site", "first", "-o", "site"]).expect_status(0);
    let first = sandbox.result("first");
    // There is one table.
    let folder = sandbox.path("site/data/cells").join(&first.manifest.run_id);
    let cells = data(&folder.join("0.js"));
    let cells = cells["cells"].as_array().unwrap();
    assert_eq!(cells.len(), first.cells.len());
    // The last one belongs to a configuration, in a variant that does not run every phase.
    let (cell, shown) = (first.cells.last().unwrap(), cells.last().unwrap());
    let command = shown["command"].as_str().unwrap();
    let words: Vec<&str> = command.strip_prefix("embermark ").unwrap().split(' ').collect();
    sandbox.embermark(&[&words[..], &["--no-counting", "-o", "again"]].concat()).expect_status(0);
    let again: ResultFile = sandbox.result("again");
    let same = again.cells.iter().find(|other| other.id == cell.id).unwrap();
    let phases = |cell: &embermark_model::result::Cell| {
        let phases = cell.trials[0].phases.iter();
        phases.map(|phase| (phase.phase.clone(), phase.runs.len())).collect::<Vec<_>>()
    };
    assert_eq!(phases(same), phases(cell), "{command}");
    assert_eq!((same.trials.len(), again.plan.seed), (2, 7));
    assert_eq!(same.trials[0].settings, cell.trials[0].settings);
}
