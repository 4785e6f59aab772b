//! InfluxDB as it is really started: private, tied to its owner, and driven in every tier.
#![cfg(feature = "influxdb")]
#![allow(clippy::unwrap_used, reason = "a test ends where it cannot go on")]

mod anybody;

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use embermark_engines::series::{FieldValue, Point, Points, SeriesStore, TagValue};
use embermark_engines::sql::ResultRow;
use embermark_engines::{Availability, Engine, OpenOptions, Opened, Result, Store, Tier, registry};
use embermark_model::Durability;
use embermark_skips::{is_here, skipped};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, geteuid};
use tempfile::TempDir;

/// The folder in which a helper process opens its server.
const HELPER_DIR: &str = "EMBERMARK_TEST_INFLUXDB_DIR";

fn engine() -> &'static dyn Engine {
    registry::find("influxdb").unwrap()
}

/// Whether a test can run.
fn installed() -> bool {
    is_here(engine())
}

/// The program that the engine starts.
fn influxd() -> PathBuf {
    let [("influxd", path)] = &engine().programs()[..] else { panic!("not one program") };
    path.clone()
}

fn options(dir: &Path, durability: Durability) -> OpenOptions {
    OpenOptions::new(dir, durability, 32 << 20)
}

fn open(dir: &TempDir, durability: Durability) -> Opened {
    engine().open(&options(dir.path(), durability)).unwrap()
}

fn store(opened: Opened) -> Box<dyn SeriesStore> {
    match opened.store {
        Store::Series(store) => store,
        _ => panic!("no series store"),
    }
}

/// The point of a number; every hundredth has a text too.
fn with_made<T>(n: i64, then: impl FnOnce(&Point<'_>) -> T) -> T {
    let tags = [("sensor", TagValue::Int(n % 54))];
    let fields = [
        ("n", FieldValue::Int(n)),
        ("half", FieldValue::Float(n as f64 / 2.0)),
        ("note", FieldValue::Text("grün")),
    ];
    let fields = &fields[..if n % 100 == 0 { 3 } else { 2 }];
    then(&Point { tags: &tags, fields, time_ns: n * 1_000 })
}

/// The points of a range.
struct Made {
    range: std::ops::Range<i64>,
    tags: [(&'static str, TagValue<'static>); 1],
    fields: [(&'static str, FieldValue<'static>); 3],
}

fn made(range: std::ops::Range<i64>) -> Made {
    let fields = [
        ("n", FieldValue::Int(0)),
        ("half", FieldValue::Float(0.0)),
        ("note", FieldValue::Text("grün")),
    ];
    Made { range, tags: [("sensor", TagValue::Int(0))], fields }
}

impl Points for Made {
    fn next(&mut self) -> Option<Point<'_>> {
        let n = self.range.next()?;
        self.tags[0].1 = TagValue::Int(n % 54);
        self.fields[0].1 = FieldValue::Int(n);
        self.fields[1].1 = FieldValue::Float(n as f64 / 2.0);
        let fields = &self.fields[..if n % 100 == 0 { 3 } else { 2 }];
        Some(Point { tags: &self.tags, fields, time_ns: n * 1_000 })
    }
}

fn ints(store: &mut dyn SeriesStore, influxql: &str, columns: &[&str]) -> Vec<Vec<Option<i64>>> {
    let mut rows = Vec::new();
    let mut visit = |row: &dyn ResultRow| -> Result<()> {
        let ints: Result<Vec<_>> = (0..columns.len()).map(|n| row.int(n)).collect();
        rows.push(ints?);
        Ok(())
    };
    store.query(influxql, columns, &mut visit).unwrap();
    rows
}

fn count(store: &mut dyn SeriesStore) -> i64 {
    let rows = ints(store, "SELECT COUNT(n) FROM m", &["count"]);
    rows.first().map_or(0, |row| row[0].unwrap())
}

/// Count, sum and greatest: what is lost, doubled or changed shows in one of them.
fn assert_holds(store: &mut dyn SeriesStore, range: std::ops::Range<i64>) {
    let rows = ints(store, "SELECT COUNT(n), SUM(n), MAX(n) FROM m", &["count", "sum", "max"]);
    let expected = [range.end - range.start, range.clone().sum(), range.end - 1].map(Some);
    assert_eq!(rows, [expected]);
}

