//! The terminal's tables of the golden result.

use std::path::Path;

use crate::counted::counted;
use crate::written::assert_written;
use embermark_model::Configuration;
use embermark_model::result::{EngineFacts, Resources, ResultFile, WriteBehind};
use embermark_report::{Files, Format, Options, format, load, render};
use textwrap::core::display_width;

const FIXTURE: &str = "tests/fixtures/schema-1.json";

fn table(options: &Options<'_>) -> String {
    let file = counted(load(Path::new(FIXTURE)).unwrap());
    render(&file, Format::Table, options).unwrap()
}

fn wide(width: usize) -> String {
    table(&Options { width, path: Some(Path::new("out/result.json")), ..Options::default() })
}

fn is_known(width: usize) {
    assert_written(&format!("tests/fixtures/table-{width}.txt"), &wide(width));
}

#[test]
fn the_table_at_120_columns_is_the_one_known_to_be_good() {
    is_known(120);
}

#[test]
fn the_table_at_80_columns_is_the_one_known_to_be_good() {
    is_known(80);
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    // A terminal narrower than its longest path gets that path in full, which is too wide.
    for width in [72, 80, 100, 120, 200] {
        for latency in [false, true] {
            for line in table(&Options { width, latency, ..Options::default() }).lines() {
                assert!(display_width(line) <= width, "{} > {width}: {line}", display_width(line));
                assert_eq!(line.trim_end(), line, "blanks at the end");
            }
        }
    }
}

#[test]
fn a_terminal_too_narrow_for_two_engines_shows_one_after_the_other_with_whole_numbers() {
    let narrow = wide(20);
    for engine in ["sqlite", "duckdb+", "lmdb", "berkeleydb", "postgres", "memory (ref)"] {
        assert!(narrow.lines().any(|line| line.trim() == engine), "{engine}\n{narrow}");
    }
    for number in ["644 µs 2.06x", "312 µs 1.00x*", "13.1 ms 1.56x", "401 µs^ 56.0x"] {
        assert!(narrow.lines().any(|line| line.ends_with(number)), "{number}\n{narrow}");
    }
}

#[test]
fn stacked_tables_repeat_the_phases_and_lose_no_engine() {
    let shown = wide(80);
    let count = |start: &str| shown.lines().filter(|line| line.starts_with(start)).count();
    // Two scales, each in two tables, and the two tables about scales.
    assert_eq!(count("read "), 4 + 2);
    assert_eq!(count("load (commit-each) "), 4 + 2);
    for engine in ["sqlite", "duckdb+", "lmdb", "berkeleydb", "postgres", "memory (ref)"] {
        let headers =
            shown.lines().filter(|line| line.starts_with("          ") && line.contains(engine));
        assert!(headers.count() >= 2, "{engine}");
    }
}

#[test]
fn every_row_has_exactly_one_best_and_it_is_1_00x() {
    let shown = wide(200);
    let phases = ["load", "load (commit-each)", "read", "last_readings", "avg_sensor", "outages"];
    let rows: Vec<&str> = shown
        .lines()
        .filter(|line| phases.iter().any(|phase| line.starts_with(phase)) && line.contains('x'))
        .collect();
    assert_eq!(rows.len(), 3 + 6);
    for row in rows {
        assert_eq!(row.matches("1.00x*").count(), 1, "{row}");
        assert_eq!(row.matches('*').count(), 1, "{row}");
    }
}

#[test]
fn a_ratio_is_the_one_the_raw_runs_give() {
    let file = load(Path::new(FIXTURE)).unwrap();
    // The protocol by hand: two counted runs per trial and two trials, so both steps are plain
    // means.
    let mean = |engine: &str| {
        let cell = file
            .cells
            .iter()
            .find(|cell| cell.id.engine == engine && cell.id.slug().contains("10k-process-single"))
            .unwrap();
        let runs = cell.trials.iter().flat_map(|trial| &trial.phases[1].runs[1..]);
        runs.clone().map(|run| run.elapsed_ns as f64).sum::<f64>() / runs.count() as f64
    };
    let ratio = format::ratio(mean("sqlite") / mean("lmdb"));
    let expected = format!("{} {ratio}", format::duration(mean("sqlite")));
    let shown = wide(120);
    let read =
        shown.lines().rfind(|line| line.starts_with("read ") && line.contains(" ms")).unwrap();
    assert!(read.contains(&expected), "{expected} in {read}");
}

