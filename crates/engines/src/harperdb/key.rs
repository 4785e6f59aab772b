//! Primary keys: one value, or several in one text.

use std::io::Write;

use super::NAME;
use super::request;
use crate::document::{CollectionDef, Value};
use crate::{EngineError, Result};

/// The attribute that holds a key of several fields, which stand beside it as well.
const COMBINED: &str = "_id";

/// Sorts after whatever a key goes on with, but for itself, which is no character.
const LAST: &str = "\u{10ffff}";

/// How the key of a collection is kept. HarperDB's operations find records by a string or number
/// (`search_by_id`, `update` and `delete` take nothing else), so a key of several fields is one
/// string of them that sorts as they do.
#[derive(Clone, Copy)]
pub(super) struct Key {
    fields: &'static [&'static str],
}

impl Key {
    /// The key of a collection.
    pub fn of(def: &'static CollectionDef) -> Self {
        Self { fields: def.key }
    }

    /// The attribute that is the primary key.
    pub fn attribute(self) -> &'static str {
        match self.fields {
            [only] => only,
            _ => COMBINED,
        }
    }

    /// The fields that stand in a record beside its primary key.
    pub fn beside(self) -> &'static [&'static str] {
        match self.fields {
            [_] => &[],
            fields => fields,
        }
    }

    /// Whether it has a field of that name.
    pub fn has(self, field: &str) -> bool {
        self.fields.contains(&field)
    }

    /// Whether `field` is the first of several: a text of it begins the texts of the keys with it.
    pub fn begins_with(self, field: &str) -> bool {
        self.fields.len() > 1 && self.fields.first() == Some(&field)
    }

    /// Writes the key of a document, as JSON.
    ///
    /// # Errors
    /// When there are more or fewer values than fields, or one cannot be part of a key.
    pub fn write(self, out: &mut Vec<u8>, values: &[Value<'_>]) -> Result<()> {
        if values.len() != self.fields.len() {
            let (has, wants) = (values.len(), self.fields.len());
            let why = format!("it has {has} values, the key {wants} fields");
            return Err(EngineError::failed(NAME, "read a key", why));
        }
        self.write_from(out, values)
    }

    /// Writes the lowest key that begins with these values, as JSON.
    pub fn write_from(self, out: &mut Vec<u8>, values: &[Value<'_>]) -> Result<()> {
        match (self.fields, values) {
            ([_], [only]) => plain(out, *only),
            _ => self.write_parts(out, values, ""),
        }
    }

    /// Writes what is above every key that begins with these values, as JSON.
    pub fn write_above(self, out: &mut Vec<u8>, values: &[Value<'_>]) -> Result<()> {
        self.write_parts(out, values, LAST)
    }

    fn write_parts(self, out: &mut Vec<u8>, values: &[Value<'_>], end: &str) -> Result<()> {
        out.push(b'"');
        for of in values {
            part(out, *of)?;
        }
        out.extend_from_slice(end.as_bytes());
        out.push(b'"');
        Ok(())
    }
}

/// A key of one field is its value, whose order is HarperDB's own: numbers, then texts.
fn plain(out: &mut Vec<u8>, of: Value<'_>) -> Result<()> {
    match of {
        Value::Int(_) | Value::Float(_) | Value::Text(_) => request::value(out, of),
        other => Err(no_part(other)),
    }
}

/// Texts of parts sort as the parts do, and none begins another one of its kind: integers and
/// doubles in hexadecimal digits of one length, the lowest as zero; a text ended by a blank, with
/// `!` and two digits for a blank, a `!` and all below them.
fn part(out: &mut Vec<u8>, of: Value<'_>) -> Result<()> {
    let written = match of {
        // Any integer may bound a range; one that is too large for a record is refused where its
        // field is written.
        Value::Int(int) => write!(out, "{:016x}", int.cast_unsigned() ^ 1 << 63),
        Value::Float(float) if !float.is_nan() => {
            // 0.0 and -0.0 are one key.
            let bits = (float + 0.0).to_bits();
            let negative = bits >> 63 == 1;
            write!(out, "{:016x}", if negative { !bits } else { bits | 1 << 63 })
        }
        Value::Text(text) => {
            let mut rest = text;
            while let Some(at) = rest.find(|c| c <= '!') {
                piece(out, &rest[..at]);
                // Infallible, into memory.
                let _ = write!(out, "!{:02x}", rest.as_bytes()[at]);
                rest = &rest[at + 1..];
            }
            piece(out, rest);
            out.push(b' ');
            Ok(())
        }
        other => return Err(no_part(other)),
    };
    written.map_err(|error| EngineError::failed(NAME, "write a key", error))
}

/// A piece of a JSON string that has no control characters.
fn piece(out: &mut Vec<u8>, text: &str) {
    for byte in text.bytes() {
        if matches!(byte, b'"' | b'\\') {
            out.push(b'\\');
        }
        out.push(byte);
    }
}

fn no_part(of: Value<'_>) -> EngineError {
    EngineError::unsupported(NAME, format!("{of:?} as a key"))
}

#[cfg(test)]
mod tests;