fn is_gone(pid: u32) -> bool {
    let pid = Pid::from_raw(pid.cast_signed());
    let deadline = Instant::now() + Duration::from_secs(15);
    while kill(pid, None).is_ok() {
        if Instant::now() > deadline {
            return false;
        }
        sleep(Duration::from_millis(10));
    }
    true
}

#[test]
fn every_value_is_read_back_as_it_was_written_in_every_tier() {
    if !installed() {
        return;
    }
    let floats = [0.1, -0.0, f64::MAX, f64::MIN, f64::MIN_POSITIVE, 5e-324, 1e15, 1.0 / 3.0];
    let integers = [i64::MIN, i64::MAX, 0, -1, (1 << 53) + 1];
    let texts =
        ["", " a  b ", ",=,", "say \"yes\"", r"\", r#"\" \\ \n"#, "two\nlines\r\n", "ü 漢 😀", "'"];
    let tags = ["a b", "c,d", "e=f", "\"g\"", "h\\i", "ü 漢", "7"];
    for durability in Durability::ALL {
        let dir = tempfile::tempdir().unwrap();
        let mut store = store(open(&dir, durability));
        let mut time_ns = -3;
        let mut write = |tag, field| {
            time_ns += 1;
            let point = Point { tags: &[("t", TagValue::Text(tag))], fields: &[field], time_ns };
            store.write("m", &point).unwrap();
        };
        floats.iter().for_each(|v| write("x", ("f", FieldValue::Float(*v))));
        integers.iter().for_each(|v| write("x", ("i", FieldValue::Int(*v))));
        texts.iter().for_each(|v| write("x", ("s", FieldValue::Text(v))));
        tags.iter().for_each(|v| write(v, ("i", FieldValue::Int(1))));
        store.flush().unwrap();
        let (mut f, mut i, mut s, mut t, mut times) = (vec![], vec![], vec![], vec![], vec![]);
        let columns = ["time", "f", "i", "s", "t"];
        let mut visit = |row: &dyn ResultRow| -> Result<()> {
            times.push(row.int(0)?.unwrap());
            f.extend(row.float(1)?.map(f64::to_bits));
            i.extend(row.int(2)?);
            s.extend(row.text(3)?.map(String::from));
            t.extend(row.text(4)?.map(String::from));
            Ok(())
        };
        store.query("SELECT f, i, s, t FROM m ORDER BY time", &columns, &mut visit).unwrap();
        assert_eq!(f, floats.map(f64::to_bits), "{durability}");
        assert_eq!(i[..integers.len()], integers);
        assert_eq!(s, texts);
        assert_eq!(t[t.len() - tags.len()..], tags);
        assert_eq!(times, (-2..=time_ns).collect::<Vec<_>>());
        // As the tag of a group it comes from another place of the answer.
        let mut groups = Vec::new();
        let mut visit = |row: &dyn ResultRow| -> Result<()> {
            groups.push(row.text(0)?.unwrap().to_owned());
            assert!(row.int(0).is_err() && row.text(1).is_err());
            Ok(())
        };
        store.query("SELECT COUNT(i) FROM m GROUP BY t", &["t", "count"], &mut visit).unwrap();
        groups.retain(|group| group != "x");
        groups.sort_unstable();
        let mut expected = tags;
        expected.sort_unstable();
        assert_eq!(groups, expected);
        store.close().unwrap();
    }
}

#[test]
fn nothing_is_lost_by_bulk_or_one_by_one_in_any_tier() {
    if !installed() {
        return;
    }
    for (durability, singly) in
        [(Durability::None, 20_000), (Durability::Process, 500), (Durability::Power, 500)]
    {
        let dir = tempfile::tempdir().unwrap();
        let mut store = store(open(&dir, durability));
        assert_eq!(store.bulk("m", &mut made(0..200_000)).unwrap(), 200_000);
        store.flush().unwrap();
        assert_holds(&mut *store, 0..200_000);
        for n in 200_000..200_000 + singly {
            with_made(n, |point| store.write("m", point)).unwrap();
        }
        store.flush().unwrap();
        assert_holds(&mut *store, 0..200_000 + singly);
        // Rest changes nothing, and a second one has nothing to wait for.
        store.maintain().unwrap();
        let begun = Instant::now();
        store.maintain().unwrap();
        assert!(begun.elapsed() < Duration::from_millis(100));
        assert_holds(&mut *store, 0..200_000 + singly);
        // A clearing overtakes nothing that was sent before it.
        with_made(7_777_777, |point| store.write("m", point)).unwrap();
        store.clear("m").unwrap();
        assert_eq!(count(&mut *store), 0);
        store.clear("m").unwrap();
        assert_eq!(store.bulk("m", &mut made(5..15)).unwrap(), 10);
        store.flush().unwrap();
        assert_holds(&mut *store, 5..15);
        store.close().unwrap();
    }
}

#[test]
fn a_store_opened_again_holds_every_point_and_goes_on_in_every_tier() {
    if !installed() {
        return;
    }
    for durability in Durability::ALL {
        let dir = tempfile::tempdir().unwrap();
        let mut store = store(open(&dir, durability));
        assert_eq!(store.bulk("m", &mut made(0..10_000)).unwrap(), 10_000);
        for n in 10_000..10_010 {
            with_made(n, |point| store.write("m", point)).unwrap();
            store.reconnect().unwrap().unwrap();
            assert_holds(&mut *store, 0..n + 1);
        }
        assert_eq!(store.bulk("m", &mut made(10_010..12_000)).unwrap(), 1_990);
        store.flush().unwrap();
        assert_holds(&mut *store, 0..12_000);
        let error = store.crash_on_close().unwrap_err();
        assert!(error.is_unsupported() && error.to_string().contains("server starts"), "{error}");
        assert_holds(&mut *store, 0..12_000);
        store.close().unwrap();
    }
}

#[test]
fn after_rest_a_shard_is_one_file_and_its_log_is_empty() {
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut store = store(open(&dir, Durability::Process));
    for n in 0..6 {
        store.bulk("m", &mut made(n * 100_000..(n + 1) * 100_000)).unwrap();
    }
    store.maintain().unwrap();
    // Some of what is deleted lies in the file, some still in the cache.
    for n in 600_000..600_540 {
        with_made(n, |point| store.write("m", point)).unwrap();
    }
    store.execute("DELETE FROM m WHERE sensor = '3'").unwrap();
    store.maintain().unwrap();
    let shard = "embermark/autogen";
    let files = |root: &str, of: &str| -> Vec<(PathBuf, u64)> {
        let shards = fs::read_dir(dir.path().join("server").join(root).join(shard)).unwrap();
        let files =
            shards.flatten().flat_map(|shard| fs::read_dir(shard.path()).unwrap()).flatten();
        let files = files.map(|file| (file.path(), file.metadata().unwrap().len()));
        files.filter(|(path, _)| path.extension().is_some_and(|e| e == of)).collect()
    };
    assert_eq!(files("data", "tsm").len(), 1, "{:?}", files("data", "tsm"));
    assert_eq!(files("data", "tombstone"), []);
    let log: u64 = files("wal", "wal").iter().map(|(_, bytes)| bytes).sum();
    assert!(log < 1_000, "{log} bytes of log");
    assert_eq!(count(&mut *store), 600_540 - (0..600_540).filter(|n| n % 54 == 3).count() as i64);
    store.close().unwrap();
}

#[test]
fn a_point_written_again_keeps_the_fields_it_does_not_bring_and_deletions_hit_their_point_alone() {
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut store = store(open(&dir, Durability::Process));
    let mut write = |sensor, time_ns, fields: &[(&str, FieldValue<'_>)]| {
        let tags = [("sensor", TagValue::Int(sensor))];
        store.write("m", &Point { tags: &tags, fields, time_ns }).unwrap();
    };
    write(1, 10, &[("a", FieldValue::Int(1)), ("b", FieldValue::Int(2))]);
    write(1, 10, &[("b", FieldValue::Int(3)), ("c", FieldValue::Int(4))]);
    write(1, 11, &[("a", FieldValue::Int(5))]);
    write(2, 10, &[("a", FieldValue::Int(6))]);
    let all = "SELECT a, b, c FROM m GROUP BY sensor ORDER BY time";
    let columns = ["time", "a", "b", "c"];
    let rows = ints(&mut *store, all, &columns);
    let kept = [Some(11), Some(5), None, None];
    let other = [Some(10), Some(6), None, None];
    assert_eq!(rows, [[Some(10), Some(1), Some(3), Some(4)], kept, other]);
    store.execute("DELETE FROM m WHERE sensor = '1' AND time = 10").unwrap();
    assert_eq!(ints(&mut *store, all, &columns), [kept, other]);
    store.maintain().unwrap();
    store.execute("DELETE FROM m WHERE sensor = '2' AND time = 10").unwrap();
    assert_eq!(ints(&mut *store, all, &columns), [kept]);
    store.close().unwrap();
}

#[test]
fn an_answer_of_many_pieces_is_complete_and_its_columns_are_found_by_name() {
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut store = store(open(&dir, Durability::Process));
    store.bulk("m", &mut made(0..35_000)).unwrap();
    let mut next = 0;
    let columns = ["note", "n", "time", "half", "sensor"];
    let mut visit = |row: &dyn ResultRow| -> Result<()> {
        assert_eq!((row.int(1)?, row.int(2)?), (Some(next), Some(next * 1_000)));
        assert_eq!(row.float(3)?, Some(next as f64 / 2.0));
        assert_eq!(row.text(4)?, Some(&*(next % 54).to_string()));
        assert_eq!(row.text(0)?, (next % 100 == 0).then_some("grün"));
        next += 1;
        Ok(())
    };
    store.query("SELECT half, n, note, sensor FROM m", &columns, &mut visit).unwrap();
    assert_eq!(next, 35_000);

    // Groups follow one another whatever pieces they come in.
    let mut rows = 0;
    let mut sum = 0;
    let mut visit = |row: &dyn ResultRow| -> Result<()> {
        let n = row.int(1)?.unwrap();
        assert_eq!(row.text(0)?, Some(&*(n % 54).to_string()));
        (rows, sum) = (rows + 1, sum + n);
        Ok(())
    };
    store.query("SELECT n FROM m GROUP BY sensor", &["sensor", "n"], &mut visit).unwrap();
    assert_eq!((rows, sum), (35_000, (0..35_000).sum()));
    // A visitor that gives up is heard, and leaves the connection usable.
    let mut visited = 0;
    let given_up = store.query("SELECT n FROM m", &["n"], &mut |row| {
        visited += 1;
        row.text(0).map(drop)
    });
    assert!(given_up.unwrap_err().to_string().contains("it holds Int(0)") && visited == 1);
    assert_eq!(count(&mut *store), 35_000);
    store.close().unwrap();
}

#[test]
fn what_the_engine_refuses_is_an_error_that_says_what() {
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut store = store(open(&dir, Durability::Process));
    with_made(1, |point| store.write("m", point)).unwrap();
    let asked = |store: &mut dyn SeriesStore, sql: &str| {
        store.query(sql, &["n"], &mut |_| Ok(())).unwrap_err().to_string()
    };
    let error = asked(&mut *store, "SELEC n FROM m");
    assert!(error.contains("influxdb") && error.contains("error parsing query"), "{error}");
    let error = asked(&mut *store, "SELECT nonsense(n) FROM m");
    assert!(error.contains("undefined function nonsense()"), "{error}");
    let error = asked(&mut *store, "SELECT half FROM m");
    assert!(error.contains("column `n`") && error.contains("time, half alone"), "{error}");
    let error = store.execute("DELETE FROM m WHERE half = 3").unwrap_err().to_string();
    assert!(error.contains("fields not supported in WHERE clause"), "{error}");
    let wrong = [("n", FieldValue::Text("no number"))];
    let tags = [("sensor", TagValue::Int(1))];
    let error = store.write("m", &Point { tags: &tags, fields: &wrong, time_ns: 5 }).unwrap_err();
    assert!(error.to_string().contains("field type conflict"), "{error}");
    let nan = [("n", FieldValue::Float(f64::NAN))];
    let error = store.write("m", &Point { tags: &tags, fields: &nan, time_ns: 5 }).unwrap_err();
    assert!(error.is_unsupported(), "{error}");
    assert_eq!(count(&mut *store), 1);
    store.close().unwrap();

    // Over UDP nobody says so at once, and `flush` does.
    let dir = tempfile::tempdir().unwrap();
    let mut store = over_udp(&dir);
    with_made(1, |point| store.write("m", point)).unwrap();
    store.flush().unwrap();
    store.write("m", &Point { tags: &tags, fields: &wrong, time_ns: 5 }).unwrap();
    let error = store.flush().unwrap_err().to_string();
    assert!(error.contains("points are lost"), "{error}");
    let large = "x".repeat(70_000);
    let large = [("s", FieldValue::Text(&large))];
    let error = store.write("m", &Point { tags: &tags, fields: &large, time_ns: 5 }).unwrap_err();
    assert!(error.to_string().contains("a datagram of 7"), "{error}");
}

fn over_udp(dir: &TempDir) -> Box<dyn SeriesStore> {
    store(open(dir, Durability::None))
}

#[test]
fn a_tier_keeps_what_it_says_and_the_settings_are_read_back() {
    if !installed() {
        return;
    }
    for durability in Durability::ALL {
        let Tier::Offered { effective_durability, .. } = engine().tier(durability) else {
            panic!("{durability}")
        };
        assert!(effective_durability >= durability);
        let dir = tempfile::tempdir().unwrap();
        let opened = open(&dir, durability);
        let setting = |name: &str| {
            opened.settings.iter().find(|(known, _)| known == name).map(|(_, value)| &**value)
        };
        assert_eq!(setting("data.wal-fsync-delay"), Some("0s"));
        assert_eq!(setting("data.cache-snapshot-memory-size"), Some("16777216"));
        let udp = (durability == Durability::None).then_some("10ms");
        assert_eq!(setting("udp.batch-timeout"), udp);
        let Availability::Ready { version } = engine().availability() else { panic!("gone") };
        assert_eq!(opened.version, version);
        let pid = opened.server.unwrap();
        let mut store = store(opened);
        for n in 0..100 {
            with_made(n, |point| store.write("m", point)).unwrap();
        }
        if durability != Durability::None {
            // Acknowledged, it outlives the process.
            kill(Pid::from_raw(pid.cast_signed()), Signal::SIGKILL).unwrap();
            // The last of its threads takes a while.
            while fs::read_dir(format!("/proc/{pid}/task")).unwrap().count() > 1 {
                sleep(Duration::from_millis(1));
            }
            sleep(Duration::from_millis(50));
            let error = store.close().unwrap_err().to_string();
            assert!(error.contains("signal: 9"), "{error}");
            assert_eq!(count_after_restart(dir.path()), 100);
        }
    }
}

/// Starts another server on the files of one that was killed, and counts what it finds.
fn count_after_restart(dir: &Path) -> i64 {
    let files = dir.join("server").display().to_string();
    let config = format!(
        "reporting-disabled = true\nbind-address = \"127.0.0.1:0\"\n[meta]\ndir = \"{files}/meta\"\n\
         [data]\ndir = \"{files}/data\"\nwal-dir = \"{files}/wal\"\n\
         [http]\nbind-address = \"127.0.0.1:0\"\n"
    );
    fs::write(dir.join("again.conf"), config).unwrap();
    let mut command = Command::new(influxd());
    command.args(["run", "-config"]).arg(dir.join("again.conf")).stderr(Stdio::null());
    let mut server = command.spawn().unwrap();
    let options = options(dir, Durability::Power);
    let mut given = loop {
        let urls = ports(server.id()).into_iter().map(|port| format!("http://127.0.0.1:{port}"));
        let mut tried =
            urls.map(|url| engine().open(&OpenOptions { url: Some(url), ..options.clone() }));
        match tried.find_map(Result::ok) {
            Some(opened) => break store(opened),
            None => sleep(Duration::from_millis(10)),
        }
    };
    let found = ints(&mut *given, "SELECT COUNT(n) FROM embermark..m", &["count"]);
    given.close().unwrap();
    kill(Pid::from_raw(server.id().cast_signed()), Signal::SIGTERM).unwrap();
    server.wait().unwrap();
    found[0][0].unwrap()
}

/// Addresses on which a process listens, by protocol.
fn listeners(pid: u32) -> Vec<(&'static str, String)> {
    let open = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten();
    let links = open.filter_map(|file| fs::read_link(file.path()).ok());
    let sockets: Vec<String> = links.map(|link| link.to_string_lossy().into_owned()).collect();
    let mut found = Vec::new();
    for table in ["tcp", "tcp6", "udp", "udp6"] {
        let text = fs::read_to_string(format!("/proc/net/{table}")).unwrap_or_default();
        for line in text.lines().skip(1) {
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            // State 0A of TCP is LISTEN.
            let listens = table.starts_with("udp") || words[3] == "0A";
            if listens && sockets.contains(&format!("socket:[{}]", words[9])) {
                found.push((table, words[1].split(':').next().unwrap().to_owned()));
            }
        }
    }
    found
}

#[test]
fn two_run_at_once_and_listen_on_the_loopback_address_alone() {
    if !installed() {
        return;
    }
    let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let opened = dirs.each_ref().map(|dir| open(dir, Durability::None));
    let pids = opened.each_ref().map(|opened| opened.server.unwrap());
    for pid in pids {
        let found = listeners(pid);
        assert!(found.iter().any(|(table, _)| *table == "udp"), "{found:?}");
        assert!(found.iter().all(|(_, address)| address == "0100007F"), "{found:?}");
    }
    let [mut first, mut second] = opened.map(store);
    first.bulk("m", &mut made(0..10)).unwrap();
    second.bulk("m", &mut made(0..20)).unwrap();
    first.flush().unwrap();
    second.flush().unwrap();
    assert_eq!((count(&mut *first), count(&mut *second)), (10, 20));
    let mode = fs::metadata(dirs[0].path().join("server")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    first.close().unwrap();
    assert!(is_gone(pids[0]));
    drop(second);
    assert!(is_gone(pids[1]));
}

#[test]
fn a_server_that_refuses_to_start_is_reported_with_the_last_lines_of_its_log() {
    if !installed() {
        return;
    }
    // The real program, given a configuration that is not there.
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("influxd");
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = version ] && exec {0} version\nexec {0} run -config /nowhere.conf\n",
        influxd().display()
    );
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir(dir.path().join("options")).unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["helper", "--exact", "--ignored", "--nocapture"]);
    command.env(HELPER_DIR, dir.path().join("options")).env("EMBERMARK_INFLUXD", &program);
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(!output.status.success() && said.contains("it ended with exit status: 1"), "{said}");
    assert!(said.contains("last lines of") && said.contains("/nowhere.conf"), "{said}");
}

