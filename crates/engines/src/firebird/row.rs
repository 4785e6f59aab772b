//! Reads rows of results in place.

use std::str;

use super::NAME;
use super::api::types;
use super::message::{Field, bytes_at};
use crate::sql::{Param, ResultRow};
use crate::sql_driver::times::{self, Form};
use crate::sql_driver::value_errors::{no_column, not_wanted};
use crate::{EngineError, Result};

pub(super) struct Row<'a> {
    pub fields: &'a [Field],
    pub message: &'a [u8],
    /// Content of its blobs, by column.
    pub blobs: &'a [Vec<u8>],
    /// Character set and collation of columns with bytes.
    pub bytes: u32,
}

/// Days from Firebird's first day, 1858-11-17, to 1970-01-01.
const DAYS_TO_1970: i128 = 40_587;
const NANOSECONDS_OF_DAY: i128 = 86_400_000_000_000;
/// Nanoseconds of a unit of time.
const NANOSECONDS: i128 = 100_000;

/// The character set OCTETS.
const OCTETS: u32 = 1;

/// An integer, and the number of its digits after the point.
struct Decimal {
    number: i128,
    digits: u32,
}

impl Decimal {
    /// Returns the integer, if it is one of 64 bits.
    fn whole(&self) -> Option<i64> {
        let unit = 10_i128.pow(self.digits);
        if self.number % unit == 0 { i64::try_from(self.number / unit).ok() } else { None }
    }

    fn float(&self) -> f64 {
        // Up to 2^53 both are exact, so the quotient is rounded once.
        self.number as f64 / 10_f64.powi(self.digits as i32)
    }
}

impl<'a> Row<'a> {
    /// Reads a value. `read` returns `None` for a value that is not what is `wanted`.
    #[inline]
    fn read<T>(
        &self,
        column: usize,
        wanted: &str,
        read: impl FnOnce(&'a Field) -> Option<T>,
    ) -> Result<Option<T>> {
        let fields = self.fields;
        let Some(field) = fields.get(column) else {
            return Err(no_column(NAME, column, fields.len()));
        };
        if field.is_null(self.message) {
            return Ok(None);
        }
        match read(field) {
            Some(value) => Ok(Some(value)),
            None => Err(not_wanted(NAME, column, &field.name, name_of(field.sql_type), wanted)),
        }
    }

    #[inline]
    fn at<const N: usize>(&self, field: &Field) -> [u8; N] {
        bytes_at(self.message, field.offset)
    }

    #[inline]
    fn decimal(&self, field: &Field) -> Option<Decimal> {
        let number = match field.sql_type {
            types::SHORT => i16::from_ne_bytes(self.at(field)).into(),
            types::LONG => i32::from_ne_bytes(self.at(field)).into(),
            types::INT64 => i64::from_ne_bytes(self.at(field)).into(),
            types::INT128 => i128::from_ne_bytes(self.at(field)),
            _ => return None,
        };
        Some(Decimal { number, digits: field.scale.unsigned_abs() })
    }

    #[inline]
    fn number(&self, field: &Field) -> Option<f64> {
        match field.sql_type {
            types::DOUBLE => Some(f64::from_ne_bytes(self.at(field))),
            types::FLOAT => Some(f32::from_ne_bytes(self.at(field)).into()),
            _ => self.decimal(field).map(|decimal| decimal.float()),
        }
    }

    /// Returns the bytes of a text or byte string.
    fn string(&self, column: usize, field: &Field) -> Option<&'a [u8]> {
        let (message, at) = (self.message, field.offset);
        match field.sql_type {
            types::VARYING => {
                let length = usize::from(u16::from_ne_bytes(self.at(field)));
                message.get(at + 2..at + 2 + length)
            }
            types::TEXT => message.get(at..at + field.length),
            types::BLOB => Some(&self.blobs[column]),
            _ => None,
        }
    }

    fn are_bytes(&self, field: &Field) -> bool {
        match field.sql_type {
            types::BLOB => field.sub_type != 1,
            _ => field.character_set == OCTETS || field.character_set == self.bytes,
        }
    }

