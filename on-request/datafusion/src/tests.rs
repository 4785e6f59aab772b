//! Tests the library like embermark: through the functions that it exports.

use std::ffi::{CStr, CString};
use std::fs;
use std::path::Path;
use std::ptr;

use embermark_abi as abi;

use crate::{ENGINE, SQL, VERSION, embermark_engine};

/// A client, which is closed when it is dropped.
struct Client(*mut abi::Client);

impl Drop for Client {
    fn drop(&mut self) {
        // SAFETY: it was opened here, and is not used again.
        assert_eq!(unsafe { ENGINE.close.unwrap()(self.0) }, abi::OK);
    }
}

impl Client {
    fn open(dir: &Path, tier: u32) -> Self {
        Self::configured(dir, tier, &[])
    }

    fn configured(dir: &Path, tier: u32, settings: &[(&CStr, &CStr)]) -> Self {
        let dir = CString::new(dir.to_str().unwrap()).unwrap();
        let pair = |(name, value): &(&CStr, &CStr)| abi::Pair {
            name: name.as_ptr(),
            value: value.as_ptr(),
        };
        let end = abi::Pair { name: ptr::null(), value: ptr::null() };
        let settings: Vec<abi::Pair> = settings.iter().map(pair).chain([end]).collect();
        let options = abi::Options {
            size: size_of::<abi::Options>() as u32,
            tier,
            dir: dir.as_ptr(),
            memory: 8 << 20,
            clients: 1,
            alone: 1,
            settings: settings.as_ptr(),
        };
        let mut client = ptr::null_mut();
        // SAFETY: this follows the rules of the header.
        let status = unsafe { ENGINE.open.unwrap()(&raw const options, &raw mut client) };
        assert_eq!(status, abi::OK, "{}", error(ptr::null_mut()));
        Self(client)
    }

    fn status(&self, status: i32) {
        assert_eq!(status, abi::OK, "{}", error(self.0));
    }

    /// Runs statements without results.
    fn script(&self, sql: &CStr) {
        // SAFETY: this follows the rules of the header.
        self.status(unsafe { SQL.script.unwrap()(self.0, sql.as_ptr()) });
    }

    fn begin(&self) {
        // SAFETY: this follows the rules of the header.
        self.status(unsafe { SQL.begin.unwrap()(self.0, abi::BATCH) });
    }

    fn commit(&self) {
        // SAFETY: this follows the rules of the header.
        self.status(unsafe { SQL.commit.unwrap()(self.0) });
    }

    /// Returns the status of preparing a statement, which is finished if there is one.
    fn prepared(&self, sql: &CStr) -> i32 {
        let mut statement = ptr::null_mut();
        // SAFETY: this follows the rules of the header.
        unsafe {
            let status = SQL.prepare.unwrap()(self.0, sql.as_ptr(), &raw mut statement);
            if status == abi::OK {
                self.status(SQL.finish.unwrap()(self.0, statement));
            }
            status
        }
    }

    fn prepare(&self, sql: &CStr) -> *mut abi::Statement {
        let mut statement = ptr::null_mut();
        // SAFETY: this follows the rules of the header.
        self.status(unsafe { SQL.prepare.unwrap()(self.0, sql.as_ptr(), &raw mut statement) });
        statement
    }

    fn execute(&self, statement: *mut abi::Statement, values: &[abi::Value]) -> (i32, u64) {
        let (execute, mut changed) = (SQL.execute.unwrap(), 0);
        // SAFETY: this follows the rules of the header.
        let status =
            unsafe { execute(self.0, statement, values.as_ptr(), values.len(), &raw mut changed) };
        (status, changed)
    }

    /// Returns the integers of a query with one column.
    fn asked(&self, sql: &CStr, values: &[abi::Value]) -> Vec<i64> {
        let statement = self.prepare(sql);
        let found = self.rows(statement, values);
        // SAFETY: this follows the rules of the header.
        self.status(unsafe { SQL.finish.unwrap()(self.0, statement) });
        found
    }