#[test]
fn a_given_server_gets_one_database_and_loses_it_again() {
    if !installed() {
        return;
    }
    let (server_dir, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let opened = open(&server_dir, Durability::Process);
    let ports = ports(opened.server.unwrap());
    let mut owner = store(opened);
    let databases = |owner: &mut dyn SeriesStore| {
        let mut names = Vec::new();
        let mut visit = |row: &dyn ResultRow| -> Result<()> {
            names.extend(row.text(0)?.map(String::from));
            Ok(())
        };
        owner.query("SHOW DATABASES", &["name"], &mut visit).unwrap();
        names
    };
    let at_first = databases(&mut *owner);
    // One of them answers InfluxQL, the other is for backups.
    let answered = ports.iter().filter_map(|port| {
        let url = Some(format!("http://me:hunter2@127.0.0.1:{port}/"));
        engine().open(&OpenOptions { url, ..options(dir.path(), Durability::Power) }).ok()
    });
    let opened = answered.into_iter().next().unwrap();
    assert_eq!(opened.server, None);
    assert!(opened.settings.contains(&("data.wal-fsync-delay".to_owned(), "0s".to_owned())));
    let mut ours = store(opened);
    assert_eq!(ours.bulk("m", &mut made(0..12_000)).unwrap(), 12_000);
    ours.maintain().unwrap();
    assert_holds(&mut *ours, 0..12_000);
    assert_eq!(count(&mut *owner), 0);
    let added: Vec<_> =
        databases(&mut *owner).into_iter().filter(|name| !at_first.contains(name)).collect();
    assert!(matches!(&added[..], [one] if one.starts_with("embermark_")), "{added:?}");
    drop(ours);
    assert_eq!(databases(&mut *owner), at_first);
    owner.close().unwrap();

    let url = Some("http://me:hunter2@127.0.0.1:1".to_owned());
    let error = engine().open(&OpenOptions { url, ..options(dir.path(), Durability::Process) });
    let error = error.err().unwrap().to_string();
    assert!(error.contains("127.0.0.1:1") && !error.contains("hunter2"), "{error}");
    let url = Some("mysql//nonsense".to_owned());
    let error = engine().open(&OpenOptions { url, ..options(dir.path(), Durability::Process) });
    assert!(error.err().unwrap().to_string().contains("http://user:password@host"));
}

/// The TCP ports on which a process listens.
fn ports(pid: u32) -> Vec<u16> {
    let table = fs::read_to_string("/proc/net/tcp").unwrap();
    let open = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten();
    let links: Vec<_> = open.filter_map(|file| fs::read_link(file.path()).ok()).collect();
    let lines = table.lines().skip(1).map(|line| line.split_ascii_whitespace().collect::<Vec<_>>());
    lines
        .filter(|words| words[3] == "0A")
        .filter(|words| links.iter().any(|l| l.as_os_str() == &*format!("socket:[{}]", words[9])))
        .map(|words| u16::from_str_radix(words[1].split(':').nth(1).unwrap(), 16).unwrap())
        .collect()
}

/// Not a test of its own: run in a process of its own by the one below.
#[test]
#[ignore = "a helper of other tests"]
fn helper() {
    let Some(dir) = std::env::var_os(HELPER_DIR) else { return };
    let opened = engine().open(&options(Path::new(&dir), Durability::None));
    let opened = opened.unwrap_or_else(|error| panic!("{error}"));
    let pid = opened.server.unwrap();
    let mut store = store(opened);
    store.bulk("m", &mut made(0..1_000)).unwrap();
    store.flush().unwrap();
    assert_eq!(count(&mut *store), 1_000);
    println!("\nserver {pid}");
    sleep(Duration::from_secs(60));
}

/// Runs the helper, in copies of this program and of InfluxDB's that anybody may run.
fn run_helper(dir: &TempDir, uid: Option<u32>) -> (std::process::Child, u32) {
    let (program, influxd) = (dir.path().join("program"), dir.path().join("influxd"));
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    anybody::copy(&std::env::current_exe().unwrap(), &program);
    anybody::copy(&engine().programs()[0].1, &influxd);
    let options = dir.path().join("options");
    fs::create_dir(&options).unwrap();
    let mut command = Command::new(program);
    command.args(["helper", "--exact", "--ignored", "--nocapture"]).env(HELPER_DIR, &options);
    command.env("EMBERMARK_INFLUXD", &influxd);
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

#[test]
fn a_server_runs_as_its_owner_and_dies_with_one_that_is_killed() {
    const NOBODY: u32 = 65534;
    if !installed() {
        return;
    }
    let others = geteuid().is_root().then_some(NOBODY);
    if others.is_none() {
        skipped("root", "only root can try another user as well");
    }
    for uid in [None].into_iter().chain(others.map(Some)) {
        let dir = tempfile::tempdir().unwrap();
        let (mut owner, pid) = run_helper(&dir, uid);
        let runs_as = fs::metadata(format!("/proc/{pid}")).unwrap().uid();
        assert_eq!(runs_as, uid.unwrap_or(geteuid().as_raw()));
        owner.kill().unwrap();
        owner.wait().unwrap();
        assert!(is_gone(pid));
    }
}
