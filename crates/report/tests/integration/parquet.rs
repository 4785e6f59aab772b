//! The raw runs as Parquet, read back.

use std::path::{Path, PathBuf};

use embermark_model::result::{ClientRun, Latency, OpenLoopSchedule, Resources, ResultFile, Run};
use embermark_report::{DeviceResult, Format, Options, load, parquet_of, render};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};

use crate::everything;

fn fixture() -> ResultFile {
    load(Path::new("tests/fixtures/schema-1.json")).unwrap()
}

fn written(file: &ResultFile) -> Vec<Row> {
    let out = tempfile::NamedTempFile::new().unwrap();
    let roof = DeviceResult { device: "roof".to_owned(), path: PathBuf::new() };
    parquet_of(&[roof], |_| Ok(file), Default::default(), out.path()).unwrap();
    let reader = SerializedFileReader::new(out.into_file()).unwrap();
    reader.get_row_iter(None).unwrap().map(Result::unwrap).collect()
}

fn field(row: &Row, name: &str) -> Field {
    let mut columns = row.get_column_iter();
    columns.find(|(column, _)| *column == name).map(|(_, field)| field.clone()).unwrap()
}

fn runs(file: &ResultFile) -> impl Iterator<Item = &Run> {
    let trials = file.cells.iter().flat_map(|cell| cell.trials.iter().chain(&cell.lost_trials));
    trials.flat_map(|trial| &trial.phases).flat_map(|phase| &phase.runs)
}

#[test]
fn every_run_is_a_row_and_reads_back_as_it_was() {
    let file = fixture();
    let rows = written(&file);
    assert_eq!(rows.len(), runs(&file).count());
    let optional = |value: Option<u64>| value.map_or(Field::Null, |v| Field::Long(v as i64));
    let (mut nulls, mut capped) = (0, 0);
    for (row, run) in rows.iter().zip(runs(&file)) {
        assert_eq!(field(row, "elapsed_ns"), Field::Long(run.elapsed_ns as i64));
        assert_eq!(field(row, "ops"), Field::Long(run.ops as i64));
        assert_eq!(field(row, "discarded"), Field::Bool(run.discarded));
        assert_eq!(field(row, "capped"), Field::Bool(run.capped));
        assert_eq!(field(row, "written_bytes"), optional(run.engine.written_bytes));
        let client = run.client.unwrap_or_default();
        assert_eq!(field(row, "client_cpu_ns"), optional(client.cpu_ns));
        nulls += usize::from(field(row, "client_cpu_ns") == Field::Null);
        capped += usize::from(run.capped);
    }
    assert!(nulls > 0 && nulls < rows.len() && capped > 0, "both are tried: {nulls}, {capped}");
}

#[test]
fn every_column_holds_what_its_name_says() {
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
    let order = i64::from(file.cells[0].trials[1].order);
    let rows = written(&file);
    let row = rows.iter().find(|row| field(row, "elapsed_ns") == Field::Long(101)).unwrap();
    let text = |text: &str| Field::Str(text.into());
    let none = Field::Null;
    let ratio = field(row, "ratio");
    assert!(matches!(ratio, Field::Double(ratio) if ratio > 1.0), "{ratio:?}");
    let expected = [
        ("run_id", text(&file.manifest.run_id)),
        ("workload", text("sensors")),
        ("scale", text("1k")),
        ("durability", text("process")),
        ("variant", text("single")),
        ("engine", text("sqlite")),
        ("reference", Field::Bool(false)),
        ("by_url", Field::Bool(false)),
        ("effective_durability", none),
        ("cell_status", text("ok")),
        ("trial", Field::Long(1)),
        ("counting", Field::Bool(false)),
        ("order", Field::Long(order)),
        ("version", text("3.50.4")),
        ("trial_status", text("ok")),
        ("phase", text("load")),
        ("how", text("native")),
        ("phase_status", text("ok")),
        ("phase_ops", Field::Long(1_000)),
        ("reason", text("")),
        ("run", Field::Long(2)),
        ("discarded", Field::Bool(false)),
        ("capped", Field::Bool(false)),
        ("elapsed_ns", Field::Long(101)),
        ("ops", Field::Long(102)),
        ("cpu_ns", Field::Long(201)),
        ("peak_bytes", Field::Long(202)),
        ("read_bytes", Field::Long(203)),
        ("written_bytes", Field::Long(204)),
        ("client_cpu_ns", Field::Long(301)),
        ("client_peak_bytes", Field::Long(302)),
        ("publishable", Field::Bool(true)),
        ("client_read_bytes", Field::Long(303)),
        ("client_written_bytes", Field::Long(304)),
    ];
    for (name, value) in expected {
        assert_eq!(field(row, name), value, "{name}");
    }
}

#[test]
fn everything_that_was_measured_is_in_a_column() {
    let mut file = fixture();
    let numbers = everything::measured(&mut file);
    let rows = written(&file);
    let elapsed = Field::Long(everything::ELAPSED_NS as i64);
    let row = rows.iter().find(|row| field(row, "elapsed_ns") == elapsed).unwrap();
    let columns = row.get_column_iter().map(|(name, field)| (name.clone(), field.to_string()));
    assert_eq!(everything::missing(&numbers, &columns.collect()), Vec::<u64>::new());
    // The background CPU is not known: NULL, never 0.
    let old = rows.iter().find(|row| field(row, "scale") == Field::Str("1k".into())).unwrap();
    for name in ["user_bytes", "maintenance_ns", "device_flushes", "observed_server_cpu_ns"] {
        assert_eq!(field(old, name), Field::Null, "{name}");
    }
}

#[test]
fn a_result_without_runs_is_a_table_without_rows() {
    let mut file = fixture();
    file.cells.retain(|cell| cell.trials.is_empty());
    assert!(written(&file).is_empty());
}

#[test]
fn parquet_is_refused_as_text_with_what_to_do() {
    let error = render(&fixture(), Format::Parquet, &Options::default()).unwrap_err();
    assert!(error.to_string().contains("--out"), "{error}");
}

#[test]
fn several_clients_and_a_schedule_stand_in_columns_of_their_own() {
    let mut file = fixture();
    let phases = file.cells.iter().flat_map(|cell| &cell.trials).flat_map(|trial| &trial.phases);
    let latency = phases.filter_map(|part| part.latency.clone()).next().unwrap();
    let part = &mut file.cells[0].trials[0].phases[0];
    part.response = Some(Latency { p50: 7_777, ..latency });
    part.runs[0].clients =
        [1_000_000, 4_000_000].map(|elapsed_ns| ClientRun { elapsed_ns, ops: 4 }).to_vec();
    part.runs[0].schedule = Some(OpenLoopSchedule {
        target_rate: 400.0,
        achieved_rate: 196.4,
        response_ns: 5_000.6,
        on_time: 3,
        late_p99_ns: None,
    });
    let rows = written(&file);
    for (column, value) in [
        ("clients", Field::Long(2)),
        ("slowest_client_per_second", Field::Double(1_000.0)),
        ("fastest_client_per_second", Field::Double(4_000.0)),
        ("target_rate", Field::Double(400.0)),
        ("achieved_rate", Field::Double(196.4)),
        ("late_p99_ns", Field::Null),
        ("response_mean_ns", Field::Double(5_000.6)),
        ("response_p50_ns", Field::Long(7_777)),
    ] {
        assert_eq!(field(&rows[0], column), value, "{column}");
    }
    let other = &rows[rows.len() - 1];
    assert_eq!(
        (field(other, "clients"), field(other, "target_rate")),
        (Field::Long(1), Field::Null)
    );
}
