//! The elements of a document, in sequence (<https://bsonspec.org/spec.html>).

use super::answer::{Document, Value};
use super::failure::Failure;

/// The elements of a document, each a name and a value.
pub(super) struct Elements<'a>(&'a [u8]);

impl<'a> Iterator for Elements<'a> {
    type Item = Result<(&'a [u8], Value<'a>), Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        let (&kind, rest) = self.0.split_first()?;
        self.0 = rest;
        let element = self.name().and_then(|name| Some((name, self.value(kind)?)));
        if element.is_none() {
            self.0 = &[];
        }
        Some(element.ok_or_else(malformed))
    }
}

impl<'a> Elements<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<&'a [u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(taken)
    }

    /// Takes a name up to its NUL, which is also taken.
    fn name(&mut self) -> Option<&'a [u8]> {
        let end = self.0.iter().position(|&byte| byte == 0)?;
        let name = &self.0[..end];
        self.0 = &self.0[end + 1..];
        Some(name)
    }

    /// Returns the next length plus `more`.
    fn length(&self, more: i32) -> Option<usize> {
        i32::from_le_bytes(*self.0.first_chunk()?).checked_add(more)?.try_into().ok()
    }

    /// Returns a document, whose length includes itself.
    fn document(&mut self) -> Option<Document<'a>> {
        Document::new(self.take(self.length(0)?)?).ok()
    }

    fn value(&mut self, kind: u8) -> Option<Value<'a>> {
        let skipped = match kind {
            0x01 => return Some(Value::Double(f64::from_le_bytes(*self.array()?))),
            0x02 => {
                return Some(Value::String(self.take(self.length(4)?)?.get(4..)?.split_last()?.1));
            }
            0x03 => return Some(Value::Document(self.document()?)),
            0x04 => return Some(Value::List(self.document()?)),
            // Binary data: a length, a subtype, and the bytes. An old subtype repeats the length,
            // but nothing writes it here.
            0x05 => return Some(Value::Binary(self.take(self.length(5)?)?.get(5..)?)),
            0x06 | 0x0a => return Some(Value::Null),
            0x08 => return Some(Value::Boolean(self.array::<1>()? != &[0])),
            0x09 => return Some(Value::Date(i64::from_le_bytes(*self.array()?))),
            0x10 => return Some(Value::Integer(i32::from_le_bytes(*self.array()?).into())),
            0x12 => return Some(Value::Integer(i64::from_le_bytes(*self.array()?))),
            // An object id.
            0x07 => 12,
            // A timestamp.
            0x11 => 8,
            // A decimal.
            0x13 => 16,
            // A regular expression: two texts.
            0x0b => {
                self.name()?;
                self.name()?;
                0
            }
            // A pointer to a document: a text and an object id.
            0x0c => self.length(16)?,
            // Code and symbols: texts.
            0x0d | 0x0e => self.length(4)?,
            // Code with variables, whose length includes itself.
            0x0f => self.length(0)?,
            // The least and the greatest of all values.
            0xff | 0x7f => 0,
            _ => return None,
        };
        self.take(skipped)?;
        Some(Value::Other(kind))
    }
}

/// Returns the error for an unreadable answer.
#[cold]
pub(super) fn malformed() -> Failure {
    Failure::new("it is not well-formed BSON")
}
