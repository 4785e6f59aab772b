//! Reads rows directly from the vectors of a result.

use std::ffi::c_void;
use std::{ptr, str};

use super::NAME;
use crate::sql::{Param, ResultRow};
use crate::sql_driver::times::{self, Form};
use crate::sql_driver::value_errors::no_column;
use crate::{EngineError, Result};
use embermark_libraries::duckdb::api::{Api, Handle, Owned, RawString, TypeId, types};
use embermark_libraries::duckdb::connection::QueryResult;

/// A column of a result: the layout of its values, and their address in the current chunk.
pub(super) struct Column {
    type_id: TypeId,
    /// Digits after the point of a decimal. 0 for other types.
    scale: u8,
    data: *const c_void,
    /// A bit per row, set if there is a value. Null if every row has one.
    validity: *const u64,
}

impl Column {
    /// Describes the columns of a result.
    pub(super) fn describe(api: &'static Api, answer: &mut QueryResult, columns: &mut Vec<Self>) {
        columns.clear();
        let result = &raw mut answer.raw;
        // SAFETY: the result is alive.
        let count = unsafe { (api.column_count)(result) };
        columns.extend((0..count).map(|number| {
            // SAFETY: the result is alive and has that column.
            let (mut type_id, mut scale) = (unsafe { (api.column_type)(result, number) }, 0);
            if type_id == types::DECIMAL {
                // SAFETY: as above.
                unsafe {
                    let logical = (api.column_logical_type)(result, number);
                    let logical = Owned::new(logical, api.destroy_logical_type);
                    // Integers of 16 to 128 bits.
                    type_id = (api.decimal_internal_type)(logical.raw);
                    scale = (api.decimal_scale)(logical.raw);
                }
            }
            Self { type_id, scale, data: ptr::null(), validity: ptr::null() }
        }));
    }

    /// Sets the addresses of its values to those of its vector in a chunk.
    ///
    /// # Safety
    /// The vector must belong to this column.
    pub(super) unsafe fn set_vector(&mut self, api: &'static Api, vector: Handle) {
        // SAFETY: the vector is alive.
        unsafe {
            self.data = (api.vector_get_data)(vector);
            self.validity = (api.vector_get_validity)(vector);
        }
    }
}

/// A row of the current chunk.
pub(super) struct Row<'a> {
    columns: &'a [Column],
    row: usize,
}

impl<'a> Row<'a> {
    /// # Safety
    /// The columns must point into a chunk that lives as long as `'a` and has that row.
    pub(super) unsafe fn new(columns: &'a [Column], row: usize) -> Self {
        Self { columns, row }
    }

    /// Returns the column, unless its value is NULL.
    fn column(&self, number: usize) -> Result<Option<&Column>> {
        let count = self.columns.len();
        let column = self.columns.get(number).ok_or_else(|| no_column(NAME, number, count))?;
        // SAFETY: a validity mask has a bit for every row of its chunk.
        let is_value = column.validity.is_null()
            || unsafe { *column.validity.add(self.row / 64) } & (1 << (self.row % 64)) != 0;
        Ok(is_value.then_some(column))
    }

    /// Returns the value, if the column has integers of any width.
    fn integer(&self, column: &Column) -> Option<i128> {
        macro_rules! read {
            ($of:ty) => {
                // SAFETY: the vector holds a valid value of this type for the row.
                i128::from(unsafe { column.data.cast::<$of>().add(self.row).read() })
            };
        }
        Some(match column.type_id {
            types::BOOLEAN | types::UTINYINT => read!(u8),
            types::TINYINT => read!(i8),
            types::SMALLINT => read!(i16),
            types::INTEGER => read!(i32),
            types::BIGINT => read!(i64),
            types::USMALLINT => read!(u16),
            types::UINTEGER => read!(u32),
            types::UBIGINT => read!(u64),
            types::HUGEINT => {
                // SAFETY: as above: a `duckdb_hugeint`, the lower half first.
                let halves = unsafe { column.data.cast::<[u64; 2]>().add(self.row).read() };
                (i128::from(halves[1] as i64) << 64) | i128::from(halves[0])
            }
            _ => return None,
        })
    }

    /// Returns the bytes of a value of a type that is stored as a string.
    fn string(&self, column: usize, type_id: TypeId, wanted: &str) -> Result<Option<&[u8]>> {
        let Some(found) = self.column(column)? else { return Ok(None) };
        if found.type_id != type_id {
            return self.wrong_type(column, wanted);
        }
        // SAFETY: the vector holds a string for the row, which lives as long as the chunk.
        Ok(Some(unsafe { (*found.data.cast::<RawString>().add(self.row)).bytes() }))
    }

