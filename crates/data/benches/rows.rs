//! Rows parsed and generated per second.

use std::fs::File;
use std::hint::black_box;
use std::io::{BufWriter, Write};
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use embermark_data::{lab, machine, synthetic, telemetry};
use embermark_model::Reading;
use flate2::Compression;
use flate2::write::GzEncoder;

#[path = "../tests/integration/common/log.rs"]
mod log;
use log::log;

const ROWS: u64 = 200_000;

/// The published log is grouped by mote, which is the harder order.
fn grouped(mut readings: Vec<Reading>) -> Vec<Reading> {
    readings.sort_by_key(|reading| reading.sensor);
    readings
}

fn write_log(path: &Path, readings: &[Reading], gzip: bool) -> std::io::Result<()> {
    let text = log(readings);
    let mut file = BufWriter::new(File::create(path)?);
    if gzip {
        let mut encoder = GzEncoder::new(file, Compression::default());
        encoder.write_all(&text)?;
        encoder.finish()?.flush()
    } else {
        file.write_all(&text)?;
        file.flush()
    }
}

fn parse(criterion: &mut Criterion) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let chronological = synthetic::generate(ROWS, 42).expect("memory for the rows").readings;
    let by_mote = grouped(chronological.clone());
    let mut group = criterion.benchmark_group("parse");
    group.throughput(Throughput::Elements(ROWS));
    let cases = [
        ("plain", &chronological, false),
        ("plain-by-mote", &by_mote, false),
        ("gzip-by-mote", &by_mote, true),
    ];
    for (name, readings, gzip) in cases {
        let path = dir.path().join(name);
        write_log(&path, readings, gzip).expect("a log file");
        group.bench_function(name, |bencher| {
            bencher.iter(|| lab::read(black_box(&path)).expect("a log"))
        });
    }
    group.finish();
}

fn make(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("synthetic");
    group.throughput(Throughput::Elements(ROWS));
    group.bench_function("generate", |bencher| {
        bencher.iter(|| synthetic::generate(black_box(ROWS), 42))
    });
    group.bench_function("telemetry", |bencher| {
        bencher.iter(|| telemetry::generate(black_box(ROWS), 42).len())
    });
    group.bench_function("machine", |bencher| {
        let history = machine::History::new(42, 1_000, ROWS);
        bencher.iter(|| black_box(history).samples().map(black_box).count())
    });
    group.finish();
}

criterion_group!(benches, parse, make);
criterion_main!(benches);
