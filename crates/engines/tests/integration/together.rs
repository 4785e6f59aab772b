//! Changes of a transaction that are sent without waiting for the answer to each.

use embermark_engines::sql::{Access, Param, Rows, SqlStore, Statement};
use embermark_model::Durability;
use embermark_skips::sampled;
use tempfile::TempDir;

use crate::server::ServerEngine;
use crate::server::readings::{Made, made, one_int};

/// Engines that can do this, with what they report about an existing key.
const ENGINES: [(ServerEngine, &str); 2] = [
    (ServerEngine("postgres"), "Key (sensor, ts)=(0, 700) already exists"),
    (ServerEngine("mariadb"), "Duplicate entry '0-700' for key 'PRIMARY'"),
];

const COUNT: &str = "SELECT COUNT(*) FROM readings";

/// Returns a server with the table of readings, and the statement that inserts a row.
fn readings(engine: ServerEngine) -> Option<(TempDir, Box<dyn SqlStore>, Statement)> {
    let (dir, mut store) = engine.readings(Durability::None)?;
    let places: Vec<String> = (1..=4).map(|n| store.dialect().placeholder(n)).collect();
    let insert = format!("INSERT INTO readings VALUES ({})", places.join(", "));
    let insert = store.prepare(&insert).unwrap();
    Some((dir, store, insert))
}

/// Returns how often this thread has waited for anything.
fn waits() -> i64 {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    let mut lines = status.lines();
    let count = lines.find_map(|line| line.strip_prefix("voluntary_ctxt_switches:")).unwrap();
    count.trim().parse().unwrap()
}

/// Rows, followed by one that no table accepts.
struct EndsBadly(Made, [Param<'static>; 4]);

impl Rows for EndsBadly {
    fn next(&mut self) -> Option<&[Param<'_>]> {
        if self.0.next < self.0.end { self.0.next() } else { Some(&self.1) }
    }
}

#[test]
fn many_rows_wait_for_few_answers_and_one_that_fails_among_them_is_told() {
    const ROWS: i64 = 20_000;
    for (engine, says) in sampled(ENGINES.into_iter().filter(|(engine, _)| engine.is_here()), 1) {
        let Some((_dir, mut store, insert)) = readings(engine) else { continue };
        assert!(store.pipelines(), "{}", engine.0);
        store.begin(Access::Write).unwrap();
        let before = waits();
        assert_eq!(store.run_each(insert, &mut made(0..ROWS)).unwrap(), ROWS as u64);
        let waited = waits() - before;
        store.commit().unwrap();
        assert!(waited < ROWS / 10, "{}: {waited} waits for {ROWS} rows", engine.0);
        assert_eq!(one_int(&mut *store, COUNT).unwrap(), Some(ROWS));

        // A row that fails is told, and the session goes on.
        store.batch("DELETE FROM readings").unwrap();
        assert_eq!(
            store.bulk_insert(&crate::server::readings::TABLE, &mut made(700..701)).unwrap(),
            1
        );
        let error = store.run_each(insert, &mut made(0..3)).unwrap_err().to_string();
        assert!(error.contains("no transaction is open"), "{error}");
        for _ in 0..2 {
            store.begin(Access::Write).unwrap();
            let error = store.run_each(insert, &mut made(0..1_500)).unwrap_err().to_string();
            let begins = format!("{} could not run `INSERT INTO readings VALUES", engine.0);
            assert!(error.starts_with(&begins) && error.contains(says), "{error}");
            let is_numbered = error.contains("number 701 of a pipeline");
            assert_eq!(is_numbered, engine.0 == "postgres", "{error}");
            assert_eq!(one_int(&mut *store, COUNT).unwrap(), Some(1), "its transaction has ended");
        }
        // What does not fit is refused here, while rows are on their way.
        store.begin(Access::Write).unwrap();
        let infinite =
            [Param::Int(9), Param::Int(9), Param::Float(f64::INFINITY), Param::Bytes(b"x")];
        let mut rows = EndsBadly(made(1_000..2_000), infinite);
        let error = store.run_each(insert, &mut rows).unwrap_err().to_string();
        assert!(error.starts_with(engine.0), "{error}");
        assert_eq!(one_int(&mut *store, COUNT).unwrap(), Some(1));

        store.begin(Access::Write).unwrap();
        assert_eq!(store.run_each(insert, &mut made(1_000..2_000)).unwrap(), 1_000);
        let alone = [Param::Int(7), Param::Int(7), Param::Null, Param::Text("alone")];
        assert_eq!(store.run(insert, &alone).unwrap(), 1);
        store.commit().unwrap();
        assert_eq!(one_int(&mut *store, COUNT).unwrap(), Some(1_002));
        store.close().unwrap();
    }
}
