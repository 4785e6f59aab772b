//! Results that are fetched chunk by chunk while DuckDB continues to read.

use std::ffi::c_void;
use std::ops::Range;

use embermark_contract::{EngineError, Result};

use super::NAME;
use super::api::{Api, Owned, RawString, SUCCESS, TypeId, types};
use super::connection::{Connection, QueryResult, terminated, text};

/// A value of a result.
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
    /// Microseconds since 1970 in local time: `TIMESTAMP`.
    Micros(i64),
    /// Microseconds since 1970 in UTC: `TIMESTAMP WITH TIME ZONE`.
    Instant(i64),
    /// Nanoseconds since 1970: `TIMESTAMP_NS`.
    Nanos(i64),
}

/// Type of [`Chunk::numbers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// Integers, as `i64`.
    Int,
    /// Doubles, by their bits.
    Float,
}

/// A result that is being read. No other statement of its connection may run meanwhile.
pub struct Stream<'c> {
    api: &'static Api,
    answer: QueryResult,
    types: Vec<TypeId>,
    /// The statement, which must outlive the result, and the connection.
    _statement: Owned,
    _connection: &'c Connection,
}

/// Some rows of a result.
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
    /// Bit mask of the rows with a value. Null if every row has one.
    validity: *const u64,
}

impl Connection {
    /// Begins to run one statement without parameters, whose rows are fetched chunk by chunk.
    ///
    /// # Errors
    /// DuckDB's message, or an error if a column has a type that [`Cell`] lacks.
    pub fn stream(&self, sql: &str) -> Result<Stream<'_>> {
        let api = self.api;
        let words = terminated("read", sql)?;
        let mut statement = Owned::null(api.destroy_prepare);
        // SAFETY: the connection is open and the text terminated.
        if unsafe { (api.prepare)(self.raw(), words.as_ptr(), &raw mut statement.raw) } != SUCCESS {
            // SAFETY: a statement that failed holds its message.
            let message = unsafe { text((api.prepare_error)(statement.raw)) };
            return Err(EngineError::failed(NAME, "read", message));
        }
        let mut pending = Owned::null(api.destroy_pending);
        let mut answer = QueryResult::new(api);
        // SAFETY: the statement is prepared and lives as long as the result. The out-pointers are
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
        // SAFETY: the result is alive and has these columns.
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

