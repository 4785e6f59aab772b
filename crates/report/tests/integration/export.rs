//! Exports for programs and pages, and what they must not contain.

use std::collections::BTreeMap;
use std::path::Path;

use crate::counted::counted;
use embermark_model::Status;
use embermark_model::result::{Loaded, Resources, ResultFile};
use embermark_report::html::{self, PageOptions};
use embermark_report::summary::Quantity;
use embermark_report::{Format, Options, load, render};

use crate::everything;

const NASTY: &str =
    "x|y\nline two\r\x1b[31mred\x1b[0m\x07 `code` <b> \u{202e}rtl \u{9b}2J **bold**";

fn fixture() -> ResultFile {
    load(Path::new("tests/fixtures/schema-1.json")).unwrap()
}

fn shown(file: &ResultFile, format: Format) -> String {
    let path = Some(Path::new("out/result.json"));
    render(file, format, &Options { latency: true, path, ..Options::default() }).unwrap()
}

/// The golden result, in which every text that a server, a driver or a file could have given is
/// hostile.
fn hostile() -> ResultFile {
    let mut file = fixture();
    file.manifest.warnings.push(NASTY.into());
    file.manifest.machine.cpu = Some(NASTY.into());
    file.manifest.run_id = NASTY.into();
    for dataset in file.manifest.datasets.values_mut() {
        dataset.name = NASTY.into();
        dataset.dropped.insert(NASTY.into(), 3);
    }
    for cell in &mut file.cells {
        cell.reason = cell.reason.as_ref().map(|_| NASTY.into());
        if cell.id.engine == "duckdb" {
            cell.id.engine = NASTY.into();
        }
        if cell.id.variant == "commit-each" {
            cell.id.variant = NASTY.into();
        }
        for trial in &mut cell.trials {
            trial.version = Some(NASTY.into());
            trial.reason = trial.reason.as_ref().map(|_| NASTY.into());
            trial.log = trial.log.as_ref().map(|_| NASTY.into());
            for phase in trial.phases.iter_mut().filter(|phase| phase.phase == "read") {
                phase.phase = NASTY.into();
                phase.reason = Some(NASTY.into());
            }
        }
    }
    file
}

/// Returns the number of cells of a Markdown table line: bars that are not escaped, minus one.
fn markdown_columns(line: &str) -> usize {
    line.replace("\\\\", "").replace("\\|", "").matches('|').count() - 1
}

fn assert_markdown_is_regular(markdown: &str) {
    let mut columns = None;
    for line in markdown.lines() {
        if !line.starts_with('|') {
            columns = None;
            continue;
        }
        let expected = *columns.get_or_insert(markdown_columns(line));
        assert!(expected >= 2);
        assert_eq!(markdown_columns(line), expected, "{line}");
    }
}

#[test]
fn csv_has_a_line_for_every_run_and_for_all_that_has_none() {
    let file = fixture();
    let csv = shown(&file, Format::Csv);
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let header = reader.headers().unwrap().clone();
    let column = |name: &str| header.iter().position(|other| other == name).unwrap();
    let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();

    let of_cell = |cell| -> Vec<_> {
        let cell: &embermark_model::result::Cell = cell;
        cell.trials.iter().chain(&cell.lost_trials).collect()
    };
    let trials = || file.cells.iter().flat_map(of_cell);
    let runs = || trials().flat_map(|trial| &trial.phases).flat_map(|phase| &phase.runs);
    let empty_cells = file.cells.iter().filter(|cell| cell.trials.is_empty()).count();
    let empty_trials = trials().filter(|trial| trial.phases.is_empty()).count();
    let empty_phases =
        trials().flat_map(|trial| &trial.phases).filter(|phase| phase.runs.is_empty()).count();
    assert!(empty_cells > 0 && empty_trials > 0 && empty_phases > 0);
    assert_eq!(records.len(), runs().count() + empty_cells + empty_trials + empty_phases);

    let sum = |name: &str| -> u64 {
        records.iter().filter_map(|record| record[column(name)].parse::<u64>().ok()).sum()
    };
    assert_eq!(sum("elapsed_ns"), runs().map(|run| run.elapsed_ns).sum::<u64>());
    assert_eq!(sum("cpu_ns"), runs().filter_map(|run| run.engine.cpu_ns).sum::<u64>());
    let unavailable = records.iter().find(|record| &record[column("engine")] == "mongodb").unwrap();
    assert_eq!(&unavailable[column("cell_status")], "unavailable");
    assert!(unavailable[column("reason")].contains("no mongod"));
    assert_eq!(&unavailable[column("elapsed_ns")], "", "not measured is empty and not 0");
    let capped = records.iter().filter(|record| &record[column("capped")] == "true").count();
    assert_eq!(capped, runs().filter(|run| run.capped).count());
}

