//! The time of the harness itself: phases of `sensors` (43 bytes as a pair) and of rows of 1 kB,
//! through bench and meter, on an engine that does nothing (`null`) and on real ones, and questions
//! over all rows on one that keeps them in memory. The last lines show what an operation, or a row
//! of a scan, took in the fastest run.

#![allow(clippy::unwrap_used, reason = "a benchmark has nobody to hand an error to")]

use std::path::PathBuf;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use embermark_engines::{OpenOptions, Reopener, registry};
use embermark_language::parse;
use embermark_meter::Meter;
use embermark_model::plan::DataSource;
use embermark_model::{Durability, Scale};
use embermark_workloads::defined::Defined;
use embermark_workloads::{Bench, Spec, Workload, find};
use tempfile::TempDir;

/// Rows of 1 kB.
const WIDE: &str = r#"
name = "wide"
[table.blobs]
rows = "100k"
key = ["id"]
[table.blobs.columns]
id = { type = "u64", make = "sequence" }
payload = { type = "bytes", make = "random", length = 1_000 }
[phase.load]
do = "insert"
commit = 10_000
[phase.read]
do = "get"
ops = "1M"
"#;

/// A workload on an engine, opened.
struct Opened {
    bench: Box<dyn Bench>,
    rows: u64,
    _dir: TempDir,
}

fn file(text: &str) -> &'static dyn Workload {
    Defined::leak(parse("floor.toml", text, &[]).unwrap(), PathBuf::new(), 0.0)
}

fn open(workload: &dyn Workload, variant: &str, rows: u64, engine: &str) -> Opened {
    let dir = tempfile::tempdir().unwrap();
    let (seed, staged) = (42, dir.path().join("rows"));
    let source = workload.source(&DataSource::Synthetic, seed).unwrap();
    source.stage(Scale::Rows(rows), &staged).unwrap();
    let prepared = workload.prepare(&Spec::of(staged, variant, seed)).unwrap();
    let engine = registry::find(engine).unwrap();
    let options = OpenOptions::new(dir.path(), Durability::None, 1 << 20);
    let store = engine.open(&options).unwrap().store;
    let bench = prepared.open(store, Reopener::for_engine(engine, options)).unwrap();
    Opened { bench, rows, _dir: dir }
}

impl Opened {
    /// Runs a phase again and again. Returns the shortest time of an operation, or with `scan` of a
    /// row, in ns.
    fn measure(&mut self, criterion: &mut Criterion, name: &str, phase: &str, scan: bool) -> f64 {
        let of = |p: &embermark_workloads::BenchPhase| p.name == phase;
        let place = self.bench.phases().iter().position(of).unwrap();
        let mut meter = Meter::new(None);
        let mut best = f64::INFINITY;
        let mut group = criterion.benchmark_group(name);
        group.sample_size(10).throughput(Throughput::Elements(1));
        group.bench_function(phase, |bencher| {
            bencher.iter_custom(|runs| {
                let mut all = 0.0;
                for _ in 0..runs {
                    self.bench.ready(place).unwrap();
                    std::hint::black_box(self.bench.run(place, &mut meter)).ok();
                    let measured = meter.measured();
                    let rows = if scan { self.rows } else { 1 };
                    let one = measured.elapsed_ns as f64 / (measured.ops * rows) as f64;
                    best = best.min(one);
                    all += one;
                }
                Duration::from_nanos(all as u64)
            });
        });
        group.finish();
        best
    }
}

fn floor(criterion: &mut Criterion) {
    let (million, sensors) = (1_000_000, find("sensors").unwrap());
    let mut lines = Vec::new();
    let mut line = |what: &str, unit: &str, of: [Option<f64>; 2]| {
        let [sensors, wide] =
            of.map(|ns| ns.map_or_else(|| "-".to_owned(), |ns| format!("{ns:.1}")));
        lines.push(format!("{what:<28} {sensors:>9} {wide:>9}  ns/{unit}"));
    };
    {
        let mut narrow = open(sensors, "single", million, "null");
        let mut wide = open(file(WIDE), "as-written", million / 10, "null");
        for (what, phase) in [("read on null", "read"), ("insert on null", "load")] {
            let narrow = narrow.measure(criterion, "sensors", phase, false);
            let wide = wide.measure(criterion, "wide", phase, false);
            line(what, "operation", [Some(narrow), Some(wide)]);
        }
    }
    for (what, engine) in [
        ("read on lmdb", "lmdb"),
        ("read on redb", "redb"),
        ("read on sqlite", "sqlite"),
        ("read on duckdb", "duckdb"),
    ] {
        let rows = if engine == "duckdb" { million / 1_000 } else { million / 10 };
        let read = open(sensors, "bulk", rows, engine).measure(criterion, engine, "read", false);
        line(what, "operation", [Some(read), None]);
    }
    let mut kept = open(sensors, "bulk", million, "memory");
    for (what, phase) in [
        ("mean of each sensor", "avg_sensor"),
        ("extremes of each day", "daily_summary"),
        ("far from the mean", "anomalies"),
        ("gaps", "outages"),
    ] {
        line(what, "row", [Some(kept.measure(criterion, "questions", phase, true)), None]);
    }
    println!("{:<28} {:>9} {:>9}", "fastest run", "sensors", "1 kB rows");
    lines.iter().for_each(|line| println!("{line}"));
}

criterion_group!(benches, floor);
criterion_main!(benches);
