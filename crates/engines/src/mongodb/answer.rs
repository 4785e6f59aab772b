//! Answers, which are BSON (<https://bsonspec.org/spec.html>), read in place.

mod elements;

use super::failure::Failure;

/// Type number of a decimal, which nothing stored here has.
const DECIMAL: u8 = 0x13;

/// A document or a list: its elements, without its length and its end mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Document<'a>(&'a [u8]);

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value<'a> {
    /// Null, or undefined, an older name for it.
    Null,
    Boolean(bool),
    /// An integer of 32 or 64 bits.
    Integer(i64),
    Double(f64),
    /// Bytes, which are only decoded if a text is wanted.
    String(&'a [u8]),
    Binary(&'a [u8]),
    /// Milliseconds since 1970-01-01 UTC.
    Date(i64),
    Document(Document<'a>),
    List(Document<'a>),
    /// A type that is never needed, by its number.
    Other(u8),
}

impl<'a> Document<'a> {
    /// Returns these bytes as a document.
    pub fn new(bytes: &'a [u8]) -> Result<Self, Failure> {
        let length = bytes.first_chunk().map(|bytes| i32::from_le_bytes(*bytes));
        match (length.map(usize::try_from), bytes) {
            (Some(Ok(length)), [_, _, _, _, elements @ .., 0]) if length == bytes.len() => {
                Ok(Self(elements))
            }
            _ => Err(malformed()),
        }
    }
}

impl<'a> Value<'a> {
    pub fn as_document(self) -> Option<Document<'a>> {
        if let Self::Document(document) = self { Some(document) } else { None }
    }

    pub fn as_list(self) -> Option<Document<'a>> {
        if let Self::List(list) = self { Some(list) } else { None }
    }

    /// Returns a text, or `None` if it is not UTF-8.
    pub fn as_text(self) -> Option<&'a str> {
        let Self::String(text) = self else { return None };
        std::str::from_utf8(text).ok()
    }

    /// Returns an integer, or a double without a fraction, because the server and pipelines also
    /// count in doubles.
    pub fn as_integer(self) -> Option<i64> {
        /// 2^63, the first double above every 64-bit integer.
        const END: f64 = 9_223_372_036_854_775_808.0;
        match self {
            Self::Integer(int) => Some(int),
            Self::Double(float) if float.fract() == 0.0 && (-END..END).contains(&float) => {
                Some(float as i64)
            }
            _ => None,
        }
    }

    /// Returns an integer or a double.
    pub fn as_float(self) -> Option<f64> {
        match self {
            Self::Double(float) => Some(float),
            Self::Integer(int) => Some(int as f64),
            _ => None,
        }
    }

    /// Returns its type, in BSON's terms.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Null => "Null",
            Self::Boolean(_) => "Boolean",
            Self::Integer(_) => "Integer",
            Self::Double(_) => "Double",
            Self::String(_) => "String",
            Self::Binary(_) => "Binary",
            Self::Date(_) => "UTC datetime",
            Self::Document(_) => "Document",
            Self::List(_) => "Array",
            Self::Other(DECIMAL) => "Decimal128",
            Self::Other(_) => "Value of another type",
        }
    }
}

/// Returns the error for an unreadable answer.
#[cold]
fn malformed() -> Failure {
    Failure::new("it is not well-formed BSON")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_double_is_an_integer_where_it_has_no_fraction_and_is_in_range() {
        let int = |float| Value::Double(float).as_integer();
        assert_eq!((int(-3.0), int(0.5), int(f64::NAN)), (Some(-3), None, None));
        assert_eq!(int(-9_223_372_036_854_775_808.0), Some(i64::MIN));
        assert_eq!(int(9_223_372_036_854_775_808.0), None);
    }
}
