//! Columns of a result: where the library writes a row's values, and how they are read.

use std::cell::Cell;
use std::ffi::{c_uint, c_ulong};
use std::{slice, str};

use super::NAME;
use super::api::{Bind, Field, Flag, UNSIGNED, types};
use crate::Result;
use crate::sql::{Param, ResultRow};
use crate::sql_driver::value_errors::{no_column, not_wanted};

/// A column, and its value in the row fetched last. The library writes to cells, or to memory in
/// cells, so a reference to a column does not invalidate its pointers.
pub(super) struct Column {
    name: Box<str>,
    /// Its type on the server, one of [`types`].
    of: c_uint,
    is_unsigned: bool,
    /// Whether a text has bytes.
    is_binary: bool,
    is_null: Cell<Flag>,
    /// Bits of an integer or a double.
    number: Cell<u64>,
    /// Length of a text in bytes. If it was truncated, this is more than its room.
    length: Cell<c_ulong>,
    text: Vec<Cell<u8>>,
}

/// How values of a type arrive.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Integer,
    Float,
    Double,
    /// As decimal digits.
    Decimal,
    /// As a text, such as `2024-02-29 23:59:59.500000`.
    Time,
    Text,
}

/// Character set of bytes, and of everything that is not a string.
const BINARY: c_uint = 63;

/// Most bytes allocated at first for a column's texts.
const FIRST_ROOM: c_ulong = 1024;

impl Column {
    /// # Safety
    /// The field's name must have the length that it states.
    pub unsafe fn new(field: &Field) -> Self {
        // SAFETY: as the caller promises.
        let name = unsafe { slice::from_raw_parts(field.name.cast(), field.name_length as usize) };
        let mut column = Self {
            name: String::from_utf8_lossy(name).into(),
            of: field.field_type,
            is_unsigned: is_unsigned(field),
            is_binary: field.character_set == BINARY,
            is_null: Cell::new(1),
            number: Cell::new(0),
            length: Cell::new(0),
            text: Vec::new(),
        };
        if column.is_textual() {
            column.make_room(field.length.clamp(1, FIRST_ROOM) as usize);
        }
        column
    }

    /// Returns whether it was made for such a field.
    pub fn is_of(&self, field: &Field) -> bool {
        self.of == field.field_type
            && self.is_unsigned == is_unsigned(field)
            && self.is_binary == (field.character_set == BINARY)
    }

    /// Returns whether its text did not fit.
    pub fn is_cut(&self) -> bool {
        let is_longer = self.length.get() > self.text.len() as c_ulong;
        self.is_textual() && self.is_null.get() == 0 && is_longer
    }

    /// Makes room for the text that did not fit. The column must be bound again afterwards.
    pub fn grow(&mut self) {
        self.make_room((self.length.get() as usize).next_power_of_two());
    }

    fn make_room(&mut self, bytes: usize) {
        self.text = vec![Cell::new(0); bytes];
    }

    /// Returns where its values are written, valid until it is moved or grown.
    pub fn bind(&self) -> Bind {
        let mut bind = match form(self.of) {
            Form::Integer => Bind::new(types::LONGLONG, self.number.as_ptr().cast()),
            Form::Float => Bind::new(types::FLOAT, self.number.as_ptr().cast()),
            Form::Double => Bind::new(types::DOUBLE, self.number.as_ptr().cast()),
            Form::Decimal | Form::Time | Form::Text => {
                Bind::new(types::STRING, self.text.as_ptr().cast_mut().cast())
            }
        };
        bind.buffer_length = self.text.len() as c_ulong;
        bind.is_unsigned = self.is_unsigned.into();
        bind.is_null = self.is_null.as_ptr();
        bind.length = self.length.as_ptr();
        bind
    }

    fn is_textual(&self) -> bool {
        matches!(form(self.of), Form::Decimal | Form::Time | Form::Text)
    }

    fn integer(&self) -> Option<i64> {
        let bits = self.number.get();
        if self.is_unsigned { i64::try_from(bits).ok() } else { Some(bits.cast_signed()) }
    }

    #[expect(clippy::cast_precision_loss)]
    fn number(&self, form: Form) -> Option<f64> {
        let bits = self.number.get();
        match form {
            Form::Double => Some(f64::from_bits(bits)),
            Form::Float => {
                let [a, b, c, d, ..] = bits.to_ne_bytes();
                Some(f32::from_ne_bytes([a, b, c, d]).into())
            }
            Form::Integer if self.is_unsigned => Some(bits as f64),
            Form::Integer => Some(bits.cast_signed() as f64),
            // AVG of integers has this type.
            Form::Decimal => self.text()?.parse().ok(),
            Form::Time | Form::Text => None,
        }
    }

    fn text(&self) -> Option<&str> {
        str::from_utf8(self.bytes()).ok()
    }

