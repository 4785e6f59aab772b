//! Short statements and the bulk path of every embedded SQL engine, with one thread, in the tier
//! `process`.

#![allow(clippy::unwrap_used, reason = "a benchmark has nobody to hand an error to")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use embermark_engines::sql::Access;
use embermark_engines::sql::{Nullable, Param, QueryKind, Rows, SqlStore, SqlType, TableDef};
use embermark_engines::{Availability, DataModel, Kind, OpenOptions, Store, registry};
use embermark_model::Durability;

const TABLE: TableDef = TableDef {
    name: "readings",
    columns: &[
        ("sensor", SqlType::Int, Nullable::No),
        ("ts", SqlType::Big, Nullable::No),
        ("temperature", SqlType::Double, Nullable::Yes),
        ("humidity", SqlType::Double, Nullable::Yes),
        ("light", SqlType::Double, Nullable::Yes),
        ("voltage", SqlType::Double, Nullable::Yes),
    ],
    key: &["sensor", "ts"],
};

const ROWS: i64 = 100_000;

/// The key of row `i`, ascending.
fn key(i: i64) -> [Param<'static>; 2] {
    [Param::Int(i / 2_000), Param::Int(1_077_926_400_000_000 + i % 2_000 * 31_000_000)]
}

fn reading(i: i64) -> [Param<'static>; 6] {
    let [sensor, ts] = key(i);
    let value = |of: i64| Param::Float((i * of % 4_099) as f64 / 100.0);
    let light = if i % 25 == 0 { Param::Null } else { value(7) };
    [sensor, ts, value(3), value(5), light, value(11)]
}

struct Readings(i64, [Param<'static>; 6]);

impl Rows for Readings {
    fn next(&mut self) -> Option<&[Param<'_>]> {
        (self.0 < ROWS).then(|| {
            self.1 = reading(self.0);
            self.0 += 1;
            &self.1[..]
        })
    }
}

fn readings() -> Readings {
    Readings(0, [Param::Null; 6])
}

fn points(criterion: &mut Criterion) {
    for engine in registry::ENGINES {
        let info = engine.info();
        let is_wanted = (info.family, info.kind) == (DataModel::Sql, Kind::Embedded);
        if !is_wanted || !matches!(engine.availability(), Availability::Ready { .. }) {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let options = OpenOptions::new(folder.path(), Durability::Process, 64 << 20);
        let Store::Sql(mut store) = engine.open(&options).unwrap().store else {
            continue;
        };
        store.batch(&store.dialect().create_table(&TABLE)).unwrap();
        measure(criterion, info.id, store.as_mut());
        store.close().unwrap();
    }
}

fn measure(criterion: &mut Criterion, engine: &str, store: &mut dyn SqlStore) {
    let mut group = criterion.benchmark_group(engine);
    group.sample_size(10).measurement_time(Duration::from_secs(3));

    group.throughput(Throughput::Elements(ROWS as u64));
    group.bench_function("bulk load of 100,000 rows", |bench| {
        bench.iter_custom(|times| {
            let mut spent = Duration::ZERO;
            for _ in 0..times {
                store.batch("DELETE FROM readings").unwrap();
                let start = Instant::now();
                store.bulk_insert(&TABLE, &mut readings()).unwrap();
                spent += start.elapsed();
            }
            spent
        });
    });

    group.throughput(Throughput::Elements(1));
    store.maintain().unwrap();
    store.expect(QueryKind::Point).unwrap();
    let place = |n| store.dialect().placeholder(n);
    let select = format!(
        "SELECT temperature, humidity, light, voltage FROM readings WHERE sensor = {} AND ts = {}",
        place(1),
        place(2)
    );
    let insert = format!(
        "INSERT INTO readings VALUES ({})",
        (1..=6).map(place).collect::<Vec<_>>().join(", ")
    );
    let (select, insert) = (store.prepare(&select).unwrap(), store.prepare(&insert).unwrap());

    let mut i = 0;
    let mut point = |store: &mut dyn SqlStore| {
        i = (i + 7_919) % ROWS;
        let mut visit = |row: &dyn embermark_engines::sql::ResultRow| {
            for column in 0..4 {
                black_box(row.float(column)?);
            }
            Ok(())
        };
        store.query(select, &key(i), &mut visit).unwrap();
    };
    group.bench_function("point select in a transaction", |bench| {
        store.begin(Access::Read).unwrap();
        bench.iter(|| point(store));
        store.commit().unwrap();
    });
    group.bench_function("point select alone", |bench| bench.iter(|| point(store)));

    let mut new = ROWS;
    group.bench_function("insert in a transaction", |bench| {
        store.begin(Access::Write).unwrap();
        bench.iter(|| {
            new += 1;
            store.run(insert, &reading(new)).unwrap()
        });
        store.commit().unwrap();
    });
    group.bench_function("insert with its own commit", |bench| {
        bench.iter(|| {
            new += 1;
            store.run(insert, &reading(new)).unwrap()
        });
    });
    group.finish();
}

criterion_group!(benches, points);
criterion_main!(benches);
