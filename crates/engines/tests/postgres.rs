//! PostgreSQL as it is really started: private, tied to its owner, as root and as anybody else.
#![cfg(feature = "postgres")]
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Barrier;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use embermark_engines::sql::{Nullable, Param, Rows, SqlStore, SqlType, TableDef};
use embermark_engines::{
    Access, Availability, Engine, EngineError, Opened, Result, Site, Store, registry,
};
use embermark_model::Durability;
use embermark_skips::{is_here, skipped};
use nix::unistd::geteuid;
use postgres::{Client, NoTls};
use tempfile::TempDir;

/// The folder in which a helper process opens its server.
const HELPER_DIR: &str = "EMBERMARK_TEST_POSTGRES_DIR";

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
    registry::find("postgres").unwrap()
}

/// Whether a test can run.
fn installed() -> bool {
    is_here(engine())
}

fn site(dir: &Path, durability: Durability) -> Site {
    Site::new(dir, durability, 32 << 20)
}

fn open(dir: &TempDir, durability: Durability) -> Opened {
    engine().open(&site(dir.path(), durability)).unwrap()
}

fn store(opened: Opened) -> Box<dyn SqlStore> {
    match opened.store {
        Store::Sql(store) => store,
        _ => panic!("no SQL store"),
    }
}

