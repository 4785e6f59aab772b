//! Many devices: the page's tests get what the program writes, and tables of all runs.

use std::fs;
use std::path::{Path, PathBuf};

use crate::written::assert_written;
use embermark_model::result::ResultFile;
use embermark_report::evidence::Record;
use embermark_report::fleet::Fleet;
use embermark_report::{DeviceResult, Format, Options, csv_of, html, load, parquet_of, render};
use parquet::file::reader::{FileReader, SerializedFileReader};

const FIXTURE: &str = "tests/fixtures/schema-1.json";
/// Input of the page's tests in `page/tests`.
const PAGE_FIXTURE: &str = "page/tests/fixtures/fleet.json";

/// Makes the result of another board, on which everything takes a multiple of the time.
fn on(board: &str, times: f64) -> ResultFile {
    let mut file = load(Path::new(FIXTURE)).unwrap();
    file.manifest.run_id = format!("{} {board} {times}", file.manifest.run_id);
    file.manifest.machine.board = Some(board.to_owned());
    let trials = file.cells.iter_mut().flat_map(|cell| &mut cell.trials);
    for run in trials.flat_map(|trial| &mut trial.phases).flat_map(|phase| &mut phase.runs) {
        run.elapsed_ns = (run.elapsed_ns as f64 * times) as u64;
    }
    file
}

fn fleet() -> Fleet {
    let mut fleet = Fleet::default();
    for (name, board, times) in [
        ("roof", "Raspberry Pi 4 Model B", 3.0),
        ("kitchen", "Raspberry Pi 4 Model B", 3.6),
        ("lab", "Raspberry Pi 5 Model B", 1.0),
    ] {
        fleet.add(name, &on(board, times), &Record::default());
    }
    // One device has another order: the fastest engine of its first line takes ten times as long.
    let mut odd = on("Raspberry Pi 5 Model B", 1.2);
    let first = fleet.boxes.iter().find(|one| one.best).unwrap();
    let engine = &fleet.engines[first.engine].id;
    let cells = odd.cells.iter_mut().filter(|cell| cell.id.engine == *engine);
    for run in cells
        .flat_map(|cell| &mut cell.trials)
        .flat_map(|trial| &mut trial.phases)
        .flat_map(|phase| &mut phase.runs)
    {
        run.elapsed_ns *= 10;
    }
    fleet.add("garage", &odd, &Record::default());
    fleet.lacks("cellar", "not reached: Connection refused");
    fleet
}

#[test]
fn the_pages_fixture_is_what_the_program_writes() {
    let text = serde_json::to_string_pretty(&html::fleet_data(fleet())).unwrap() + "\n";
    assert_written(PAGE_FIXTURE, &text);
}

#[test]
fn times_are_of_the_device_and_ratios_of_its_own_best() {
    let fleet = fleet();
    let of = |device: &str, engine: usize, line: usize| {
        let device = fleet.devices.iter().position(|one| one.name == device).unwrap();
        let is = |one: &&embermark_report::fleet::DeviceFigure| {
            (one.device, one.engine, one.line) == (device, engine, line)
        };
        fleet.boxes.iter().find(is).unwrap()
    };
    let best = fleet.boxes.iter().find(|one| one.device == 2 && one.best && one.whole).unwrap();
    let (lab, roof) = (of("lab", best.engine, best.line), of("roof", best.engine, best.line));
    let slower = roof.ns.unwrap() / lab.ns.unwrap();
    assert!((slower - 3.0).abs() < 0.01, "{slower}");
    assert!((roof.ratio.unwrap() - lab.ratio.unwrap()).abs() < 0.01, "{roof:?} {lab:?}");
}

/// Results in files, each with a device's name.
fn files(folder: &Path) -> Vec<DeviceResult> {
    let write = |device: &str, file: &ResultFile| {
        let path: PathBuf = folder.join(device).with_extension("json");
        fs::write(&path, serde_json::to_vec(file).unwrap()).unwrap();
        DeviceResult { device: device.to_owned(), path }
    };
    vec![write("roof", &on("Pi 4", 2.0)), write("lab", &on("Pi 5", 1.0))]
}

#[test]
fn the_runs_of_all_are_those_of_each_under_one_header() {
    let folder = tempfile::tempdir().unwrap();
    let all = files(folder.path());
    let mut csv = Vec::new();
    csv_of(&all, load, Default::default(), &mut csv).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let header = reader.headers().unwrap().clone();
    let place = |name: &str| header.iter().position(|column| column == name).unwrap();
    let (device, board) = (place("device"), place("board"));
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let mut of_each = 0;
    for one in &all {
        let options = Options { path: Some(&one.path), ..Options::default() };
        let alone = render(&load(&one.path).unwrap(), Format::Csv, &options).unwrap();
        let alone: Vec<csv::StringRecord> =
            csv::Reader::from_reader(alone.as_bytes()).records().map(Result::unwrap).collect();
        let own: Vec<&csv::StringRecord> =
            rows.iter().filter(|row| row[device] == one.device).collect();
        assert!(own.iter().zip(&alone).all(|(a, b)| *a == b) && own.len() == alone.len());
        of_each += alone.len();
    }
    assert_eq!(rows.len(), of_each);
    assert!(
        rows.iter().any(|row| &row[board] == "Pi 4")
            && rows.iter().any(|row| &row[board] == "Pi 5")
    );

    let out = tempfile::NamedTempFile::new().unwrap();
    parquet_of(&all, load, Default::default(), out.path()).unwrap();
    let reader = SerializedFileReader::new(out.into_file()).unwrap();
    assert_eq!(reader.num_row_groups(), 1, "those of several results in a group");
    let runs = |path: &Path| {
        let file = load(path).unwrap();
        let cells = file.cells.iter();
        let trials = cells.flat_map(|cell| cell.trials.iter().chain(&cell.lost_trials));
        trials.flat_map(|trial| &trial.phases).map(|phase| phase.runs.len()).sum::<usize>()
    };
    let expected: usize = all.iter().map(|one| runs(&one.path)).sum();
    assert_eq!(reader.get_row_iter(None).unwrap().count(), expected);
}

#[test]
fn a_result_that_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut all = files(folder.path());
    fs::write(&all[1].path, "{}").unwrap();
    let failed = csv_of(&all, load, Default::default(), Vec::new()).unwrap_err().to_string();
    assert!(failed.contains("lab.json"), "{failed}");
    all.pop();
    csv_of(&all, load, Default::default(), Vec::new()).unwrap();
}
