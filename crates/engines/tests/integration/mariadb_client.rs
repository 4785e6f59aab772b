//! MariaDB by its C client: what is sent to the server and comes back, and which users it admits.

use std::thread;
use std::time::Duration;

use embermark_engines::sql::{Access, Param, ResultRow, SqlStore};
use embermark_engines::{EngineError, Link, OpenOptions, Result};
use embermark_model::Durability;
use tempfile::TempDir;

use crate::server::owner::{run_passing, task, test_command};
use crate::server::processes::peak;
use crate::server::readings::one_int;
use crate::server::{ServerEngine, given, options, sql};

const MARIADB: ServerEngine = ServerEngine("mariadb");

/// The answer of a statement that returns its one parameter.
#[derive(Debug, PartialEq)]
enum Echo {
    Null,
    Int(i64),
    Float(f64),
    Text(String),
    Bytes(Vec<u8>),
}

fn echo(row: &dyn ResultRow, sent: Param<'_>) -> Result<Echo> {
    Ok(match sent {
        Param::Null => row.int(0)?.map_or(Echo::Null, Echo::Int),
        Param::Int(_) => row.int(0)?.map_or(Echo::Null, Echo::Int),
        Param::Float(_) => row.float(0)?.map_or(Echo::Null, Echo::Float),
        Param::Text(_) => row.text(0)?.map_or(Echo::Null, |text| Echo::Text(text.to_owned())),
        Param::Bytes(_) => row.bytes(0)?.map_or(Echo::Null, |bytes| Echo::Bytes(bytes.to_vec())),
    })
}

pub fn parameters_come_back(store: &mut dyn SqlStore, _: &TempDir) {
    let statement = store.prepare("SELECT ?").unwrap();
    let long: Vec<String> =
        [63, 64, 65, 1023, 1024, 1025, 70_000, 2 << 20].map(|n| "ä€".repeat(n)).into();
    let mut sent = vec![
        Param::Null,
        Param::Int(i64::MIN),
        Param::Int(i64::MAX),
        Param::Null,
        Param::Text(""),
        Param::Int(i32::MIN.into()),
        Param::Float(f64::MAX),
        Param::Float(-5e-324),
        Param::Text("x\0y\u{1f986}"),
        Param::Bytes(b"\0\xff\x80'\\"),
        Param::Float(-0.0),
        Param::Bytes(b""),
        Param::Int(0),
    ];
    // In both orders, so that a short text follows a long one, and each type every other.
    sent.extend(long.iter().map(|text| Param::Text(text)));
    let every: Vec<u8> = (0..=255).collect();
    sent.push(Param::Bytes(&every));
    sent.extend(sent.clone().into_iter().rev());
    for param in sent {
        let mut rows = Vec::new();
        let mut look = |row: &dyn ResultRow| {
            rows.push(echo(row, param)?);
            Ok(())
        };
        store.query(statement, &[param], &mut look).unwrap();
        let expected = match param {
            Param::Null => Echo::Null,
            Param::Int(value) => Echo::Int(value),
            Param::Float(value) => Echo::Float(value),
            Param::Text(value) => Echo::Text(value.to_owned()),
            Param::Bytes(value) => Echo::Bytes(value.to_vec()),
        };
        assert!(rows == [expected], "{:.100}", format!("{param:?}"));
    }
    for params in [&[][..], &[Param::Int(1), Param::Int(2)]] {
        let error = store.run(statement, params).unwrap_err().to_string();
        let given = params.len();
        assert!(error.contains(&format!("1 parameters, {given} are given")), "{error}");
    }
}

