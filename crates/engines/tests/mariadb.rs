//! MariaDB as it is really started: private, tied to its owner, from a template or without one.
#![cfg(feature = "mariadb")]
#![allow(clippy::unwrap_used, reason = "a test ends where it cannot go on")]

mod anybody;

use std::fs;
use std::io::{BufRead, BufReader, ErrorKind};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Barrier;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use embermark_engines::sql::{
    Access, Nullable, Param, ResultRow, Rows, SqlStore, SqlType, TableDef,
};
use embermark_engines::{
    Availability, Engine, EngineError, OpenOptions, Opened, Result, Store, registry,
};
use embermark_model::Durability;
use embermark_skips::{is_here, skipped};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, geteuid};
use tempfile::TempDir;

/// The folder in which a helper process opens its server.
const HELPER_DIR: &str = "EMBERMARK_TEST_MARIADB_DIR";

const TABLE: TableDef = TableDef {
    name: "readings",
    columns: &[
        ("sensor", SqlType::Int, Nullable::No),
        ("ts", SqlType::Big, Nullable::No),
        ("value", SqlType::Double, Nullable::Yes),
        ("note", SqlType::Text, Nullable::Yes),
    ],
    key: &["sensor", "ts"],
};

fn engine() -> &'static dyn Engine {
    registry::find("mariadb").unwrap()
}

/// Whether a test can run.
fn installed() -> bool {
    is_here(engine())
}

fn options(dir: &Path, durability: Durability) -> OpenOptions {
    OpenOptions::new(dir, durability, 32 << 20)
}

fn open(dir: &TempDir, durability: Durability) -> Opened {
    engine().open(&options(dir.path(), durability)).unwrap()
}

fn store(opened: Opened) -> Box<dyn SqlStore> {
    match opened.store {
        Store::Sql(store) => store,
        _ => panic!("no SQL store"),
    }
}

fn create(store: &mut dyn SqlStore, table: &TableDef) {
    let create = store.dialect().create_table(table);
    store.batch(&create).unwrap();
}

/// A store on a server of its own, with the table in it.
fn with_table(dir: &TempDir, durability: Durability) -> Box<dyn SqlStore> {
    let mut store = store(open(dir, durability));
    create(&mut *store, &TABLE);
    store
}

fn one_int(store: &mut dyn SqlStore, sql: &str) -> Result<Option<i64>> {
    let statement = store.prepare(sql)?;
    let mut found = None;
    store.query(statement, &[], &mut |row| {
        found = row.int(0)?;
        Ok(())
    })?;
    Ok(found)
}

fn setting<'a>(opened: &'a Opened, name: &str) -> &'a str {
    &opened.settings.iter().find(|(known, _)| known == name).unwrap().1
}

/// The error of an open that has to fail.
fn refused(options: &OpenOptions) -> EngineError {
    match engine().open(options) {
        Ok(_) => panic!("opened"),
        Err(error) => error,
    }
}

/// The directory in which a process works; that of a server is its data directory.
fn working_directory(pid: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/cwd")).ok()
}

fn processes_in(data: &Path) -> Vec<u32> {
    let pids = fs::read_dir("/proc").unwrap().flatten();
    pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| working_directory(*pid).is_some_and(|dir| dir.starts_with(data)))
        .collect()
}

fn all_gone(data: &Path) -> bool {
    let deadline = Instant::now() + Duration::from_secs(15);
    while !processes_in(data).is_empty() {
        if Instant::now() > deadline {
            return false;
        }
        sleep(Duration::from_millis(10));
    }
    true
}