    fn rows(&self, statement: *mut abi::Statement, values: &[abi::Value]) -> Vec<i64> {
        let mut found = Vec::new();
        // SAFETY: this follows the rules of the header.
        unsafe {
            self.status(SQL.query.unwrap()(self.0, statement, values.as_ptr(), values.len()));
            loop {
                let mut rows = abi::Rows { values: ptr::null(), columns: 0, rows: 0 };
                self.status(SQL.fetch.unwrap()(self.0, statement, &raw mut rows));
                if rows.rows == 0 {
                    break;
                }
                assert_eq!(rows.columns, 1);
                for row in 0..rows.rows {
                    let value = &*rows.values.add(row);
                    assert_eq!(value.kind, abi::INTEGER);
                    found.push(value.content.integer);
                }
            }
            self.status(SQL.end_query.unwrap()(self.0, statement));
        }
        found
    }
}

fn error(client: *mut abi::Client) -> String {
    // SAFETY: this follows the rules of the header.
    unsafe { CStr::from_ptr(ENGINE.error.unwrap()(client)) }.to_str().unwrap().to_owned()
}

/// Returns the names of a table's files.
fn files(dir: &Path, table: &str) -> Vec<String> {
    let name =
        |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<String> = fs::read_dir(dir.join(table)).unwrap().map(name).collect();
    names.sort();
    names
}

const TABLE: &CStr = c"CREATE TABLE t (a INTEGER NOT NULL, b TEXT, PRIMARY KEY (a))";

#[test]
fn its_version_is_the_one_that_is_compiled_in() {
    let locked = format!("name = \"datafusion\"\nversion = \"{}\"\n", VERSION.to_str().unwrap());
    assert!(include_str!("../Cargo.lock").contains(&locked), "{locked}");
}

#[test]
fn another_version_of_the_interface_is_not_served() {
    assert!(embermark_engine(abi::ABI + 1).is_null());
    assert!(ptr::eq(embermark_engine(abi::ABI), &raw const ENGINE));
}

#[test]
fn what_was_committed_is_there_again_and_what_was_undone_is_not() {
    let dir = tempfile::tempdir().unwrap();
    for tier in [abi::NONE, abi::PROCESS, abi::POWER] {
        let client = Client::open(dir.path(), tier);
        client.script(c"DROP TABLE IF EXISTS t");
        client.script(TABLE);
        client.begin();
        client.script(c"INSERT INTO t VALUES (1, 'one'), (2, 'two')");
        assert_eq!(client.asked(c"SELECT a FROM t ORDER BY a", &[]), [1, 2], "in the transaction");
        client.commit();
        client.begin();
        client.script(c"INSERT INTO t VALUES (3, 'three')");
        // SAFETY: this follows the rules of the header.
        client.status(unsafe { SQL.undo.unwrap()(client.0) });
        drop(client);
        let client = Client::open(dir.path(), tier);
        assert_eq!(client.asked(c"SELECT a FROM t ORDER BY a", &[]), [1, 2]);
        let two = [abi::Value::text("two")];
        assert_eq!(client.asked(c"SELECT a FROM t WHERE b = $1", &two), [2]);
    }
}

#[test]
fn each_commit_is_a_file_until_there_are_too_many() {
    let dir = tempfile::tempdir().unwrap();
    let client = Client::configured(dir.path(), abi::POWER, &[(c"files_before_merge", c"3")]);
    client.script(TABLE);
    let insert = client.prepare(c"INSERT INTO t (b, a) VALUES ($1, $2)");
    let all = client.prepare(c"SELECT a FROM t WHERE a >= $1 ORDER BY a");
    for number in 1..=5 {
        let row = [abi::Value::text("x"), abi::Value::integer(6 - number)];
        assert_eq!(client.execute(insert, &row), (abi::OK, 1));
        let expected: Vec<i64> = (6 - number..=5).collect();
        assert_eq!(client.rows(all, &[abi::Value::integer(0)]), expected);
    }
    // The first file is the empty one of the table.
    let merged = [
        "0000000000-0000000003.parquet",
        "0000000004-0000000004.parquet",
        "0000000005-0000000005.parquet",
    ];
    assert_eq!(files(dir.path(), "t"), merged);
    // SAFETY: this follows the rules of the header.
    unsafe {
        client.status(ENGINE.maintain.unwrap()(client.0));
        assert_eq!(files(dir.path(), "t"), ["0000000000-0000000005.parquet"]);
        assert_eq!(client.rows(all, &[abi::Value::integer(2)]), [2, 3, 4, 5]);
        client.status(SQL.finish.unwrap()(client.0, insert));
        client.status(SQL.finish.unwrap()(client.0, all));
    }
}

