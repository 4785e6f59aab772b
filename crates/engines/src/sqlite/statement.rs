//! A prepared statement that lives as long as its store, bound and stepped without a copy, a
//! lookup or an allocation.

use std::ffi::{CStr, c_int, c_uint};
use std::ptr::{self, NonNull};
use std::rc::Rc;
use std::{slice, str};

use rusqlite::{Connection, ffi};

use super::NAME;
use crate::sql::{Param, ResultRow, Visit};
use crate::sql_driver::Stopped;
use crate::{EngineError, Result};

pub(super) struct Prepared {
    raw: NonNull<ffi::sqlite3_stmt>,
    parameters: usize,
    connection: Rc<Connection>,
}

/// A statement in use. Reset when dropped, so that it holds no lock and no row after its use.
struct Running<'a>(&'a Prepared);

struct Row<'a>(&'a Prepared);

impl Prepared {
    /// Prepares the one statement of `sql`.
    pub(super) fn new(connection: &Rc<Connection>, sql: &str) -> Result<Self> {
        let doing = || format!("prepare `{sql}`");
        let length =
            c_int::try_from(sql.len()).map_err(|e| EngineError::failed(NAME, doing(), e))?;
        let (mut raw, mut rest) = (ptr::null_mut(), ptr::null());
        // SAFETY: the handle is that of an open connection; text, length and both out-pointers are
        // valid for the call.
        let code = unsafe {
            let (handle, text) = (connection.handle(), sql.as_ptr().cast());
            let flags = ffi::SQLITE_PREPARE_PERSISTENT as c_uint;
            ffi::sqlite3_prepare_v3(handle, text, length, flags, &raw mut raw, &raw mut rest)
        };
        if code != ffi::SQLITE_OK {
            return Err(EngineError::failed(NAME, doing(), message(connection)));
        }
        let raw = NonNull::new(raw)
            .ok_or_else(|| EngineError::failed(NAME, doing(), "it holds no statement"))?;
        // SAFETY: the statement was prepared just now.
        let parameters = unsafe { ffi::sqlite3_bind_parameter_count(raw.as_ptr()) };
        let parameters = usize::try_from(parameters).unwrap_or_default();
        let prepared = Self { raw, parameters, connection: Rc::clone(connection) };
        let used = rest as usize - sql.as_ptr() as usize;
        if !sql[used..].trim().is_empty() {
            return Err(EngineError::failed(NAME, doing(), "it holds more than one statement"));
        }
        Ok(prepared)
    }

    /// Returns whether it is a query: it returns rows, changes nothing, and is not an EXPLAIN.
    pub(super) fn is_query(&self) -> bool {
        let raw = self.raw.as_ptr();
        // SAFETY: the statement is alive.
        unsafe {
            ffi::sqlite3_stmt_readonly(raw) != 0
                && ffi::sqlite3_stmt_isexplain(raw) == 0
                && ffi::sqlite3_column_count(raw) > 0
        }
    }

