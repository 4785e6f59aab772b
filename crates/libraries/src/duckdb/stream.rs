//! Answers that are fetched chunk by chunk while DuckDB goes on reading.

use std::ffi::c_void;
use std::ptr;

use embermark_contract::{EngineError, Result};

use super::NAME;
use super::api::{Api, Owned, RawString, SUCCESS, TypeId, types};
use super::connection::{Answer, Connection, terminated, text};

/// A value of an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// NULL.
    Null,
    /// `BOOLEAN`.
    Bool(bool),
    /// Signed integers of up to 64 bits, and unsigned ones of up to 32.
    Int(i64),
    /// `UBIGINT`.
    Unsigned(u64),
    /// `FLOAT` and `DOUBLE`.
    Float(f64),
    /// The bytes of a `VARCHAR` or a `BLOB`.
    Text(&'a [u8]),
    /// Microseconds since 1970 as a clock somewhere shows them: `TIMESTAMP`.
    Micros(i64),
    /// Microseconds since 1970 in UTC: `TIMESTAMP WITH TIME ZONE`.
    Instant(i64),
    /// Nanoseconds since 1970: `TIMESTAMP_NS`.
    Nanos(i64),
}

/// An answer that is read on. No other statement of its connection may run meanwhile.
pub struct Stream<'c> {
    api: &'static Api,
    answer: Answer,
    types: Vec<TypeId>,
    /// What is answered, which must outlive the answer, and the connection.
    _statement: Owned,
    _connection: &'c Connection,
}

/// Some rows of an answer.
pub struct Chunk {
    rows: usize,
    columns: Vec<Vector>,
    _chunk: Owned,
}

/// A column of a chunk.
#[derive(Clone, Copy)]
struct Vector {
    of: TypeId,
    data: *const c_void,
    /// A bit for each row, set where there is a value; null when there is one in every row.
    validity: *const u64,
}

impl Connection {
    /// Begins to answer one statement without parameters.
    ///
    /// # Errors
    /// DuckDB's words; a column of a type that [`Cell`] lacks.
    pub fn stream(&self, sql: &str) -> Result<Stream<'_>> {
        let api = self.api;
        let words = terminated("read", sql)?;
        let mut statement = Owned::unmade(api.destroy_prepare);
        // SAFETY: the connection is open and the text terminated.
        if unsafe { (api.prepare)(self.raw(), words.as_ptr(), &raw mut statement.raw) } != SUCCESS {
            // SAFETY: a statement that failed holds its message.
            let message = unsafe { text((api.prepare_error)(statement.raw)) };
            return Err(EngineError::failed(NAME, "read", message));
        }
        let mut pending = Owned::unmade(api.destroy_pending);
        let mut answer = Answer::new(api);
        // SAFETY: the statement is prepared and lives as long as the answer; the out-pointers are
        // valid, and what failed holds its message.
        unsafe {
            let made = (api.pending_prepared_streaming)(statement.raw, &raw mut pending.raw);
            if made != SUCCESS {
                let message = text((api.pending_error)(pending.raw));
                return Err(EngineError::failed(NAME, "read", message));
            }
            if (api.execute_pending)(pending.raw, &raw mut answer.raw) != SUCCESS {
                return Err(answer.error("read"));
            }
        }
        // SAFETY: the answer is alive and has these columns.
        let types = unsafe {
            let count = (api.column_count)(&raw mut answer.raw);
            (0..count).map(|column| (api.column_type)(&raw mut answer.raw, column)).collect()
        };
        let stream = Stream { api, answer, types, _statement: statement, _connection: self };
        match stream.types.iter().position(|of| !is_read(*of)) {
            Some(column) => {
                let of = stream.types[column];
                let what = format!("column {column} is of DuckDB's type {of}: cast it");
                Err(EngineError::failed(NAME, "read", what))
            }
            None => Ok(stream),
        }
    }

    /// All rows of a short answer, as texts.
    ///
    /// # Errors
    /// As of [`Self::stream`].
    pub fn texts(&self, sql: &str) -> Result<Vec<Vec<Option<String>>>> {
        let mut stream = self.stream(sql)?;
        let mut all = Vec::new();
        while let Some(chunk) = stream.next_chunk()? {
            for row in 0..chunk.rows() {
                let texts = (0..chunk.columns.len()).map(|column| match chunk.cell(column, row) {
                    Cell::Null => None,
                    Cell::Bool(value) => Some(value.to_string()),
                    Cell::Int(value)
                    | Cell::Micros(value)
                    | Cell::Instant(value)
                    | Cell::Nanos(value) => Some(value.to_string()),
                    Cell::Unsigned(value) => Some(value.to_string()),
                    Cell::Float(value) => Some(value.to_string()),
                    Cell::Text(text) => Some(String::from_utf8_lossy(text).into_owned()),
                });
                all.push(texts.collect());
            }
        }
        Ok(all)
    }
}

