//! MongoDB as it is really started: private, tied to its owner, on its own socket alone.
#![cfg(feature = "mongodb")]
#![allow(clippy::unwrap_used, reason = "a test ends where it cannot go on")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Barrier;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use embermark_engines::document::{
    Collection, CollectionDef, Document, DocumentStore, Filter, Find, Order, Value,
};
use embermark_engines::sql::ResultRow;
use embermark_engines::{Availability, Engine, EngineError, OpenOptions, Opened, Store, registry};
use embermark_model::Durability;
use embermark_skips::{is_here, skipped};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, geteuid};
use tempfile::TempDir;

use client::Client;
use values::Readings;

mod anybody;
#[path = "mongodb/client.rs"]
mod client;
#[path = "mongodb/refusals.rs"]
mod refusals;
#[path = "mongodb/values.rs"]
mod values;

#[path = "../../workloads/src/sensors/pipelines.rs"]
mod pipelines;

/// The folder in which a helper process opens its server.
const HELPER_DIR: &str = "EMBERMARK_TEST_MONGODB_DIR";

static READINGS: CollectionDef = CollectionDef {
    name: "readings",
    key: &["sensor", "ts"],
    indexes: &[],
    fields: &["temperature", "humidity", "light", "voltage"],
};

fn engine() -> &'static dyn Engine {
    registry::find("mongodb").unwrap()
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

fn store(opened: Opened) -> Box<dyn DocumentStore> {
    match opened.store {
        Store::Document(store) => store,
        _ => panic!("no document store"),
    }
}

fn insert(store: &mut dyn DocumentStore, into: Collection, sensor: i64, ts: i64, value: f64) {
    let (key, fields) =
        ([Value::Int(sensor), Value::Int(ts)], [("temperature", Value::Float(value))]);
    store.insert(into, &Document { key: &key, fields: &fields }).unwrap();
}

fn count(store: &mut dyn DocumentStore, of: Collection) -> usize {
    let find = Find { filter: Filter::All, order: Order::Any, limit: None, columns: &["ts"] };
    let mut rows = 0;
    let mut visit = |_: &dyn ResultRow| {
        rows += 1;
        Ok(())
    };
    store.find(of, &find, &mut visit).unwrap();
    rows
}

fn setting<'a>(opened: &'a Opened, name: &str) -> &'a str {
    let found = opened.settings.iter().find(|(known, _)| known == name);
    &found.unwrap_or_else(|| panic!("no {name} in {:?}", opened.settings)).1
}

/// The error of an open that has to fail.
fn refused(options: &OpenOptions) -> EngineError {
    match engine().open(options) {
        Ok(_) => panic!("opened"),
        Err(error) => error,
    }
}