#[test]
fn markdown_tables_have_one_number_of_columns_each() {
    let markdown = shown(&fixture(), Format::Markdown);
    assert_markdown_is_regular(&markdown);
    assert!(markdown.contains("| **8.37 ms 1.00x\\*** |"), "{markdown}");
    assert!(markdown.contains("- **mongodb** unavailable: no mongod"));
}

#[test]
fn json_is_the_result_itself() {
    let file = fixture();
    let json = shown(&file, Format::Json);
    let back: ResultFile = serde_json::from_str(&json).unwrap();
    assert_eq!(serde_json::to_value(&back).unwrap(), serde_json::to_value(&file).unwrap());
    assert_eq!(json.lines().count(), 1);
}

#[test]
fn nothing_in_a_result_can_move_the_cursor_or_break_a_line() {
    let hostile = hostile();
    for format in [Format::Table, Format::Markdown, Format::Csv] {
        let shown = shown(&hostile, format);
        let forbidden = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert_eq!(shown.find(forbidden), None, "{format:?}");
        assert!(!shown.lines().any(|line| line.starts_with("line two")), "{format:?}");
    }
}

#[test]
fn a_bar_or_a_line_break_in_a_name_ends_no_markdown_cell() {
    let markdown = shown(&hostile(), Format::Markdown);
    assert_markdown_is_regular(&markdown);
    assert!(!markdown.replace("\\<", "").contains("<b"), "no tag is opened");
    assert!(markdown.contains("x\\|y line two"));
}

#[test]
fn a_hostile_csv_reads_back_with_one_line_per_record() {
    let csv = shown(&hostile(), Format::Csv);
    let records = csv::Reader::from_reader(csv.as_bytes()).into_records().map(Result::unwrap);
    assert_eq!(records.count() + 1, csv.lines().count());
}

#[test]
fn a_result_without_any_figure_is_still_a_report() {
    let mut file = fixture();
    file.cells.retain(|cell| cell.id.engine == "mongodb");
    let table = shown(&file, Format::Table);
    assert!(table.contains("unavailable: mongodb") && table.contains("no mongod"), "{table}");
    assert_markdown_is_regular(&shown(&file, Format::Markdown));
    file.cells.clear();
    assert!(shown(&file, Format::Table).contains("Measured with"));
}