    /// Returns a date or a time: nanoseconds since 1970, and how they are written.
    fn time(&self, column: &Column) -> Option<(i128, Form)> {
        // SAFETY: the vector holds a valid value of this type for the row: days for a date, a
        // number of units for all others.
        let wide = || i128::from(unsafe { column.data.cast::<i64>().add(self.row).read() });
        Some(match column.type_id {
            types::DATE => {
                // SAFETY: as above.
                let days = unsafe { column.data.cast::<i32>().add(self.row).read() };
                (i128::from(days) * 86_400_000_000_000, Form::Date)
            }
            types::TIME => (wide() * 1_000, Form::Time),
            types::TIMESTAMP_S => (wide() * 1_000_000_000, Form::DateTime),
            types::TIMESTAMP_MS => (wide() * 1_000_000, Form::DateTime),
            types::TIMESTAMP => (wide() * 1_000, Form::DateTime),
            types::TIMESTAMP_NS => (wide(), Form::DateTime),
            types::TIMESTAMP_TZ => (wide() * 1_000, Form::Instant),
            _ => return None,
        })
    }

    #[cold]
    fn wrong_type<T>(&self, column: usize, wanted: &str) -> Result<T> {
        let type_id = self.columns.get(column).map_or(0, |column| column.type_id);
        let what = format!("a value of DuckDB's type {type_id} is not {wanted}");
        Err(EngineError::failed(NAME, format!("read column {column} of a result"), what))
    }
}

impl ResultRow for Row<'_> {
    fn int(&self, column: usize) -> Result<Option<i64>> {
        let Some(found) = self.column(column)? else { return Ok(None) };
        let integer = if found.scale == 0 { self.integer(found) } else { None };
        match integer.map(i64::try_from) {
            Some(Ok(number)) => Ok(Some(number)),
            Some(Err(_)) => self.wrong_type(column, "a 64-bit integer: it is too large"),
            None => self.wrong_type(column, "an integer"),
        }
    }

    /// NaN is a number here as in DuckDB, and not NULL. The dialect avoids the one expression that
    /// would return it.
    fn float(&self, column: usize) -> Result<Option<f64>> {
        let Some(found) = self.column(column)? else { return Ok(None) };
        match found.type_id {
            // SAFETY: the vector holds a valid value of this type for the row.
            types::DOUBLE => Ok(Some(unsafe { found.data.cast::<f64>().add(self.row).read() })),
            types::FLOAT => {
                // SAFETY: as above.
                Ok(Some(f64::from(unsafe { found.data.cast::<f32>().add(self.row).read() })))
            }
            types::BOOLEAN => self.wrong_type(column, "a number"),
            _ => match self.integer(found) {
                // Up to 2^53 both are exact, so the quotient is rounded once.
                Some(number) => Ok(Some(number as f64 / 10f64.powi(i32::from(found.scale)))),
                None => self.wrong_type(column, "a number"),
            },
        }
    }

    fn text(&self, column: usize) -> Result<Option<&str>> {
        let Some(bytes) = self.string(column, types::VARCHAR, "text")? else { return Ok(None) };
        str::from_utf8(bytes).map(Some).or_else(|_| self.wrong_type(column, "valid UTF-8"))
    }

    fn bytes(&self, column: usize) -> Result<Option<&[u8]>> {
        self.string(column, types::BLOB, "bytes")
    }

    fn columns(&self) -> Result<usize> {
        Ok(self.columns.len())
    }

    fn any<'a>(&'a self, column: usize, room: &'a mut String) -> Result<Param<'a>> {
        let Some(found) = self.column(column)? else { return Ok(Param::Null) };
        let value = match found.type_id {
            types::DOUBLE | types::FLOAT => self.float(column)?.map(Param::Float),
            types::VARCHAR => self.text(column)?.map(Param::Text),
            types::BLOB => self.bytes(column)?.map(Param::Bytes),
            of => match (self.integer(found), self.time(found)) {
                (Some(number), _) => {
                    let unit = 10_i128.pow(found.scale.into());
                    let whole = (number % unit == 0).then(|| i64::try_from(number / unit).ok());
                    match whole.flatten() {
                        Some(whole) => Some(Param::Int(whole)),
                        None => self.float(column)?.map(Param::Float),
                    }
                }
                (None, Some((nanoseconds, form))) => {
                    times::write(nanoseconds, form, room).map(|()| Param::Text(room))
                }
                (None, None) => {
                    let what = format!("a result of its type {of}: cast it in the statement");
                    return Err(EngineError::unsupported(NAME, what));
                }
            },
        };
        value.ok_or(()).or_else(|()| self.wrong_type(column, "a time in the years -9999 to 9999"))
    }
}
