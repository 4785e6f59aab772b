//! InfluxDB beyond what every server must do: what its series store does, in every tier.

use std::fs;
use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use embermark_engines::series::{FieldValue, Point, Points, SeriesStore, TagValue};
use embermark_engines::sql::ResultRow;
use embermark_engines::{Join, Link, OpenOptions, Result};
use embermark_model::Durability;
use embermark_skips::sampled;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::server::{ServerEngine, given, options, series};

mod version_2;
mod version_3;

const INFLUXDB: ServerEngine = ServerEngine("influxdb");

/// Starts a private server behind a stand-in of a later version. Returns the store, its address,
/// and its user with the password.
fn private(dir: &Path) -> (Box<dyn SeriesStore>, String, String) {
    let options = OpenOptions { link: Link::Loopback, ..options(dir, Durability::Process) };
    let owner = series(INFLUXDB.open(&options).store);
    let Join::At(at) = owner.join() else { panic!("the database is exclusive") };
    let [_, user, url] = at.split(' ').collect::<Vec<_>>().try_into().unwrap();
    (owner, url.replace("http://", ""), user.to_owned())
}

/// Starts a stand-in that serves each connection in its own thread until the process of the test
/// ends.
fn stand_in(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let serve = Arc::new(serve);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let serve = Arc::clone(&serve);
            thread::spawn(move || serve(stream.unwrap()));
        }
    });
    address
}