    /// Runs it to its end.
    pub(super) fn run<'p>(&self, params: impl ExactSizeIterator<Item = Param<'p>>) -> Result<()> {
        let running = self.bind(params)?;
        while running.step()? {}
        Ok(())
    }

    /// Runs it and visits its rows.
    #[inline]
    pub(super) fn query(
        &self,
        params: &[Param<'_>],
        visit: &mut Visit<'_>,
    ) -> std::result::Result<(), Stopped> {
        let running = self.bind(params.iter().copied()).map_err(Stopped::Engine)?;
        while running.step().map_err(Stopped::Engine)? {
            visit(&Row(self)).map_err(Stopped::Visitor)?;
        }
        Ok(())
    }

    /// Returns how often the engine has planned it again since it was prepared.
    #[cfg(test)]
    pub(super) fn times_planned_again(&self) -> c_int {
        let counter = ffi::SQLITE_STMTSTATUS_REPREPARE;
        // SAFETY: the statement is alive.
        unsafe { ffi::sqlite3_stmt_status(self.raw.as_ptr(), counter, 0) }
    }

    #[inline]
    fn bind<'p>(&self, params: impl ExactSizeIterator<Item = Param<'p>>) -> Result<Running<'_>> {
        let running = Running(self);
        if params.len() != self.parameters {
            let (given, wanted) = (params.len(), self.parameters);
            return Err(self.failed(&format!("{given} parameters given, {wanted} wanted")));
        }
        let raw = self.raw.as_ptr();
        for (place, param) in (1..).zip(params) {
            if let Param::Float(number) = param
                && number.is_nan()
            {
                return Err(self.failed("a NaN is given, which it would store as NULL"));
            }
            // SAFETY: the statement is alive and reset. SQLite reads a bound text or bytes only
            // while the statement is stepped, which ends before the borrow of `params` does; every
            // parameter is bound anew before the statement is stepped again.
            let code = unsafe {
                match param {
                    Param::Null => ffi::sqlite3_bind_null(raw, place),
                    Param::Int(number) => ffi::sqlite3_bind_int64(raw, place, number),
                    Param::Float(number) => ffi::sqlite3_bind_double(raw, place, number),
                    Param::Text(text) => {
                        let (start, length) = (text.as_ptr().cast(), text.len() as u64);
                        let (copied, form) = (ffi::SQLITE_STATIC(), ffi::SQLITE_UTF8 as u8);
                        ffi::sqlite3_bind_text64(raw, place, start, length, copied, form)
                    }
                    Param::Bytes(bytes) => {
                        let (start, length) = (bytes.as_ptr().cast(), bytes.len() as u64);
                        ffi::sqlite3_bind_blob64(raw, place, start, length, ffi::SQLITE_STATIC())
                    }
                }
            };
            if code != ffi::SQLITE_OK {
                return Err(self.failed(&message(&self.connection)));
            }
        }
        Ok(running)
    }

    #[cold]
    fn failed(&self, message: &str) -> EngineError {
        // SAFETY: a live statement keeps its terminated text until it is finalized.
        let sql = unsafe { CStr::from_ptr(ffi::sqlite3_sql(self.raw.as_ptr())) };
        EngineError::failed(NAME, format!("run `{}`", sql.to_string_lossy()), message)
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        // SAFETY: it is finalized once, here, while its connection is still open.
        unsafe { ffi::sqlite3_finalize(self.raw.as_ptr()) };
    }
}

impl Running<'_> {
    /// Moves to the next row. Returns whether there is one.
    #[inline]
    fn step(&self) -> Result<bool> {
        // SAFETY: the statement is alive and all its parameters are bound.
        match unsafe { ffi::sqlite3_step(self.0.raw.as_ptr()) } {
            ffi::SQLITE_ROW => Ok(true),
            ffi::SQLITE_DONE => Ok(false),
            _ => Err(self.0.failed(&message(&self.0.connection))),
        }
    }
}

impl Drop for Running<'_> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the statement is alive. The code repeats the result of the last step.
        unsafe { ffi::sqlite3_reset(self.0.raw.as_ptr()) };
    }
}

impl Row<'_> {
    /// Returns a column's value and type. For a missing column the engine returns NULL. The value
    /// must not be shared with another thread (<https://www.sqlite.org/c3ref/column_blob.html>),
    /// and a connection is not. Getting it once saves the search for the column in
    /// `sqlite3_column_double` and similar functions.
    #[inline]
    fn value(&self, column: usize) -> (*mut ffi::sqlite3_value, c_int) {
        let column = c_int::try_from(column).unwrap_or(c_int::MAX);
        // SAFETY: the statement stands on a row; any column number is allowed. The value stays until
        // the next step, and the row is not given out beyond that.
        unsafe {
            let value = ffi::sqlite3_column_value(self.0.raw.as_ptr(), column);
            (value, ffi::sqlite3_value_type(value))
        }
    }

    #[cold]
    fn is_no<T>(&self, column: usize, wanted: &str) -> Result<T> {
        Err(self.0.failed(&format!("column {column} of its result holds no {wanted}")))
    }
}

