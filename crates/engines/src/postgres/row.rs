//! Decodes rows from the server.

use std::ffi::{CStr, c_int};
use std::str;

use super::answer::Answer;
use super::api::Oid;
use super::{NAME, numeric, types};
use crate::sql::{Param, ResultRow};
use crate::sql_driver::times::{self, Form};
use crate::sql_driver::value_errors::{no_column, not_wanted};
use crate::{EngineError, Result};

/// A row of an answer whose values are binary.
pub(super) struct View<'a> {
    answer: &'a Answer,
    row: c_int,
    columns: c_int,
}

pub(super) fn rows(answer: &Answer) -> impl Iterator<Item = View<'_>> {
    let columns = answer.columns();
    (0..answer.rows()).map(move |row| View { answer, row, columns })
}

impl View<'_> {
    /// Decodes a value by its type. `decode` returns `None` for a value that is not what is
    /// `wanted`.
    #[inline]
    fn decode<'a, T>(
        &'a self,
        column: usize,
        wanted: &str,
        decode: impl FnOnce(Oid, &'a [u8]) -> Option<T>,
    ) -> Result<Option<T>> {
        let number = c_int::try_from(column).ok().filter(|number| *number < self.columns);
        let Some(number) = number else {
            return Err(no_column(NAME, column, self.columns as usize));
        };
        let Some(bytes) = self.answer.value(self.row, number) else { return Ok(None) };
        match decode(self.type_of(number), bytes) {
            Some(value) => Ok(Some(value)),
            None => Err(self.mismatch(number, wanted)),
        }
    }

    fn type_of(&self, column: c_int) -> Oid {
        // SAFETY: the answer is alive.
        unsafe { (self.answer.api.ftype)(self.answer.raw, column) }
    }

    #[cold]
    fn mismatch(&self, column: c_int, wanted: &str) -> EngineError {
        // SAFETY: the answer is alive and has the column: its name is a terminated text.
        let name = unsafe { CStr::from_ptr((self.answer.api.fname)(self.answer.raw, column)) };
        let of = types::name(self.type_of(column));
        not_wanted(NAME, column as usize, &name.to_string_lossy(), &of, wanted)
    }
}

impl ResultRow for View<'_> {
    fn int(&self, column: usize) -> Result<Option<i64>> {
        self.decode(column, "integer", integer)
    }

    fn float(&self, column: usize) -> Result<Option<f64>> {
        self.decode(column, "number", float)
    }

    fn text(&self, column: usize) -> Result<Option<&str>> {
        self.decode(column, "text", text)
    }

    fn bytes(&self, column: usize) -> Result<Option<&[u8]>> {
        self.decode(column, "bytes", |of, bytes| (of == types::BYTEA).then_some(bytes))
    }

    fn columns(&self) -> Result<usize> {
        Ok(self.columns as usize)
    }

    fn any<'a>(&'a self, column: usize, room: &'a mut String) -> Result<Param<'a>> {
        let value = self.decode(column, "value of a kind that is known here", |of, bytes| {
            if let Some(integer) = integer(of, bytes) {
                return Some(Param::Int(integer));
            }
            if let Some((nanoseconds, form)) = time(of, bytes) {
                return times::write(nanoseconds, form, room).map(|()| Param::Text(room));
            }
            match of {
                types::BOOL => Some(Param::Int(i64::from(*bytes.first()?))),
                types::BYTEA => Some(Param::Bytes(bytes)),
                types::FLOAT4 | types::FLOAT8 | types::NUMERIC => {
                    float(of, bytes).map(Param::Float)
                }
                _ => text(of, bytes).map(Param::Text),
            }
        });
        value.map(|value| value.unwrap_or(Param::Null)).map_err(EngineError::impossible)
    }
}

fn integer(of: Oid, bytes: &[u8]) -> Option<i64> {
    Some(match of {
        types::INT8 => i64::from_be_bytes(bytes.try_into().ok()?),
        types::INT4 => i32::from_be_bytes(bytes.try_into().ok()?).into(),
        types::INT2 => i16::from_be_bytes(bytes.try_into().ok()?).into(),
        // SUM of wide integers has this type.
        types::NUMERIC => numeric::whole(bytes)?,
        _ => return None,
    })
}

#[expect(clippy::cast_precision_loss)]
fn float(of: Oid, bytes: &[u8]) -> Option<f64> {
    match of {
        types::FLOAT8 => Some(f64::from_be_bytes(bytes.try_into().ok()?)),
        types::FLOAT4 => Some(f32::from_be_bytes(bytes.try_into().ok()?).into()),
        // AVG of integers has this type.
        types::NUMERIC => numeric::float(bytes),
        _ => integer(of, bytes).map(|value| value as f64),
    }
}

fn text(of: Oid, bytes: &[u8]) -> Option<&str> {
    match of {
        // JSONB is its version, 1, followed by its text.
        types::JSONB => str::from_utf8(bytes.strip_prefix(&[1])?).ok(),
        of if types::is_text(of) => str::from_utf8(bytes).ok(),
        _ => None,
    }
}

/// Decodes a date or a time: nanoseconds since 1970, and how they are written. The server counts
/// days and microseconds from 2000 (<https://www.postgresql.org/docs/18/datatype-datetime.html>).
fn time(of: Oid, bytes: &[u8]) -> Option<(i128, Form)> {
    const FROM: i128 = 946_684_800_000_000_000;
    const DAY: i128 = 86_400_000_000_000;
    if of == types::DATE {
        let days = i32::from_be_bytes(bytes.try_into().ok()?);
        return Some((FROM + i128::from(days) * DAY, Form::Date));
    }
    let (from, form) = match of {
        types::TIME => (0, Form::Time),
        types::TIMESTAMP => (FROM, Form::DateTime),
        types::TIMESTAMPTZ => (FROM, Form::Instant),
        _ => return None,
    };
    let microseconds = i64::from_be_bytes(bytes.try_into().ok()?);
    Some((from + i128::from(microseconds) * 1_000, form))
}
