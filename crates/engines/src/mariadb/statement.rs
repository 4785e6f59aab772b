//! A prepared statement that lives as long as its store.

use std::ffi::c_uint;
use std::fmt::Display;
use std::rc::Rc;
use std::{ptr, slice};

use super::api::{Bind, DATA_TRUNCATED, NO_DATA};
use super::batch::{Batch, set_array};
use super::column::{Column, Row};
use super::connection::Connection;
use super::failure::Failure;
use super::handle::Handle;
use super::param::{Slot, no_double};
use super::{NAME, failed};
use crate::EngineError;
use crate::sql::{Param, Rows, Visit};
use crate::sql_driver::Stopped;

/// A deadlock, a lock wait time-out, and a record that another transaction has changed meanwhile.
const CONFLICTS: [u32; 3] = [1213, 1205, 1020];

/// A prepared statement with the memory of its parameters and of its result's columns. They are
/// bound once, and again only if a value does not fit.
pub(super) struct Prepared {
    handle: Handle,
    slots: Vec<Slot>,
    slots_are_bound: bool,
    /// Empty until there are rows.
    columns: Vec<Column>,
    sql: Box<str>,
}

impl Prepared {
    /// Prepares the one statement of `sql`.
    pub fn new(connection: &Rc<Connection>, sql: &str) -> Result<Self, Failure> {
        let handle = Handle::prepare(connection, sql)?;
        let slots = (0..handle.parameters()).map(|_| Slot::new()).collect();
        let columns = Vec::new();
        Ok(Self { handle, slots, slots_are_bound: false, columns, sql: sql.into() })
    }

    /// Runs it and visits its rows as they arrive. Returns the number of rows that it changed.
    pub fn run(
        &mut self,
        params: &[Param<'_>],
        mut visit: Option<&mut Visit<'_>>,
    ) -> Result<u64, Stopped> {
        self.put(params).map_err(Stopped::Engine)?;
        let stopped = |failure: Failure, seen| stopped(&self.sql, &failure, seen);
        // SAFETY: the slots that are bound are the statement's own.
        unsafe { self.handle.execute() }.map_err(|e| stopped(e, false))?;
        let (api, raw) = (self.handle.api(), self.handle.raw());
        // SAFETY: the statement is alive.
        let count = unsafe { (api.stmt_field_count)(raw) };
        if count == 0 {
            return Ok(self.handle.changed());
        }
        let mut rest = UnreadResults { handle: &self.handle, is_read: false };
        if rest.are_several_results() {
            self.columns.clear();
            let why = "it returns several results, of which one would be read";
            return Err(Stopped::Engine(self.failed(why)));
        }
        let bound = bind_columns(&self.handle, &mut self.columns, count);
        bound.map_err(|e| stopped(e, false))?;
        let mut seen = false;
        loop {
            // SAFETY: the columns that are bound are the statement's own, and no row of them is
            // borrowed.
            let fetched = match unsafe { (api.stmt_fetch)(raw) } {
                0 => Ok(()),
                DATA_TRUNCATED => complete(&self.handle, &mut self.columns),
                NO_DATA => {
                    rest.is_read = true;
                    return Ok(0);
                }
                _ => Err(self.handle.failure()),
            };
            fetched.map_err(|e| stopped(e, seen))?;
            seen = true;
            if let Some(visit) = &mut visit {
                visit(&Row(&self.columns)).map_err(Stopped::Visitor)?;
            }
        }
    }

    /// Runs it once with each of these parameters, many per packet. Returns how many rows were
    /// changed (<https://mariadb.com/kb/en/com_stmt_bulk_execute/>). `largest_packet` is the
    /// server's limit, in bytes.
    pub fn run_each(
        &mut self,
        largest_packet: usize,
        params: &mut dyn Rows,
    ) -> Result<u64, EngineError> {
        self.slots_are_bound = false;
        let done = self.send_each(largest_packet, params);
        set_array(&self.handle, 0);
        done
    }

    fn send_each(&self, largest_packet: usize, params: &mut dyn Rows) -> Result<u64, EngineError> {
        let could_not = |e: Failure| self.failed(e);
        let (mut batch, mut changed) = (Batch::of_params(self.slots.len(), largest_packet), 0);
        while let Some(params) = params.next() {
            if params.len() != self.slots.len() {
                return Err(self.has_other_parameters(params.len()));
            }
            let suits = batch.suits(params);
            if batch.is_full(params) || !suits {
                changed += batch.send(&self.handle).map_err(could_not)?;
            }
            if !suits {
                batch.forget_types();
            }
            batch.push(params).map_err(|place| match params[place] {
                Param::Float(value) => no_double(value),
                value => self.failed(format!("parameter {}: {value:?} is given", place + 1)),
            })?;
        }
        Ok(changed + batch.send(&self.handle).map_err(could_not)?)
    }

    /// Writes the parameters to where the library reads them.
    #[inline]
    fn put(&mut self, params: &[Param<'_>]) -> Result<(), EngineError> {
        if params.len() != self.slots.len() {
            return Err(self.has_other_parameters(params.len()));
        }
        let mut suit = self.slots_are_bound;
        for (slot, param) in self.slots.iter().zip(params) {
            suit &= slot.put(*param)?;
        }
        if suit { Ok(()) } else { self.bind(params) }
    }

    #[cold]
    fn bind(&mut self, params: &[Param<'_>]) -> Result<(), EngineError> {
        self.slots_are_bound = false;
        for (slot, param) in self.slots.iter_mut().zip(params) {
            slot.suit(*param);
            slot.put(*param)?;
        }
        let mut binds: Vec<Bind> = self.slots.iter().map(Slot::bind).collect();
        // SAFETY: there is a slot for each parameter. They are neither moved nor changed before
        // they are bound again, and are dropped with the statement.
        let bound = unsafe { self.handle.bind(&mut binds) };
        bound.map_err(|e| self.failed(e))?;
        self.slots_are_bound = true;
        Ok(())
    }

    #[cold]
    fn has_other_parameters(&self, given: usize) -> EngineError {
        self.failed(format!("it has {} parameters, {given} are given", self.slots.len()))
    }

    #[cold]
    fn failed(&self, why: impl Display) -> EngineError {
        EngineError::failed(NAME, format!("run `{}`", self.sql), why)
    }
}

/// Returns an error of the server, and whether it asks to "try restarting transaction"
/// (<https://mariadb.com/kb/en/mariadb-error-code-reference/>).
#[cold]
fn stopped(sql: &str, failure: &Failure, seen: bool) -> Stopped {
    let error = failed(format!("run `{sql}`"), failure);
    match !seen && CONFLICTS.contains(&failure.code) {
        true => Stopped::Conflict(error),
        false => Stopped::Engine(error),
    }
}

/// The unread part of a result. When dropped, also by a panic, it is read and forgotten, because
/// nothing else can run before.
struct UnreadResults<'a> {
    handle: &'a Handle,
    is_read: bool,
}

impl UnreadResults<'_> {
    /// Returns whether there are several results, as from a procedure, and reads them. The library
    /// has then forgotten where columns are bound.
    fn are_several_results(&self) -> bool {
        let (api, raw) = (self.handle.api(), self.handle.raw());
        // SAFETY: the statement is alive and was executed.
        unsafe {
            let several = (api.stmt_more_results)(raw) != 0;
            while several && (api.stmt_next_result)(raw) == 0 {}
            several
        }
    }
}

impl Drop for UnreadResults<'_> {
    fn drop(&mut self) {
        if !self.is_read {
            // SAFETY: the statement is alive and was executed.
            unsafe { (self.handle.api().stmt_free_result)(self.handle.raw()) };
        }
    }
}