impl Stream<'_> {
    /// The next rows; `None` at the end.
    ///
    /// # Errors
    /// DuckDB's words, for example of a damaged file.
    pub fn next_chunk(&mut self) -> Result<Option<Chunk>> {
        let api = self.api;
        // SAFETY: the answer is alive.
        let chunk = unsafe { (api.fetch_chunk)(self.answer.raw) };
        let chunk = Owned::new(chunk, api.destroy_data_chunk);
        if chunk.raw.is_null() {
            // SAFETY: the answer is alive; the message is null where nothing is wrong.
            let failed = unsafe { !(api.result_error)(&raw mut self.answer.raw).is_null() };
            return if failed { Err(self.answer.error("read on")) } else { Ok(None) };
        }
        let vector = |(column, of): (u64, &TypeId)| {
            // SAFETY: the chunk is alive and has as many vectors as the answer columns.
            unsafe {
                let vector = (api.data_chunk_get_vector)(chunk.raw, column);
                let data = (api.vector_get_data)(vector);
                Vector { of: *of, data, validity: (api.vector_get_validity)(vector) }
            }
        };
        let columns = (0..).zip(&self.types).map(vector).collect();
        // SAFETY: the chunk is alive.
        let rows = unsafe { (api.data_chunk_get_size)(chunk.raw) } as usize;
        Ok(Some(Chunk { rows, columns, _chunk: chunk }))
    }
}

impl Chunk {
    /// How many rows it has.
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// The value of a column in a row.
    ///
    /// # Panics
    /// Where there is no such row or column.
    #[inline]
    pub fn cell(&self, column: usize, row: usize) -> Cell<'_> {
        assert!(row < self.rows);
        let Vector { of, data, validity } = self.columns[column];
        macro_rules! read {
            ($of:ty) => {
                // SAFETY: the vector holds a value of this type for each row of the chunk.
                unsafe { data.cast::<$of>().add(row).read() }
            };
        }
        // SAFETY: a validity mask has a bit for every row of its chunk.
        let has = |row: usize| unsafe { *validity.add(row / 64) } >> (row % 64) & 1 == 1;
        if !ptr::eq(validity, ptr::null()) && !has(row) {
            return Cell::Null;
        }
        match of {
            types::BOOLEAN => Cell::Bool(read!(u8) != 0),
            types::TINYINT => Cell::Int(read!(i8).into()),
            types::SMALLINT => Cell::Int(read!(i16).into()),
            types::INTEGER => Cell::Int(read!(i32).into()),
            types::BIGINT => Cell::Int(read!(i64)),
            types::UTINYINT => Cell::Int(read!(u8).into()),
            types::USMALLINT => Cell::Int(read!(u16).into()),
            types::UINTEGER => Cell::Int(read!(u32).into()),
            types::UBIGINT => Cell::Unsigned(read!(u64)),
            types::FLOAT => Cell::Float(read!(f32).into()),
            types::DOUBLE => Cell::Float(read!(f64)),
            types::TIMESTAMP => Cell::Micros(read!(i64)),
            types::TIMESTAMP_TZ => Cell::Instant(read!(i64)),
            types::TIMESTAMP_NS => Cell::Nanos(read!(i64)),
            // SAFETY: the other types that are read are laid out as strings, which live as long as
            // the chunk.
            _ => Cell::Text(unsafe { (*data.cast::<RawString>().add(row)).bytes() }),
        }
    }
}

/// Whether a [`Cell`] has its values.
const fn is_read(of: TypeId) -> bool {
    matches!(
        of,
        types::BOOLEAN
            | types::TINYINT
            | types::SMALLINT
            | types::INTEGER
            | types::BIGINT
            | types::UTINYINT
            | types::USMALLINT
            | types::UINTEGER
            | types::UBIGINT
            | types::FLOAT
            | types::DOUBLE
            | types::TIMESTAMP
            | types::TIMESTAMP_TZ
            | types::TIMESTAMP_NS
            | types::VARCHAR
            | types::BLOB
    )
}
