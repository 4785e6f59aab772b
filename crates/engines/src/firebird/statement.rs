//! A prepared statement that lives as long as its store.

use std::ffi::{CStr, c_void};
use std::rc::Rc;
use std::{ptr, slice};

use super::api::{self, BlobId, Transaction, answer, kind, types};
use super::connection::{Connection, FbResult, Open, StatementHandle};
use super::failure::{CONFLICTS, Failure};
use super::message::{Field, Message, bytes_at};
use super::param::{fitting_shapes, parameter_shapes, put, put_blob, result_shapes};
use super::row::Row;
use super::{blob, failed};
use crate::EngineError;
use crate::sql::{Param, Visit};
use crate::sql_driver::Stopped;

/// A prepared statement with the memory of its parameters and of a row. They are described to the
/// engine once, and again only if a value does not fit.
pub(super) struct Prepared {
    handle: Rc<StatementHandle>,
    /// One of [`kind`].
    kind: u32,
    input: Message,
    output: Message,
    has_blobs: bool,
    /// Content of a row's blobs, by column.
    blobs: Vec<Vec<u8>>,
    sql: Box<str>,
    /// Character set of bytes.
    bytes: u32,
    connection: Rc<Connection>,
}

impl Prepared {
    /// Prepares the one statement of `sql`. Columns with the character set `bytes` have bytes.
    pub fn new(connection: &Rc<Connection>, sql: &str, bytes: u32) -> FbResult<Self> {
        let statement = connection.prepare(sql)?;
        let handle = connection.register(statement);
        let status = connection.status;
        // SAFETY: the statement is alive.
        let (kind, mut input, mut output) = unsafe {
            let kind = connection.check_status(statement.kind(status))?;
            let input = connection.check_object(statement.input_metadata(status))?;
            let input = Message::new(connection, input)?;
            let output = connection.check_object(statement.output_metadata(status))?;
            (kind, input, Message::new(connection, output)?)
        };
        input.reshape(connection, &parameter_shapes(&input))?;
        output.reshape(connection, &result_shapes(&output))?;
        let has_blobs = output.fields.iter().any(|field| field.sql_type == types::BLOB);
        let blobs = vec![Vec::new(); output.fields.len()];
        let (sql, connection) = (sql.into(), Rc::clone(connection));
        Ok(Self { handle, kind, input, output, has_blobs, blobs, sql, bytes, connection })
    }

    /// Returns whether it is a query that locks no row.
    pub fn is_select(&self) -> bool {
        self.kind == kind::SELECT
    }

    /// Returns its detailed plan, line by line.
    pub fn plan(&self) -> FbResult<String> {
        let (statement, _) = self.input()?;
        // SAFETY: the statement is alive, and so is its plan, a terminated text or null.
        let plan = unsafe {
            let plan = self.connection.check_status(statement.plan(self.connection.status, 1))?;
            (!plan.is_null()).then(|| CStr::from_ptr(plan).to_string_lossy())
        };
        Ok(plan.as_deref().unwrap_or_default().trim().to_owned())
    }

    /// Returns whether some of its parameters are blobs.
    pub fn takes_blobs(&self) -> bool {
        self.input.fields.iter().any(|field| field.sql_type == types::BLOB)
    }

    /// Returns the prepared statement, and the description of its parameters.
    pub fn input(&self) -> FbResult<(api::Statement, &Message)> {
        let statement = self.handle.get().ok_or_else(|| Failure::new("it is not prepared"))?;
        Ok((statement, &self.input))
    }

