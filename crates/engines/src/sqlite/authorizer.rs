//! Queries of a workload file. SQLite's authorizer reports what a statement would do while it is
//! prepared (<https://www.sqlite.org/c3ref/set_authorizer.html>).

use std::cell::RefCell;
use std::collections::HashSet;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::rc::Rc;

use rusqlite::{Connection, ffi};

use super::NAME;
use super::statement::Prepared;
use crate::sql_driver::refused;
use crate::{EngineError, Result};

/// Flag, in `pragma_function_list`, of functions that have no side effects and reveal nothing
/// (<https://www.sqlite.org/c3ref/c_deterministic.html#sqliteinnocuous>). `load_extension` does not
/// have it.
const INNOCUOUS: &str =
    "SELECT DISTINCT lower(name) FROM pragma_function_list WHERE flags & 0x200000";

/// What the authorizer knows, and the first action that it denied.
struct Rules {
    functions: HashSet<String>,
    denied: RefCell<Option<String>>,
}

/// An active authorizer. It is removed when dropped.
struct ActiveAuthorizer<'a>(&'a Connection);

impl Drop for ActiveAuthorizer<'_> {
    fn drop(&mut self) {
        // SAFETY: the connection is open.
        unsafe { ffi::sqlite3_set_authorizer(self.0.handle(), None, ptr::null_mut()) };
    }
}

/// Prepares one query, which can read tables of the database and call innocuous functions.
pub(super) fn prepare(connection: &Rc<Connection>, sql: &str) -> Result<Prepared> {
    let functions = innocuous(connection)
        .map_err(|e| EngineError::failed(NAME, "list its functions without side effects", e))?;
    let rules = Rules { functions, denied: RefCell::default() };
    // SAFETY: the connection is open, and the rules outlive the authorizer, which is dropped first.
    unsafe {
        let rules = (&raw const rules).cast_mut().cast();
        ffi::sqlite3_set_authorizer(connection.handle(), Some(authorize), rules);
    }
    let active = ActiveAuthorizer(connection);
    let prepared = Prepared::new(connection, sql);
    drop(active);
    match (prepared, rules.denied.take()) {
        (Err(_), Some(what)) => Err(refused(NAME, sql, format_args!("it may not {what}"))),
        (Err(error), None) => Err(error),
        (Ok(prepared), None) if prepared.is_query() => Ok(prepared),
        (Ok(_), _) => Err(refused(NAME, sql, "it is not a SELECT")),
    }
}

fn innocuous(connection: &Connection) -> rusqlite::Result<HashSet<String>> {
    connection.prepare(INNOCUOUS)?.query_map([], |row| row.get(0))?.collect()
}

/// Allows SELECT, recursion, columns of tables, and innocuous functions. Denies table-valued
/// pragmas, because `pragma_optimize` changes the database.
unsafe extern "C" fn authorize(
    rules: *mut c_void,
    action: c_int,
    first: *const c_char,
    second: *const c_char,
    _: *const c_char,
    _: *const c_char,
) -> c_int {
    // SAFETY: these are the rules of `prepare`, which are alive as long as the authorizer is.
    let rules = unsafe { &*rules.cast::<Rules>() };
    let [first, second] = [first, second].map(|text| match text.is_null() {
        true => String::new(),
        // SAFETY: SQLite gives terminated texts, which live through the call.
        false => unsafe { CStr::from_ptr(text) }.to_string_lossy().to_lowercase(),
    });
    let denied = match action {
        ffi::SQLITE_SELECT | ffi::SQLITE_RECURSIVE => return ffi::SQLITE_OK,
        ffi::SQLITE_READ if !first.starts_with("pragma_") => return ffi::SQLITE_OK,
        ffi::SQLITE_FUNCTION if rules.functions.contains(&second) => return ffi::SQLITE_OK,
        ffi::SQLITE_READ => format!("read {first}"),
        ffi::SQLITE_FUNCTION => format!("call {second}()"),
        ffi::SQLITE_ATTACH => "attach a database".to_owned(),
        ffi::SQLITE_PRAGMA => format!("set or read the pragma {first}"),
        ffi::SQLITE_TRANSACTION | ffi::SQLITE_SAVEPOINT => "control transactions".to_owned(),
        _ => "change the database".to_owned(),
    };
    rules.denied.borrow_mut().get_or_insert(denied);
    ffi::SQLITE_DENY
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connection() -> Rc<Connection> {
        super::super::count_no_memory();
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE t (a INTEGER, b TEXT)").unwrap();
        Rc::new(connection)
    }

    #[test]
    fn one_select_is_prepared_and_whatever_else_there_is_is_refused_by_what_it_would_do() {
        let connection = connection();
        for sql in [
            "SELECT a, count(*), max(b) FROM t GROUP BY a ORDER BY random()",
            "WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 9) SELECT * FROM n",
            "VALUES (1), (2)",
            "SELECT value, date('now') FROM json_each('[1]') -- a remark;",
            "SELECT sum(a) OVER (ORDER BY b) FROM t;",
        ] {
            prepare(&connection, sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
        for (sql, why) in [
            ("INSERT INTO t VALUES (1, 'x') RETURNING a", "change the database"),
            ("WITH x AS (SELECT 1) DELETE FROM t", "change the database"),
            ("DROP TABLE t", "change the database"),
            ("CREATE TABLE u AS SELECT 1", "change the database"),
            ("REINDEX", "not a SELECT"),
            ("VACUUM INTO '/tmp/x'", "not a SELECT"),
            ("VACUUM", "not a SELECT"),
            ("ATTACH '/tmp/x.db' AS x", "attach a database"),
            ("PRAGMA synchronous = OFF", "the pragma synchronous"),
            ("PRAGMA user_version", "the pragma user_version"),
            ("BEGIN", "control transactions"),
            ("SAVEPOINT s", "control transactions"),
            ("SELECT load_extension('x')", "call load_extension()"),
            ("SELECT (SELECT Load_Extension('x') FROM t) FROM t", "call load_extension()"),
            ("SELECT * FROM pragma_optimize", "read pragma_optimize"),
            ("SELECT count(*) FROM Pragma_Database_List", "read pragma_database_list"),
            ("EXPLAIN SELECT 1", "not a SELECT"),
            ("SELECT 1; DROP TABLE t", "more than one statement"),
            ("SELECT readfile('/etc/passwd')", "no such function"),
            ("", "no statement"),
        ] {
            let error = prepare(&connection, sql).err().unwrap_or_else(|| panic!("{sql}"));
            assert!(error.to_string().contains(why), "{sql}: {error}");
        }
        connection
            .execute_batch("INSERT INTO t VALUES (1, 'x'); PRAGMA synchronous = OFF")
            .unwrap();
    }
}
