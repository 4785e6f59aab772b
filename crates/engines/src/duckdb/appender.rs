//! Bulk-loads a table with DuckDB's appender, a chunk of rows at a time:
//! <https://duckdb.org/docs/stable/clients/c/appender>.

use std::ptr;

use super::NAME;
use crate::sql::{Param, Rows, SqlType, TableDef};
use crate::sql_driver::value_errors::{check_width, not_taken};
use crate::{EngineError, Result};
use embermark_libraries::duckdb::api::{Api, Handle, Owned, SUCCESS, TypeId, types};
use embermark_libraries::duckdb::connection::{Connection, terminated, text};

/// An appender with its chunk. Destroyed when dropped.
struct Appender<'a> {
    api: &'static Api,
    raw: Handle,
    chunk: Owned,
    columns: Vec<ColumnTarget>,
    size: usize,
    capacity: usize,
    table: &'a TableDef,
}

/// Addresses in the current chunk where the values of a column are written.
struct ColumnTarget {
    type_id: TypeId,
    vector: Handle,
    data: *mut std::ffi::c_void,
    validity: *mut u64,
}

fn type_id(of: SqlType) -> TypeId {
    match of {
        SqlType::Int => types::INTEGER,
        SqlType::Big => types::BIGINT,
        SqlType::Double => types::DOUBLE,
        SqlType::Text => types::VARCHAR,
        SqlType::Bytes => types::BLOB,
    }
}

/// Appends at most `most` rows to a table. Returns the number of rows appended.
pub(super) fn append(
    connection: &Connection,
    table: &TableDef,
    rows: &mut dyn Rows,
    most: u64,
) -> Result<u64> {
    let mut appender = Appender::new(connection, table)?;
    let mut count = 0;
    while count < most
        && let Some(row) = rows.next()
    {
        appender.push(row)?;
        count += 1;
    }
    appender.finish()?;
    Ok(count)
}

impl<'a> Appender<'a> {
    fn new(connection: &Connection, table: &'a TableDef) -> Result<Self> {
        let api = connection.api;
        let name = terminated("load a table", table.name)?;
        let target = |&(_, of, _): &(_, SqlType, _)| ColumnTarget {
            type_id: type_id(of),
            vector: ptr::null_mut(),
            data: ptr::null_mut(),
            validity: ptr::null_mut(),
        };
        let mut appender = Self {
            api,
            raw: ptr::null_mut(),
            chunk: Owned::null(api.destroy_data_chunk),
            columns: table.columns.iter().map(target).collect(),
            size: 0,
            // SAFETY: it only returns a constant.
            capacity: unsafe { (api.vector_size)() } as usize,
            table,
        };
        // SAFETY: the connection is open and the name terminated; what is made is destroyed when
        // dropped, even after an error.
        unsafe {
            let raw = &raw mut appender.raw;
            if (api.appender_create)(connection.raw(), ptr::null(), name.as_ptr(), raw) != SUCCESS {
                return Err(appender.error());
            }
            let create = |column: &ColumnTarget| {
                Owned::new((api.create_logical_type)(column.type_id), api.destroy_logical_type)
            };
            let logical: Vec<Owned> = appender.columns.iter().map(create).collect();
            let mut types: Vec<Handle> = logical.iter().map(|of| of.raw).collect();
            appender.chunk.raw = (api.create_data_chunk)(types.as_mut_ptr(), types.len() as u64);
        }
        if appender.chunk.raw.is_null() {
            return Err(appender.failed("it returned no data chunk"));
        }
        appender.reset_chunk();
        Ok(appender)
    }

    /// Empties the chunk and reads the addresses of its vectors again, because a reset can move
    /// them.
    fn reset_chunk(&mut self) {
        self.size = 0;
        // SAFETY: the chunk is alive and has these columns; a mask that was made writable exists.
        unsafe {
            (self.api.data_chunk_reset)(self.chunk.raw);
            for (number, column) in (0..).zip(&mut self.columns) {
                column.vector = (self.api.data_chunk_get_vector)(self.chunk.raw, number);
                column.data = (self.api.vector_get_data)(column.vector);
                (self.api.vector_ensure_validity_writable)(column.vector);
                column.validity = (self.api.vector_get_validity)(column.vector);
            }
        }
    }

    fn push(&mut self, row: &[Param<'_>]) -> Result<()> {
        check_width(NAME, self.table, row)?;
        for (number, (column, param)) in self.columns.iter().zip(row).enumerate() {
            // SAFETY: the row is below the capacity.
            if !unsafe { column.write(self.api, self.size, *param) } {
                return Err(not_taken(NAME, self.table, number, *param));
            }
        }
        self.size += 1;
        if self.size == self.capacity { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        if self.size == 0 {
            return Ok(());
        }
        // SAFETY: appender and chunk are alive, and every vector holds that many values.
        let code = unsafe {
            (self.api.data_chunk_set_size)(self.chunk.raw, self.size as u64);
            (self.api.append_data_chunk)(self.raw, self.chunk.raw)
        };
        if code != SUCCESS {
            return Err(self.error());
        }
        self.reset_chunk();
        Ok(())
    }

    fn finish(mut self) -> Result<()> {
        self.flush()?;
        // SAFETY: the appender is alive.
        match unsafe { (self.api.appender_close)(self.raw) } {
            SUCCESS => Ok(()),
            _ => Err(self.error()),
        }
    }

    #[cold]
    fn error(&self) -> EngineError {
        // SAFETY: the appender is alive or was not created, and holds its message.
        let message = unsafe { text((self.api.appender_error)(self.raw)) };
        self.failed(&message)
    }

    fn failed(&self, why: &str) -> EngineError {
        EngineError::failed(NAME, format!("load {}", self.table.name), why)
    }
}

impl Drop for Appender<'_> {
    fn drop(&mut self) {
        // SAFETY: it is destroyed once.
        unsafe { (self.api.appender_destroy)(&raw mut self.raw) };
    }
}

impl ColumnTarget {
    /// Writes a value. Returns false if the column's type does not accept it.
    ///
    /// # Safety
    /// The row must be below the capacity of the chunk.
    unsafe fn write(&self, api: &Api, row: usize, param: Param<'_>) -> bool {
        // SAFETY: the vector has room for that row of its type.
        unsafe {
            match (self.type_id, param) {
                (_, Param::Null) => *self.validity.add(row / 64) &= !(1 << (row % 64)),
                (types::INTEGER, Param::Int(number)) => match i32::try_from(number) {
                    Ok(short) => self.data.cast::<i32>().add(row).write(short),
                    Err(_) => return false,
                },
                (types::BIGINT, Param::Int(number)) => {
                    self.data.cast::<i64>().add(row).write(number);
                }
                (types::DOUBLE, Param::Float(number)) => {
                    self.data.cast::<f64>().add(row).write(number);
                }
                (types::VARCHAR, Param::Text(text)) => {
                    let (start, length) = (text.as_ptr().cast(), text.len() as u64);
                    (api.vector_assign_string_element_len)(self.vector, row as u64, start, length);
                }
                (types::BLOB, Param::Bytes(bytes)) => {
                    let (start, length) = (bytes.as_ptr().cast(), bytes.len() as u64);
                    (api.vector_assign_string_element_len)(self.vector, row as u64, start, length);
                }
                _ => return false,
            }
        }
        true
    }
}
