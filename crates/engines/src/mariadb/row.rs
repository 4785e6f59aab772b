//! Rows on their way from the server.

use std::str;

use mysql::consts::ColumnType;
use mysql::{Row, Value};

use super::NAME;
use crate::sql::ResultRow;
use crate::{EngineError, Result};

/// A row of the driver, read where it lies.
pub(super) struct View<'a>(pub &'a Row);

impl View<'_> {
    /// Reads a value by its column's type; `None` of `decode` is a value that is not `wanted`.
    fn decode<'a, T>(
        &'a self,
        column: usize,
        wanted: &str,
        decode: impl FnOnce(ColumnType, &'a Value) -> Option<T>,
    ) -> Result<Option<T>> {
        let (Some(value), Some(of)) = (self.0.as_ref(column), self.0.columns_ref().get(column))
        else {
            let why = format!("it has {} columns", self.0.len());
            return Err(EngineError::failed(NAME, format!("read column {column} of a row"), why));
        };
        if *value == Value::NULL {
            return Ok(None);
        }
        if let Some(value) = decode(of.column_type(), value) {
            return Ok(Some(value));
        }
        let doing = format!("read column {column} (`{}`)", of.name_str());
        let why = format!(
            "it is {:?}, and this value of it no {wanted}: cast it in the statement",
            of.column_type()
        );
        Err(EngineError::failed(NAME, doing, why))
    }
}

impl ResultRow for View<'_> {
    fn int(&self, column: usize) -> Result<Option<i64>> {
        self.decode(column, "integer", |of, value| match value {
            Value::Int(value) => Some(*value),
            Value::UInt(value) => i64::try_from(*value).ok(),
            // What SUM of integers gives.
            Value::Bytes(digits) if is_decimal(of) => whole(str::from_utf8(digits).ok()?),
            _ => None,
        })
    }

    fn float(&self, column: usize) -> Result<Option<f64>> {
        #[expect(clippy::cast_precision_loss)]
        self.decode(column, "number", |of, value| match value {
            Value::Double(value) => Some(*value),
            Value::Float(value) => Some(f64::from(*value)),
            Value::Int(value) => Some(*value as f64),
            Value::UInt(value) => Some(*value as f64),
            // What AVG of integers gives.
            Value::Bytes(digits) if is_decimal(of) => str::from_utf8(digits).ok()?.parse().ok(),
            _ => None,
        })
    }

    fn text(&self, column: usize) -> Result<Option<&str>> {
        self.decode(column, "text", |of, value| match value {
            Value::Bytes(bytes) if !is_decimal(of) => str::from_utf8(bytes).ok(),
            _ => None,
        })
    }
}

fn is_decimal(of: ColumnType) -> bool {
    matches!(of, ColumnType::MYSQL_TYPE_NEWDECIMAL | ColumnType::MYSQL_TYPE_DECIMAL)
}

/// The integer that a decimal is, if it is one.
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
