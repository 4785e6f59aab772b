//! Answers, which are BSON (<https://bsonspec.org/spec.html>), read where they lie.

use std::fmt;

use super::elements::{Elements, malformed};
use super::failure::Failure;

/// The type of a decimal, which nothing that is stored here is.
const DECIMAL: u8 = 0x13;

/// A document or a list: its elements, without the length in front and the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Document<'a>(&'a [u8]);

/// A value of an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value<'a> {
    /// Or undefined, which is an older name for it.
    Null,
    Boolean(bool),
    /// Of 32 or 64 bits.
    Integer(i64),
    Double(f64),
    /// As bytes, until somebody asks for text.
    String(&'a [u8]),
    Binary(&'a [u8]),
    /// Milliseconds since 1970-01-01 UTC.
    Date(i64),
    Document(Document<'a>),
    List(Document<'a>),
    /// One that is never asked for: its type's number.
    Other(u8),
}

impl<'a> Document<'a> {
    /// The document that these bytes are.
    pub fn new(bytes: &'a [u8]) -> Result<Self, Failure> {
        let length = bytes.first_chunk().map(|bytes| i32::from_le_bytes(*bytes));
        match (length.map(usize::try_from), bytes) {
            (Some(Ok(length)), [_, _, _, _, elements @ .., 0]) if length == bytes.len() => {
                Ok(Self(elements))
            }
            _ => Err(malformed()),
        }
    }

    /// The value of that name. None, too, where the document is broken in front of it.
    pub fn get(self, name: &str) -> Option<Value<'a>> {
        let found = self.into_iter().map_while(Result::ok).find(|(n, _)| *n == name.as_bytes());
        found.map(|(_, value)| value)
    }

    /// What stands at a path of names that dots divide.
    pub fn at(self, path: &str) -> Option<Value<'a>> {
        match path.split_once('.') {
            Some((name, rest)) => self.get(name)?.as_document()?.at(rest),
            None => self.get(path),
        }
    }

    /// The text of that name.
    pub fn text(self, name: &str) -> Option<&'a str> {
        self.get(name)?.as_text()
    }

    /// The number of that name, as an integer.
    pub fn integer(self, name: &str) -> Option<i64> {
        self.get(name)?.as_integer()
    }
}

impl<'a> Value<'a> {
    pub fn as_document(self) -> Option<Document<'a>> {
        match self {
            Self::Document(document) => Some(document),
            _ => None,
        }
    }

    pub fn as_list(self) -> Option<Document<'a>> {
        match self {
            Self::List(list) => Some(list),
            _ => None,
        }
    }

    /// A text; none either where it is no UTF-8.
    pub fn as_text(self) -> Option<&'a str> {
        match self {
            Self::String(text) => std::str::from_utf8(text).ok(),
            _ => None,
        }
    }

    /// An integer, or a double without a fraction, as the server and pipelines count, too.
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

    /// A number, an integer or a double.
    pub fn as_float(self) -> Option<f64> {
        match self {
            Self::Double(float) => Some(float),
            Self::Integer(int) => Some(int as f64),
            _ => None,
        }
    }

    /// Its kind, in BSON's words.
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

impl<'a> IntoIterator for Document<'a> {
    type Item = Result<(&'a [u8], Value<'a>), Failure>;
    type IntoIter = Elements<'a>;

    fn into_iter(self) -> Elements<'a> {
        Elements::new(self.0)
    }
}

/// As MongoDB's tools write it, but for types that are never asked for.
impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Boolean(flag) => write!(f, "{flag}"),
            Self::Integer(int) => write!(f, "{int}"),
            Self::Double(float) => write!(f, "{float}"),
            Self::String(text) => write!(f, "\"{}\"", String::from_utf8_lossy(text)),
            Self::Document(document) => write!(f, "{document}"),
            Self::List(list) => {
                f.write_str("[")?;
                for (i, (_, value)) in list.into_iter().map_while(Result::ok).enumerate() {
                    write!(f, "{}{value}", if i == 0 { "" } else { ", " })?;
                }
                f.write_str("]")
            }
            Self::Binary(_) | Self::Date(_) | Self::Other(_) => f.write_str(self.kind()),
        }
    }
}

impl fmt::Display for Document<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (i, (name, value)) in self.into_iter().map_while(Result::ok).enumerate() {
            let comma = if i == 0 { "" } else { "," };
            write!(f, "{comma} \"{}\": {value}", String::from_utf8_lossy(name))?;
        }
        f.write_str(" }")
    }
}

#[cfg(test)]
mod tests;