    /// Returns a date or a time: nanoseconds since 1970 or since midnight, and how they are
    /// written.
    fn time(&self, field: &Field) -> Option<(i128, Form)> {
        let days = |at| i128::from(i32::from_ne_bytes(bytes_at(self.message, at))) - DAYS_TO_1970;
        let units = |at| i128::from(u32::from_ne_bytes(bytes_at(self.message, at))) * NANOSECONDS;
        let at = field.offset;
        Some(match field.sql_type {
            types::DATE => (days(at) * NANOSECONDS_OF_DAY, Form::Date),
            types::TIME => (units(at), Form::Time),
            types::TIMESTAMP => (days(at) * NANOSECONDS_OF_DAY + units(at + 4), Form::DateTime),
            // In UTC, followed by the zone.
            types::TIMESTAMP_TZ => (days(at) * NANOSECONDS_OF_DAY + units(at + 4), Form::Instant),
            _ => return None,
        })
    }
}

impl ResultRow for Row<'_> {
    fn int(&self, column: usize) -> Result<Option<i64>> {
        self.read(column, "integer", |field| match field.sql_type {
            types::INT64 if field.scale == 0 => Some(i64::from_ne_bytes(self.at(field))),
            types::BOOLEAN => Some(i64::from(self.message[field.offset] != 0)),
            _ => self.decimal(field)?.whole(),
        })
    }

    fn float(&self, column: usize) -> Result<Option<f64>> {
        self.read(column, "number", |field| self.number(field))
    }

    fn text(&self, column: usize) -> Result<Option<&str>> {
        self.read(column, "text in UTF-8", |field| str::from_utf8(self.string(column, field)?).ok())
    }

    fn bytes(&self, column: usize) -> Result<Option<&[u8]>> {
        self.read(column, "bytes", |field| self.string(column, field))
    }

    fn columns(&self) -> Result<usize> {
        Ok(self.fields.len())
    }

    fn any<'r>(&'r self, column: usize, room: &'r mut String) -> Result<Param<'r>> {
        if let Some(field) = self.fields.get(column)
            && matches!(field.sql_type, types::TIME_TZ)
        {
            let what = "a TIME WITH TIME ZONE in a result here: cast it in the statement";
            return Err(EngineError::unsupported(NAME, what));
        }
        let value =
            self.read(column, "value that embermark reads", |field| match field.sql_type {
                types::DOUBLE | types::FLOAT => self.number(field).map(Param::Float),
                types::BOOLEAN => Some(Param::Int((self.message[field.offset] != 0).into())),
                types::VARYING | types::TEXT | types::BLOB => {
                    let string = self.string(column, field)?;
                    match self.are_bytes(field) {
                        true => Some(Param::Bytes(string)),
                        false => str::from_utf8(string).ok().map(Param::Text),
                    }
                }
                _ if let Some(decimal) = self.decimal(field) => Some(match decimal.whole() {
                    Some(whole) => Param::Int(whole),
                    None => Param::Float(decimal.float()),
                }),
                _ => {
                    let (nanoseconds, form) = self.time(field)?;
                    times::write(nanoseconds, form, room)?;
                    Some(Param::Text(&*room))
                }
            })?;
        Ok(value.unwrap_or(Param::Null))
    }
}

const fn name_of(of: u32) -> &'static str {
    match of {
        types::SHORT => "SMALLINT",
        types::LONG => "INTEGER",
        types::INT64 => "BIGINT",
        types::INT128 => "INT128",
        types::FLOAT => "FLOAT",
        types::DOUBLE => "DOUBLE PRECISION",
        types::BOOLEAN => "BOOLEAN",
        types::VARYING => "VARCHAR",
        types::TEXT => "CHAR",
        types::BLOB => "BLOB",
        types::DATE => "DATE",
        types::TIME => "TIME",
        types::TIMESTAMP => "TIMESTAMP",
        types::TIMESTAMP_TZ => "TIMESTAMP WITH TIME ZONE",
        types::TIME_TZ => "TIME WITH TIME ZONE",
        _ => "of another type",
    }
}
