//! The source's tables of `machine` with published and measured figures, and the disk over time.

use std::path::Path;

use embermark_model::result::{
    Cell, DiskCurve, EngineFacts, Observed, PhaseResult, Resources, ResultFile,
};
use embermark_report::{Format, Options, PublishedDetail, load, render};

/// Servers, their variants, and the readers of each.
const MEASURED: [(&str, &str, &[&str]); 5] = [
    ("mariadb", "individual-published", &["individual", "bulk", "bulk1"]),
    ("mariadb", "bulk-published", &["bulk"]),
    ("mongodb", "individual-published", &["individual", "bulk", "bulk1"]),
    ("mongodb", "bulk-published", &["bulk"]),
    ("influxdb", "individual-published", &["individual", "bulk", "bulk1"]),
];

/// Makes a result in which the servers were written and read as in the source. Each resource of the
/// n-th server is n times that of the first.
fn result() -> ResultFile {
    let mut file = load(Path::new("tests/fixtures/schema-1-machine.json")).unwrap();
    let whole = file.cells[0].clone();
    let cells = (1..).zip(MEASURED);
    file.cells = cells
        .map(|(n, (engine, variant, readers))| cell(&whole, n, engine, variant, readers))
        .collect();
    file.plan.engines = ["mariadb", "mongodb", "influxdb"].map(str::to_owned).into();
    let facts = |name: &str| EngineFacts {
        name: name.to_owned(),
        kind: "server".to_owned(),
        data_model: String::new(),
        licence: String::new(),
        configuration: None,
        engine_library: None,
    };
    file.manifest.engines =
        file.plan.engines.iter().map(|name| (name.clone(), facts(name))).collect();
    file
}

fn cell(whole: &Cell, n: u64, engine: &str, variant: &str, readers: &[&str]) -> Cell {
    let mut cell = whole.clone();
    (cell.id.engine, cell.id.variant) = (engine.into(), variant.into());
    let phase = |name: &str, client: &str, disk: Option<DiskCurve>| -> PhaseResult {
        let mut phase = whole.trials[0].phases[0].clone();
        phase.phase = name.into();
        let used = |cpu_ns, peak_bytes| Resources {
            cpu_ns: Some(cpu_ns),
            peak_bytes: Some(peak_bytes),
            ..Resources::default()
        };
        let processes = [
            ("server", used(n * 100_000_000, n * 1024 * 1000)),
            (client, used(n * 20_000_000, n * 1024 * 10)),
        ];
        phase.runs[0].observed = Some(Observed {
            window_ns: 10_000_000_000,
            processes: processes.map(|(role, used)| (role.to_owned(), used)).into(),
            network_bytes: Some(n * 1_250_000),
            disk_growth_bytes: Some(5),
            disk,
            ..Observed::default()
        });
        phase
    };
    let mebibytes = n << 20;
    let disk = DiskCurve {
        begin_bytes: 1_000_000,
        end_bytes: 1_000_000 + mebibytes,
        points: (0..=150)
            .map(|at| (f64::from(at), 1_000_000 + u64::from(at as u32) * 1000))
            .collect(),
        cpu_ns: Some(1_500_000_000),
        ..DiskCurve::default()
    };
    let mut phases = vec![phase("write", "writer", Some(disk))];
    phases.extend(readers.iter().map(|reader| phase(&format!("read_{reader}"), "reader", None)));
    cell.trials.truncate(1);
    cell.trials[0].phases = phases;
    cell
}

fn shown(file: &ResultFile) -> String {
    let options =
        Options { width: 300, published: PublishedDetail::Measured, ..Options::default() };
    render(file, Format::Table, &options).unwrap()
}

/// Returns the rows of the table with a title, each as its words.
fn rows<'a>(shown: &'a str, title: &str) -> Vec<Vec<&'a str>> {
    let table = shown.split(title).nth(1).unwrap_or_else(|| panic!("no {title} in {shown}"));
    let rows = table.lines().skip_while(|line| !line.starts_with('─')).skip(1);
    rows.take_while(|line| !line.is_empty()).map(|line| line.split_whitespace().collect()).collect()
}

