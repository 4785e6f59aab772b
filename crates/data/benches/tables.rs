//! Table rows read, generated and staged per second, and the time to read a value.

use std::fmt::Write as _;
use std::fs::File;
use std::hint::black_box;
use std::io::Write as _;
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use embermark_data::draw::Draw;
use embermark_data::table::{StagedTable, stage};
use embermark_data::zipf::Zipf;
use embermark_data::{export, synthetic};
use embermark_model::table::{
    Column, ColumnType, Make, MakeKind, RowsFrom, Table, TimeUnit, Value,
};
use flate2::Compression;
use flate2::write::GzEncoder;

const ROWS: u64 = 200_000;
const U16: ColumnType = ColumnType::Int { bits: 16, signed: false };
const U64: ColumnType = ColumnType::Int { bits: 64, signed: false };
const SECONDS: ColumnType = ColumnType::Timestamp(TimeUnit::Seconds);
const MICROS: ColumnType = ColumnType::Timestamp(TimeUnit::Microseconds);

fn column(name: &str, of: ColumnType, nullable: bool, kind: Option<MakeKind>) -> Column {
    let make = kind.map(Make::new);
    Column { nullable, make, ..Column::new(name, of) }
}

fn table(columns: Vec<Column>, key: &[usize], rows: RowsFrom) -> Table {
    Table { name: "t".to_owned(), columns, key: key.to_vec(), indexes: Vec::new(), rows }
}

fn staged(table: &Table, folder: &Path) -> u64 {
    let tables = std::slice::from_ref(table);
    let to = folder.join("staged");
    stage(tables, 0, folder, None, 42, 0.01, &to).expect("rows that fit").rows
}

/// A sensor file with five columns: integers for the station and the time, and three numbers.
fn sensor_rows() -> (String, String) {
    let (mut csv, mut json) = ("station,time,temp,hum,volt\n".to_owned(), String::new());
    let mut draw = Draw::new(42, 0);
    for row in 0..ROWS {
        let (station, time) = (row % 54 + 1, 1_077_926_400 + row / 54 * 31);
        let temp = 15.0 + (draw.unit() * 100_000.0).round() / 10_000.0;
        let hum = 30.0 + (draw.unit() * 300_000.0).round() / 10_000.0;
        let volt = 2.0 + (draw.unit() * 100_000.0).round() / 100_000.0;
        writeln!(csv, "{station},{time},{temp},{hum},{volt}").expect("a string");
        writeln!(
            json,
            "{{\"station\":{station},\"time\":{time},\"temp\":{temp},\"hum\":{hum},\"volt\":{volt}}}"
        )
        .expect("a string");
    }
    (csv, json)
}

fn sensor_columns() -> Vec<Column> {
    let number = |name| column(name, ColumnType::Float, true, None);
    vec![
        column("station", U16, false, None),
        column("time", SECONDS, false, None),
        number("temp"),
        number("hum"),
        number("volt"),
    ]
}

fn read(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let (csv, json) = sensor_rows();
    let write = |name: &str, bytes: &[u8]| {
        std::fs::write(folder.path().join(name), bytes).expect("a file");
        RowsFrom::File(Box::new(name.into()))
    };
    let mut gz = GzEncoder::new(Vec::new(), Compression::default());
    gz.write_all(csv.as_bytes()).expect("memory");
    let gz = gz.finish().expect("memory");
    let key: &[usize] = &[0, 1];
    let mut cases = vec![
        ("csv", table(sensor_columns(), key, write("s.csv", csv.as_bytes()))),
        ("csv-gz", table(sensor_columns(), key, write("s.csv.gz", &gz))),
        ("jsonl", table(sensor_columns(), key, write("s.jsonl", json.as_bytes()))),
        ("csv-no-key", table(sensor_columns(), &[], RowsFrom::File(Box::new("s.csv".into())))),
    ];
    // Readings of the synthetic log: times as text in CSV, and Parquet with absent values.
    let readings = synthetic::generate(ROWS, 42).expect("memory for the rows").readings;
    let mut columns: Vec<_> = ["temperature", "humidity", "light", "voltage"]
        .map(|name| column(name, ColumnType::Float, true, None))
        .into();
    columns.splice(0..0, [column("ts", MICROS, false, None), column("sensor", U16, false, None)]);
    let create = |name: &str| File::create(folder.path().join(name)).expect("a file");
    export::to_csv(&readings, create("r.csv")).expect("a file");
    export::to_parquet(&readings, &folder.path().join("r.parquet")).expect("a file");
    for (name, file) in [("csv-six-columns-dates", "r.csv"), ("parquet-six-columns", "r.parquet")] {
        cases.push((name, table(columns.clone(), &[1, 0], RowsFrom::File(Box::new(file.into())))));
    }
    let mut group = criterion.benchmark_group("table-read");
    group.throughput(Throughput::Elements(ROWS)).sample_size(20);
    for (name, table) in &cases {
        group.bench_function(*name, |bencher| {
            bencher.iter(|| assert_eq!(staged(table, folder.path()), ROWS))
        });
    }
    group.finish();
}

