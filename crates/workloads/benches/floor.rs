//! The harness's own floor: the read phase, through bench and meter, on an engine that does
//! nothing.

use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use embermark_engines::{OpenOptions, Reopener, registry};
use embermark_meter::Meter;
use embermark_model::plan::DataSource;
use embermark_model::{Durability, Scale};
use embermark_workloads::{Bench, Spec, find};

const READS: u64 = 1_000_000;

fn null_bench() -> Result<Box<dyn Bench>, Box<dyn std::error::Error>> {
    let dir = tempfile::tempdir()?;
    let (workload, seed, rows) = (find("sensors")?, 42, dir.path().join("rows"));
    workload.source(&DataSource::Synthetic, seed)?.stage(Scale::Rows(READS), &rows)?;
    let prepared = workload.prepare(&Spec::of(rows, "single", seed))?;
    let options = OpenOptions::new(dir.path(), Durability::None, 1 << 20);
    let null = registry::find("null")?;
    Ok(prepared.open(null.open(&options)?.store, Reopener::of(null, options))?)
}

fn floor(criterion: &mut Criterion) {
    let mut bench = null_bench().unwrap_or_else(|error| panic!("{error}"));
    let read = bench.phases().iter().position(|phase| phase.name == "read").unwrap_or_default();
    let mut meter = Meter::new(None);
    let mut best = u64::MAX;
    let mut group = criterion.benchmark_group("floor");
    group.throughput(Throughput::Elements(READS));
    group.bench_function("read a million keys of null", |bencher| {
        bencher.iter_custom(|runs| {
            let mut elapsed_ns = 0;
            for _ in 0..runs {
                bench.ready(read).unwrap_or_else(|error| panic!("{error}"));
                std::hint::black_box(bench.run(read, &mut meter)).ok();
                let run_ns = meter.measured().elapsed_ns;
                elapsed_ns += run_ns;
                best = best.min(run_ns);
            }
            Duration::from_nanos(elapsed_ns)
        });
    });
    group.finish();
    println!("fastest run: {:.2} ns a read", best as f64 / READS as f64);
}

criterion_group!(benches, floor);
criterion_main!(benches);