#[test]
fn every_cell_of_the_two_tables_stands_below_the_one_that_was_printed() {
    let shown = shown(&result());
    let writing = rows(&shown, "table IV, writing");
    assert_eq!(writing.len(), 10, "five writers: {shown}");
    assert_eq!(
        writing[0].join(" "),
        "mariadb individual 5 170,835 1,840 9.4 2,096 715 88 5 15 % 14 % 15 %"
    );
    // CPU in percent of one, memory in KiB, kbit/s, MiB of growth from the empty database, and the
    // grade.
    assert_eq!(writing[1].join(" "), "here 1 1,000 - 0.2 10 1,000 1 5 - 73 % 80 %");
    assert_eq!(writing[8][0], "influxdb");
    assert_eq!(writing[9].join(" "), "here 5 5,000 - 1 50 5,000 5 1 - 7 % 0 %");
    let reading = rows(&shown, "table V, reading");
    assert_eq!(reading.len(), 14, "seven readers: {shown}");
    assert_eq!(
        reading[12].join(" "),
        "influxdb bulk1 7 26,970 1.2 3.4 28,979 1,025 4 82 % 76 % 80 %"
    );
    assert!(reading[13].join(" ").starts_with("here 5 5,000 - 1 50 5,000 4 -"), "{reading:?}");
    assert_eq!(reading.iter().filter(|row| row[0] == "here").count(), 7);
    let scores = rows(&shown, "channels a second), scores");
    assert_eq!(scores.len(), 14);
    assert_eq!(
        scores[0].join(" "),
        "mariadb individual 15 % 14 % 15 % 71 % 65 % 69 % 43 % 39 % 42 %"
    );
    assert!(
        scores[1].join(" ").starts_with("here, durability process - 73 % 80 % - "),
        "{scores:?}"
    );
}

#[test]
fn who_lost_samples_has_a_line_and_no_score() {
    let mut file = result();
    let seen = file.cells[1].trials[0].phases[0].runs[0].observed.as_mut().unwrap();
    seen.counts.extend([("samples".to_owned(), 5_000), ("lost".to_owned(), 5_000)]);
    let shown = shown(&file);
    let writing = rows(&shown, "table IV, writing");
    assert!(writing[3].join(" ").ends_with("5 - lost 5,000 of 10,000 -"), "{:?}", writing[3]);
}

#[test]
fn what_was_not_written_in_the_sources_form_leaves_its_scores_alone() {
    let mut file = result();
    for cell in &mut file.cells {
        cell.id.variant = cell.id.variant.replace("-published", "");
    }
    let shown = shown(&file);
    assert!(!shown.contains("Published beside measured"), "{shown}");
    assert_eq!(rows(&shown, "channels a second), scores").len(), 7);
    // Then the growth in the window counts.
    let words = rows(&shown, "writing, 10.0 s").concat().join(" ");
    assert!(words.contains("5 B 1.05 MB"), "{words}");
}

#[test]
fn the_disk_over_time_has_a_line_for_each_writer() {
    let file = result();
    let shown = shown(&file);
    let grown = rows(&shown, "growth on disk from an empty database on");
    assert_eq!(grown.len(), 5);
    // At one minute, at two, at the end, and the share of a CPU that counting took.
    let first = "mariadb individual-published 1.00 MB 60.0 kB 120 kB 1.05 MB 1.00 %";
    assert_eq!(grown[0].join(" "), first);
    let mut none = file;
    for cell in &mut none.cells {
        for run in cell.trials[0].phases.iter_mut().flat_map(|phase| &mut phase.runs) {
            run.observed.as_mut().unwrap().disk = None;
        }
    }
    let options = Options { width: 300, ..Options::default() };
    let shown = render(&none, Format::Table, &options).unwrap();
    assert!(!shown.contains("growth on disk") && !shown.contains("from empty"), "{shown}");
}
