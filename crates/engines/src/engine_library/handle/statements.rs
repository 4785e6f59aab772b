//! Wrappers for the functions of an SQL engine.

use std::ffi::c_void;
use std::ptr;
use std::slice;

use embermark_abi as abi;
use smallvec::SmallVec;

use super::Handle;
use crate::engine_library::api::Sql;
use crate::engine_library::table::Table;
use crate::owned::c_string;
use crate::sql::{Param, Rows, TableDef};
use crate::sql_driver::Stopped;
use crate::sql_driver::value_errors::check_width;
use crate::{EngineError, Result};

/// A prepared statement, freed when dropped. It is dropped before its client is closed.
pub(in crate::engine_library) struct Prepared {
    functions: &'static Sql,
    client: *mut abi::Client,
    raw: *mut abi::Statement,
    /// Its text, for errors.
    sql: String,
}

impl Drop for Prepared {
    /// Ignores the result, because no caller can receive it.
    fn drop(&mut self) {
        // SAFETY: the client is open, and the statement not used again.
        unsafe { (self.functions.finish)(self.client, self.raw) };
    }
}

/// A running query, ended when dropped.
struct Running<'a>(&'a Prepared);

impl Drop for Running<'_> {
    /// Ignores the result, which repeats that of the last call.
    #[inline]
    fn drop(&mut self) {
        let Prepared { functions, client, raw, .. } = self.0;
        // SAFETY: client and statement are alive.
        unsafe { (functions.end_query)(*client, *raw) };
    }
}

/// The result of a statement, or the reason that it did not finish.
type Ran<T> = std::result::Result<T, Stopped>;

/// Parameters in the interface's form.
type Values = SmallVec<[abi::Value; 16]>;

#[inline]
fn value(param: &Param<'_>) -> abi::Value {
    match *param {
        Param::Null => abi::Value::NULL,
        Param::Int(number) => abi::Value::integer(number),
        Param::Float(number) => abi::Value::double(number),
        Param::Text(text) => abi::Value::text(text),
        Param::Bytes(bytes) => abi::Value::blob(bytes),
    }
}

impl Handle<Sql> {
    /// Runs statements without parameters or results.
    pub fn script(&mut self, sql: &str) -> Result<()> {
        let (doing, script) = (format!("run `{sql}`"), self.functions.script);
        let text = c_string(self.id, &doing, sql)?;
        // SAFETY: open; the text lives through the call.
        self.call(false, &doing, |raw| unsafe { script(raw, text.as_ptr()) })
    }

    pub fn prepare(&mut self, sql: &str) -> Result<Prepared> {
        let (doing, prepare) = (format!("prepare `{sql}`"), self.functions.prepare);
        let text = c_string(self.id, &doing, sql)?;
        let mut statement = ptr::null_mut();
        let into = &raw mut statement;
        // SAFETY: open; the text and the place for the statement live through the call.
        self.call(false, &doing, |raw| unsafe { prepare(raw, text.as_ptr(), into) })?;
        if statement.is_null() {
            let why = "it returned EMBERMARK_OK, and no statement";
            return Err(EngineError::failed(self.id, doing, why));
        }
        let (functions, client) = (self.functions, self.raw);
        Ok(Prepared { functions, client, raw: statement, sql: sql.to_owned() })
    }

    /// Returns the reason that a statement did not finish.
    #[cold]
    fn stopped(&self, status: i32, statement: &Prepared) -> Stopped {
        let error = self.failed(status, &format!("run `{}`", statement.sql));
        if error.is_conflict() { Stopped::Conflict(error) } else { Stopped::Engine(error) }
    }