#[test]
fn a_capped_row_is_per_operation_and_shows_no_total() {
    let shown = wide(120);
    let row = shown.lines().find(|line| line.starts_with("load (commit-each) /op")).unwrap();
    assert!(row.contains("401 µs^"), "{row}");
    assert!(row.contains("9.36 µs"), "per operation for who was not capped too: {row}");
    assert!(!shown.contains("4.01 s"), "10,000 operations were never done");
    assert!(shown.contains("4,951"), "operations done are said");
}

#[test]
fn every_cell_that_did_not_end_well_is_named_with_its_reason() {
    let shown = wide(500);
    for line in [
        "duckdb      wrong, outages of sensors 10k process single: row 3 of 12",
        "berkeleydb  failed, sensors 10k process single: worker died of signal 11 (SIGSEGV)",
        "(log: logs/berkeleydb-sensors-10k-process-single-1.log)",
        "lmdb        timed out, sensors 1k process commit-each: no answer within 10m",
        "mongodb     unavailable: no mongod on PATH",
        "berkeleydb  unsupported, sensors 1k process commit-each, sensors 10k process commit-each:",
        "postgres    unsupported, outages of sensors 10k process single: no window frame",
    ] {
        assert_eq!(shown.matches(line).count(), 1, "{line}\n{shown}");
    }
}

#[test]
fn colour_changes_nothing_but_colour() {
    let options = Options { width: 80, ..Options::default() };
    let (plain, coloured) = (table(&options), table(&Options { colour: true, ..options }));
    crate::screen::differ_in_colour_alone(&plain, &coloured);
}

#[test]
fn latency_percentiles_merge_the_trials_and_are_shown_when_asked_for() {
    let options = Options { width: 120, latency: true, ..Options::default() };
    let shown = table(&options);
    assert!(shown.contains("latency of one operation, p50 and p99"));
    assert!(!wide(120).contains("latency of one operation"));
    let file = load(Path::new(FIXTURE)).unwrap();
    let comparison = embermark_report::summary::compare(&file, &[]);
    let row = comparison.groups[1].rows.iter().find(|row| row.phase == Some("read")).unwrap();
    let embermark_report::summary::Entry::Measured(sqlite) = &row.entries[0] else { panic!() };
    let latency = sqlite.figure.latency().unwrap();
    assert_eq!((latency.samples, latency.p99_9), (400, None));
}

#[test]
fn phases_stand_in_the_order_asked_for() {
    let order = ["outages", "read"];
    let shown = table(&Options { width: 120, order: &order, ..Options::default() });
    let place = |start: &str| {
        shown.lines().collect::<Vec<_>>().iter().rposition(|line| line.starts_with(start))
    };
    assert!(place("outages ") < place("read ") && place("read ") < place("load "));
}

#[test]
fn two_reasons_of_one_engine_are_both_shown_and_each_with_its_places() {
    let mut file = load(Path::new(FIXTURE)).unwrap();
    let mut cells = file.cells.iter_mut().filter(|cell| cell.id.engine == "mongodb");
    cells.next_back().unwrap().reason = Some("mongod 4.4 is too old: install 6".into());
    let options = Options { width: 500, ..Options::default() };
    let shown = render(&file, Format::Table, &options).unwrap();
    for line in [
        "mongodb     unavailable, sensors 1k process single, sensors 1k process commit-each, \
         sensors 10k process single: no mongod on PATH",
        "mongodb     unavailable, sensors 10k process commit-each: mongod 4.4 is too old",
    ] {
        assert!(shown.contains(line), "{line}\n{shown}");
    }
}

/// Returns the table of the fixture after a change.
fn changed(alter: impl FnOnce(&mut ResultFile)) -> String {
    let mut file = load(Path::new(FIXTURE)).unwrap();
    alter(&mut file);
    render(&file, Format::Table, &Options { width: 200, ..Options::default() }).unwrap()
}

