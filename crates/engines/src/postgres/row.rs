//! Rows on their way from the server.

use std::ffi::{CStr, c_int};
use std::str;

use super::answer::Answer;
use super::api::Oid;
use super::{NAME, types};
use crate::sql::ResultRow;
use crate::sql_driver::misfit::{no_column, not_wanted};
use crate::{EngineError, Result};

/// A row of an answer whose values are binary.
pub(super) struct View<'a> {
    answer: &'a Answer,
    row: c_int,
    columns: c_int,
}

/// The rows of an answer.
pub(super) fn rows(answer: &Answer) -> impl Iterator<Item = View<'_>> {
    let columns = answer.columns();
    (0..answer.rows()).map(move |row| View { answer, row, columns })
}

impl View<'_> {
    /// Decodes a value by its type; `None` of `decode` is a value that is not `wanted`.
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
            None => Err(self.misfit(number, wanted)),
        }
    }

    fn type_of(&self, column: c_int) -> Oid {
        // SAFETY: the answer is alive.
        unsafe { (self.answer.api.ftype)(self.answer.raw, column) }
    }

    #[cold]
    fn misfit(&self, column: c_int, wanted: &str) -> EngineError {
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
        #[expect(clippy::cast_precision_loss)]
        self.decode(column, "number", |of, bytes| match of {
            types::FLOAT8 => Some(f64::from_be_bytes(bytes.try_into().ok()?)),
            types::FLOAT4 => Some(f32::from_be_bytes(bytes.try_into().ok()?).into()),
            _ => integer(of, bytes).map(|value| value as f64),
        })
    }

    fn text(&self, column: usize) -> Result<Option<&str>> {
        self.decode(column, "text", |of, bytes| match of {
            // JSONB is its version, 1, and its text.
            types::JSONB => str::from_utf8(bytes.strip_prefix(&[1])?).ok(),
            of if types::is_text(of) => str::from_utf8(bytes).ok(),
            _ => None,
        })
    }

    fn bytes(&self, column: usize) -> Result<Option<&[u8]>> {
        self.decode(column, "bytes", |of, bytes| (of == types::BYTEA).then_some(bytes))
    }
}

fn integer(of: Oid, bytes: &[u8]) -> Option<i64> {
    Some(match of {
        types::INT8 => i64::from_be_bytes(bytes.try_into().ok()?),
        types::INT4 => i32::from_be_bytes(bytes.try_into().ok()?).into(),
        types::INT2 => i16::from_be_bytes(bytes.try_into().ok()?).into(),
        _ => return None,
    })
}