    /// Runs a statement without result rows. Returns the number of rows that it changed.
    #[inline]
    pub fn execute(&mut self, statement: &Prepared, params: &[Param<'_>]) -> Ran<u64> {
        let values: Values = params.iter().map(value).collect();
        let mut changed = 0;
        let (execute, into) = (self.functions.execute, &raw mut changed);
        // SAFETY: client and statement are alive; the values and the place for the number live
        // through the call.
        match unsafe { execute(self.raw, statement.raw, values.as_ptr(), values.len(), into) } {
            abi::OK => Ok(changed),
            status => Err(self.stopped(status, statement)),
        }
    }

    /// Runs a statement and visits the values of each row.
    #[inline]
    pub fn query(
        &mut self,
        statement: &Prepared,
        params: &[Param<'_>],
        mut visit: impl FnMut(&[abi::Value]) -> Result<()>,
    ) -> Ran<()> {
        let values: Values = params.iter().map(value).collect();
        let (query, fetch) = (self.functions.query, self.functions.fetch);
        // Dropped before the parameters, which must live until then.
        let running = Running(statement);
        // SAFETY: client and statement are alive; the values live until the query has ended.
        let status = unsafe { query(self.raw, statement.raw, values.as_ptr(), values.len()) };
        if status != abi::OK {
            return Err(self.stopped(status, statement));
        }
        let mut seen = false;
        loop {
            let mut found = abi::Rows { values: ptr::null(), columns: 0, rows: 0 };
            // SAFETY: client and statement are alive; the place for the rows lives through the
            // call.
            let status = unsafe { fetch(self.raw, statement.raw, &raw mut found) };
            if status != abi::OK {
                return Err(match self.stopped(status, statement) {
                    // It cannot be repeated after a row was visited.
                    Stopped::Conflict(error) if seen => Stopped::Engine(error),
                    stopped => stopped,
                });
            }
            if found.rows == 0 {
                break;
            }
            seen = true;
            let cells = found.rows.saturating_mul(found.columns);
            if found.columns == 0 || found.values.is_null() {
                let doing = format!("run `{}`", statement.sql);
                let why = "it returned rows without a value";
                return Err(Stopped::Engine(EngineError::failed(self.id, doing, why)));
            }
            // SAFETY: as the header promises: that many values exist until the next call with the
            // statement.
            let cells = unsafe { slice::from_raw_parts(found.values, cells) };
            for row in cells.chunks_exact(found.columns) {
                visit(row).map_err(Stopped::Visitor)?;
            }
        }
        drop(running);
        Ok(())
    }

    /// Loads rows with the library's function. Returns the number of rows that it took.
    pub fn load(&mut self, bulk: abi::Bulk, table: &TableDef, rows: &mut dyn Rows) -> Result<u64> {
        let doing = format!("load rows into {}", table.name);
        let named =
            Table::new(table).map_err(|error| EngineError::failed(self.id, &doing, error))?;
        let abi_table = named.to_abi();
        let (id, values) = (self.id, Values::new());
        let mut source = RowSource { id, table, rows, values, count: 0, misfit: None };
        let context = (&raw mut source).cast();
        // SAFETY: open; the table and the rows live through the call, and the callback gets the
        // context that it was made for.
        let done =
            self.call(false, &doing, |raw| unsafe { bulk(raw, &abi_table, next_row, context) });
        source.misfit.map_or_else(|| done.map(|()| source.count), Err)
    }
}

struct RowSource<'a> {
    id: &'static str,
    table: &'a TableDef,
    rows: &'a mut dyn Rows,
    values: Values,
    count: u64,
    /// Error of a row without the table's columns. No row follows it.
    misfit: Option<EngineError>,
}

/// # Safety
/// As the header requires. `context` must be a `RowSource`.
unsafe extern "C" fn next_row(context: *mut c_void) -> *const abi::Value {
    // SAFETY: the caller's promise.
    let source = unsafe { &mut *context.cast::<RowSource<'_>>() };
    if source.misfit.is_some() {
        return ptr::null();
    }
    let Some(row) = source.rows.next() else { return ptr::null() };
    if let Err(misfit) = check_width(source.id, source.table, row) {
        source.misfit = Some(misfit);
        return ptr::null();
    }
    source.values.clear();
    source.values.extend(row.iter().map(value));
    source.count += 1;
    source.values.as_ptr()
}