#[test]
fn a_heading_says_what_ran_and_not_what_was_asked_for() {
    let shown = changed(|file| {
        (file.plan.runs, file.plan.warmup_runs, file.plan.trials) = (6, 5, 3);
        for phase in file.cells[0].trials.iter_mut().flat_map(|trial| &mut trial.phases) {
            phase.runs.truncate(1);
        }
    });
    let headings: Vec<&str> = shown.lines().filter(|line| line.contains("synthetic")).collect();
    assert_eq!(headings.len(), 2);
    assert!(headings[0].contains("· 1 to 3 runs (1 warm-up) x 2 trials ·"), "{shown}");
    assert!(headings[1].contains("· 3 runs (1 warm-up) x 1 to 2 trials ·"), "{shown}");
    assert!(!shown.contains("published"), "{shown}");
}

#[test]
fn the_harness_floor_of_an_older_file_stands_over_every_workload() {
    let shown = wide(200);
    assert_eq!(shown.matches(" · harness floor 4.90 ns").count(), 2, "{shown}");
}

#[test]
fn a_server_given_by_its_url_is_named_so_and_has_no_ratio() {
    let alter = |file: &mut ResultFile| {
        let url = "postgres://me:secret@db.example/one";
        file.plan.urls.insert("postgres".into(), url.into());
        // It would be the best of every row.
        for cell in file.cells.iter_mut().filter(|cell| cell.id.engine == "postgres") {
            let phases = cell.trials.iter_mut().flat_map(|trial| &mut trial.phases);
            phases.flat_map(|phase| &mut phase.runs).for_each(|run| run.elapsed_ns = 1_000);
        }
    };
    let shown = changed(alter);
    assert!(shown.contains("postgres (by URL)") && !shown.contains("secret"), "{shown}");
    let row = shown.lines().find(|line| line.starts_with("read ")).unwrap();
    assert!(row.contains("850 µs 1.00x*") && row.contains("1.00 µs "), "{row}");
    let note = shown.lines().find(|line| line.trim_start().starts_with("(by URL)")).unwrap();
    assert!(note.ends_with("never ranked: postgres"), "{note}");
    let mut file = load(Path::new(FIXTURE)).unwrap();
    alter(&mut file);
    let screen = embermark_report::screen(&file, &Options::default(), &Files::default());
    let mut rows = screen.lines().filter(|line| line.starts_with("postgres (by URL) "));
    assert!(rows.any(|row| row.matches("by URL").count() > 1), "{screen}");
    let csv = render(&file, Format::Csv, &Options::default()).unwrap();
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let by_url = reader.headers().unwrap().iter().position(|name| name == "by_url").unwrap();
    for line in reader.records().map(Result::unwrap) {
        assert_eq!(&line[by_url] == "true", &line[5] == "postgres", "{line:?}");
    }
}

#[test]
fn a_configuration_is_a_column_that_says_whose_settings_it_has() {
    let shown = |own: Option<&str>| {
        changed(|file| {
            let settings = [("fsync".to_owned(), "off".to_owned())].into();
            let configuration =
                Configuration { engine: "postgres".into(), settings, library: None, client: None };
            file.plan.configurations.insert("postgres".into(), configuration);
            for cell in file.cells.iter_mut().filter(|cell| cell.id.engine == "postgres") {
                cell.own_durability = own.map(str::to_owned);
            }
        })
    };
    let said = |shown: String| shown.split_whitespace().collect::<Vec<_>>().join(" ");
    let ranked = shown(None);
    let load = |shown: &str| {
        shown.lines().find(|line| line.starts_with("load  ")).unwrap().matches('x').count()
    };
    assert!(ranked.contains("postgres§") && !ranked.contains("(own)"), "{ranked}");
    let other = shown(Some("fsync=off where process has on"));
    assert!(other.contains("postgres§ (own)"), "{other}");
    assert_eq!(load(&other) + 1, load(&ranked), "it has no ratio: {other}");
    let note = "§ postgres with fsync=off: durability as its author claims: postgres";
    assert!(said(ranked).contains(note));
    let note = "(own) postgres with fsync=off: durability as its author claims, so not ranked: it has \
                fsync=off where process has on: postgres";
    assert!(said(other).contains(note));
}