#[test]
fn every_csv_column_holds_what_its_header_says() {
    let mut file = fixture();
    let resources = |base: u64| Resources {
        cpu_ns: Some(base + 1),
        peak_bytes: Some(base + 2),
        read_bytes: Some(base + 3),
        written_bytes: Some(base + 4),
        ..Resources::default()
    };
    let run = &mut file.cells[0].trials[1].phases[0].runs[2];
    (run.elapsed_ns, run.ops) = (101, 102);
    (run.engine, run.client) = (resources(200), Some(resources(300)));
    let (trial, cell) = (file.cells[0].trials[1].clone(), file.cells[0].clone());
    let csv = shown(&file, Format::Csv);
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let rows: Vec<BTreeMap<String, String>> = reader.deserialize().map(Result::unwrap).collect();
    let row = rows.iter().find(|row| row["elapsed_ns"] == "101").unwrap();
    let order = trial.order.to_string();
    for (column, value) in [
        ("run_id", file.manifest.run_id.as_str()),
        ("workload", "sensors"),
        ("scale", "1k"),
        ("durability", "process"),
        ("variant", "single"),
        ("engine", "sqlite"),
        ("reference", "false"),
        ("effective_durability", ""),
        ("cell_status", cell.status.name()),
        ("trial", "1"),
        ("order", &order),
        ("version", "3.50.4"),
        ("trial_status", "ok"),
        ("phase", "load"),
        ("how", "native"),
        ("phase_status", "ok"),
        ("phase_ops", "1000"),
        ("reason", ""),
        ("run", "2"),
        ("discarded", "false"),
        ("capped", "false"),
        ("elapsed_ns", "101"),
        ("ops", "102"),
        ("cpu_ns", "201"),
        ("peak_bytes", "202"),
        ("read_bytes", "203"),
        ("written_bytes", "204"),
        ("client_cpu_ns", "301"),
        ("client_peak_bytes", "302"),
    ] {
        assert_eq!(row[column], value, "{column}");
    }
    for (column, of_run) in [("client_read_bytes", "303"), ("client_written_bytes", "304")] {
        assert_eq!(row[column], of_run, "{column}");
    }
    // One client, one operation after the other.
    assert_eq!((&*row["clients"], &*row["kept_up"], &*row["response_p50_ns"]), ("1", "", ""));
    assert_eq!(row["ops_per_second"].parse::<f64>().unwrap(), 102e9 / 101.0);
    // An old result records nothing more, and nothing is invented.
    for column in ["user_bytes", "write_amplification", "maintenance_ns", "observed_lost"] {
        assert_eq!(row[column], "", "{column}");
    }
}

#[test]
fn every_metric_of_a_run_is_a_column_of_the_csv() {
    let page = html::data(&[], PageOptions::default()).unwrap();
    let csv = shown(&fixture(), Format::Csv);
    let header: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let metrics = page.load_columns.iter().chain(&page.beside_columns);
    for metric in metrics.chain(&page.explained_columns) {
        // Its power follows from `energy_joules` and `lasted_ns`.
        let is_power = metric.quantity == Quantity::Power;
        assert!(is_power || header.contains(&metric.key), "{}", metric.key);
    }
}

#[test]
fn everything_that_was_measured_is_in_the_csv() {
    let mut file = fixture();
    let numbers = everything::measured(&mut file);
    let csv = shown(&file, Format::Csv);
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let rows: Vec<BTreeMap<String, String>> = reader.deserialize().map(Result::unwrap).collect();
    let elapsed = everything::ELAPSED_NS.to_string();
    let row = rows.iter().find(|row| row["elapsed_ns"] == elapsed).unwrap();
    assert_eq!(everything::missing(&numbers, row), Vec::<u64>::new());
    let run = &file.cells[0].trials[1].phases[0].runs[0];
    assert_eq!(row["user_bytes"], run.loaded.unwrap().user_bytes.to_string());
    assert_eq!(row["maintenance_ns"], run.maintenance().unwrap().elapsed_ns.to_string());
    assert_eq!(row["write_amplification"], run.write_amplification().unwrap().to_string());
    let seen = run.observed.as_ref().unwrap();
    assert_eq!(row["observed_disk_points"], "0.000:0 0.500:7");
    assert_eq!(row["observed_a_new_count"], seen.counts["a-new-count"].to_string());
    assert_eq!(row["observed_staleness_p50_ns"], seen.latencies["staleness"].p50.to_string());
    // The trial's own figures are shown without a run too. Those of the run are not.
    file.cells[0].trials[1].phases.clear();
    let csv = shown(&file, Format::Csv);
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let rows: Vec<BTreeMap<String, String>> = reader.deserialize().map(Result::unwrap).collect();
    let others = file.cells[0].trials[1].background_cpu.unwrap().cpu_ns.to_string();
    let row = rows.iter().find(|row| row["background_cpu_ns"] == others).unwrap();
    assert_eq!((row["maintenance_ns"].as_str(), row["observed_lost"].as_str()), ("", ""));
}

