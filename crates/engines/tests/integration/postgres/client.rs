//! libpq: what it is asked to do, and what it keeps in memory.

use std::path::Path;

use embermark_engines::EngineError;
use embermark_engines::sql::{Access, Param, ResultRow, Rows, SqlStore, Statement};
use embermark_model::Durability;
use tempfile::TempDir;

use super::POSTGRES;
use super::owner::{ask, run, url_of};
use crate::server::owner::{run_passing, task, test_command};
use crate::server::processes::peak;
use crate::server::readings::{Made, made, one_int};
use crate::server::{options, setting, sql};

#[test]
fn what_the_environment_tells_clients_is_not_for_a_private_server_which_streams_a_million_rows() {
    if !POSTGRES.is_here() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let variables = [
        ("PGHOST", "203.0.113.1"),
        ("PGHOSTADDR", "203.0.113.1"),
        ("PGPORT", "1"),
        ("PGUSER", "nobody"),
        ("PGDATABASE", "nothing"),
        ("PGSSLMODE", "require"),
        ("PGOPTIONS", "-c work_mem=1234kB"),
        ("PGCLIENTENCODING", "LATIN1"),
    ];
    run_passing(
        test_command("postgres::client::is_private_and_streams", dir.path()).envs(variables),
    );
}

#[test]
#[ignore = "run in a process of its own by another test"]
fn is_private_and_streams() {
    let Some(dir) = task() else { return };
    let opened = POSTGRES.open(&options(Path::new(&dir), Durability::None));
    assert_eq!(setting(&opened, "work_mem"), "8MB");
    let mut first = sql(opened.store);
    let encoding = "SELECT (current_setting('client_encoding') = 'UTF8')::integer";
    assert_eq!(one_int(&mut *first, encoding).unwrap(), Some(1));
    a_result_of_a_million_rows_is_never_in_memory_whole(&mut *first);
    first.reconnect().unwrap().unwrap();
    assert_eq!(one_int(&mut *first, "SELECT 6 * 7").unwrap(), Some(42));
    first.close().unwrap();
}

fn a_result_of_a_million_rows_is_never_in_memory_whole(store: &mut dyn SqlStore) {
    const ROWS: i64 = 1_000_000;
    let sql = format!("SELECT n, repeat('x', 100) FROM generate_series(1, {ROWS}) n");
    let statement = store.prepare(&sql).unwrap();
    let before = peak();
    for _ in 0..2 {
        let (mut sum, mut bytes) = (0, 0);
        let mut look = |row: &dyn ResultRow| {
            sum += row.int(0)?.unwrap();
            bytes += row.text(1)?.unwrap().len();
            Ok(())
        };
        store.query(statement, &[], &mut look).unwrap();
        assert_eq!((sum, bytes), (ROWS * (ROWS + 1) / 2, 100 * ROWS as usize));
    }
    let grown = peak() - before;
    println!("grown by {grown} KiB");
    // Its values are already a hundred times as much.
    assert!(grown < 1024, "grown by {grown} KiB");
}

/// Returns the numbers from 1 to `n`, by the same statement each time.
fn count_to(store: &mut dyn SqlStore, statement: Statement, n: i64) -> Vec<i64> {
    let mut found = Vec::new();
    let params = [Param::Int(n)];
    let mut look = |row: &dyn ResultRow| {
        found.extend(row.int(0)?);
        Ok(())
    };
    store.query(statement, &params, &mut look).unwrap();
    found
}

pub fn statements_answer_alike(store: &mut dyn SqlStore, _: &TempDir) {
    let statement = store.prepare("SELECT generate_series(1, $1)").unwrap();
    // Few rows often enough for the result to be read whole, then many, then streamed again.
    for n in [vec![1; 20], vec![1000; 3], vec![0; 20], vec![300, 256, 257, 64, 65]].concat() {
        assert_eq!(count_to(store, statement, n), (1..=n).collect::<Vec<_>>());
    }
}