pub fn columns_are_read_to_their_extremes(store: &mut dyn SqlStore, _: &TempDir) {
    store
        .batch(
            "CREATE TABLE wide (a TINYINT, b SMALLINT, c MEDIUMINT, d INT, e BIGINT, f FLOAT, \
             g TINYINT UNSIGNED, h INT UNSIGNED, i BIGINT UNSIGNED, j YEAR, k DECIMAL(20, 2), \
             l VARCHAR(9), m BLOB, n BIT(8)); \
             INSERT INTO wide VALUES (-128, -32768, -8388608, -2147483648, -9223372036854775808, \
             -0.5, 255, 4294967295, 9223372036854775807, 1999, -7.00, 'äöü', 'bytes', b'1000001'), \
             (127, 32767, 8388607, 2147483647, 9223372036854775807, 16777216, 0, 0, \
             18446744073709551615, 2155, 0.25, '', '', NULL)",
        )
        .unwrap();
    let all = store.prepare("SELECT * FROM wide ORDER BY a").unwrap();
    let mut rows = 0;
    let mut look = |row: &dyn ResultRow| {
        let ints: Vec<_> = (0..5).map(|n| row.int(n).unwrap().unwrap()).collect();
        let unsigned: Vec<_> = (6..8).map(|n| row.int(n).unwrap().unwrap()).collect();
        if rows == 0 {
            assert_eq!(ints, [-128, -32768, -8_388_608, i32::MIN.into(), i64::MIN]);
            assert_eq!(unsigned, [255, u32::MAX.into()]);
            assert_eq!((row.float(5)?, row.int(8)?), (Some(-0.5), Some(i64::MAX)));
            assert_eq!((row.int(9)?, row.int(10)?), (Some(1999), Some(-7)));
            assert_eq!(row.text(11)?, Some("äöü"));
            assert_eq!((row.text(12)?, row.text(13)?), (Some("bytes"), Some("A")));
            let error = row.int(11).unwrap_err().to_string();
            assert!(
                error.contains("column 11 (`l`)") && error.contains("not of type integer"),
                "{error}"
            );
        } else {
            assert_eq!(ints, [127, 32767, 8_388_607, i32::MAX.into(), i64::MAX]);
            assert_eq!(unsigned, [0, 0]);
            assert_eq!((row.float(5)?, row.float(10)?), (Some(16_777_216.0), Some(0.25)));
            assert_eq!(row.float(8)?, Some(18_446_744_073_709_551_615.0));
            assert_eq!((row.text(11)?, row.text(12)?, row.text(13)?), (Some(""), Some(""), None));
            let error = row.int(8).unwrap_err().to_string();
            assert!(error.contains("BIGINT") && error.contains("not of type integer"), "{error}");
        }
        rows += 1;
        Ok(())
    };
    store.query(all, &[], &mut look).unwrap();
    assert_eq!(rows, 2);
    // A column whose type has changed since it was bound is read as what it is.
    let d = store.prepare("SELECT d FROM wide ORDER BY a").unwrap();
    for text in [false, true, false] {
        let of = if text { "TEXT" } else { "BIGINT" };
        store.batch(&format!("ALTER TABLE wide MODIFY d {of}")).unwrap();
        let mut found = Vec::new();
        let mut look = |row: &dyn ResultRow| {
            found.push(match text {
                true => row.text(0)?.unwrap().to_owned(),
                false => row.int(0)?.unwrap().to_string(),
            });
            Ok(())
        };
        store.query(d, &[], &mut look).unwrap();
        assert_eq!(found, ["-2147483648", "2147483647"]);
    }
}

/// A result of 100 MB, with texts of all lengths up to 2,000 in turn.
const LARGE: &str = "SELECT seq, repeat('x', seq MOD 2000) FROM seq_1_to_100000";

#[test]
fn a_large_result_is_streamed_and_one_that_is_not_read_to_its_end_is_over() {
    if MARIADB.is_here() {
        run_passing(&mut test_command("mariadb_client::in_little_memory", ""));
    }
}