/// Rows (0, 0), (0, 1) …, with a NULL in every third.
struct Made {
    next: i64,
    end: i64,
    row: [Param<'static>; 4],
}

fn made(rows: std::ops::Range<i64>) -> Made {
    Made { next: rows.start, end: rows.end, row: [Param::Null; 4] }
}

impl Rows for Made {
    fn next(&mut self) -> Option<&[Param<'_>]> {
        (self.next < self.end).then(|| {
            let n = self.next;
            self.next += 1;
            let value = if n % 3 == 0 { Param::Null } else { Param::Float(n as f64 / 4.0) };
            self.row = [Param::Int(n / 1000), Param::Int(n), value, Param::Text("grün")];
            &self.row[..]
        })
    }
}

struct Listed<'a>(std::slice::Iter<'a, [Param<'a>; 4]>);

impl Rows for Listed<'_> {
    fn next(&mut self) -> Option<&[Param<'_>]> {
        self.0.next().map(|row| &row[..])
    }
}

#[test]
fn a_private_server_starts_answers_and_is_gone_after_close() {
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let opened = open(&dir, Durability::Process);
    let Availability::Ready { version } = engine().availability() else { panic!("gone") };
    assert!(opened.version.starts_with(&version), "{} is not {version}", opened.version);
    let pid = opened.server.unwrap();
    let data = dir.path().join("server/data");
    assert_eq!(working_directory(pid), Some(data.clone()));
    let mut store = store(opened);
    assert_eq!(one_int(&mut *store, "SELECT 6 * 7").unwrap(), Some(42));
    store.close().unwrap();
    assert!(processes_in(&data).is_empty());
    assert!(fs::read_dir(dir.path().join("server/run")).unwrap().next().is_none());
    let log = fs::read_to_string(dir.path().join("server.log")).unwrap();
    assert!(log.contains("Shutdown complete") && !log.contains("[ERROR]"), "{log}");
}

#[test]
fn a_dropped_store_takes_its_server_with_it() {
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    drop(open(&dir, Durability::None));
    assert!(processes_in(dir.path()).is_empty());
}

#[test]
fn two_servers_run_at_once_and_share_nothing() {
    if !installed() {
        return;
    }
    let both_filled = Barrier::new(2);
    let fill = |rows: i64| {
        let dir = tempfile::tempdir().unwrap();
        let mut store = with_table(&dir, Durability::Process);
        store.bulk_insert(&TABLE, &mut made(0..rows)).unwrap();
        both_filled.wait();
        let count = one_int(&mut *store, "SELECT count(*) FROM readings").unwrap();
        store.close().unwrap();
        count
    };
    thread::scope(|scope| {
        let (one, other) = (scope.spawn(|| fill(10)), scope.spawn(|| fill(20)));
        assert_eq!((one.join().unwrap(), other.join().unwrap()), (Some(10), Some(20)));
    });
}

#[test]
fn each_tier_is_set_and_read_back() {
    if !installed() {
        return;
    }
    let tiers = [
        (Durability::None, ["0", "OFF", "O_DIRECT_NO_FSYNC"]),
        (Durability::Process, ["2", "ON", "O_DIRECT"]),
        (Durability::Power, ["1", "ON", "O_DIRECT"]),
    ];
    let names = ["innodb_flush_log_at_trx_commit", "innodb_doublewrite", "innodb_flush_method"];
    for (tier, expected) in tiers {
        let dir = tempfile::tempdir().unwrap();
        let opened = open(&dir, tier);
        assert_eq!(names.map(|name| setting(&opened, name)), expected, "{tier}");
        assert_eq!(setting(&opened, "innodb_buffer_pool_size"), (32 << 20).to_string());
        assert_eq!(setting(&opened, "innodb_log_file_size"), (96 << 20).to_string());
        assert_eq!(setting(&opened, "log_bin"), "OFF");
        assert_eq!(setting(&opened, "skip_networking"), "ON");
        store(opened).close().unwrap();
    }
}

#[test]
fn as_little_memory_as_the_engine_starts_with_is_enough() {
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let tiny = OpenOptions { memory: 1, ..options(dir.path(), Durability::None) };
    let mut store = store(engine().open(&tiny).unwrap());
    create(&mut *store, &TABLE);
    assert_eq!(store.bulk_insert(&TABLE, &mut made(0..20_000)).unwrap(), 20_000);
    store.close().unwrap();
}

#[test]
fn a_server_that_refuses_to_start_is_reported_with_the_end_of_its_log() {
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut greedy = options(dir.path(), Durability::Process);
    greedy.memory = 1 << 50;
    let error = refused(&greedy).to_string();
    assert!(error.contains("mariadb could not start") && error.contains("ended with"), "{error}");
    assert!(error.contains("buffer_pool_size") || error.contains("buffer pool"), "{error}");
    let error = refused(&options(dir.path(), Durability::Process)).to_string();
    assert!(error.contains("could not create") && error.contains("server"), "{error}");
}

/// Values that a text format, a signed number or a collation may spoil.
fn awkward() -> Vec<[Param<'static>; 4]> {
    let texts = [
        "",
        "\\",
        "\\N",
        "\\\\n\n\t\r\0",
        "'\"`",
        "日本語 🦆 naïve",
        "a",
        "a ",
        "A",
        "NULL",
        "é",
        "e\u{301}",
        "\u{1a}%_",
    ];
    let floats = [
        0.1,
        -1.0 / 3.0,
        5e-324,
        f64::MIN_POSITIVE,
        f64::MAX,
        f64::MIN,
        0.1 + 0.2,
        9_007_199_254_740_993.0,
        1e23,
        -2.225_073_858_507_201e-308,
        123_456.789_012_345_67,
        1e300,
        -0.0,
    ];
    let ints = [i64::MIN, i64::MAX, 0, -1, 1 << 53, (1 << 53) + 1, -(1 << 53) - 1];
    let mut rows: Vec<_> = (0..)
        .zip(texts.iter().zip(floats))
        .map(|(n, (text, float))| {
            let int = ints[n as usize % ints.len()];
            [Param::Int(n), Param::Int(int), Param::Float(float), Param::Text(text)]
        })
        .collect();
    rows.push([Param::Int(i64::from(i32::MAX)), Param::Int(1), Param::Null, Param::Null]);
    rows.push([Param::Int(i64::from(i32::MIN)), Param::Int(2), Param::Null, Param::Text("x")]);
    rows
}

#[test]
fn awkward_values_come_back_as_they_went_in_by_either_way() {
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut store = with_table(&dir, Durability::None);
    let rows = awkward();
    let insert = store.prepare("INSERT INTO readings VALUES (?, ?, ?, ?)").unwrap();
    let read = store.prepare("SELECT * FROM readings WHERE sensor = ? AND ts = ?").unwrap();
    let by_text = store.prepare("SELECT sensor FROM readings WHERE note = ?").unwrap();
    for bulk in [true, false] {
        if bulk {
            let count = store.bulk_insert(&TABLE, &mut Listed(rows.iter())).unwrap();
            assert_eq!(count, rows.len() as u64);
        } else {
            store.batch("DELETE FROM readings").unwrap();
            for row in &rows {
                assert_eq!(store.run(insert, row).unwrap(), 1);
            }
        }
        for wanted in &rows {
            let mut found = 0;
            let mut look = |row: &dyn ResultRow| {
                found += 1;
                assert_eq!(row.int(0)?.map(Param::Int), Some(wanted[0]));
                assert_eq!(row.int(1)?.map(Param::Int), Some(wanted[1]));
                assert_eq!(row.float(2)?.map_or(Param::Null, Param::Float), wanted[2]);
                assert_eq!(row.text(3)?.map_or(Param::Null, Param::Text), wanted[3]);
                Ok(())
            };
            store.query(read, &wanted[..2], &mut look).unwrap();
            assert_eq!(found, 1, "{wanted:?}");
            let Param::Text(_) = wanted[3] else { continue };
            let mut sensors = Vec::new();
            let mut look = |row: &dyn ResultRow| {
                sensors.push(row.int(0)?.map(Param::Int));
                Ok(())
            };
            store.query(by_text, &wanted[3..], &mut look).unwrap();
            assert_eq!(sensors, [Some(wanted[0])], "{wanted:?}");
        }
    }
    let bad = [Param::Int(-5), Param::Int(0), Param::Float(f64::NAN), Param::Null];
    assert!(store.run(insert, &bad).unwrap_err().to_string().contains("NaN"));
    assert!(store.bulk_insert(&TABLE, &mut Listed([bad].iter())).is_err());
    let count = one_int(&mut *store, "SELECT count(*) FROM readings").unwrap();
    assert_eq!(count, Some(rows.len() as i64));
    store.close().unwrap();
}

#[test]
fn numbers_of_any_kind_are_read_and_what_is_none_is_refused_by_name() {
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut store = with_table(&dir, Durability::None);
    store.bulk_insert(&TABLE, &mut made(1..4)).unwrap();
    let sql = "SELECT sum(ts), avg(ts), ts, CAST(7 AS UNSIGNED), 2.5, value, note, \
               lag(ts) OVER (ORDER BY ts), CAST(now() AS DATETIME) \
               FROM readings GROUP BY ts ORDER BY ts LIMIT 1";
    let statement = store.prepare(sql).unwrap();
    let mut rows = 0;
    let mut look = |row: &dyn ResultRow| {
        rows += 1;
        assert_eq!([0, 2, 3].map(|n| row.int(n).unwrap()), [Some(1), Some(1), Some(7)]);
        assert_eq!([0, 1, 2].map(|n| row.float(n).unwrap()), [Some(1.0); 3]);
        assert_eq!((row.float(4)?, row.float(5)?, row.int(7)?), (Some(2.5), Some(0.25), None));
        assert_eq!(row.text(6)?, Some("grün"));
        assert!(row.int(4).is_err() && row.text(0).is_err() && row.int(9).is_err());
        let error = row.float(8).unwrap_err().to_string();
        assert!(error.contains("DATETIME") && error.contains("cast it"), "{error}");
        Ok(())
    };
    store.query(statement, &[], &mut look).unwrap();
    assert_eq!(rows, 1);
    // More statements than a driver's cache of them holds.
    let many: Vec<_> = (0..100).map(|n| store.prepare(&format!("SELECT {n}")).unwrap()).collect();
    for (n, statement) in (0..).zip(many) {
        let mut look = |row: &dyn ResultRow| {
            assert_eq!(row.int(0)?, Some(n));
            Ok(())
        };
        store.query(statement, &[], &mut look).unwrap();
    }
    store.close().unwrap();
}

#[test]
fn an_update_counts_the_rows_that_held_the_value_already() {
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut store = with_table(&dir, Durability::None);
    store.bulk_insert(&TABLE, &mut made(0..10)).unwrap();
    let update = store.prepare("UPDATE readings SET value = ? WHERE ts >= ?").unwrap();
    for _ in 0..2 {
        assert_eq!(store.run(update, &[Param::Float(1.5), Param::Int(4)]).unwrap(), 6);
    }
    let error = store.run(update, &[Param::Int(4)]).unwrap_err().to_string();
    assert!(error.contains("UPDATE readings"), "{error}");
    store.close().unwrap();
}

#[test]
fn an_error_ends_its_transaction_and_the_store_goes_on() {
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut store = with_table(&dir, Durability::Process);
    let insert = store.prepare("INSERT INTO readings VALUES (?, ?, ?, ?)").unwrap();
    let row = [Param::Int(1), Param::Int(2), Param::Null, Param::Text("x")];
    store.begin(Access::Write).unwrap();
    assert_eq!(store.run(insert, &row).unwrap(), 1);
    assert!(store.maintain().unwrap_err().to_string().contains("transaction"));
    let error = store.run(insert, &row).unwrap_err().to_string();
    assert!(error.starts_with("mariadb could not run `INSERT INTO readings"), "{error}");
    assert!(error.contains("1062") && error.contains("Duplicate entry '1-2'"), "{error}");
    assert_eq!(one_int(&mut *store, "SELECT count(*) FROM readings").unwrap(), Some(0));
    store.begin(Access::Read).unwrap();
    assert!(store.run(insert, &row).unwrap_err().to_string().contains("READ ONLY"));
    store.begin(Access::Write).unwrap();
    store.run(insert, &row).unwrap();
    store.commit().unwrap();
    // The error of a later statement of several is none the less one.
    let error = store.batch("SELECT 1; DROP TABLE nowhere; SELECT 2").unwrap_err().to_string();
    assert!(error.contains("nowhere"), "{error}");
    assert_eq!(one_int(&mut *store, "SELECT count(*) FROM readings").unwrap(), Some(1));
    store.close().unwrap();
}

#[test]
fn a_bulk_load_is_all_or_nothing() {
    if !installed() {
        return;
    }
    const ROWS: i64 = 99_999;
    let dir = tempfile::tempdir().unwrap();
    let mut store = with_table(&dir, Durability::Process);
    assert_eq!(store.bulk_insert(&TABLE, &mut made(0..ROWS)).unwrap(), ROWS as u64);
    let whole = "SELECT CAST(count(*) + sum(ts) + count(value) * 1000 + sum(value * 4) AS SIGNED) \
                 FROM readings WHERE note = 'grün' AND sensor = ts DIV 1000";
    let values = (0..ROWS).filter(|n| n % 3 != 0);
    let expected = ROWS + (0..ROWS).sum::<i64>() + values.map(|n| n + 1000).sum::<i64>();
    assert_eq!(one_int(&mut *store, whole).unwrap(), Some(expected));
    // Into a table that is not empty nothing is lost; a key that is there already undoes the load.
    assert_eq!(store.bulk_insert(&TABLE, &mut made(ROWS..ROWS + 10)).unwrap(), 10);
    let error = store.bulk_insert(&TABLE, &mut made(ROWS + 5..ROWS + 20)).unwrap_err().to_string();
    assert!(error.contains("INSERT INTO readings") && error.contains("Duplicate entry"), "{error}");
    let error = store.bulk_insert(&TABLE, &mut made(i64::MAX - 5..i64::MAX)).unwrap_err();
    assert!(error.to_string().contains("does not fit column sensor"), "{error}");
    // A table that is not there, and more rows than wait for a server.
    let absent = TableDef { name: "absent", ..TABLE };
    let error = store.bulk_insert(&absent, &mut made(0..ROWS)).unwrap_err().to_string();
    assert!(error.contains("absent") && error.contains("1146"), "{error}");
    let count = "SELECT count(*) FROM readings";
    assert_eq!(one_int(&mut *store, count).unwrap(), Some(ROWS + 10));
    let delete = store.prepare("DELETE FROM readings WHERE sensor = ? AND ts = ?").unwrap();
    for n in 0..500 {
        assert_eq!(store.run(delete, &[Param::Int(0), Param::Int(n)]).unwrap(), 1);
    }
    store.maintain().unwrap();
    assert_eq!(one_int(&mut *store, count).unwrap(), Some(ROWS + 10 - 500));
    let history = "SELECT CAST(variable_value AS SIGNED) FROM information_schema.global_status \
                   WHERE variable_name = 'Innodb_history_list_length'";
    // The server's own statistics may add one or another at any time.
    assert!(one_int(&mut *store, history).unwrap().unwrap() < 50);
    store.close().unwrap();
}

/// NULL in every column that may be, for more than a packet; then values.
struct LateValues {
    next: i64,
    row: [Param<'static>; 4],
}

impl Rows for LateValues {
    fn next(&mut self) -> Option<&[Param<'_>]> {
        let n = self.next;
        self.next += 1;
        let (value, note) = match n {
            0..80_000 => (Param::Null, Param::Null),
            80_000..90_000 => (Param::Int(n), Param::Text("late")),
            90_000..100_000 => (Param::Float(0.5), Param::Text(LONG)),
            _ => return None,
        };
        self.row = [Param::Int(0), Param::Int(n), value, note];
        Some(&self.row)
    }
}

const LONG: &str = "a text that is longer than any length that fits a byte would say, and goes on \
                    until nobody would read it, and then some, for it has to be more than two \
                    hundred and fifty bytes long so that its length is three bytes itself, which \
                    it is now, or nearly so, or by now";

#[test]
fn a_column_that_begins_with_nulls_is_loaded_as_what_it_is() {
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut store = with_table(&dir, Durability::None);
    let mut rows = LateValues { next: 0, row: [Param::Null; 4] };
    assert_eq!(store.bulk_insert(&TABLE, &mut rows).unwrap(), 100_000);
    let right = format!(
        "SELECT count(*) FROM readings WHERE CASE WHEN ts < 80000 \
         THEN value IS NULL AND note IS NULL WHEN ts < 90000 THEN value = ts AND note = 'late' \
         ELSE value = 0.5 AND note = '{LONG}' END"
    );
    assert_eq!(one_int(&mut *store, &right).unwrap(), Some(100_000));
    store.close().unwrap();
}

#[test]
fn a_panic_of_the_rows_goes_through_a_load_and_leaves_the_server_running() {
    struct Panicking(Made);
    impl Rows for Panicking {
        fn next(&mut self) -> Option<&[Param<'_>]> {
            assert!(self.0.next < 5_000, "no more rows");
            self.0.next()
        }
    }
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut store = with_table(&dir, Durability::Process);
    let load = std::panic::AssertUnwindSafe(|| {
        store.bulk_insert(&TABLE, &mut Panicking(made(0..10_000))).map(drop)
    });
    assert!(std::panic::catch_unwind(load).is_err());
    assert_eq!(one_int(&mut *store, "SELECT 6 * 7").unwrap(), Some(42));
    store.close().unwrap();
}

/// MariaDB's own client, of the installation that is measured.
fn client() -> PathBuf {
    let folders = match std::env::var_os("EMBERMARK_MARIADB_DIR") {
        Some(base) => vec![PathBuf::from(base).join("bin")],
        None => std::env::split_paths(&std::env::var_os("PATH").unwrap()).collect(),
    };
    let mut programs = folders.iter().map(|folder| folder.join("mariadb"));
    programs.find(|program| program.is_file()).expect("apt-get install mariadb-client-core")
}

/// The lines that MariaDB's own client prints for a statement, sent to a server by its socket; what
/// it says where it fails.
fn ask(socket: &Path, sql: &str) -> std::result::Result<Vec<String>, String> {
    let mut command = Command::new(client());
    command.args(["--no-defaults", "--user=root", "--batch", "--skip-column-names"]);
    command.arg(format!("--socket={}", socket.display())).args(["--execute", sql]);
    let output = command.output().unwrap();
    match output.status.success() {
        true => Ok(String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

#[test]
fn commits_of_the_tier_process_survive_a_kill_of_the_server() {
    const COMMITS: i64 = 500;
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let opened = open(&dir, Durability::Process);
    let pid = Pid::from_raw(opened.server.unwrap().cast_signed());
    let program = fs::read_link(format!("/proc/{pid}/exe")).unwrap();
    let mut store = store(opened);
    create(&mut *store, &TABLE);
    let insert = store.prepare("INSERT INTO readings VALUES (?, 1, 2.5, NULL)").unwrap();
    for id in 0..COMMITS {
        store.run(insert, &[Param::Int(id)]).unwrap();
    }
    kill(pid, Signal::SIGKILL).unwrap();
    let error = store.run(insert, &[Param::Int(COMMITS)]).unwrap_err().to_string();
    assert!(error.contains("INSERT INTO readings"), "{error}");
    let error = store.close().unwrap_err().to_string();
    assert!(error.contains("signal: 9"), "{error}");

    let (data, sockets) = (dir.path().join("server/data"), tempfile::tempdir().unwrap());
    let socket = sockets.path().join("s");
    let mut command = Command::new(program);
    command.args(["--no-defaults", "--skip-networking", "--user=root"]);
    command.arg(format!("--datadir={}", data.display()));
    command.arg(format!("--socket={}", socket.display()));
    command.arg(format!("--pid-file={}", sockets.path().join("pid").display()));
    let mut again = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    let count = loop {
        match ask(&socket, "SELECT count(*) FROM embermark.readings") {
            Ok(count) => break count,
            Err(e) => assert!(Instant::now() < deadline, "{e}"),
        }
        sleep(Duration::from_millis(20));
    };
    again.kill().unwrap();
    again.wait().unwrap();
    assert_eq!(count, [COMMITS.to_string()]);
}

fn socket_of(dir: &TempDir) -> PathBuf {
    dir.path().join("server/run/socket")
}

/// The URL of a private server, which stands for somebody's own.
fn url_of(dir: &TempDir) -> String {
    format!("mysql://root@localhost/mysql?socket={}", socket_of(dir).display())
}

fn databases(dir: &TempDir) -> Vec<String> {
    ask(&socket_of(dir), "SHOW DATABASES").unwrap()
}

#[test]
fn a_given_server_gets_one_database_and_loses_it_again() {
    if !installed() {
        return;
    }
    let (server_dir, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut owner = with_table(&server_dir, Durability::Process);
    let url = url_of(&server_dir);
    let at_first = databases(&server_dir);
    let mut given = options(dir.path(), Durability::None);
    given.url = Some(url.clone());
    let opened = engine().open(&given).unwrap();
    assert_eq!(opened.server, None);
    assert_eq!(setting(&opened, "innodb_flush_log_at_trx_commit"), "2");
    let mut ours = store(opened);
    create(&mut *ours, &TABLE);
    assert_eq!(ours.bulk_insert(&TABLE, &mut made(0..100)).unwrap(), 100);
    ours.maintain().unwrap();
    assert_eq!(one_int(&mut *owner, "SELECT count(*) FROM readings").unwrap(), Some(0));
    let added: Vec<_> =
        databases(&server_dir).into_iter().filter(|d| !at_first.contains(d)).collect();
    assert!(matches!(&added[..], [one] if one.starts_with("embermark_")), "{added:?}");
    // Even when it is dropped in the middle of a transaction.
    ours.begin(Access::Write).unwrap();
    drop(ours);
    assert_eq!(databases(&server_dir), at_first);

    let power = OpenOptions { durability: Durability::Power, ..given };
    let error = refused(&power).to_string();
    assert!(error.contains("innodb_flush_log_at_trx_commit=2"), "{error}");
    assert!(error.contains("--durability"), "{error}");
    assert_eq!(databases(&server_dir), at_first);
    owner.close().unwrap();
}

#[test]
fn a_user_without_rights_to_the_whole_server_can_still_be_measured() {
    if !installed() {
        return;
    }
    let (server_dir, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut owner = with_table(&server_dir, Durability::Process);
    owner
        .batch("CREATE USER guest@localhost; GRANT ALL ON `embermark\\_%`.* TO guest@localhost")
        .unwrap();
    let mut given = options(dir.path(), Durability::Process);
    given.url = Some(url_of(&server_dir).replace("root@localhost/mysql", "guest@localhost/"));
    let mut guest = store(engine().open(&given).unwrap());
    create(&mut *guest, &TABLE);
    assert_eq!(guest.bulk_insert(&TABLE, &mut made(0..100)).unwrap(), 100);
    guest.maintain().unwrap();
    guest.close().unwrap();
    owner.close().unwrap();
}

#[test]
fn a_server_that_is_not_reached_is_an_error_that_names_it_and_keeps_the_password() {
    let dir = tempfile::tempdir().unwrap();
    let mut given = options(dir.path(), Durability::Process);
    given.url = Some("mysql://me:hunter2@127.0.0.1:1/db".to_owned());
    let error = refused(&given).to_string();
    assert!(error.contains("connect to 127.0.0.1, port 1"), "{error}");
    assert!(!error.contains("hunter2"), "{error}");
    given.url = Some("postgres//nonsense".to_owned());
    assert!(refused(&given).to_string().contains("mysql://user:password@host"));
}

/// Not a test of its own: run in a process of its own by those below.
#[test]
#[ignore = "a helper of other tests"]
fn helper() {
    let Some(dir) = std::env::var_os(HELPER_DIR) else { return };
    let opened = engine().open(&options(Path::new(&dir), Durability::Process)).unwrap();
    let pid = opened.server.unwrap();
    let mut store = store(opened);
    assert_eq!(one_int(&mut *store, "SELECT 6 * 7").unwrap(), Some(42));
    println!("\nserver {pid}");
    sleep(Duration::from_secs(60));
}

/// Starts the helper in a copy of this program that anybody may run; `cache` is its cache folder,
/// or it knows none.
fn start_helper(dir: &TempDir, uid: Option<u32>, cache: Option<&Path>) -> Child {
    start_helper_with(dir, uid, cache, None)
}

/// The same with the programs of an installation.
fn start_helper_with(
    dir: &TempDir,
    uid: Option<u32>,
    cache: Option<&Path>,
    installation: Option<&Path>,
) -> Child {
    let program = dir.path().join("program");
    anybody::copy(&std::env::current_exe().unwrap(), &program);
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let options = dir.path().join("options");
    fs::create_dir(&options).unwrap();
    let mut command = Command::new(program);
    command.args(["helper", "--exact", "--ignored", "--nocapture"]).env(HELPER_DIR, &options);
    command.current_dir("/").stdout(Stdio::piped()).env_remove("HOME");
    match cache {
        Some(cache) => command.env("XDG_CACHE_HOME", cache),
        None => command.env_remove("XDG_CACHE_HOME"),
    };
    command.envs(installation.map(|folder| ("EMBERMARK_MARIADB_DIR", folder)));
    if let Some(uid) = uid {
        chown(&options, Some(uid), Some(uid)).unwrap();
        command.uid(uid).gid(uid);
    }
    loop {
        match command.spawn() {
            // A child of another test holds the copy open until it has become its own program.
            Err(e) if e.kind() == ErrorKind::ExecutableFileBusy => sleep(Duration::from_millis(5)),
            started => return started.unwrap(),
        }
    }
}

fn server_of(helper: &mut Child) -> u32 {
    let lines = BufReader::new(helper.stdout.take().unwrap()).lines();
    let mut lines = lines.map_while(std::io::Result::ok);
    let pid = lines.find_map(|line| line.strip_prefix("server ")?.parse().ok());
    pid.expect("the helper failed, see above")
}

fn end(mut helper: Child, dir: &TempDir) {
    helper.kill().unwrap();
    helper.wait().unwrap();
    assert!(all_gone(dir.path()), "left: {:?}", processes_in(dir.path()));
}

#[test]
fn a_server_dies_with_an_owner_that_is_killed_and_needs_no_cache_folder() {
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut owner = start_helper(&dir, None, None);
    let pid = server_of(&mut owner);
    assert_eq!(processes_in(&dir.path().join("options/server/data")), [pid]);
    end(owner, &dir);
}

#[test]
fn two_that_start_at_once_with_an_empty_cache_leave_one_template_that_a_third_takes() {
    if !installed() {
        return;
    }
    let cache = tempfile::tempdir().unwrap();
    let dirs = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let mut both = dirs.each_ref().map(|dir| start_helper(dir, None, Some(cache.path())));
    both.iter_mut().for_each(|owner| _ = server_of(owner));
    for (owner, dir) in both.into_iter().zip(&dirs) {
        end(owner, dir);
    }
    let templates = || {
        let folder = fs::read_dir(cache.path().join("embermark/templates")).unwrap();
        folder.map(|e| (e.as_ref().unwrap().file_name(), e.unwrap().path())).collect::<Vec<_>>()
    };
    let kept = templates();
    assert!(matches!(&kept[..], [(name, _)] if name.to_str().unwrap().starts_with("mariadb-")));
    let made = fs::metadata(&kept[0].1).unwrap().ctime_nsec();
    let dir = tempfile::tempdir().unwrap();
    let mut third = start_helper(&dir, None, Some(cache.path()));
    server_of(&mut third);
    end(third, &dir);
    assert_eq!(templates(), kept);
    assert_eq!(fs::metadata(&kept[0].1).unwrap().ctime_nsec(), made);
}

#[test]
fn an_ordinary_user_runs_it_as_himself() {
    const NOBODY: u32 = 65534;
    if !installed() {
        return;
    }
    if !geteuid().is_root() {
        return skipped("root", "only root can try another user; other tests try this one");
    }
    let dir = tempfile::tempdir().unwrap();
    let mut owner = start_helper(&dir, Some(NOBODY), None);
    let pid = server_of(&mut owner);
    assert_eq!(fs::metadata(format!("/proc/{pid}")).unwrap().uid(), NOBODY);
    end(owner, &dir);
}

#[test]
fn the_installation_is_left_as_it_is() {
    const NOBODY: u32 = 65534;
    if !installed() {
        return;
    }
    // mariadb-install-db, told a user, would make him the owner of this folder, which not every
    // package has: one of its own, in an installation of links to the one that is here.
    let base = tempfile::tempdir().unwrap();
    fs::set_permissions(base.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let tool = base.path().join("lib/mysql/plugin/auth_pam_tool_dir");
    fs::create_dir_all(&tool).unwrap();
    fs::write(tool.join("auth_pam_tool"), "").unwrap();
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o750)).unwrap();
    if geteuid().is_root() {
        chown(&tool, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let state = || fs::metadata(&tool).map(|m| (m.uid(), m.gid(), m.mode())).unwrap();
    let before = state();
    let [(_, install_db), (_, mariadbd)] = &engine().programs()[..] else { panic!("not two") };
    let print_defaults = install_db.with_file_name("my_print_defaults");
    let share = install_db.parent().and_then(Path::parent).unwrap().join("share");
    for (name, target) in [
        ("bin/mariadb-install-db", install_db),
        ("bin/my_print_defaults", &print_defaults),
        ("sbin/mariadbd", mariadbd),
        ("share", &share),
    ] {
        let link = base.path().join(name);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(target, link).unwrap();
    }
    let (dir, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut owner = start_helper_with(&dir, None, Some(cache.path()), Some(base.path()));
    server_of(&mut owner);
    end(owner, &dir);
    assert_eq!(state(), before);
}