/// Creates columns for a result and binds them, unless they exist. The types of a result can change
/// with those of parameters.
fn bind_columns(handle: &Handle, columns: &mut Vec<Column>, count: c_uint) -> Result<(), Failure> {
    // SAFETY: the library has that many fields of the result, and keeps them until the next call.
    let fields = unsafe {
        let fields = (handle.connection.library.mariadb.stmt_fetch_fields)(handle.raw());
        slice::from_raw_parts(fields, count as usize)
    };
    let are_there = columns.len() == fields.len()
        && columns.iter().zip(fields).all(|(column, field)| column.is_of(field));
    if are_there {
        return Ok(());
    }
    // SAFETY: the names of fields have the lengths given with them.
    *columns = fields.iter().map(|field| unsafe { Column::new(field) }).collect();
    bind(handle, columns)
}

/// Enlarges the columns that a row did not fit into, and fetches their values.
#[cold]
fn complete(handle: &Handle, columns: &mut [Column]) -> Result<(), Failure> {
    for (place, column) in (0..).zip(columns.iter_mut()) {
        if column.is_cut() {
            column.grow();
            let mut bind = column.bind();
            // SAFETY: the column exists and is not null, and its new memory has the size in the
            // bind. The old memory, which was bound, is only written to by a fetch of a row.
            handle.done(unsafe {
                (handle.api().stmt_fetch_column)(handle.raw(), ptr::from_mut(&mut bind), place, 0)
            })?;
        }
    }
    bind(handle, columns)
}

fn bind(handle: &Handle, columns: &[Column]) -> Result<(), Failure> {
    let mut binds: Vec<Bind> = columns.iter().map(Column::bind).collect();
    // SAFETY: there is a column for each column of the result, with its own memory. The columns are
    // neither moved nor grown before they are bound again, and are dropped with the statement.
    handle.done(unsafe { (handle.api().stmt_bind_result)(handle.raw(), binds.as_mut_ptr()) })
}