fn is_running(pid: u32) -> bool {
    // A zombie runs no more.
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

fn is_gone(pid: u32) -> bool {
    let deadline = Instant::now() + Duration::from_secs(15);
    while is_running(pid) && Instant::now() < deadline {
        sleep(Duration::from_millis(10));
    }
    !is_running(pid)
}

#[test]
fn a_private_server_starts_answers_and_is_gone_after_close() {
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let opened = open(&dir, Durability::Process);
    let Availability::Ready { version } = engine().availability() else { panic!("gone") };
    assert_eq!(opened.version, version);
    let pid = opened.server.unwrap();
    assert!(is_running(pid));
    let mut store = store(opened);
    let readings = store.create(&READINGS).unwrap();
    insert(&mut *store, readings, 1, 1, 20.5);
    assert_eq!(count(&mut *store, readings), 1);
    store.close().unwrap();
    assert!(!is_running(pid));
    // A clean shutdown empties its lock file and takes its socket away.
    assert_eq!(fs::metadata(dir.path().join("server/data/mongod.lock")).unwrap().len(), 0);
    assert!(!dir.path().join("server/mongod.sock").exists());
}

#[test]
fn a_dropped_store_takes_its_server_with_it() {
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let opened = open(&dir, Durability::None);
    let pid = opened.server.unwrap();
    drop(opened);
    assert!(!is_running(pid));
}

#[test]
fn two_servers_run_at_once_and_share_nothing() {
    if !installed() {
        return;
    }
    let both_filled = Barrier::new(2);
    let fill = |rows: i64| {
        let dir = tempfile::tempdir().unwrap();
        let mut store = store(open(&dir, Durability::None));
        let readings = store.create(&READINGS).unwrap();
        (0..rows).for_each(|ts| insert(&mut *store, readings, 1, ts, 1.0));
        both_filled.wait();
        let found = count(&mut *store, readings);
        store.close().unwrap();
        found
    };
    thread::scope(|scope| {
        let (one, other) = (scope.spawn(|| fill(10)), scope.spawn(|| fill(20)));
        assert_eq!((one.join().unwrap(), other.join().unwrap()), (10, 20));
    });
}

#[test]
fn each_tier_is_set_and_read_back() {
    if !installed() {
        return;
    }
    let tiers = [
        (Durability::None, "w: 1, j: false"),
        (Durability::Process, "w: 1, j: false"),
        (Durability::Power, "w: 1, j: true"),
    ];
    for (tier, concern) in tiers {
        let dir = tempfile::tempdir().unwrap();
        let opened = open(&dir, tier);
        assert_eq!(setting(&opened, "writeConcern"), concern);
        if tier != Durability::None {
            assert_eq!(setting(&opened, "storage.journal"), "true");
            assert_eq!(setting(&opened, "wiredTiger.log.maximum log file size"), "16777216");
        }
        let cache = setting(&opened, "wiredTiger.cache.maximum bytes configured");
        assert_eq!(cache, (32 << 20).to_string());
        assert_eq!(setting(&opened, "storage.engine"), "wiredTiger");
        assert!(setting(&opened, "libmongoc").starts_with("1."));
        store(opened).close().unwrap();
    }
}

#[test]
fn an_insert_reaches_the_server_once_as_its_tier_wants_it_and_in_one_session() {
    if !installed() {
        return;
    }
    let tiers =
        [(Durability::None, false), (Durability::Process, false), (Durability::Power, true)];
    for (tier, waits) in tiers {
        let dir = tempfile::tempdir().unwrap();
        let mut store = store(open(&dir, tier));
        let readings = store.create(&READINGS).unwrap();
        let client = Client::new(&url_of(&dir));
        // The server writes down what it is asked.
        client.run("embermark", r#"{"profile": 2}"#);
        insert(&mut *store, readings, 1, 1, 1.0);
        insert(&mut *store, readings, 1, 2, 1.0);
        assert_eq!(store.bulk(readings, &mut Readings(3, 6)).unwrap(), 3);
        client.run("embermark", r#"{"profile": 0}"#);
        let asked = r#"{"find": "system.profile", "filter": {"op": "insert"}}"#;
        let asked = client.run("embermark", asked);
        let asked = asked["cursor"]["firstBatch"].as_array().unwrap();
        assert_eq!(asked.len(), 3, "{tier}");
        for one in asked {
            let command = &one["command"];
            assert_eq!(command["writeConcern"], serde_json::json!({"w": 1, "j": waits}), "{tier}");
            assert!(command["lsid"].is_object(), "{command}");
            assert_eq!(command["lsid"], asked[0]["command"]["lsid"]);
            // A number is what a write has that may be sent again.
            assert!(command.get("txnNumber").is_none(), "{command}");
        }
        store.close().unwrap();
    }
}

/// Numbers of the sockets that a process has open.
fn sockets_of(pid: u32) -> Vec<String> {
    let to = |fd: fs::DirEntry| fs::read_link(fd.path()).ok();
    let number =
        |to: PathBuf| Some(to.to_str()?.strip_prefix("socket:[")?.trim_end_matches(']').to_owned());
    let open = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten();
    open.filter_map(to).filter_map(number).collect()
}

#[test]
fn nothing_listens_but_the_unix_socket_in_its_own_directory() {
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let opened = open(&dir, Durability::Process);
    let pid = opened.server.unwrap();
    let sockets = sockets_of(pid);
    assert!(!sockets.is_empty(), "not even a Unix socket is seen");
    for table in ["tcp", "tcp6", "udp", "udp6"] {
        let Ok(table) = fs::read_to_string(format!("/proc/{pid}/net/{table}")) else { continue };
        // Columns: number, local address, remote address, state …, inode the tenth.
        let rows = table.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>());
        for row in rows {
            assert!(!sockets.iter().any(|socket| socket == row[9]), "{row:?}");
        }
    }
    // Columns: …, type the fifth, inode the seventh, path the eighth.
    let unix = fs::read_to_string(format!("/proc/{pid}/net/unix")).unwrap();
    let listening: Vec<String> = unix
        .lines()
        .skip(1)
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|row| row[3] == "00010000" && sockets.iter().any(|socket| socket == row[6]))
        .map(|row| row.get(7).unwrap_or(&"unnamed").to_string())
        .collect();
    assert!(matches!(&listening[..], [one] if one.ends_with("/mongod.sock")), "{listening:?}");
    let socket = fs::metadata(dir.path().join("server/mongod.sock")).unwrap();
    assert_eq!(socket.permissions().mode() & 0o077, 0);
    store(opened).close().unwrap();
}

#[test]
fn a_server_that_refuses_to_start_is_reported_with_the_end_of_its_log() {
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut greedy = options(dir.path(), Durability::Process);
    greedy.memory = 1 << 60;
    let error = refused(&greedy).to_string();
    assert!(error.contains("mongodb could not start") && error.contains("mongod"), "{error}");
    assert!(error.contains("cache_size"), "{error}");
    let error = refused(&options(dir.path(), Durability::Process)).to_string();
    assert!(error.contains("could not create") && error.contains("server"), "{error}");
}

#[test]
fn a_server_that_dies_is_an_error_and_no_wait() {
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let opened = open(&dir, Durability::Process);
    let pid = opened.server.unwrap();
    let mut store = store(opened);
    let readings = store.create(&READINGS).unwrap();
    kill(Pid::from_raw(pid.cast_signed()), Signal::SIGKILL).unwrap();
    assert!(is_gone(pid));
    let asked = Instant::now();
    let error = store.insert(readings, &Document { key: &[], fields: &[] }).unwrap_err();
    assert!(error.to_string().starts_with("mongodb could not insert into `readings`"), "{error}");
    let error = store.close().unwrap_err().to_string();
    assert!(error.contains("it ended with signal: 9"), "{error}");
    assert!(asked.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_connection_that_was_idle_answers_as_before() {
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut store = store(open(&dir, Durability::None));
    let readings = store.create(&READINGS).unwrap();
    for ts in 0..3 {
        insert(&mut *store, readings, 1, ts, 1.0);
        sleep(Duration::from_secs(4));
    }
    assert_eq!(count(&mut *store, readings), 3);
    store.close().unwrap();
}

/// The URL of a private server, which stands for somebody's own.
fn url_of(dir: &TempDir) -> String {
    let socket = dir.path().join("server/mongod.sock");
    format!("mongodb://{}/?directConnection=true", socket.to_str().unwrap().replace('/', "%2F"))
}

fn databases(url: &str) -> Vec<String> {
    let answer = Client::new(url).run("admin", r#"{"listDatabases": 1, "nameOnly": true}"#);
    let named = |database: &serde_json::Value| database["name"].as_str().unwrap().to_owned();
    let mut names: Vec<String> =
        answer["databases"].as_array().unwrap().iter().map(named).collect();
    names.sort();
    names
}

/// A server makes `config` on its own, a moment after its start.
fn databases_of_a_new_server(url: &str) -> Vec<String> {
    let deadline = Instant::now() + Duration::from_secs(15);
    loop {
        let names = databases(url);
        if names.iter().any(|name| name == "config") || Instant::now() > deadline {
            return names;
        }
        sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_given_server_gets_one_database_and_loses_it_again() {
    if !installed() {
        return;
    }
    let (server_dir, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut owner = store(open(&server_dir, Durability::None));
    let theirs = owner.create(&READINGS).unwrap();
    insert(&mut *owner, theirs, 1, 1, 1.0);
    let url = url_of(&server_dir);
    let at_first = databases_of_a_new_server(&url);
    let mut given = options(dir.path(), Durability::None);
    given.url = Some(url.clone());
    for is_closed in [true, false] {
        let opened = engine().open(&given).unwrap();
        assert_eq!(opened.server, None);
        let mut ours = store(opened);
        let readings = ours.create(&READINGS).unwrap();
        assert_eq!(count(&mut *ours, readings), 0);
        insert(&mut *ours, readings, 1, 1, 2.0);
        insert(&mut *ours, readings, 1, 2, 2.0);
        ours.maintain().unwrap();
        let added: Vec<_> = databases(&url).into_iter().filter(|n| !at_first.contains(n)).collect();
        assert!(matches!(&added[..], [one] if one.starts_with("embermark_")), "{added:?}");
        if is_closed {
            ours.close().unwrap()
        } else {
            drop(ours)
        }
        assert_eq!(databases(&url), at_first);
    }
    assert_eq!(count(&mut *owner, theirs), 1);
    if setting(&open_given(&given), "storage.journal") == "false" {
        let error = refused(&OpenOptions { durability: Durability::Power, ..given }).to_string();
        assert!(error.contains("keep the tier 'power'"), "{error}");
        assert_eq!(databases(&url), at_first);
    }
    owner.close().unwrap();
}

fn open_given(options: &OpenOptions) -> Opened {
    engine().open(options).unwrap()
}

#[test]
fn a_server_that_is_not_reached_is_an_error_that_names_it_and_keeps_the_password() {
    let dir = tempfile::tempdir().unwrap();
    let mut given = options(dir.path(), Durability::Process);
    let short = "directConnection=true&serverSelectionTimeoutMS=300";
    given.url = Some(format!("mongodb://me:hunter2@127.0.0.1:1/?{short}"));
    let error = refused(&given).to_string();
    assert!(error.contains("connect to 127.0.0.1:1") && !error.contains("hunter2"), "{error}");
    given.url = Some("mysql//nonsense".to_owned());
    assert!(refused(&given).to_string().contains("mongodb://user:password@host"));
}

#[test]
fn point_reads_and_ranges_of_keys_use_the_index_of_the_keys() {
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut store = store(open(&dir, Durability::None));
    let readings = store.create(&READINGS).unwrap();
    (0..500).for_each(|n| insert(&mut *store, readings, n % 5, n, 1.0));
    let client = Client::new(&url_of(&dir));
    let examined = |filter: &str, sort: &str| {
        let find = format!(r#"{{"find": "readings", "filter": {filter}, "sort": {sort}}}"#);
        let explain = format!(r#"{{"explain": {find}, "verbosity": "executionStats"}}"#);
        let answer = client.run("embermark", &explain);
        let stat = |name: &str| answer["executionStats"][name].as_i64().unwrap();
        (stat("totalKeysExamined"), stat("totalDocsExamined"))
    };
    let one = r#"{"_id": {"sensor": {"$numberLong": "3"}, "ts": {"$numberLong": "33"}}}"#;
    assert_eq!(examined(one, "{}"), (1, 1));
    let range = r#"{"_id": {
        "$gte": {"sensor": {"$numberLong": "3"}}, "$lt": {"sensor": {"$numberLong": "4"}}
    }}"#;
    assert_eq!(examined(range, r#"{"_id": -1}"#), (100, 100));
    drop(client);
    store.close().unwrap();
}

/// Not a test of its own: run in a process of its own by the two below.
#[test]
#[ignore = "a helper of other tests"]
fn helper() {
    let Some(dir) = std::env::var_os(HELPER_DIR) else { return };
    let opened = engine().open(&options(Path::new(&dir), Durability::Process)).unwrap();
    let pid = opened.server.unwrap();
    let mut store = store(opened);
    let readings = store.create(&READINGS).unwrap();
    insert(&mut *store, readings, 1, 1, 1.0);
    println!("\nserver {pid}");
    sleep(Duration::from_secs(60));
}

/// Runs the helper in a copy of this program, and of the server's, that anybody may run.
fn run_helper(dir: &TempDir, uid: Option<u32>) -> (Child, u32) {
    let program = dir.path().join("program");
    anybody::copy(&std::env::current_exe().unwrap(), &program);
    // Our own copy of the server is found beside the program, with the libraries that came with it.
    let home = engine().programs()[0].1.ancestors().nth(2).unwrap().to_owned();
    if home.ends_with("mongodb") {
        fs::create_dir(dir.path().join("deps")).unwrap();
        anybody::copy(&home, &dir.path().join("deps/mongodb"));
    }
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let options = dir.path().join("options");
    fs::create_dir(&options).unwrap();
    let mut command = Command::new(program);
    command.args(["helper", "--exact", "--ignored", "--nocapture"]).env(HELPER_DIR, &options);
    command.current_dir("/").stdout(Stdio::piped());
    if let Some(uid) = uid {
        chown(&options, Some(uid), Some(uid)).unwrap();
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
    assert!(is_running(pid));
    owner.kill().unwrap();
    owner.wait().unwrap();
    assert!(is_gone(pid));
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
    let (mut owner, pid) = run_helper(&dir, Some(NOBODY));
    assert_eq!(uid_of(pid), NOBODY);
    owner.kill().unwrap();
    owner.wait().unwrap();
    assert!(is_gone(pid));
}

/// Answers of the workload `sensors`' pipelines on readings small enough to be checked by hand.
mod questions {
    use super::*;
    use crate::pipelines::Pipeline;

    const MINUTE: i64 = 60_000_000;
    const HOUR: i64 = 60 * MINUTE;
    const DAY: i64 = 24 * HOUR;

    /// Values of a row, all as doubles: each of them is exact here.
    type Row = Vec<Option<f64>>;

    fn ask(store: &mut dyn DocumentStore, of: Collection, question: Pipeline) -> Vec<Row> {
        let mut rows = Vec::new();
        let columns = question.columns();
        let mut visit = |row: &dyn ResultRow| {
            let whole = ["sensor", "ts", "day", "from", "to", "readings", "buckets"];
            let value = |(n, column): (usize, &&str)| match whole.contains(column) {
                true => row.int(n).map(|int| int.map(|int| int as f64)),
                false => row.float(n),
            };
            rows.push(columns.iter().enumerate().map(value).collect::<Result<_, _>>()?);
            Ok(())
        };
        store.query(of, question.text(), columns, &mut visit).unwrap();
        rows
    }

    fn sorted(mut rows: Vec<Row>) -> Vec<Row> {
        rows.sort_by(|a, b| a.partial_cmp(b).unwrap());
        rows
    }

    fn some<const N: usize>(values: [f64; N]) -> Row {
        values.map(Some).to_vec()
    }

    fn put(store: &mut dyn DocumentStore, into: Collection, sensor: i64, ts: i64, t: Option<f64>) {
        let t = t.map_or(Value::Null, Value::Float);
        let fields = [("temperature", t), ("light", Value::Float(1.0))];
        let key = [Value::Int(sensor), Value::Int(ts)];
        store.insert(into, &Document { key: &key, fields: &fields }).unwrap();
    }

    #[test]
    fn every_question_is_answered_as_counted_by_hand() {
        if !installed() {
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let mut store = store(open(&dir, Durability::None));
        let store = &mut *store;
        let readings = store.create(&READINGS).unwrap();
        // Nothing yet: no rows, but one for the pair of sensors.
        for question in [Pipeline::AvgSensor, Pipeline::Anomalies, Pipeline::Outages] {
            assert_eq!(ask(store, readings, question), [] as [Row; 0]);
        }
        let none = vec![Some(0.0), None, None, None];
        assert_eq!(ask(store, readings, Pipeline::CompareTwo), [none]);
        // Sensor 1: a reading a minute, 20 and 22 in turn, then 50; two of them without a value,
        // the last after an hour and a microsecond. Sensor 2: hot, the same minutes, on the day
        // before 1970 as well. Sensor 3 without a value. Sensor 4: one reading.
        for n in 0..20 {
            put(store, readings, 1, n * MINUTE, Some([20.0, 22.0][n as usize % 2]));
            put(store, readings, 2, n * MINUTE, Some(30.0 + (n / 5) as f64));
        }
        put(store, readings, 1, 20 * MINUTE, Some(50.0));
        put(store, readings, 1, 20 * MINUTE + 1, None);
        put(store, readings, 1, 20 * MINUTE + 2 + HOUR, None);
        put(store, readings, 2, -1, Some(34.0));
        put(store, readings, 2, 19 * MINUTE + HOUR, None);
        put(store, readings, 3, DAY - 1, None);
        put(store, readings, 3, DAY, None);
        put(store, readings, 4, 5, Some(26.0));

        let mean_1 = 470.0 / 21.0;
        let mean_2 = (30.0 + 31.0 + 32.0 + 33.0) * 5.0 / 21.0 + 34.0 / 21.0;
        let close = |found: &Row, expected: &Row| {
            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(expected) {
                match (found, expected) {
                    (Some(a), Some(b)) => assert!((a - b).abs() <= 1e-9 * b.abs(), "{a} {b}"),
                    pair => assert_eq!(pair.0, pair.1),
                }
            }
        };
        let all_close = |found: Vec<Row>, expected: &[Row]| {
            assert_eq!(found.len(), expected.len(), "{found:?}");
            found.iter().zip(expected).for_each(|(found, expected)| close(found, expected));
        };
        let means = [some([1.0, mean_1]), some([2.0, mean_2]), vec![Some(3.0), None]];
        let mut expected = means.to_vec();
        expected.push(some([4.0, 26.0]));
        all_close(sorted(ask(store, readings, Pipeline::AvgSensor)), &expected);
        all_close(ask(store, readings, Pipeline::HotSensors), &[some([2.0, mean_2])]);
        let hottest = [some([2.0, mean_2]), some([4.0, 26.0]), some([1.0, mean_1])];
        all_close(ask(store, readings, Pipeline::Hottest), &hottest);
        let most = [some([1.0, 23.0]), some([2.0, 22.0]), some([3.0, 2.0]), some([4.0, 1.0])];
        all_close(ask(store, readings, Pipeline::MostReadings), &most);
        let anomaly = some([1.0, (20 * MINUTE) as f64, 50.0]);
        all_close(ask(store, readings, Pipeline::Anomalies), &[anomaly]);
        let outages = [some([1.0, (20 * MINUTE + 1) as f64, (20 * MINUTE + 2 + HOUR) as f64])];
        all_close(ask(store, readings, Pipeline::Outages), &outages);
        let summary = [
            some([1.0, 0.0, 20.0, 50.0, mean_1, 23.0]),
            some([2.0, -1.0, 34.0, 34.0, 34.0, 1.0]),
            some([2.0, 0.0, 30.0, 33.0, 31.5, 21.0]),
            vec![Some(3.0), Some(0.0), None, None, None, Some(1.0)],
            vec![Some(3.0), Some(1.0), None, None, None, Some(1.0)],
            some([4.0, 0.0, 26.0, 26.0, 26.0, 1.0]),
        ];
        all_close(sorted(ask(store, readings, Pipeline::DailySummary)), &summary);
        // Buckets of sensor 1: 20.8, 21.2, 20.8, 21.2, and 50 alone; of sensor 2: 30 to 33.
        let pair = some([4.0, 0.4, 0.16, 5.0]);
        let found = ask(store, readings, Pipeline::CompareTwo);
        all_close(found, &[pair]);
    }
}
