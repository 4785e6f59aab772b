//! Tests the library like embermark: through the functions that it exports.

use std::ffi::{CStr, CString};
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
        let dir = CString::new(dir.to_str().unwrap()).unwrap();
        let settings = abi::Pair { name: ptr::null(), value: ptr::null() };
        let options = abi::Options {
            size: size_of::<abi::Options>() as u32,
            tier,
            dir: dir.as_ptr(),
            memory: 8 << 20,
            clients: 2,
            alone: 0,
            settings: &raw const settings,
        };
        let mut client = ptr::null_mut();
        // SAFETY: this follows the rules of the header.
        let status = unsafe { ENGINE.open.unwrap()(&raw const options, &raw mut client) };
        assert_eq!(status, abi::OK, "{}", said(ptr::null_mut()));
        Self(client)
    }

    /// Runs statements without results.
    fn script(&self, sql: &CStr) {
        // SAFETY: this follows the rules of the header.
        let status = unsafe { SQL.script.unwrap()(self.0, sql.as_ptr()) };
        assert_eq!(status, abi::OK, "{}", said(self.0));
    }

    fn prepare(&self, sql: &CStr) -> *mut abi::Statement {
        let mut statement = ptr::null_mut();
        // SAFETY: this follows the rules of the header.
        let status = unsafe { SQL.prepare.unwrap()(self.0, sql.as_ptr(), &raw mut statement) };
        assert_eq!(status, abi::OK, "{}", said(self.0));
        statement
    }

    /// Returns the integers of a query with one column.
    fn asked(&self, sql: &CStr, parameters: &[abi::Value]) -> Vec<i64> {
        let statement = self.prepare(sql);
        let mut found = Vec::new();
        // SAFETY: this follows the rules of the header.
        unsafe {
            let status =
                SQL.query.unwrap()(self.0, statement, parameters.as_ptr(), parameters.len());
            assert_eq!(status, abi::OK, "{}", said(self.0));
            loop {
                let mut rows = abi::Rows { values: ptr::null(), columns: 0, rows: 0 };
                let status = SQL.fetch.unwrap()(self.0, statement, &raw mut rows);
                assert_eq!(status, abi::OK, "{}", said(self.0));
                if rows.rows == 0 {
                    break;
                }
                assert_eq!((*rows.values).kind, abi::INTEGER);
                found.push((*rows.values).content.integer);
            }
            assert_eq!(SQL.end_query.unwrap()(self.0, statement), abi::OK);
            assert_eq!(SQL.finish.unwrap()(self.0, statement), abi::OK);
        }
        found
    }
}

fn said(client: *mut abi::Client) -> String {
    // SAFETY: this follows the rules of the header.
    unsafe { CStr::from_ptr(ENGINE.error.unwrap()(client)) }.to_str().unwrap().to_owned()
}

#[test]
fn its_version_is_the_one_that_is_compiled_in() {
    let locked = format!("name = \"turso\"\nversion = \"{}\"\n", VERSION.to_str().unwrap());
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
        client.script(
            c"DROP TABLE IF EXISTS t; CREATE TABLE t (a INTEGER, b TEXT, PRIMARY KEY (a, b))",
        );
        // SAFETY: this follows the rules of the header.
        unsafe {
            assert_eq!(SQL.begin.unwrap()(client.0, abi::BATCH), abi::OK);
            client.script(c"INSERT INTO t VALUES (1, 'one'), (2, 'two')");
            assert_eq!(SQL.commit.unwrap()(client.0), abi::OK);
            assert_eq!(SQL.begin.unwrap()(client.0, abi::BATCH), abi::OK);
            client.script(c"INSERT INTO t VALUES (3, 'three')");
            assert_eq!(SQL.undo.unwrap()(client.0), abi::OK);
        }
        drop(client);
        let client = Client::open(dir.path(), tier);
        assert_eq!(client.asked(c"SELECT a FROM t ORDER BY a", &[]), [1, 2]);
        let by_text = client.asked(c"SELECT a FROM t WHERE b = ?1", &[abi::Value::text("two")]);
        assert_eq!(by_text, [2]);
    }
}

#[test]
fn a_key_that_is_there_is_refused_with_its_reason() {
    let dir = tempfile::tempdir().unwrap();
    let client = Client::open(dir.path(), abi::PROCESS);
    client.script(c"CREATE TABLE t (a INTEGER PRIMARY KEY)");
    let insert = client.prepare(c"INSERT INTO t VALUES (?1)");
    let (one, mut changed) = ([abi::Value::integer(1)], 0);
    // SAFETY: this follows the rules of the header.
    unsafe {
        let execute = SQL.execute.unwrap();
        assert_eq!(execute(client.0, insert, one.as_ptr(), 1, &raw mut changed), abi::OK);
        assert_eq!(changed, 1);
        assert_eq!(execute(client.0, insert, one.as_ptr(), 1, &raw mut changed), abi::FAILED);
        assert!(said(client.0).contains("UNIQUE"), "{}", said(client.0));
        assert_eq!(execute(client.0, insert, one.as_ptr(), 0, &raw mut changed), abi::FAILED);
        assert!(said(client.0).contains("1 parameters"), "{}", said(client.0));
        assert_eq!(SQL.finish.unwrap()(client.0, insert), abi::OK);
    }
    assert_eq!(client.asked(c"SELECT count(*) FROM t", &[]), [1]);
}

#[test]
fn two_statements_are_not_prepared_as_one() {
    let dir = tempfile::tempdir().unwrap();
    let (client, mut statement) = (Client::open(dir.path(), abi::NONE), ptr::null_mut());
    // SAFETY: this follows the rules of the header.
    let prepared = |sql: &CStr, at| unsafe { SQL.prepare.unwrap()(client.0, sql.as_ptr(), at) };
    assert_eq!(prepared(c"SELECT 1; SELECT 2", &raw mut statement), abi::FAILED);
    assert!(said(client.0).contains("more than one"), "{}", said(client.0));
}
