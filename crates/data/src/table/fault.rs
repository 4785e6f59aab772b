//! Faults of a value or a row.

use embermark_model::table::{Column, ColumnType, Value, int_range};

use super::layout::LONGEST;
use crate::faults::faults;

faults! {
    /// Why a value does not match its column, or a row its table.
    Absent: "absent, though the column has no '?'",
    NotABool: "neither true nor false",
    NotWhole: "not a whole number",
    OutOfRange: "out of the range of its type",
    NotANumber: "not a number",
    NotFinite: "not finite",
    NotATime: "not a time",
    NotUtf8: "not UTF-8",
    Nul: "has a NUL",
    TooLong: "longer than 16 MB",
    TooManyCharacters: "more characters than its type has",
    TooFewFields: "too few fields",
    TooManyFields: "too many fields",
    StrayQuote: "a quote that opens and is not closed",
    Unreadable: "cannot be read",
    HeaderAgain: "the names of the columns again",
    NotAnObject: "not a JSON object with these fields",
    OtherType: "of another type",
}

/// Checks that a value matches a column.
#[inline]
pub(super) fn check_value(column: &Column, value: &Value<'_>) -> Result<(), Fault> {
    match (column.of, value) {
        (_, Value::Null) if column.nullable => Ok(()),
        (_, Value::Null) => Err(Fault::Absent),
        (ColumnType::Bool, Value::Int(0 | 1)) | (ColumnType::Timestamp(_), Value::Int(_)) => Ok(()),
        (ColumnType::Bool, Value::Int(_)) => Err(Fault::NotABool),
        (ColumnType::Int { bits, signed }, &Value::Int(value)) => {
            let (least, greatest) = int_range(bits, signed);
            if (least..=greatest).contains(&value) { Ok(()) } else { Err(Fault::OutOfRange) }
        }
        (ColumnType::Float, Value::Float(value)) if value.is_finite() => Ok(()),
        (ColumnType::Float, Value::Float(_)) => Err(Fault::NotFinite),
        (ColumnType::Text, Value::Text(text)) if memchr::memchr(0, text.as_bytes()).is_some() => {
            Err(Fault::Nul)
        }
        (ColumnType::Text, Value::Text(text)) if text.len() > LONGEST => Err(Fault::TooLong),
        (ColumnType::Text, Value::Text(text))
            if column.longest.is_some_and(|longest| exceeds(text, longest)) =>
        {
            Err(Fault::TooManyCharacters)
        }
        (ColumnType::Bytes, Value::Bytes(bytes)) if bytes.len() > LONGEST => Err(Fault::TooLong),
        (ColumnType::Text, Value::Text(_)) | (ColumnType::Bytes, Value::Bytes(_)) => Ok(()),
        _ => Err(Fault::OtherType),
    }
}

/// Whether a text has more than `longest` characters.
fn exceeds(text: &str, longest: u32) -> bool {
    text.len() > longest as usize && text.chars().count() > longest as usize
}