#[test]
fn tables_show_loads_and_what_is_not_measured_as_a_dash() {
    let mut file = counted(fixture());
    let load = |file: &ResultFile| {
        let markdown = shown(file, Format::Markdown);
        let loads = markdown.split("loads and maintenance").nth(1).unwrap().to_owned();
        loads.lines().find(|line| line.starts_with("| sqlite load |")).unwrap().to_owned()
    };
    assert!(load(&file).contains("420 kB"), "{}", load(&file));
    for cell in file.cells.iter_mut().filter(|cell| cell.id.engine == "sqlite") {
        for run in
            cell.trials.iter_mut().flat_map(|trial| &mut trial.phases).flat_map(|p| &mut p.runs)
        {
            run.loaded = run.loaded.map(|loaded| Loaded { maintenance: None, ..loaded });
        }
    }
    assert_eq!(load(&file).matches("| - ").count(), 2, "a time and its CPU: {}", load(&file));
    for cell in &mut file.cells {
        cell.counting = cell.counting.take().filter(|_| cell.id.engine != "sqlite");
    }
    let line = load(&file);
    let dashes = line.matches("| - ").count();
    assert!(dashes == 6 && !line.contains(" 0"), "{line}");
}

#[test]
fn figures_that_may_not_be_published_are_announced_on_the_face_and_can_be_left_out() {
    let mut file = fixture();
    for cell in file.cells.iter_mut().filter(|cell| cell.id.engine == "duckdb") {
        cell.unpublishable = true;
    }
    for format in [Format::Table, Format::Markdown] {
        let first = shown(&file, format).lines().next().unwrap_or_default().to_owned();
        assert!(first.contains("NOT TO BE PUBLISHED") && first.contains("duckdb"), "{first}");
    }
    assert!(shown(&file, Format::Json).contains("\"unpublishable\":true"));
    let csv = shown(&file, Format::Csv);
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let rows: Vec<BTreeMap<String, String>> = reader.deserialize().map(Result::unwrap).collect();
    assert!(rows.iter().all(|row| (row["publishable"] == "false") == (row["engine"] == "duckdb")));

    let publishable = file.publishable();
    for format in [Format::Table, Format::Json, Format::Csv, Format::Markdown] {
        let text = shown(&publishable, format);
        assert!(!text.contains("NOT TO BE PUBLISHED"), "{text}");
        assert!(text.contains("left out: its licence forbids publishing figures"), "{text}");
    }
    let mut others = publishable.cells.iter().filter(|cell| cell.id.engine != "duckdb");
    assert!(others.any(|cell| !cell.trials.is_empty()));
    let mut its = publishable.cells.iter().filter(|cell| cell.id.engine == "duckdb");
    assert!(its.all(|cell| cell.trials.is_empty()));
}

/// The golden result with a third trial, a copy of the second that took `percent` of its time.
fn with_a_third_trial(percent: u64) -> ResultFile {
    let mut file = fixture();
    for cell in file.cells.iter_mut().filter(|cell| cell.trials.len() == 2) {
        let mut third = cell.trials[1].clone();
        third.index = 2;
        for run in third.phases.iter_mut().flat_map(|phase| &mut phase.runs) {
            run.elapsed_ns = run.elapsed_ns * percent / 100;
        }
        cell.trials.push(third);
    }
    file
}

#[test]
fn a_trial_that_failed_between_two_phases_has_its_reason_on_its_lines() {
    let mut file = fixture();
    let cell = file.cells.iter_mut().find(|cell| cell.trials.len() == 2).unwrap();
    let id = cell.id.clone();
    let trial = &mut cell.trials[1];
    assert!(trial.phases.iter().all(|part| part.status.has_figures() && part.reason.is_none()));
    (trial.status, trial.reason) = (Status::Failed, Some("worker died".to_owned()));
    let csv = shown(&file, Format::Csv);
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let rows: Vec<BTreeMap<String, String>> = reader.deserialize().map(Result::unwrap).collect();
    let of_cell = |row: &&BTreeMap<String, String>| {
        (&row["engine"], &row["variant"]) == (&id.engine, &id.variant)
            && (row["scale"] == id.scale.to_string() && row["counting"] == "false")
            && row["durability"] == id.durability.to_string()
    };
    let reasons = |trial: &str| {
        let own = rows.iter().filter(of_cell).filter(|row| row["trial"] == trial);
        own.map(|row| row["reason"].as_str()).collect::<Vec<&str>>()
    };
    let (first, second) = (reasons("0"), reasons("1"));
    assert!(!second.is_empty() && second.iter().all(|reason| *reason == "worker died"), "{csv}");
    assert!(!first.is_empty() && first.iter().all(|reason| reason.is_empty()), "{csv}");
}

