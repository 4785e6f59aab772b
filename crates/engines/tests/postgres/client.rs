//! libpq: found or not, what it is told and what it keeps in memory.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

use embermark_engines::sql::Access;
use embermark_engines::sql::SqlStore;
use embermark_engines::{Availability, EngineError, OpenOptions};
use embermark_model::Durability;

use crate::common::{engine, installed, one_int, open, options, psql, setting, store, url_of};

/// The folder of a helper process.
const TOLD: &str = "EMBERMARK_TEST_LIBPQ_DIR";

/// Runs an ignored test of this file in a process of its own, with these variables.
fn in_a_process_of_its_own(test: &str, dir: &Path, variables: &[(&str, &str)]) {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", &format!("client::{test}"), "--ignored", "--nocapture"]);
    let output = command.env(TOLD, dir).envs(variables.iter().copied()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{output:?}");
}

fn told() -> Option<OpenOptions> {
    let dir = env::var_os(TOLD)?;
    Some(options(Path::new(&dir), Durability::None))
}

#[test]
fn the_version_of_the_library_is_among_the_settings() {
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let opened = open(&dir, Durability::None);
    let version = setting(&opened, "libpq");
    let numbers: Vec<u32> = version.split('.').map(|number| number.parse().unwrap()).collect();
    assert!(numbers[0] >= 9, "{version}");
    store(opened).close().unwrap();
}

#[test]
fn without_the_library_it_says_what_is_missing_and_what_gets_it() {
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().to_str().unwrap();
    in_a_process_of_its_own("is_missing", dir.path(), &[("LIBPQ_LIB_DIR", folder)]);
}

#[test]
#[ignore = "run in a process of its own by another test"]
fn is_missing() {
    let Some(mut options) = told() else { return };
    let folder = options.dir.to_str().unwrap().to_owned();
    let Availability::Missing { why, remedy } = engine().availability() else { panic!("ready") };
    assert!(why.contains("no libpq.so in ") && why.contains(&folder), "{why}");
    assert!(remedy.contains("make servers") && remedy.contains("LIBPQ_LIB_DIR"), "{remedy}");
    for url in [None, Some("postgres://me@127.0.0.1:1/db".to_owned())] {
        options.url = url;
        let error = crate::common::refused(&options);
        assert!(error.is_unavailable() && error.to_string().contains(&why), "{error}");
    }
}

#[test]
fn what_the_environment_tells_clients_of_postgresql_is_not_for_a_private_server() {
    if !installed() {
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
    in_a_process_of_its_own("is_private", dir.path(), &variables);
}

#[test]
#[ignore = "run in a process of its own by another test"]
fn is_private() {
    let Some(options) = told() else { return };
    let opened = engine().open(&options).unwrap();
    assert_eq!(setting(&opened, "work_mem"), "8MB");
    let mut first = store(opened);
    let encoding = "SELECT (current_setting('client_encoding') = 'UTF8')::integer";
    assert_eq!(one_int(&mut *first, encoding).unwrap(), Some(1));
    first.reconnect().unwrap().unwrap();
    assert_eq!(one_int(&mut *first, "SELECT 6 * 7").unwrap(), Some(42));
    first.close().unwrap();
}

#[test]
fn a_result_of_a_million_rows_is_never_in_memory_whole() {
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    in_a_process_of_its_own("streams", dir.path(), &[]);
}

/// The most memory that this process has had, in KiB.
fn peak() -> i64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim_end_matches("kB").trim().parse().unwrap()
}

#[test]
#[ignore = "run in a process of its own by another test"]
fn streams() {
    const ROWS: i64 = 1_000_000;
    let Some(options) = told() else { return };
    let mut store = store(engine().open(&options).unwrap());
    let sql = format!("SELECT n, repeat('x', 100) FROM generate_series(1, {ROWS}) n");
    let statement = store.prepare(&sql).unwrap();
    let before = peak();
    for _ in 0..2 {
        let (mut sum, mut bytes) = (0, 0);
        let mut look = |row: &dyn embermark_engines::sql::ResultRow| {
            sum += row.int(0)?.unwrap();
            bytes += row.text(1)?.unwrap().len();
            Ok(())
        };
        store.query(statement, &[], &mut look).unwrap();
        assert_eq!((sum, bytes), (ROWS * (ROWS + 1) / 2, 100 * ROWS as usize));
    }
    let grown = peak() - before;
    println!("grown by {grown} KiB");
    // Its values alone are a hundred times as much.
    assert!(grown < 1024, "grown by {grown} KiB");
    store.close().unwrap();
}

/// The numbers from 1 to `n`, by the same statement each time.
fn count_to(
    store: &mut dyn SqlStore,
    statement: embermark_engines::sql::Statement,
    n: i64,
) -> Vec<i64> {
    let mut found = Vec::new();
    let params = [embermark_engines::sql::Param::Int(n)];
    let mut look = |row: &dyn embermark_engines::sql::ResultRow| {
        found.extend(row.int(0)?);
        Ok(())
    };
    store.query(statement, &params, &mut look).unwrap();
    found
}

#[test]
fn a_statement_answers_alike_whether_its_rows_are_few_or_many() {
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut store = store(open(&dir, Durability::None));
    let statement = store.prepare("SELECT generate_series(1, $1)").unwrap();
    // Often enough few for it to be read whole, then many, then streamed again.
    for n in [vec![1; 20], vec![1000; 3], vec![0; 20], vec![300, 256, 257, 64, 65]].concat() {
        assert_eq!(count_to(&mut *store, statement, n), (1..=n).collect::<Vec<_>>());
    }
    store.close().unwrap();
}

#[test]
fn a_visitor_that_stops_leaves_a_connection_that_answers_in_its_transaction_too() {
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut store = store(open(&dir, Durability::None));
    store.batch("CREATE TABLE t (n INTEGER)").unwrap();
    let statement = store.prepare("SELECT generate_series(1, $1)").unwrap();
    let insert = store.prepare("INSERT INTO t VALUES (1)").unwrap();
    store.begin(Access::Write).unwrap();
    assert_eq!(store.run(insert, &[]).unwrap(), 1);
    // Streamed at first, and then read whole.
    for _ in 0..2 {
        for _ in 0..20 {
            count_to(&mut *store, statement, 1);
        }
        let params = [embermark_engines::sql::Param::Int(100_000)];
        let mut visited = 0;
        let mut stop = |_: &dyn embermark_engines::sql::ResultRow| {
            visited += 1;
            if visited < 3 { Ok(()) } else { Err(EngineError::failed("test", "go on", "enough")) }
        };
        let error = store.query(statement, &params, &mut stop).unwrap_err().to_string();
        assert!(error.contains("enough") && visited == 3, "{error}");
        let stopped_by_server = store.prepare("SELECT 1 / (n - 2) FROM generate_series(1, 3) n");
        assert!(stopped_by_server.is_ok());
    }
    store.commit().unwrap();
    assert_eq!(one_int(&mut *store, "SELECT count(*) FROM t").unwrap(), Some(1));
    let fails_late = store.prepare("SELECT 1 / (n - 5000) FROM generate_series(1, 9000) n");
    let fails_late = fails_late.unwrap();
    let mut visited = 0;
    let mut count = |_: &dyn embermark_engines::sql::ResultRow| {
        visited += 1;
        Ok(())
    };
    let error = store.query(fails_late, &[], &mut count).unwrap_err().to_string();
    assert!(error.contains("22012") && visited > 4000 && visited < 5000, "{visited}: {error}");
    assert_eq!(one_int(&mut *store, "SELECT count(*) FROM t").unwrap(), Some(1));
    store.close().unwrap();
}

#[test]
fn a_connection_that_was_ended_is_told_and_can_be_made_again() {
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut store = store(open(&dir, Durability::None));
    let pid = one_int(&mut *store, "SELECT pg_backend_pid()").unwrap().unwrap();
    psql(&url_of(&dir), &format!("SELECT pg_terminate_backend({pid}, 10000)"));
    let error = one_int(&mut *store, "SELECT 1").unwrap_err().to_string();
    assert!(error.contains("57P01") && error.contains("administrator"), "{error}");
    let error = one_int(&mut *store, "SELECT 1").unwrap_err().to_string();
    assert!(error.contains("connection"), "{error}");
    store.reconnect().unwrap().unwrap();
    assert_eq!(one_int(&mut *store, "SELECT 1").unwrap(), Some(1));
    store.close().unwrap();
}