#[test]
#[ignore = "a helper of another test"]
fn in_little_memory() {
    if task().is_none() {
        return;
    }
    let (_dir, mut store) = MARIADB.sql(Durability::None).unwrap();
    let large = store.prepare(LARGE).unwrap();
    let before = peak();
    let (mut rows, mut bytes) = (0, 0);
    let mut look = |row: &dyn ResultRow| {
        rows += 1;
        let text = row.text(1)?.unwrap();
        assert_eq!((row.int(0)?, text.len()), (Some(rows), rows as usize % 2000));
        assert!(text.bytes().all(|byte| byte == b'x'));
        bytes += text.len();
        Ok(())
    };
    store.query(large, &[], &mut look).unwrap();
    assert_eq!((rows, bytes), (100_000, 99_950_000));
    let grown = peak() - before;
    assert!(grown < 10_000, "{grown} KiB more for a result of 100 MB");
    // Once by an error, and once by a panic.
    let mut seen = 0;
    let mut look = |_: &dyn ResultRow| {
        seen += 1;
        Err(EngineError::failed("test", "look", "enough"))
    };
    let error = store.query(large, &[], &mut look).unwrap_err().to_string();
    assert!(seen == 1 && error.contains("enough"), "{error}");
    assert_eq!(one_int(&mut *store, "SELECT 6 * 7").unwrap(), Some(42));
    let panicking = std::panic::AssertUnwindSafe(|| {
        store.query(large, &[], &mut |row| {
            assert!(row.int(0)?.unwrap() < 5, "no more");
            Ok(())
        })
    });
    assert!(std::panic::catch_unwind(panicking).is_err());
    assert_eq!(one_int(&mut *store, "SELECT 6 * 7").unwrap(), Some(42));
    // An error of the server among rows is an error of the statement.
    let late = store
        .prepare("SELECT IF(seq < 50000, seq, (SELECT 1 UNION SELECT 2)) FROM seq_1_to_100000")
        .unwrap();
    let error = store.query(late, &[], &mut |_| Ok(())).unwrap_err().to_string();
    assert!(error.contains("ERROR 1242 (21000)") && error.contains("seq_1_to"), "{error}");
    assert_eq!(one_int(&mut *store, "SELECT 6 * 7").unwrap(), Some(42));
    store.close().unwrap();
}

pub fn several_results_are_refused(store: &mut dyn SqlStore, _: &TempDir) {
    store.batch("CREATE PROCEDURE two() BEGIN SELECT 1, 2; SELECT 'a'; END").unwrap();
    let call = store.prepare("CALL two()").unwrap();
    for _ in 0..2 {
        let error = store.query(call, &[], &mut |_| panic!("a row")).unwrap_err().to_string();
        assert!(error.contains("CALL two()") && error.contains("several results"), "{error}");
        assert_eq!(one_int(store, "SELECT 6 * 7").unwrap(), Some(42));
    }
}

pub fn batches_run_up_to_the_first_failure(store: &mut dyn SqlStore, _: &TempDir) {
    let error = store
        .batch("CREATE TABLE a (x INT); SELECT * FROM a; INSERT INTO b VALUES (1); DROP TABLE a")
        .unwrap_err()
        .to_string();
    assert!(error.contains("ERROR 1146 (42S02)") && error.contains(".b'"), "{error}");
    assert_eq!(one_int(store, "SELECT count(*) FROM a").unwrap(), Some(0));
}