pub fn visitors_may_stop(store: &mut dyn SqlStore, _: &TempDir) {
    store.batch("CREATE TABLE visited (n INTEGER)").unwrap();
    let statement = store.prepare("SELECT generate_series(1, $1)").unwrap();
    let insert = store.prepare("INSERT INTO visited VALUES (1)").unwrap();
    store.begin(Access::Write).unwrap();
    assert_eq!(store.run(insert, &[]).unwrap(), 1);
    // Streamed at first, and then read whole.
    for _ in 0..2 {
        for _ in 0..20 {
            count_to(store, statement, 1);
        }
        let params = [Param::Int(100_000)];
        let mut visited = 0;
        let mut stop = |_: &dyn ResultRow| {
            visited += 1;
            if visited < 3 { Ok(()) } else { Err(EngineError::failed("test", "go on", "enough")) }
        };
        let error = store.query(statement, &params, &mut stop).unwrap_err().to_string();
        assert!(error.contains("enough") && visited == 3, "{error}");
        let stopped_by_server = store.prepare("SELECT 1 / (n - 2) FROM generate_series(1, 3) n");
        assert!(stopped_by_server.is_ok());
    }
    store.commit().unwrap();
    assert_eq!(one_int(store, "SELECT count(*) FROM visited").unwrap(), Some(1));
    let fails_late = store.prepare("SELECT 1 / (n - 5000) FROM generate_series(1, 9000) n");
    let fails_late = fails_late.unwrap();
    let mut visited = 0;
    let mut count = |_: &dyn ResultRow| {
        visited += 1;
        Ok(())
    };
    let error = store.query(fails_late, &[], &mut count).unwrap_err().to_string();
    assert!(error.contains("22012") && visited > 4000 && visited < 5000, "{visited}: {error}");
    assert_eq!(one_int(store, "SELECT count(*) FROM visited").unwrap(), Some(1));
}

pub fn ended_connections_are_told(store: &mut dyn SqlStore, dir: &TempDir) {
    let pid = one_int(store, "SELECT pg_backend_pid()").unwrap().unwrap();
    let end = format!("SELECT pg_terminate_backend({pid}, 10000)::int::bigint");
    assert_eq!(ask(&url_of(dir), &end), Some(1));
    let error = one_int(store, "SELECT 1").unwrap_err().to_string();
    assert!(error.contains("57P01") && error.contains("administrator"), "{error}");
    let error = one_int(store, "SELECT 1").unwrap_err().to_string();
    assert!(error.contains("connection"), "{error}");
    store.reconnect().unwrap().unwrap();
    assert_eq!(one_int(store, "SELECT 1").unwrap(), Some(1));
}

/// Rows in the middle of which the connection that sends them is ended.
struct Ends<'a> {
    rows: Made,
    at: i64,
    end: &'a mut dyn FnMut(),
}

impl Rows for Ends<'_> {
    fn next(&mut self) -> Option<&[Param<'_>]> {
        if self.rows.next == self.at {
            (self.end)();
        }
        self.rows.next()
    }
}

pub fn lost_connections_are_made_anew(store: &mut dyn SqlStore, dir: &TempDir) {
    store.batch("TRUNCATE readings").unwrap();
    let (url, sql) = (url_of(dir), "INSERT INTO readings VALUES ($1, $2, $3, $4)");
    for at in [0, 100, 5_000] {
        let insert = store.prepare(sql).unwrap();
        let own = one_int(store, "SELECT pg_backend_pid()").unwrap().unwrap();
        store.begin(Access::Write).unwrap();
        let mut end = || run(&url, &format!("SELECT pg_terminate_backend({own}, 60000)"));
        let mut rows = Ends { rows: made(0..20_000), at, end: &mut end };
        let error = store.run_each(insert, &mut rows).unwrap_err().to_string();
        assert!(error.starts_with("postgres could not run `INSERT INTO readings"), "{error}");
        store.reconnect().unwrap().unwrap();
        assert_eq!(one_int(store, "SELECT count(*) FROM readings").unwrap(), Some(0));
    }
}