    /// Runs it and visits its rows. Returns the number of rows that it changed.
    #[inline]
    pub fn run(
        &mut self,
        params: &[Param<'_>],
        visit: Option<&mut Visit<'_>>,
    ) -> Result<u64, Stopped> {
        let Some(statement) = self.handle.get() else {
            return self.prepare_and_run(params, visit);
        };
        let transaction = self.connection.transaction(self.kind).map_err(|e| self.stopped(&e))?;
        self.put(transaction, params)?;
        if matches!(self.kind, kind::SELECT | kind::SELECT_FOR_UPDATE) {
            return self.query(statement, transaction, visit).map(|()| 0);
        }
        let status = self.connection.status;
        let (input, output) = (self.input.metadata, self.output.metadata);
        let (values, row) = (self.input.raw(), self.output.raw());
        let returns = !self.output.fields.is_empty();
        // SAFETY: the statement and its transaction are alive, and the messages are as described.
        let changed = unsafe {
            let output = returns.then_some(output);
            let row = if returns { row } else { ptr::null_mut() };
            statement.execute(status, transaction, Some(input), values, output, row);
            self.connection.check_status(()).map_err(|e| self.stopped(&e))?;
            statement.affected_records(status)
        };
        let changed = self.connection.check_status(changed).map_err(|e| self.stopped(&e))?;
        if let Some(visit) = visit
            && returns
        {
            // SAFETY: what was returned has been written, and nothing writes to it before the next
            // run.
            unsafe { self.visit(row, transaction, visit)? };
        }
        Ok(changed)
    }

    /// Runs it after its connection has released it.
    #[cold]
    fn prepare_and_run(
        &mut self,
        params: &[Param<'_>],
        visit: Option<&mut Visit<'_>>,
    ) -> Result<u64, Stopped> {
        *self = Self::new(&self.connection, &self.sql, self.bytes).map_err(|e| self.stopped(&e))?;
        self.run(params, visit)
    }

    fn query(
        &mut self,
        statement: api::Statement,
        transaction: Transaction,
        mut visit: Option<&mut Visit<'_>>,
    ) -> Result<(), Stopped> {
        let status = self.connection.status;
        let (input, output) = (self.input.metadata, self.output.metadata);
        let (values, row) = (self.input.raw(), self.output.raw());
        let connection = Rc::clone(&self.connection);
        // SAFETY: the statement and its transaction are alive, and the message is as described.
        let cursor = unsafe {
            let cursor =
                statement.open_cursor(status, transaction, Some(input), values, Some(output), 0);
            let cursor = connection.check_object(cursor).map_err(|e| self.stopped(&e))?;
            Open::new(&connection, cursor, api::ResultSet::close, api::ResultSet::release)
        };
        let mut seen = false;
        loop {
            // SAFETY: the cursor is open, and the message is as described; nothing reads it now.
            let came = unsafe { cursor.object.fetch_next(status, row) };
            match connection.check_status(came) {
                Ok(answer::OK) => {}
                Ok(_) => return cursor.close().map_err(|e| self.stopped(&e)),
                Err(failure) if seen => return Err(Stopped::Engine(self.failed(&failure))),
                Err(failure) => return Err(self.stopped(&failure)),
            }
            seen = true;
            if let Some(visit) = &mut visit {
                // SAFETY: a row has been written, and nothing writes to it before the next fetch.
                unsafe { self.visit(row, transaction, &mut **visit)? };
            }
        }
    }

    /// Passes a row to the visitor.
    ///
    /// # Safety
    /// The row must be completely written, and nothing may write to it during the call.
    #[inline]
    unsafe fn visit(
        &mut self,
        row: *mut c_void,
        transaction: Transaction,
        visit: &mut Visit<'_>,
    ) -> Result<(), Stopped> {
        // SAFETY: as the caller promises.
        let message = unsafe { slice::from_raw_parts(row.cast::<u8>(), self.output.length) };
        if self.has_blobs {
            let read = self.read_blobs(message, transaction);
            read.map_err(|e| Stopped::Engine(self.failed(&e)))?;
        }
        let (fields, blobs, bytes) = (&*self.output.fields, &*self.blobs, self.bytes);
        visit(&Row { fields, message, blobs, bytes }).map_err(Stopped::Visitor)
    }

    /// Reads the blobs of a row.
    fn read_blobs(&mut self, message: &[u8], transaction: Transaction) -> FbResult<()> {
        let blobs = self.output.fields.iter().zip(&mut self.blobs);
        for (field, into) in blobs.filter(|(field, _)| field.sql_type == types::BLOB) {
            if !field.is_null(message) {
                let id = BlobId::from_ne_bytes(bytes_at(message, field.offset));
                blob::read(&self.connection, transaction, id, into)?;
            }
        }
        Ok(())
    }

    /// Writes the parameters to where the engine reads them.
    #[inline]
    fn put(&mut self, transaction: Transaction, params: &[Param<'_>]) -> Result<(), Stopped> {
        if params.len() != self.input.fields.len() {
            return Err(Stopped::Engine(self.wrong_parameter_count(params.len())));
        }
        let (fields, message) = self.input.parts();
        let put = |(field, param): (&Field, &Param<'_>)| put(field, message, *param);
        match fields.iter().zip(params).all(put) {
            true => Ok(()),
            false => self.put_converted(transaction, params),
        }
    }

    /// Writes parameters of which some are blobs or do not fit.
    #[cold]
    fn put_converted(
        &mut self,
        transaction: Transaction,
        params: &[Param<'_>],
    ) -> Result<(), Stopped> {
        let shapes = fitting_shapes(&self.input, params);
        let reshaped = self.input.reshape(&self.connection, &shapes);
        reshaped.map_err(|e| self.stopped(&e))?;
        for (position, param) in params.iter().enumerate() {
            let value = match (self.input.fields[position].sql_type, *param) {
                (types::BLOB, Param::Text(text)) => Some(text.as_bytes()),
                (types::BLOB, Param::Bytes(bytes)) => Some(bytes),
                _ => None,
            };
            let stored = value.map(|value| blob::store(&self.connection, transaction, value));
            let id = stored.transpose().map_err(|e| self.stopped(&e))?;
            let (fields, message) = self.input.parts();
            let field = &fields[position];
            if let Some(id) = id {
                put_blob(field, message, id);
            } else if !put(field, message, *param) {
                let why = format!("parameter {} is longer than a VARCHAR", position + 1);
                return Err(Stopped::Engine(self.failed(&Failure::new(&why))));
            }
        }
        Ok(())
    }

    #[cold]
    fn wrong_parameter_count(&self, given: usize) -> EngineError {
        let why = format!("it has {} parameters, but {given} were given", self.input.fields.len());
        self.failed(&Failure::new(&why))
    }

    #[cold]
    fn failed(&self, failure: &Failure) -> EngineError {
        failed(format!("run `{}`", self.sql), failure)
    }

    /// Returns an error before any row was visited.
    #[cold]
    fn stopped(&self, failure: &Failure) -> Stopped {
        match failure.is_of(&CONFLICTS) {
            true => Stopped::Conflict(self.failed(failure)),
            false => Stopped::Engine(self.failed(failure)),
        }
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        self.handle.release(&self.connection);
    }
}