/// Answers a request.
fn respond(stream: &mut TcpStream, status: u16, body: &[u8]) {
    let head = format!("HTTP/1.1 {status} x\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body).unwrap();
}

/// Writes the point with a number.
fn write(store: &mut dyn SeriesStore, n: i64) -> Result<()> {
    store.write("m", &made(n..n + 1).next().unwrap())
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

/// Compares count, sum and maximum: a lost, doubled or changed point shows in one of them.
fn assert_holds(store: &mut dyn SeriesStore, range: std::ops::Range<i64>) {
    let rows = ints(store, "SELECT COUNT(n), SUM(n), MAX(n) FROM m", &["count", "sum", "max"]);
    let expected = [range.end - range.start, range.clone().sum(), range.end - 1].map(Some);
    assert_eq!(rows, [expected]);
}

#[test]
fn every_value_is_read_back_as_it_was_written_in_every_tier() {
    let floats = [0.1, -0.0, f64::MAX, f64::MIN, f64::MIN_POSITIVE, 5e-324, 1e15, 1.0 / 3.0];
    let integers = [i64::MIN, i64::MAX, 0, -1, (1 << 53) + 1];
    let texts =
        ["", " a  b ", ",=,", "say \"yes\"", r"\", r#"\" \\ \n"#, "two\nlines\r\n", "ü 漢 😀", "'"];
    let tags = ["a b", "c,d", "e=f", "\"g\"", "h\\i", "ü 漢", "7"];
    for durability in Durability::ALL {
        let Some((_dir, mut store)) = INFLUXDB.series(durability) else { return };
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
        // As the tag of a group it comes from another part of the answer.
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
    let tiers = [(Durability::None, 20_000), (Durability::Process, 500), (Durability::Power, 500)];
    for (durability, singly) in sampled(tiers, 1) {
        let Some((_dir, mut store)) = INFLUXDB.series(durability) else { return };
        assert_eq!(store.bulk("m", &mut made(0..200_000)).unwrap(), 200_000);
        store.flush().unwrap();
        assert_holds(&mut *store, 0..200_000);
        for n in 200_000..200_000 + singly {
            write(&mut *store, n).unwrap();
        }
        store.flush().unwrap();
        assert_holds(&mut *store, 0..200_000 + singly);
        // A rest changes nothing, and a second one has nothing to wait for.
        store.maintain().unwrap();
        // A rest is two and a half seconds without a change: one of these pauses is too short for
        // it, whatever else the machine does.
        let rests = || {
            let begun = Instant::now();
            store.maintain().unwrap();
            begun.elapsed() > Duration::from_millis(2_400)
        };
        assert!(!std::iter::repeat_with(rests).take(10).all(|rested| rested));
        assert_holds(&mut *store, 0..200_000 + singly);
        // A clearing does not overtake anything that was sent before it.
        write(&mut *store, 7_777_777).unwrap();
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
fn a_reopened_store_has_every_point_and_stays_usable_in_every_tier() {
    for durability in Durability::ALL {
        let Some((_dir, mut store)) = INFLUXDB.series(durability) else { return };
        assert_eq!(store.bulk("m", &mut made(0..10_000)).unwrap(), 10_000);
        for n in 10_000..10_010 {
            write(&mut *store, n).unwrap();
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
    if !INFLUXDB.is_here() {
        return;
    }
    // So little that a few of these loads fill the cache, which is half of it.
    let dir = tempfile::tempdir().unwrap();
    let small = OpenOptions { memory: 4 << 20, ..options(dir.path(), Durability::Process) };
    let mut store = series(INFLUXDB.open(&small).store);
    for n in 0..6 {
        store.bulk("m", &mut made(n * 15_000..(n + 1) * 15_000)).unwrap();
    }
    store.maintain().unwrap();
    // Some of the deleted points are in the file, some still in the cache.
    for n in 90_000..90_540 {
        write(&mut *store, n).unwrap();
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
    assert_eq!(count(&mut *store), 90_540 - (0..90_540).filter(|n| n % 54 == 3).count() as i64);
    store.close().unwrap();
}

#[test]
fn a_rewritten_point_keeps_its_other_fields_and_a_deletion_removes_only_its_point() {
    let Some((_dir, mut store)) = INFLUXDB.series(Durability::Process) else { return };
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
    let Some((_dir, mut store)) = INFLUXDB.series(Durability::Process) else { return };
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

    // Groups follow one another, whatever chunks they arrive in.
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
    // The error of a visitor is returned, and the connection stays usable.
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
fn a_refused_statement_is_an_error_with_the_reason() {
    let Some((_dir, mut store)) = INFLUXDB.series(Durability::Process) else { return };
    write(&mut *store, 1).unwrap();
    let asked = |store: &mut dyn SeriesStore, sql: &str| {
        store.query(sql, &["n"], &mut |_| Ok(())).unwrap_err().to_string()
    };
    let error = asked(&mut *store, "SELEC n FROM m");
    assert!(error.contains("influxdb") && error.contains("error parsing query"), "{error}");
    let error = asked(&mut *store, "SELECT nonsense(n) FROM m");
    assert!(error.contains("undefined function nonsense()"), "{error}");
    let error = asked(&mut *store, "SELECT half FROM m");
    assert!(error.contains("column `n`") && error.contains("only time, half"), "{error}");
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

    // Over UDP an error is not reported at once, but by `flush`.
    let (_over_udp, mut store) = INFLUXDB.series(Durability::None).unwrap();
    write(&mut *store, 1).unwrap();
    store.flush().unwrap();
    store.write("m", &Point { tags: &tags, fields: &wrong, time_ns: 5 }).unwrap();
    let error = store.flush().unwrap_err().to_string();
    assert!(error.contains("points are lost"), "{error}");
    let large = "x".repeat(70_000);
    let large = [("s", FieldValue::Text(&large))];
    let error = store.write("m", &Point { tags: &tags, fields: &large, time_ns: 5 }).unwrap_err();
    assert!(error.to_string().contains("a datagram of 7"), "{error}");
}

#[test]
fn what_was_acknowledged_outlives_a_server_that_is_killed() {
    for durability in [Durability::Process, Durability::Power] {
        let Some((dir, opened)) = INFLUXDB.start(durability) else { return };
        let server = Pid::from_raw(opened.server.unwrap().cast_signed());
        let mut store = series(opened.store);
        for n in 0..100 {
            write(&mut *store, n).unwrap();
        }
        kill(server, Signal::SIGKILL).unwrap();
        let error = store.close().unwrap_err().to_string();
        assert!(error.contains("signal: 9"), "{error}");
        assert_eq!(count_after_restart(dir.path()), 100);
    }
}

/// Starts another server on the files of one that was killed, and counts the points that it finds.
fn count_after_restart(dir: &Path) -> i64 {
    let files = dir.join("server").display().to_string();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let config = format!(
        "reporting-disabled = true\nbind-address = \"127.0.0.1:0\"\n[meta]\ndir = \"{files}/meta\"\n\
         [data]\ndir = \"{files}/data\"\nwal-dir = \"{files}/wal\"\n\
         [http]\nbind-address = \"127.0.0.1:{port}\"\n"
    );
    fs::write(dir.join("again.conf"), config).unwrap();
    let mut command = Command::new(INFLUXDB.program("influxd"));
    command.args(["run", "-config"]).arg(dir.join("again.conf")).stderr(Stdio::null());
    let mut server = command.spawn().unwrap();
    let at_port = given(&format!("http://127.0.0.1:{port}"), Durability::Power);
    let mut guest = loop {
        match INFLUXDB.engine().open(&at_port) {
            Ok(opened) => break series(opened.store),
            Err(_) => sleep(Duration::from_millis(10)),
        }
    };
    let found = ints(&mut *guest, "SELECT COUNT(n) FROM embermark..m", &["count"]);
    guest.close().unwrap();
    kill(Pid::from_raw(server.id().cast_signed()), Signal::SIGTERM).unwrap();
    server.wait().unwrap();
    found[0][0].unwrap()
}

#[test]
fn a_load_into_a_given_server_is_complete_and_the_server_becomes_idle() {
    if !INFLUXDB.is_here() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let private = options(dir.path(), Durability::Process);
    let mut owner = series(INFLUXDB.open(&OpenOptions { link: Link::Loopback, ..private }).store);
    let Join::At(at) = owner.join() else { panic!("the database is exclusive") };
    let [_, who, url] = at.split(' ').collect::<Vec<_>>().try_into().unwrap();
    let url = url.replace("http://", &format!("http://{who}@"));
    let mut guest = series(INFLUXDB.open(&given(&url, Durability::Power)).store);
    assert_eq!(guest.bulk("m", &mut made(0..12_000)).unwrap(), 12_000);
    guest.maintain().unwrap();
    assert_holds(&mut *guest, 0..12_000);
    assert_eq!(count(&mut *owner), 0);
    guest.close().unwrap();
    owner.close().unwrap();
}