/// A store on a server of its own, with the table in it.
fn with_table(dir: &TempDir, durability: Durability) -> Box<dyn SqlStore> {
    let mut store = store(open(dir, durability));
    let create = store.dialect().create_table(&TABLE);
    store.batch(&create).unwrap();
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
fn refused(site: &Site) -> EngineError {
    match engine().open(site) {
        Ok(_) => panic!("opened"),
        Err(error) => error,
    }
}

/// The directory in which a process of PostgreSQL works.
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

struct Twice(Made, Made);

impl Rows for Twice {
    fn next(&mut self) -> Option<&[Param<'_>]> {
        if self.0.next < self.0.end { self.0.next() } else { self.1.next() }
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
        (Durability::None, ["off", "off", "off", "unlogged"]),
        (Durability::Process, ["off", "on", "on", "permanent"]),
        (Durability::Power, ["on", "on", "on", "permanent"]),
    ];
    let names = ["fsync", "synchronous_commit", "full_page_writes", "relpersistence"];
    for (tier, expected) in tiers {
        let dir = tempfile::tempdir().unwrap();
        let opened = open(&dir, tier);
        assert_eq!(names.map(|name| setting(&opened, name)), expected, "{tier}");
        assert_eq!(setting(&opened, "shared_buffers"), "32MB");
        assert_eq!(setting(&opened, "wal_level"), "minimal");
        store(opened).close().unwrap();
    }
}

#[test]
fn nothing_listens_beyond_the_unix_socket() {
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let opened = open(&dir, Durability::Process);
    assert_eq!(setting(&opened, "listen_addresses"), "");
    let pid = opened.server.unwrap();
    let sockets: Vec<String> = fs::read_dir(format!("/proc/{pid}/fd"))
        .unwrap()
        .filter_map(|fd| fs::read_link(fd.unwrap().path()).ok())
        .filter_map(|to| {
            Some(to.to_str()?.strip_prefix("socket:[")?.trim_end_matches(']').to_owned())
        })
        .collect();
    assert!(!sockets.is_empty(), "not even a Unix socket is seen");
    for table in ["tcp", "tcp6"] {
        let Ok(table) = fs::read_to_string(format!("/proc/{pid}/net/{table}")) else { continue };
        // Columns: number, local address, remote address, state (0A listens), …, inode the tenth.
        let listens = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let ours = |row: &Vec<&str>| row[3] == "0A" && sockets.iter().any(|s| s == row[9]);
        assert!(!listens.skip(1).any(|row| ours(&row)));
    }
    store(opened).close().unwrap();
}

#[test]
fn a_server_that_refuses_to_start_is_reported_with_the_end_of_its_log() {
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut greedy = site(dir.path(), Durability::Process);
    greedy.memory = 1 << 50;
    let error = refused(&greedy).to_string();
    assert!(error.contains("postgres could not start") && error.contains("exit status"), "{error}");
    assert!(error.contains("shared_buffers"), "{error}");
    let error = refused(&site(dir.path(), Durability::Process)).to_string();
    assert!(error.contains("could not create") && error.contains("server"), "{error}");
}

#[test]
fn numbers_of_any_width_and_json_are_read_and_others_are_refused_by_name() {
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut store = store(open(&dir, Durability::None));
    let sql = "SELECT 7::smallint, 7, sum(n), avg(n), 1.5::real, '{\"a\": 1}'::jsonb, \
               NULL::bigint, true FROM generate_series(1, 4) n WHERE n > $1 AND n::numeric < $2";
    let statement = store.prepare(sql).unwrap();
    let params = [Param::Int(0), Param::Float(3.5)];
    let mut rows = 0;
    let mut look = |row: &dyn embermark_engines::sql::ResultRow| {
        rows += 1;
        let ints: Vec<_> = (0..3).map(|column| row.int(column).unwrap()).collect();
        assert_eq!(ints, [Some(7), Some(7), Some(6)]);
        assert_eq!((row.float(3)?, row.float(4)?), (Some(2.0), Some(1.5)));
        assert_eq!((row.float(0)?, row.int(3)?), (Some(7.0), Some(2)));
        assert_eq!((row.text(5)?, row.int(6)?), (Some("{\"a\": 1}"), None));
        let error = row.float(7).unwrap_err().to_string();
        assert!(error.contains("bool") && error.contains("cast it"), "{error}");
        assert!(row.int(4).is_err() && row.text(0).is_err() && row.int(8).is_err());
        Ok(())
    };
    store.query(statement, &params, &mut look).unwrap();
    assert_eq!(rows, 1);
    store.close().unwrap();
}

#[test]
fn an_error_ends_its_transaction_and_the_store_goes_on() {
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut store = with_table(&dir, Durability::Process);
    let insert = store.prepare("INSERT INTO readings VALUES ($1, $2, $3, $4)").unwrap();
    let row = [Param::Int(1), Param::Int(2), Param::Null, Param::Text("x")];
    store.begin(Access::Write).unwrap();
    assert_eq!(store.run(insert, &row).unwrap(), 1);
    let error = store.run(insert, &row).unwrap_err().to_string();
    assert!(error.starts_with("postgres could not run `INSERT INTO readings"), "{error}");
    assert!(error.contains("23505") && error.contains("already exists"), "{error}");
    assert_eq!(one_int(&mut *store, "SELECT count(*) FROM readings").unwrap(), Some(0));
    store.begin(Access::Read).unwrap();
    assert!(store.run(insert, &row).unwrap_err().to_string().contains("read-only"));
    store.begin(Access::Write).unwrap();
    store.run(insert, &row).unwrap();
    store.commit().unwrap();
    assert_eq!(one_int(&mut *store, "SELECT count(*) FROM readings").unwrap(), Some(1));
    store.close().unwrap();
}

#[test]
fn a_bulk_load_is_one_commit_that_writes_next_to_no_log() {
    if !installed() {
        return;
    }
    // Enough for the table and its index to be above wal_skip_threshold, 2 MB each.
    const ROWS: i64 = 99_999;
    let dir = tempfile::tempdir().unwrap();
    let mut store = with_table(&dir, Durability::Process);
    let log = "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint";
    let before = one_int(&mut *store, log).unwrap().unwrap();
    assert_eq!(store.bulk_insert(&TABLE, &mut made(0..ROWS)).unwrap(), ROWS as u64);
    let written = one_int(&mut *store, log).unwrap().unwrap() - before;
    let size = one_int(&mut *store, "SELECT pg_table_size('readings')").unwrap().unwrap();
    assert!(size > 4_000_000 && written < size / 10, "{written} bytes of log for {size}");
    let whole = "SELECT (count(*) + sum(ts) + count(value) * 1000 + sum(value * 4))::bigint \
                 FROM readings WHERE note = 'grün' AND sensor = ts / 1000";
    let values = (0..ROWS).filter(|n| n % 3 != 0);
    let expected = ROWS + (0..ROWS).sum::<i64>() + values.map(|n| n + 1000).sum::<i64>();
    assert_eq!(one_int(&mut *store, whole).unwrap(), Some(expected));

    let by_key = "SELECT ts FROM readings WHERE sensor = 7 AND ts = 7007";
    assert_eq!(one_int(&mut *store, by_key).unwrap(), Some(7007));
    // Into a table that is not empty nothing is lost; a key that is there already undoes the load.
    assert_eq!(store.bulk_insert(&TABLE, &mut made(ROWS..ROWS + 10)).unwrap(), 10);
    let error = store.bulk_insert(&TABLE, &mut made(ROWS + 5..ROWS + 20)).unwrap_err().to_string();
    assert!(error.contains("COPY readings") && error.contains("readings_pkey"), "{error}");
    let error = store.bulk_insert(&TABLE, &mut made(i64::MAX - 5..i64::MAX)).unwrap_err();
    assert!(error.to_string().contains("does not fit column sensor"), "{error}");
    let count = "SELECT count(*) FROM readings";
    assert_eq!(one_int(&mut *store, count).unwrap(), Some(ROWS + 10));
    let mut twice = Twice(made(0..ROWS), made(0..10));
    store.batch("TRUNCATE readings").unwrap();
    let error = store.bulk_insert(&TABLE, &mut twice).unwrap_err().to_string();
    assert!(error.contains("readings_pkey") && error.contains("23505"), "{error}");
    assert_eq!(one_int(&mut *store, count).unwrap(), Some(0));
    // The key, taken off for the load, is on again.
    let keys =
        "SELECT count(*) FROM pg_index WHERE indrelid = 'readings'::regclass AND indisprimary";
    assert_eq!(one_int(&mut *store, keys).unwrap(), Some(1));
    store.settle().unwrap();
    store.close().unwrap();
}

/// The URL of a private server, which stands for somebody's own.
fn url_of(dir: &TempDir) -> String {
    let socket = dir.path().join("server/run").to_str().unwrap().replace('/', "%2F");
    format!("postgres://postgres@{socket}/postgres")
}

fn schemas(url: &str) -> Vec<String> {
    let mut client = Client::connect(url, NoTls).unwrap();
    let sql = "SELECT nspname::text FROM pg_namespace WHERE nspname !~ '^pg_' ORDER BY 1";
    client.query(sql, &[]).unwrap().iter().map(|row| row.get(0)).collect()
}

#[test]
fn a_given_server_gets_one_schema_and_loses_it_again() {
    if !installed() {
        return;
    }
    let (server_dir, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut owner = with_table(&server_dir, Durability::Process);
    let url = url_of(&server_dir);
    let at_first = schemas(&url);
    let mut given = site(dir.path(), Durability::None);
    given.url = Some(url.clone());
    let opened = engine().open(&given).unwrap();
    assert_eq!(opened.server, None);
    assert_eq!((setting(&opened, "synchronous_commit"), setting(&opened, "fsync")), ("off", "off"));
    let mut ours = store(opened);
    ours.batch(&ours.dialect().create_table(&TABLE)).unwrap();
    assert_eq!(ours.bulk_insert(&TABLE, &mut made(0..100)).unwrap(), 100);
    ours.settle().unwrap();
    assert_eq!(one_int(&mut *owner, "SELECT count(*) FROM readings").unwrap(), Some(0));
    let added: Vec<_> = schemas(&url).into_iter().filter(|s| !at_first.contains(s)).collect();
    assert!(matches!(&added[..], [one] if one.starts_with("embermark_")), "{added:?}");
    // Even when it is dropped in the middle of a transaction.
    ours.begin(Access::Write).unwrap();
    drop(ours);
    assert_eq!(schemas(&url), at_first);

    let power = Site { durability: Durability::Power, ..given };
    let error = refused(&power).to_string();
    assert!(error.contains("fsync=off") && error.contains("--durability"), "{error}");
    assert_eq!(schemas(&url), at_first);
    owner.close().unwrap();
}

#[test]
fn a_server_that_is_not_reached_is_an_error_that_names_it_and_keeps_the_password() {
    let dir = tempfile::tempdir().unwrap();
    let mut given = site(dir.path(), Durability::Process);
    given.url = Some("postgres://me:hunter2@127.0.0.1:1/db".to_owned());
    let error = refused(&given).to_string();
    assert!(
        error.contains("connect to 127.0.0.1, port 1") && !error.contains("hunter2"),
        "{error}"
    );
    given.url = Some("mysql//nonsense".to_owned());
    assert!(refused(&given).to_string().contains("postgres://user:password@host"));
}

/// Not a test of its own: run in a process of its own by the two below.
#[test]
#[ignore = "a helper of other tests"]
fn helper() {
    let Some(dir) = std::env::var_os(HELPER_DIR) else { return };
    let opened = engine().open(&site(Path::new(&dir), Durability::Process)).unwrap();
    let pid = opened.server.unwrap();
    let mut store = store(opened);
    assert_eq!(one_int(&mut *store, "SELECT 6 * 7").unwrap(), Some(42));
    println!("\nserver {pid}");
    sleep(Duration::from_secs(60));
}

/// Runs the helper in a copy of this program that anybody may run.
fn run_helper(dir: &TempDir, uid: Option<u32>) -> (std::process::Child, u32) {
    let program = dir.path().join("program");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let site = dir.path().join("site");
    fs::create_dir(&site).unwrap();
    let mut command = Command::new(program);
    command.args(["helper", "--exact", "--ignored", "--nocapture"]).env(HELPER_DIR, &site);
    command.current_dir("/").stdout(Stdio::piped());
    if let Some(uid) = uid {
        chown(&site, Some(uid), Some(uid)).unwrap();
        command.uid(uid).gid(uid);
    }
    let mut child = command.spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut lines = lines.map_while(std::io::Result::ok);
    let pid = lines.find_map(|line| line.strip_prefix("server ")?.parse().ok());
    (child, pid.expect("the helper failed, see above"))
}

fn uid_of(pid: u32) -> u32 {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(format!("/proc/{pid}")).unwrap().uid()
}

#[test]
fn a_server_dies_with_an_owner_that_is_killed() {
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let (mut owner, pid) = run_helper(&dir, None);
    let data = dir.path().join("site/server/data");
    assert!(processes_in(&data).contains(&pid) && processes_in(&data).len() > 3);
    owner.kill().unwrap();
    owner.wait().unwrap();
    assert!(all_gone(&data), "left: {:?}", processes_in(&data));
}

#[test]
fn root_runs_it_as_another_user_and_an_ordinary_user_as_himself() {
    const NOBODY: u32 = 65534;
    if !installed() {
        return;
    }
    let own = tempfile::tempdir().unwrap();
    let opened = open(&own, Durability::Process);
    let uid = uid_of(opened.server.unwrap());
    assert_eq!(uid == geteuid().as_raw(), !geteuid().is_root());
    assert_ne!(uid, 0);
    store(opened).close().unwrap();
    if !geteuid().is_root() {
        return skipped("root", "only root can try another user; other tests try this one");
    }
    let dir = tempfile::tempdir().unwrap();
    let (mut owner, pid) = run_helper(&dir, Some(NOBODY));
    assert_eq!(uid_of(pid), NOBODY);
    owner.kill().unwrap();
    owner.wait().unwrap();
    assert!(all_gone(dir.path()));
}