impl ResultRow for Row<'_> {
    fn int(&self, column: usize) -> Result<Option<i64>> {
        match self.value(column) {
            (_, ffi::SQLITE_NULL) => Ok(None),
            // SAFETY: as in `value`.
            (value, ffi::SQLITE_INTEGER) => Ok(Some(unsafe { ffi::sqlite3_value_int64(value) })),
            _ => self.is_no(column, "integer"),
        }
    }

    fn float(&self, column: usize) -> Result<Option<f64>> {
        match self.value(column) {
            (_, ffi::SQLITE_NULL) => Ok(None),
            (value, ffi::SQLITE_FLOAT | ffi::SQLITE_INTEGER) => {
                // SAFETY: as in `value`.
                Ok(Some(unsafe { ffi::sqlite3_value_double(value) }))
            }
            _ => self.is_no(column, "number"),
        }
    }

    fn text(&self, column: usize) -> Result<Option<&str>> {
        match self.value(column) {
            (_, ffi::SQLITE_NULL) => Ok(None),
            (value, ffi::SQLITE_TEXT) => {
                // SAFETY: as in `value`, and it is text, so no conversion takes place: pointer and
                // length belong to the same text, which stays where it is until the next step.
                let bytes = unsafe {
                    let start = ffi::sqlite3_value_text(value);
                    let length = ffi::sqlite3_value_bytes(value);
                    if start.is_null() {
                        return Err(self.0.failed("out of memory"));
                    }
                    slice::from_raw_parts(start, usize::try_from(length).unwrap_or_default())
                };
                str::from_utf8(bytes).map(Some).or_else(|_| self.is_no(column, "valid UTF-8"))
            }
            _ => self.is_no(column, "text"),
        }
    }

    fn bytes(&self, column: usize) -> Result<Option<&[u8]>> {
        match self.value(column) {
            (_, ffi::SQLITE_NULL) => Ok(None),
            (value, ffi::SQLITE_BLOB) => {
                // SAFETY: as in `text`.
                let (start, length) = unsafe {
                    (ffi::sqlite3_value_blob(value).cast::<u8>(), ffi::sqlite3_value_bytes(value))
                };
                match usize::try_from(length).unwrap_or_default() {
                    // The start of no bytes is null.
                    0 => Ok(Some(&[])),
                    _ if start.is_null() => Err(self.0.failed("out of memory")),
                    // SAFETY: there are that many bytes, which stay until the next step.
                    length => Ok(Some(unsafe { slice::from_raw_parts(start, length) })),
                }
            }
            _ => self.is_no(column, "bytes"),
        }
    }

    fn columns(&self) -> Result<usize> {
        // SAFETY: the statement is alive.
        let count = unsafe { ffi::sqlite3_column_count(self.0.raw.as_ptr()) };
        Ok(usize::try_from(count).unwrap_or_default())
    }

    fn any<'a>(&'a self, column: usize, _: &'a mut String) -> Result<Param<'a>> {
        let value = match self.value(column).1 {
            ffi::SQLITE_INTEGER => self.int(column)?.map(Param::Int),
            ffi::SQLITE_FLOAT => self.float(column)?.map(Param::Float),
            ffi::SQLITE_TEXT => self.text(column)?.map(Param::Text),
            ffi::SQLITE_BLOB => self.bytes(column)?.map(Param::Bytes),
            _ => None,
        };
        Ok(value.unwrap_or(Param::Null))
    }
}

fn message(connection: &Connection) -> String {
    // SAFETY: the connection is open; the text is copied before another call could change it.
    let text = unsafe { CStr::from_ptr(ffi::sqlite3_errmsg(connection.handle())) };
    text.to_string_lossy().into_owned()
}