#[test]
fn intervals_stand_in_every_form_once_there_are_three_trials() {
    let file = with_a_third_trial(101);
    let options = Options { width: 120, intervals: true, ..Options::default() };
    let table = render(&file, Format::Table, &options).unwrap();
    assert!(table.contains("95 % intervals of time and ratio"), "{table}");
    assert!(!shown(&file, Format::Table).contains("intervals of time"), "only when asked for");
    assert!(shown(&file, Format::Markdown).contains("intervals of time and ratio"));
    assert!(!shown(&fixture(), Format::Markdown).contains("intervals of time"), "of two trials");

    let csv = shown(&file, Format::Csv);
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let rows: Vec<BTreeMap<String, String>> = reader.deserialize().map(Result::unwrap).collect();
    let json: serde_json::Value = serde_json::from_str(&shown(&file, Format::Json)).unwrap();
    let statistics = json["statistics"].as_array().unwrap();
    let sqlite = |value: &serde_json::Value| {
        value["engine"] == "sqlite" && value["phase"] == "read" && value["scale"] == "10k"
    };
    let statistic = statistics.iter().find(|value| sqlite(value)).unwrap();
    let mut of_csv = rows
        .iter()
        .filter(|row| row["engine"] == "sqlite" && row["phase"] == "read" && row["scale"] == "10k");
    let row = of_csv.next().unwrap();
    let number = |name: &str| row[name].parse::<f64>().unwrap();
    assert_eq!(number("per_op_median_ns"), statistic["median_ns"].as_f64().unwrap());
    assert_eq!(number("per_op_low_ns"), statistic["interval_ns"][0].as_f64().unwrap());
    assert_eq!(number("ratio_high"), statistic["ratio_interval"][1].as_f64().unwrap());
    assert!(number("per_op_low_ns") <= number("per_op_median_ns"));
    assert!(of_csv.all(|row| row["outlier"] == "false"));
}

#[test]
fn where_no_difference_is_shown_the_table_says_so_and_names_no_winner() {
    let mut file = with_a_third_trial(101);
    let lmdb = file
        .cells
        .iter()
        .find(|cell| cell.id.engine == "lmdb" && cell.id.slug().contains("10k-process-single"));
    let mut twin = lmdb.unwrap().clone();
    twin.id.engine = "twin".into();
    file.plan.engines.push("twin".into());
    file.cells.push(twin);
    // A thousandth slower than the best.
    let mut slower = file.cells.pop().unwrap();
    for run in slower.trials.iter_mut().flat_map(|t| &mut t.phases).flat_map(|p| &mut p.runs) {
        run.elapsed_ns += run.elapsed_ns / 1_000;
    }
    file.cells.push(slower);
    let table =
        render(&file, Format::Table, &Options { width: 200, ..Options::default() }).unwrap();
    let read =
        table.lines().rfind(|line| line.starts_with("read ") && line.contains(" ms")).unwrap();
    assert_eq!((read.matches("1.00x≈").count(), read.matches('*').count()), (2, 0), "{read}");
    assert!(table.contains("not significantly slower than the row's best"), "{table}");
}

#[test]
fn a_trial_that_stands_apart_is_marked_in_table_and_csv() {
    let file = with_a_third_trial(500);
    let table =
        render(&file, Format::Table, &Options { width: 200, ..Options::default() }).unwrap();
    assert!(table.contains("°") && table.contains("is an outlier"), "{table}");
    let csv = shown(&file, Format::Csv);
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let rows: Vec<BTreeMap<String, String>> = reader.deserialize().map(Result::unwrap).collect();
    let marked: Vec<_> = rows.iter().filter(|row| row["outlier"] == "true").collect();
    assert!(!marked.is_empty() && marked.iter().all(|row| row["trial"] == "2"));
}
