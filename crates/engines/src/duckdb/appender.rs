//! Loading a table in bulk by DuckDB's appender, a chunk of rows at a time:
//! <https://duckdb.org/docs/stable/clients/c/appender>.

use std::ptr;

use super::NAME;
use super::api::{Api, Handle, SUCCESS, TypeId, types};
use super::connection::{Connection, terminated, text};
use crate::sql::{Param, Rows, SqlType, TableDef};
use crate::{EngineError, Result};

/// An appender with the chunk it is given. Destroyed when dropped.
struct Appender {
    api: &'static Api,
    raw: Handle,
    chunk: Handle,
    columns: Vec<Target>,
    size: usize,
    capacity: usize,
    doing: String,
}

/// Where the values of a column are written.
struct Target {
    of: TypeId,
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
    }
}

/// Appends all rows to a table; how many.
pub(super) fn append(
    connection: &Connection,
    table: &TableDef,
    rows: &mut dyn Rows,
) -> Result<u64> {
    let mut appender = Appender::new(connection, table)?;
    let mut count = 0;
    while let Some(row) = rows.next() {
        appender.push(row)?;
        count += 1;
    }
    appender.finish()?;
    Ok(count)
}

impl Appender {
    fn new(connection: &Connection, table: &TableDef) -> Result<Self> {
        let api = connection.api;
        let doing = format!("load {}", table.name);
        let name = terminated(&doing, table.name)?;
        let target = |&(_, of, _): &(_, SqlType, _)| Target {
            of: type_id(of),
            vector: ptr::null_mut(),
            data: ptr::null_mut(),
            validity: ptr::null_mut(),
        };
        let mut appender = Self {
            api,
            raw: ptr::null_mut(),
            chunk: ptr::null_mut(),
            columns: table.columns.iter().map(target).collect(),
            size: 0,
            // SAFETY: it only says a constant.
            capacity: unsafe { (api.vector_size)() } as usize,
            doing,
        };
        // SAFETY: the connection is open, the name terminated; what is made is destroyed by the
        // drop of `appender`, also after an error, the types at once.
        unsafe {
            let raw = &raw mut appender.raw;
            if (api.appender_create)(connection.raw, ptr::null(), name.as_ptr(), raw) != SUCCESS {
                return Err(appender.error());
            }
            let create = |column: &Target| (api.create_logical_type)(column.of);
            let mut logical: Vec<Handle> = appender.columns.iter().map(create).collect();
            let count = logical.len() as u64;
            appender.chunk = (api.create_data_chunk)(logical.as_mut_ptr(), count);
            for of in &mut logical {
                (api.destroy_logical_type)(of);
            }
        }
        if appender.chunk.is_null() {
            return Err(EngineError::failed(NAME, &*appender.doing, "it gave no data chunk"));
        }
        appender.restart();
        Ok(appender)
    }

    /// Empties the chunk and finds its vectors anew: a reset may move them.
    fn restart(&mut self) {
        self.size = 0;
        // SAFETY: the chunk is alive and has these columns; a mask that was made writable is there.
        unsafe {
            (self.api.data_chunk_reset)(self.chunk);
            for (number, column) in (0..).zip(&mut self.columns) {
                column.vector = (self.api.data_chunk_get_vector)(self.chunk, number);
                column.data = (self.api.vector_get_data)(column.vector);
                (self.api.vector_ensure_validity_writable)(column.vector);
                column.validity = (self.api.vector_get_validity)(column.vector);
            }
        }
    }

    fn push(&mut self, row: &[Param<'_>]) -> Result<()> {
        if row.len() != self.columns.len() {
            let (width, given) = (self.columns.len(), row.len());
            let what = format!("the table has {width} columns, the row {given} values");
            return Err(EngineError::failed(NAME, &*self.doing, what));
        }
        for (number, (column, param)) in self.columns.iter().zip(row).enumerate() {
            // SAFETY: the row is below the capacity.
            if !unsafe { column.write(self.api, self.size, *param) } {
                let what = format!("{param:?} does not fit column {number}");
                return Err(EngineError::failed(NAME, &*self.doing, what));
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
            (self.api.data_chunk_set_size)(self.chunk, self.size as u64);
            (self.api.append_data_chunk)(self.raw, self.chunk)
        };
        if code != SUCCESS {
            return Err(self.error());
        }
        self.restart();
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
        EngineError::failed(NAME, &*self.doing, message)
    }
}

impl Drop for Appender {
    fn drop(&mut self) {
        // SAFETY: each is destroyed once.
        unsafe {
            (self.api.destroy_data_chunk)(&raw mut self.chunk);
            (self.api.appender_destroy)(&raw mut self.raw);
        }
    }
}

impl Target {
    /// Writes a value; whether it fits the column.
    ///
    /// # Safety
    /// The row must be below the capacity of the chunk.
    unsafe fn write(&self, api: &Api, row: usize, param: Param<'_>) -> bool {
        // SAFETY: the vector has room for that row of its type.
        unsafe {
            match (self.of, param) {
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
                _ => return false,
            }
        }
        true
    }
}