#[test]
fn what_an_interrupted_merge_or_commit_left_is_not_read() {
    let dir = tempfile::tempdir().unwrap();
    let client = Client::open(dir.path(), abi::PROCESS);
    client.script(TABLE);
    client.script(c"INSERT INTO t VALUES (1, 'one')");
    drop(client);
    let folder = dir.path().join("t");
    fs::copy(
        folder.join("0000000001-0000000001.parquet"),
        folder.join("0000000000-0000000001.parquet"),
    )
    .unwrap();
    fs::write(folder.join("new.tmp"), "PAR1").unwrap();
    let client = Client::open(dir.path(), abi::PROCESS);
    assert_eq!(client.asked(c"SELECT a FROM t", &[]), [1]);
    client.script(c"INSERT INTO t VALUES (2, 'two')");
    assert_eq!(client.asked(c"SELECT a FROM t ORDER BY a", &[]), [1, 2]);
    assert_eq!(
        files(dir.path(), "t"),
        ["0000000000-0000000001.parquet", "0000000002-0000000002.parquet"]
    );
}

#[test]
fn what_files_cannot_do_is_unsupported_in_words() {
    let dir = tempfile::tempdir().unwrap();
    let client = Client::open(dir.path(), abi::NONE);
    client.script(TABLE);
    client.script(c"CREATE TABLE u (a INTEGER)");
    for sql in [c"UPDATE t SET b = 'x' WHERE a = $1", c"DELETE FROM t WHERE a = $1"] {
        assert_eq!(client.prepared(sql), abi::UNSUPPORTED, "{sql:?}");
        assert!(error(client.0).contains("stays as it is"), "{}", error(client.0));
    }
    client.begin();
    client.script(c"INSERT INTO t VALUES (1, 'one')");
    // SAFETY: this follows the rules of the header.
    let second = unsafe { SQL.script.unwrap()(client.0, c"INSERT INTO u VALUES (1)".as_ptr()) };
    assert_eq!(second, abi::UNSUPPORTED);
    assert!(error(client.0).contains("two tables"), "{}", error(client.0));
    // SAFETY: this follows the rules of the header.
    client.status(unsafe { SQL.undo.unwrap()(client.0) });
    assert_eq!(client.asked(c"SELECT COUNT(*) FROM t", &[]), [0]);
}

#[test]
fn a_row_that_is_refused_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let client = Client::open(dir.path(), abi::PROCESS);
    client.script(TABLE);
    let insert = client.prepare(c"INSERT INTO t (a, b) VALUES ($1, $2)");
    let refused = [
        [abi::Value::integer(1 << 40), abi::Value::text("too large")],
        [abi::Value::integer(1), abi::Value::integer(1)],
        [abi::Value::NULL, abi::Value::text("no key")],
    ];
    for row in &refused {
        assert_eq!(client.execute(insert, row).0, abi::FAILED);
    }
    assert_eq!(client.execute(insert, &refused[0][..1]).0, abi::FAILED);
    assert!(error(client.0).contains("2 parameters"), "{}", error(client.0));
    let row = [abi::Value::integer(7), abi::Value::NULL];
    assert_eq!(client.execute(insert, &row), (abi::OK, 1));
    assert_eq!(client.asked(c"SELECT a FROM t", &[]), [7]);
    // SAFETY: this follows the rules of the header.
    client.status(unsafe { SQL.finish.unwrap()(client.0, insert) });
}

#[test]
fn two_statements_are_not_prepared_as_one() {
    let dir = tempfile::tempdir().unwrap();
    let client = Client::open(dir.path(), abi::NONE);
    assert_ne!(client.prepared(c"SELECT 1; SELECT 2"), abi::OK);
    assert!(error(client.0).contains("single SQL statement"), "{}", error(client.0));
}