fn make(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let made = |kind, of| column("c", of, false, Some(kind));
    let id = || {
        let kind = MakeKind::Sequence { from: 0, step: 1, repeat: 1 };
        column("id", U64, false, Some(kind))
    };
    let walk = MakeKind::Walk { from: 20.0, step: 0.1, lowest: 0.0, highest: 40.0 };
    let choice = MakeKind::Choice {
        values: ["a", "b", "c"].map(|text| Value::Text(text).to_owned()).into(),
        weights: vec![1.0, 2.0, 3.0],
    };
    let (text, float) = (ColumnType::Text, ColumnType::Float);
    let kinds = [
        ("random-int", made(MakeKind::RandomInt { from: 0, to: 1_000 }, U64)),
        ("random-float", made(MakeKind::RandomFloat { from: 0.0, to: 1.0 }, float)),
        ("words", made(MakeKind::Words { distinct: 500, skew: 0.99 }, text)),
        ("walk", made(walk, float)),
        ("choice", made(choice, text)),
        ("text-20", made(MakeKind::Random { from: 20, to: 20 }, text)),
        ("bytes-100", made(MakeKind::Random { from: 100, to: 100 }, ColumnType::Bytes)),
    ];
    let mut group = criterion.benchmark_group("table-make");
    group.throughput(Throughput::Elements(ROWS)).sample_size(20);
    for (name, column) in kinds.clone() {
        let table = table(vec![id(), column], &[0], RowsFrom::Made(ROWS));
        group.bench_function(name, |bencher| bencher.iter(|| staged(&table, folder.path())));
    }
    let all = kinds
        .into_iter()
        .enumerate()
        .map(|(at, (_, column))| Column { name: format!("c{at}"), ..column });
    let columns = std::iter::once(id()).chain(all).collect();
    let table = table(columns, &[0], RowsFrom::Made(ROWS));
    group.bench_function("all-of-these", |bencher| bencher.iter(|| staged(&table, folder.path())));
    group.finish();
    criterion.bench_function("zipf-draw", |bencher| {
        let (zipf, mut draw) = (Zipf::new(1_000_000, 0.99), Draw::new(42, 0));
        bencher.iter(|| zipf.draw(&mut draw))
    });
}

fn read_values(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let word = MakeKind::Words { distinct: 500, skew: 0.99 };
    let id = MakeKind::Sequence { from: 0, step: 1, repeat: 1 };
    let columns = vec![
        column("id", U64, false, Some(id)),
        column("word", ColumnType::Text, false, Some(word)),
    ];
    let table = table(columns, &[0], RowsFrom::Made(10_000));
    staged(&table, folder.path());
    let rows = StagedTable::open(&folder.path().join("staged")).expect("a staged table");
    let mut group = criterion.benchmark_group("table-look");
    let mut row = 0;
    let mut next = move || {
        row = (row + 1) % 10_000;
        row
    };
    group.bench_function("int", |bencher| {
        bencher.iter(|| match rows.value(next(), 0) {
            Value::Int(value) => value,
            other => panic!("{other:?}"),
        })
    });
    group.bench_function("text", |bencher| {
        bencher.iter(|| match rows.value(next(), 1) {
            Value::Text(text) => text.len(),
            other => panic!("{other:?}"),
        })
    });
    group.bench_function("user-bytes", |bencher| {
        bencher.iter(|| black_box(rows.user_bytes(next())))
    });
    group.bench_function("find", |bencher| {
        bencher.iter(|| black_box(rows.find(&[Value::Int(next() as i64)])))
    });
    group.finish();
}

criterion_group!(benches, read, make, read_values);
criterion_main!(benches);