    /// Returns all rows of a short result as texts.
    ///
    /// # Errors
    /// The errors of [`Self::stream`].
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
    /// Returns the next rows. `None` at the end.
    ///
    /// # Errors
    /// DuckDB's message, for example about a damaged file.
    pub fn next_chunk(&mut self) -> Result<Option<Chunk>> {
        let api = self.api;
        // SAFETY: the result is alive.
        let chunk = unsafe { (api.fetch_chunk)(self.answer.raw) };
        let chunk = Owned::new(chunk, api.destroy_data_chunk);
        if chunk.raw.is_null() {
            // SAFETY: the result is alive, and the message is null if there is no error.
            let failed = unsafe { !(api.result_error)(&raw mut self.answer.raw).is_null() };
            return if failed { Err(self.answer.error("read")) } else { Ok(None) };
        }
        let vector = |(column, of): (u64, &TypeId)| {
            // SAFETY: the chunk is alive and has as many vectors as the result has columns.
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
    /// Returns the number of rows.
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the value of a column in a row.
    ///
    /// # Panics
    /// If there is no such row or column.
    #[inline]
    pub fn cell(&self, column: usize, row: usize) -> Cell<'_> {
        let mut found = Cell::Null;
        self.each(column, row..row + 1, |_, cell| found = cell);
        found
    }

    /// Replaces the content of `into` with the numbers of a column in some rows, 64 bits each.
    /// `None` if one of them is NULL, or the column has another type.
    ///
    /// # Panics
    /// If there are no such rows or column.
    pub fn numbers(
        &self,
        column: usize,
        rows: Range<usize>,
        into: &mut Vec<u64>,
    ) -> Option<Number> {
        assert!(rows.start <= rows.end && rows.end <= self.rows);
        let Vector { of, data, validity } = self.columns[column];
        // SAFETY: a validity mask has a bit for every row of its chunk.
        let has = |row: usize| unsafe { *validity.add(row / 64) } >> (row % 64) & 1 == 1;
        if !validity.is_null() && !rows.clone().all(has) {
            return None;
        }
        into.clear();
        macro_rules! all {
            ($of:ty, $as:ty, $bits:expr) => {{
                // SAFETY: the vector holds a value of this type for each row of the chunk.
                let all = unsafe {
                    std::slice::from_raw_parts(data.cast::<$of>().add(rows.start), rows.len())
                };
                into.extend(all.iter().map(|value| $bits(<$as>::from(*value))));
            }};
        }
        let bits = |value: i64| value as u64;
        match of {
            types::TINYINT => all!(i8, i64, bits),
            types::SMALLINT => all!(i16, i64, bits),
            types::INTEGER => all!(i32, i64, bits),
            types::BIGINT => all!(i64, i64, bits),
            types::UTINYINT => all!(u8, i64, bits),
            types::USMALLINT => all!(u16, i64, bits),
            types::UINTEGER => all!(u32, i64, bits),
            types::FLOAT => all!(f32, f64, f64::to_bits),
            types::DOUBLE => all!(f64, f64, f64::to_bits),
            _ => return None,
        }
        Some(if matches!(of, types::FLOAT | types::DOUBLE) { Number::Float } else { Number::Int })
    }

    /// Passes the values of a column in some rows to `take`, each with its row. Determines the type
    /// of the column only once.
    ///
    /// # Panics
    /// If there are no such rows or column.
    #[inline]
    pub fn each<'a>(
        &'a self,
        column: usize,
        rows: Range<usize>,
        mut take: impl FnMut(usize, Cell<'a>),
    ) {
        assert!(rows.end <= self.rows);
        let Vector { of, data, validity } = self.columns[column];
        let is_full = validity.is_null();
        // SAFETY: a validity mask has a bit for every row of its chunk.
        let has = |row: usize| unsafe { *validity.add(row / 64) } >> (row % 64) & 1 == 1;
        macro_rules! each {
            ($of:ty, $cell:expr) => {
                for row in rows {
                    let cell = match is_full || has(row) {
                        // SAFETY: the vector holds a value of this type for each row of the chunk,
                        // which lives as long as the chunk.
                        true => $cell(unsafe { &*data.cast::<$of>().add(row) }),
                        false => Cell::Null,
                    };
                    take(row, cell);
                }
            };
        }
        match of {
            types::BOOLEAN => each!(u8, |value: &u8| Cell::Bool(*value != 0)),
            types::TINYINT => each!(i8, |value: &i8| Cell::Int((*value).into())),
            types::SMALLINT => each!(i16, |value: &i16| Cell::Int((*value).into())),
            types::INTEGER => each!(i32, |value: &i32| Cell::Int((*value).into())),
            types::BIGINT => each!(i64, |value: &i64| Cell::Int(*value)),
            types::UTINYINT => each!(u8, |value: &u8| Cell::Int((*value).into())),
            types::USMALLINT => each!(u16, |value: &u16| Cell::Int((*value).into())),
            types::UINTEGER => each!(u32, |value: &u32| Cell::Int((*value).into())),
            types::UBIGINT => each!(u64, |value: &u64| Cell::Unsigned(*value)),
            types::FLOAT => each!(f32, |value: &f32| Cell::Float((*value).into())),
            types::DOUBLE => each!(f64, |value: &f64| Cell::Float(*value)),
            types::TIMESTAMP => each!(i64, |value: &i64| Cell::Micros(*value)),
            types::TIMESTAMP_TZ => each!(i64, |value: &i64| Cell::Instant(*value)),
            types::TIMESTAMP_NS => each!(i64, |value: &i64| Cell::Nanos(*value)),
            // The other types that are read are laid out as strings.
            // SAFETY: the bytes of a string live as long as the chunk.
            _ => each!(RawString, |value: &'a RawString| Cell::Text(unsafe { value.bytes() })),
        }
    }
}

/// Whether [`Cell`] supports its values.
fn is_read(of: TypeId) -> bool {
    const OTHERS: [TypeId; 4] =
        [types::VARCHAR, types::BLOB, types::TIMESTAMP_NS, types::TIMESTAMP_TZ];
    (types::BOOLEAN..=types::TIMESTAMP).contains(&of) || OTHERS.contains(&of)
}
