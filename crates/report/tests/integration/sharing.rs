//! Reports of several clients, and of operations at a target rate.

use std::path::Path;

use embermark_model::result::{ClientRun, OpenLoopSchedule, ResultFile};
use embermark_report::{Format, Options, load, render};

/// The golden result as if two clients had shared its reads, the second one at half the rate of the
/// first.
fn by_two_clients() -> ResultFile {
    let mut file = load(Path::new("tests/fixtures/schema-1.json")).unwrap();
    file.plan.clients = 2;
    for phase in file.cells.iter_mut().flat_map(|cell| &mut cell.trials).flat_map(|t| &mut t.phases)
    {
        for run in phase.runs.iter_mut().filter(|_| phase.phase == "read") {
            let ops = run.ops / 3;
            run.clients = [run.ops - ops, ops]
                .map(|ops| ClientRun { ops, elapsed_ns: run.elapsed_ns })
                .into();
        }
    }
    file
}

/// The golden result with such clients at a target rate, of which they achieved a part.
fn at_a_rate(achieved_rate: f64) -> ResultFile {
    let mut file = by_two_clients();
    file.plan.target_rate = Some(1_000);
    for phase in file.cells.iter_mut().flat_map(|cell| &mut cell.trials).flat_map(|t| &mut t.phases)
    {
        if phase.phase == "read" {
            phase.response = phase.latency.clone();
        }
        for run in phase.runs.iter_mut().filter(|run| !run.clients.is_empty()) {
            let (response_ns, late_p99_ns) = (5e6, Some(60_000));
            let (target_rate, on_time) = (1_000.0, run.ops);
            run.schedule = Some(OpenLoopSchedule {
                target_rate,
                achieved_rate,
                response_ns,
                on_time,
                late_p99_ns,
            });
        }
    }
    file
}

fn shown(file: &ResultFile, format: Format) -> String {
    render(file, format, &Options { width: 200, ..Options::default() }).unwrap()
}

#[test]
fn a_table_shows_the_throughput_of_all_clients_and_of_the_slowest_and_fastest() {
    for format in [Format::Table, Format::Markdown] {
        let text = shown(&by_two_clients(), format);
        assert!(text.contains("2 clients"), "{text}");
        assert!(text.contains("of all clients, and of the slowest and fastest one"), "{text}");
        assert!(!text.contains("did not keep up") && !text.contains("response"), "{text}");
    }
    let alone = load(Path::new("tests/fixtures/schema-1.json")).unwrap();
    assert!(!shown(&alone, Format::Table).contains("clients"));
}

#[test]
fn what_did_not_keep_up_is_marked_and_said_with_the_rate_it_achieved() {
    let behind = shown(&at_a_rate(500.0), Format::Table);
    assert!(
        behind.contains("did not keep up") && behind.contains("500 /s of 1.00 k/s"),
        "{behind}"
    );
    assert!(behind.contains("target rate 1.00 k/s"), "{behind}");
    assert!(behind.contains("read response") && behind.contains("read service"), "{behind}");
    assert!(behind.contains("at most 60.0 µs late"), "{behind}");
    let row = behind.lines().find(|line| line.starts_with("read /op")).unwrap();
    assert!(row.contains("5.00 ms<"), "{row}");
    let enough = shown(&at_a_rate(995.0), Format::Table);
    assert!(!enough.contains("did not keep up"), "{enough}");
}

#[test]
fn the_time_at_a_target_rate_is_its_response_time_and_not_the_schedules() {
    let text = shown(&at_a_rate(1_000.0), Format::Table);
    let row = text.lines().find(|line| line.starts_with("read /op")).unwrap();
    assert!(row.contains("5.00 ms 1.00x"), "{row}");
}

#[test]
fn csv_has_clients_rates_and_percentiles_of_each_run() {
    let csv = shown(&at_a_rate(500.0), Format::Csv);
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let header = reader.headers().unwrap().clone();
    let at = |name: &str| header.iter().position(|known| known == name).unwrap();
    let mut reads = 0;
    for line in reader.records().map(|line| line.unwrap()) {
        let lost = &line[at("lost")] == "true";
        if &line[at("phase")] != "read" || line[at("elapsed_ns")].is_empty() || lost {
            continue;
        }
        reads += 1;
        assert_eq!((&line[at("clients")], &line[at("target_rate")]), ("2", "1000"));
        assert_eq!((&line[at("achieved_rate")], &line[at("kept_up")]), ("500", "false"));
        let number = |name: &str| line[at(name)].parse::<f64>().unwrap();
        let both = number("slowest_client_per_second") + number("fastest_client_per_second");
        assert!((both / number("ops_per_second") - 1.0).abs() < 1e-9, "{line:?}");
        assert_eq!(number("response_mean_ns"), 5e6);
        assert_eq!(line[at("service_p50_ns")], line[at("response_p50_ns")]);
    }
    assert!(reads > 10, "{reads}");
}