    fn bytes(&self) -> &[u8] {
        let length = (self.length.get() as usize).min(self.text.len());
        // SAFETY: that much of the memory exists, and the library writes to it only in a fetch,
        // which needs exclusive use of the statement, while this borrows one of its columns.
        unsafe { slice::from_raw_parts(self.text.as_ptr().cast::<u8>(), length) }
    }
}

pub(super) struct Row<'a>(pub &'a [Column]);

impl Row<'_> {
    /// Reads a value by its form. `read` returns `None` for a value that is not what is `wanted`.
    #[inline]
    fn read<'a, T>(
        &'a self,
        column: usize,
        wanted: &str,
        read: impl FnOnce(&'a Column, Form) -> Option<T>,
    ) -> Result<Option<T>> {
        let Some(found) = self.0.get(column) else {
            return Err(no_column(NAME, column, self.0.len()));
        };
        if found.is_null.get() != 0 {
            return Ok(None);
        }
        match read(found, form(found.of)) {
            Some(value) => Ok(Some(value)),
            None => Err(not_wanted(NAME, column, &found.name, kind(found.of).1, wanted)),
        }
    }
}

impl ResultRow for Row<'_> {
    fn int(&self, column: usize) -> Result<Option<i64>> {
        self.read(column, "integer", |found, form| match form {
            Form::Integer => found.integer(),
            // SUM of integers has this type.
            Form::Decimal => whole(found.text()?),
            _ => None,
        })
    }

    fn float(&self, column: usize) -> Result<Option<f64>> {
        self.read(column, "number", Column::number)
    }

    fn text(&self, column: usize) -> Result<Option<&str>> {
        self.read(column, "text", |found, form| found.text().filter(|_| form == Form::Text))
    }

    fn bytes(&self, column: usize) -> Result<Option<&[u8]>> {
        self.read(column, "bytes", |found, form| (form == Form::Text).then(|| found.bytes()))
    }

    fn columns(&self) -> Result<usize> {
        Ok(self.0.len())
    }

    fn any<'a>(&'a self, column: usize, _: &'a mut String) -> Result<Param<'a>> {
        let value = self.read(column, "UTF-8", |found, form| match form {
            Form::Integer if let Some(integer) = found.integer() => Some(Param::Int(integer)),
            Form::Decimal if let Some(integer) = whole(found.text()?) => Some(Param::Int(integer)),
            Form::Integer | Form::Float | Form::Double | Form::Decimal => {
                found.number(form).map(Param::Float)
            }
            Form::Time => found.text().map(without_zeros).map(Param::Text),
            Form::Text if found.is_binary => Some(Param::Bytes(found.bytes())),
            Form::Text => found.text().map(Param::Text),
        })?;
        Ok(value.unwrap_or(Param::Null))
    }
}

fn is_unsigned(field: &Field) -> bool {
    field.flags & UNSIGNED != 0
}

fn form(of: c_uint) -> Form {
    kind(of).0
}

/// Returns how values of a type arrive, and its SQL name.
const fn kind(of: c_uint) -> (Form, &'static str) {
    match of {
        types::TINY => (Form::Integer, "TINYINT"),
        types::SHORT => (Form::Integer, "SMALLINT"),
        types::INT24 => (Form::Integer, "MEDIUMINT"),
        types::LONG => (Form::Integer, "INT"),
        types::LONGLONG => (Form::Integer, "BIGINT"),
        types::YEAR => (Form::Integer, "YEAR"),
        types::FLOAT => (Form::Float, "FLOAT"),
        types::DOUBLE => (Form::Double, "DOUBLE"),
        types::DECIMAL | types::NEWDECIMAL => (Form::Decimal, "DECIMAL"),
        types::DATE => (Form::Time, "DATE"),
        types::TIME => (Form::Time, "TIME"),
        types::DATETIME => (Form::Time, "DATETIME"),
        types::TIMESTAMP => (Form::Time, "TIMESTAMP"),
        _ => (Form::Text, "a string"),
    }
}

/// Returns a time without the trailing zeros of its fraction.
fn without_zeros(time: &str) -> &str {
    if time.contains('.') { time.trim_end_matches('0').trim_end_matches('.') } else { time }
}

/// Returns the integer that a decimal is, if it is one.
fn whole(decimal: &str) -> Option<i64> {
    let (integer, fraction) = decimal.split_once('.').unwrap_or((decimal, ""));
    fraction.bytes().all(|digit| digit == b'0').then(|| integer.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decimal_is_an_integer_when_nothing_is_behind_its_point() {
        assert_eq!(whole("-42"), Some(-42));
        assert_eq!(whole("6.0000"), Some(6));
        assert_eq!(whole("6.5000"), None);
        assert_eq!(whole("9223372036854775808"), None);
    }
}