#[test]
fn rows_committed_one_by_one_beside_rows_in_one_transaction_are_marked() {
    let of = |data_model: &str| {
        let data_model = data_model.to_owned();
        changed(|file| {
            let facts = EngineFacts {
                name: "Postgres".into(),
                kind: "server".into(),
                data_model,
                licence: "MIT".into(),
                configuration: None,
                engine_library: None,
            };
            file.manifest.engines.insert("postgres".into(), facts);
        })
    };
    let shown = of("document");
    let row = |name: &str| shown.lines().find(|line| line.starts_with(name)).unwrap();
    assert!(row("load  ").contains("12.6 ms¹"), "{shown}");
    assert!(!row("load (commit-each)").contains('¹') && !row("read ").contains('¹'), "{shown}");
    let note = shown.lines().find(|line| line.trim_start().starts_with('¹')).unwrap();
    assert!(note.contains("one commit per row") && note.ends_with(": postgres"), "{note}");
    assert!(!of("SQL").contains('¹'));
}

#[test]
fn a_server_given_by_its_url_has_no_score_of_keeping_up() {
    let shown = |by_url: bool| {
        let mut file = load(Path::new("tests/fixtures/schema-1-machine.json")).unwrap();
        for trial in file.cells.iter_mut().flat_map(|cell| &mut cell.trials) {
            trial.phases.iter_mut().for_each(|phase| phase.phase = "write".into());
            for run in trial.phases.iter_mut().flat_map(|phase| &mut phase.runs) {
                let used = Resources {
                    cpu_ns: Some(1_000_000),
                    peak_bytes: Some(1_000_000),
                    read_bytes: Some(1_000),
                    written_bytes: Some(1_000),
                    ..Resources::default()
                };
                let seen = run.observed.as_mut().unwrap();
                (seen.window_ns, seen.network_bytes) = (1_000_000_000, Some(1_000));
                seen.disk_growth_bytes = Some(1_000);
                seen.counts = [("lost".to_owned(), 0)].into();
                seen.processes = ["server", "writer"].map(|role| (role.to_owned(), used)).into();
            }
        }
        if by_url {
            file.plan.urls.insert("postgres".into(), "postgres://db.example/one".into());
        }
        let table = render(&file, Format::Table, &Options { width: 300, ..Options::default() });
        let table = table.unwrap();
        let writing = table.split("· writing").nth(1).unwrap();
        let row = writing.lines().find(|line| line.starts_with("postgres individual")).unwrap();
        row.to_owned()
    };
    assert!(shown(false).contains('%'), "{}", shown(false));
    let row = shown(true);
    assert!(row.starts_with("postgres individual (by URL)") && row.ends_with(" -"), "{row}");
}

#[test]
fn the_log_that_was_opened_and_what_a_buffer_may_lose_have_tables_of_their_own() {
    let mut file = load(Path::new(FIXTURE)).unwrap();
    let titles = ["log that was opened", "accepted before committed"];
    let options = Options { width: 200, ..Options::default() };
    let before = render(&file, Format::Table, &options).unwrap();
    assert!(titles.iter().all(|title| !before.contains(title)));
    let trials = file.cells.iter_mut().flat_map(|cell| &mut cell.trials);
    for run in trials.flat_map(|trial| &mut trial.phases).flat_map(|phase| &mut phase.runs) {
        run.log_bytes = Some(12_300_000);
        let (loss_rows, loss_ns) = (4_321, 56_000_000);
        run.write_behind = Some(WriteBehind { loss_rows, loss_ns, ..WriteBehind::default() });
    }
    for format in [Format::Table, Format::Markdown] {
        let after = render(&file, format, &options).unwrap();
        for (title, shown) in titles.into_iter().zip([&["12.3 MB"][..], &["4,321", "56.0 ms"]]) {
            let table = after.split(title).nth(1).unwrap_or_else(|| panic!("{title}: {after}"));
            assert!(shown.iter().all(|shown| table.contains(shown)), "{title}: {table}");
        }
    }
}