#[test]
fn who_is_let_in_is_the_servers_to_say_and_no_password_is_repeated() {
    const PASSWORD: &str = "p@ss:w/rd%#?ß";
    const IN_A_URL: &str = "p%40ss%3Aw%2Frd%25%23%3F%C3%9F";
    if !MARIADB.is_here() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let private = options(dir.path(), Durability::None);
    let with_port = OpenOptions { link: Link::Loopback, ..private };
    let mut owner = sql(MARIADB.open(&with_port).store);
    let port = one_int(&mut *owner, "SELECT CAST(@@port AS SIGNED)").unwrap().unwrap();
    owner
        .batch(
            &format!(
                "CREATE USER gu@est@'127.0.0.1'; GRANT ALL ON *.* TO gu@est@'127.0.0.1'; \
             SET PASSWORD FOR gu@est@'127.0.0.1' = PASSWORD('{PASSWORD}')"
            )
            .replace("gu@est", "`gu@est`"),
        )
        .unwrap();
    let at = |user: &str| given(&format!("mysql://{user}@127.0.0.1:{port}/"), Durability::None);
    let refused = |user: &str| MARIADB.refused(&at(user)).to_string();
    let mut guest = sql(MARIADB.open(&at(&format!("gu%40est:{IN_A_URL}"))).store);
    assert_eq!(
        one_int(&mut *guest, "SELECT CURRENT_USER() = 'gu@est@127.0.0.1'").unwrap(),
        Some(1)
    );
    guest.close().unwrap();
    for wrong in ["hunter2", "", "hunter2%3Ahunter2"] {
        let error = refused(&format!("gu%40est:{wrong}"));
        assert!(error.contains("ERROR 1045 (28000)") && error.contains("gu@est"), "{error}");
        assert!(error.contains(&format!("127.0.0.1, port {port}")), "{error}");
        assert!(!error.contains("hunter2"), "{error}");
    }
    let error = refused("gu%40est:hunter2%00");
    assert!(error.contains("a byte of zero") && !error.contains("hunter2"), "{error}");
    let error = refused("gu%40est:hunter2:hunter2");
    assert!(error.contains(": as %3A") && !error.contains("hunter2"), "{error}");
    // If a / is not written as %2F, the host ends in the middle of the password.
    let error = refused("gu%40est:1/hunter2");
    assert!(error.contains("%2F") && !error.contains("hunter2"), "{error}");
    owner.close().unwrap();
}

#[test]
fn queries_of_a_file_run_again_on_a_database_that_is_opened_again_by_tcp() {
    if !MARIADB.is_here() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    // Each start of the server has another password.
    let with_port = OpenOptions { link: Link::Loopback, ..options(dir.path(), Durability::None) };
    for _ in 0..2 {
        let mut store = sql(MARIADB.open(&with_port).store);
        let query = store.prepare_untrusted("SELECT 42").unwrap();
        let mut found = None;
        let mut visit = |row: &dyn ResultRow| {
            found = row.int(0)?;
            Ok(())
        };
        store.query(query, &[], &mut visit).unwrap();
        assert_eq!(found, Some(42));
        store.close().unwrap();
    }
}

pub fn changes_that_waited_in_vain_are_made_again(store: &mut dyn SqlStore, _: &TempDir) {
    store
        .batch(
            "CREATE TABLE t (id INT PRIMARY KEY, n INT) ENGINE=InnoDB; \
             INSERT INTO t VALUES (1, 0); SET GLOBAL innodb_lock_wait_timeout = 1",
        )
        .unwrap();
    let (opener, watcher) = (store.open_client().unwrap(), store.open_client().unwrap());
    let change = "UPDATE t SET n = n + ? WHERE id = 1";
    let mine = store.prepare(change).unwrap();
    store.begin(Access::Write).unwrap();
    store.run(mine, &[Param::Int(1)]).unwrap();
    thread::scope(|scope| {
        let other = scope.spawn(move || {
            let mut other = sql(opener.open().unwrap());
            let theirs = other.prepare(change).unwrap();
            let changed = other.run(theirs, &[Param::Int(10)]);
            other.close().unwrap();
            changed
        });
        // Until it has waited a second time, which is after the server has given up the first.
        let mut watcher = sql(watcher.open().unwrap());
        let waits = "SELECT CAST(variable_value AS SIGNED) FROM information_schema.global_status \
                     WHERE variable_name = 'Innodb_row_lock_waits'";
        while one_int(&mut *watcher, waits).unwrap().unwrap() < 2 {
            assert!(!other.is_finished(), "it gave up");
            thread::sleep(Duration::from_millis(10));
        }
        watcher.close().unwrap();
        store.commit().unwrap();
        assert_eq!(other.join().unwrap().unwrap(), 1);
    });
    assert_eq!(one_int(store, "SELECT n FROM t").unwrap(), Some(11));
}
