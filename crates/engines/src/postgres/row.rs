//! Rows on their way from the server.

use std::error::Error;
use std::str;

use postgres::Row;
use postgres::types::{FromSql, Type};

use super::{NAME, failed, numeric};
use crate::sql::ResultRow;
use crate::{EngineError, Result};

/// A row of the driver.
pub(super) struct View<'a>(pub &'a Row);

/// The bytes of a value of any type.
struct Bytes<'a>(&'a [u8]);

impl<'a> FromSql<'a> for Bytes<'a> {
    fn from_sql(
        _: &Type,
        raw: &'a [u8],
    ) -> std::result::Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(raw))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

impl View<'_> {
    fn value(&self, column: usize) -> Result<(&Type, Option<&[u8]>)> {
        let bytes: Option<Bytes<'_>> = self
            .0
            .try_get(column)
            .map_err(|e| failed(format!("read column {column} of a row"), &e))?;
        Ok((self.0.columns()[column].type_(), bytes.map(|bytes| bytes.0)))
    }

    /// Decodes a value by its type; `None` of `decode` is a value that is not `wanted`.
    fn decode<'a, T>(
        &'a self,
        column: usize,
        wanted: &str,
        decode: impl FnOnce(&Type, &'a [u8]) -> Option<T>,
    ) -> Result<Option<T>> {
        let (ty, bytes) = self.value(column)?;
        let Some(bytes) = bytes else { return Ok(None) };
        if let Some(value) = decode(ty, bytes) {
            return Ok(Some(value));
        }
        let doing = format!("read column {column} (`{}`)", self.0.columns()[column].name());
        let why = format!("it is {ty}, and this value of it no {wanted}: cast it in the statement");
        Err(EngineError::failed(NAME, doing, why))
    }
}

impl ResultRow for View<'_> {
    fn int(&self, column: usize) -> Result<Option<i64>> {
        self.decode(column, "integer", |ty, bytes| match *ty {
            Type::NUMERIC => numeric::to_int(bytes),
            _ => integer(ty, bytes),
        })
    }

    fn float(&self, column: usize) -> Result<Option<f64>> {
        #[expect(clippy::cast_precision_loss)]
        self.decode(column, "number", |ty, bytes| match *ty {
            Type::FLOAT8 => Some(f64::from_be_bytes(bytes.try_into().ok()?)),
            Type::FLOAT4 => Some(f32::from_be_bytes(bytes.try_into().ok()?).into()),
            Type::NUMERIC => numeric::to_float(bytes),
            _ => integer(ty, bytes).map(|value| value as f64),
        })
    }

    fn text(&self, column: usize) -> Result<Option<&str>> {
        self.decode(column, "text", |ty, bytes| match *ty {
            Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME | Type::UNKNOWN | Type::JSON => {
                str::from_utf8(bytes).ok()
            }
            // JSONB is its version, 1, and its text.
            Type::JSONB => str::from_utf8(bytes.strip_prefix(&[1])?).ok(),
            _ => None,
        })
    }
}

fn integer(ty: &Type, bytes: &[u8]) -> Option<i64> {
    Some(match *ty {
        Type::INT8 => i64::from_be_bytes(bytes.try_into().ok()?),
        Type::INT4 => i32::from_be_bytes(bytes.try_into().ok()?).into(),
        Type::INT2 => i16::from_be_bytes(bytes.try_into().ok()?).into(),
        _ => return None,
    })
}
