//! Bulk loads of many rows per call, through the batch interface
//! (<https://github.com/FirebirdSQL/firebird/blob/v5.0.4/doc/Using_OO_API.html>).

use std::ffi::c_void;
use std::ptr;
use std::rc::Rc;

use super::api::{self, NO_MORE_ERRORS, kind, types};
use super::connection::{Connection, FbResult, Open};
use super::dialect::FirebirdSql;
use super::message::{Field, Message};
use super::param::{parameter_shapes, put};
use super::statement::Prepared;
use super::{NAME, failed};
use crate::sql::{Dialect, Param, Rows, TableDef};
use crate::sql_driver::Stopped;
use crate::sql_driver::value_errors::{check_width, not_taken};
use crate::{EngineError, Result};

/// Approximate bytes of rows passed at a time. The engine buffers at most 16 MB before a
/// call stores them.
const BYTES: usize = 256 * 1024;

/// Inserts all rows into a table, in the open transaction. Returns their number.
pub(super) fn insert(
    connection: &Rc<Connection>,
    table: &TableDef,
    rows: &mut dyn Rows,
) -> Result<u64> {
    let sql = FirebirdSql.insert_rows(table.name, &table.column_names(), 1);
    let could_not = |e| failed(format!("run `{sql}`"), &e);
    let mut insert = Prepared::new(connection, &sql, 0).map_err(could_not)?;
    if insert.takes_blobs() {
        return one_by_one(&mut insert, table, rows);
    }
    let mut batch = Batch::new(connection, &insert).map_err(could_not)?;
    let mut count = 0;
    while let Some(row) = rows.next() {
        batch.push(table, row)?;
        count += 1;
        if batch.rows == batch.capacity {
            batch.send().map_err(could_not)?;
        }
    }
    batch.send().map_err(could_not)?;
    batch.batch.close().map_err(could_not)?;
    Ok(count)
}

/// Inserts rows into a table with blobs, each of which is stored by a separate call.
fn one_by_one(insert: &mut Prepared, table: &TableDef, rows: &mut dyn Rows) -> Result<u64> {
    let mut count = 0;
    while let Some(row) = rows.next() {
        check_width(NAME, table, row)?;
        insert.run(row, None).map_err(Stopped::into_error)?;
        count += 1;
    }
    Ok(count)
}

/// Rows that are not stored yet. The fields are dropped in order: the batch before its description.
struct Batch<'a> {
    connection: &'a Connection,
    batch: Open<'a, api::Batch>,
    message: Message,
    /// Rows in sequence, as words.
    memory: Vec<u64>,
    rows: usize,
    /// Maximum number of rows.
    capacity: usize,
}

impl<'a> Batch<'a> {
    fn new(connection: &'a Connection, insert: &Prepared) -> FbResult<Self> {
        let (statement, described) = insert.input()?;
        // A separate description with the same types.
        let message = described.shaped(connection, &parameter_shapes(described))?;
        let capacity = (BYTES / message.stride.max(1)).max(1);
        let memory = vec![0; (capacity * message.stride).div_ceil(size_of::<u64>())];
        // SAFETY: the statement is alive, and the description lives as long as the batch.
        let batch = unsafe {
            let batch = statement.create_batch(connection.status, message.metadata, 0, ptr::null());
            let batch = connection.check_object(batch)?;
            Open::new(connection, batch, api::Batch::close, api::Batch::release)
        };
        Ok(Self { connection, batch, message, memory, rows: 0, capacity })
    }

    /// Adds a row.
    fn push(&mut self, table: &TableDef, row: &[Param<'_>]) -> Result<()> {
        check_width(NAME, table, row)?;
        let (at, stride) = (self.rows * self.message.stride, self.message.stride);
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut self.memory);
        let message = &mut bytes[at..at + stride];
        for (column, (field, value)) in self.message.fields.iter().zip(row).enumerate() {
            if !put(field, message, *value) {
                return Err(value_error(table, column, field, *value));
            }
        }
        self.rows += 1;
        Ok(())
    }

    /// Stores the rows added so far.
    fn send(&mut self) -> FbResult<()> {
        let (rows, status) = (std::mem::take(&mut self.rows), self.connection.status);
        if rows == 0 {
            return Ok(());
        }
        let batch = self.batch.object;
        let transaction = self.connection.transaction(kind::DEFINE)?;
        // SAFETY: batch and transaction are alive, and that many rows are in memory.
        let state = unsafe {
            batch.add(status, rows as _, self.memory.as_ptr().cast::<c_void>());
            self.connection.check_status(())?;
            self.connection.check_object(batch.execute(status, transaction))?
        };
        // SAFETY: the state is alive, and not used after it is disposed.
        unsafe {
            let wrong = self.connection.check_status(state.find_error(status, 0));
            let wrong = wrong.and_then(|wrong| {
                if wrong != NO_MORE_ERRORS {
                    state.status_of(status, status, wrong);
                }
                self.connection.check_status(())
            });
            state.dispose();
            wrong
        }
    }
}

/// Returns the error for a value that its column does not accept: of another kind, or too long.
#[cold]
fn value_error(table: &TableDef, column: usize, field: &Field, value: Param<'_>) -> EngineError {
    let length = match value {
        Param::Text(text) => text.len(),
        Param::Bytes(bytes) => bytes.len(),
        _ => 0,
    };
    if field.sql_type == types::VARYING && length > field.length {
        let (name, ..) = table.columns[column];
        let why =
            format!("{length} bytes are too long for column {name}, which takes {}", field.length);
        return EngineError::failed(NAME, format!("load a row into {}", table.name), why);
    }
    not_taken(NAME, table, column, value)
}
