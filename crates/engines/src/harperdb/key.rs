//! Primary keys: one value, or several values in one text.

use std::io::Write;

use super::NAME;
use super::request;
use crate::document::{CollectionDef, Value};
use crate::{EngineError, Result};

/// The attribute that holds a key of several fields. The fields are in the record as well.
const COMBINED: &str = "_id";

/// Sorts after everything that can follow in a key, except this character itself, which is a
/// noncharacter.
const LAST: &str = "\u{10ffff}";

/// How the key of a collection is stored. HarperDB's operations find records by a string or a
/// number (`search_by_id`, `update` and `delete` take nothing else), so a key of several fields is
/// one string of them that sorts as they do.
#[derive(Clone, Copy)]
pub(super) struct Key {
    fields: &'static [&'static str],
}

impl Key {
    pub fn new(def: &'static CollectionDef) -> Self {
        Self { fields: def.key }
    }

    /// Returns the attribute that is the primary key.
    pub fn attribute(self) -> &'static str {
        match self.fields {
            [only] => only,
            _ => COMBINED,
        }
    }

    /// Returns the key's fields that a record has in addition to its primary key.
    pub fn extra_fields(self) -> &'static [&'static str] {
        match self.fields {
            [_] => &[],
            fields => fields,
        }
    }

    pub fn has(self, field: &str) -> bool {
        self.fields.contains(&field)
    }

    /// Returns whether `field` is the first of several fields: the texts of keys then begin with
    /// its text.
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
            ([_], [only]) => write_single(out, *only),
            _ => self.write_parts(out, values, ""),
        }
    }

    /// Writes a bound above every key that begins with these values, as JSON.
    pub fn write_above(self, out: &mut Vec<u8>, values: &[Value<'_>]) -> Result<()> {
        self.write_parts(out, values, LAST)
    }

    fn write_parts(self, out: &mut Vec<u8>, values: &[Value<'_>], end: &str) -> Result<()> {
        out.push(b'"');
        for of in values {
            write_part(out, *of)?;
        }
        out.extend_from_slice(end.as_bytes());
        out.push(b'"');
        Ok(())
    }
}

/// Writes a key of one field as its value. Its order is HarperDB's own: numbers, then texts.
fn write_single(out: &mut Vec<u8>, of: Value<'_>) -> Result<()> {
    match of {
        Value::Int(_) | Value::Float(_) | Value::Text(_) => request::write_value(out, of),
        other => Err(invalid_key(other)),
    }
}

/// Writes one part of a key. The texts of parts sort as the parts do, and none is the beginning of
/// another of its kind: integers and doubles are hexadecimal digits of one length, the lowest being
/// zero; a text ends with a blank, and `!` with two digits encodes a blank, a `!` and every
/// character below them.
fn write_part(out: &mut Vec<u8>, of: Value<'_>) -> Result<()> {
    let written = match of {
        // Any integer may bound a range; one that is too large for a record is refused where its
        // field is written.
        Value::Int(int) => write!(out, "{:016x}", int.cast_unsigned() ^ 1 << 63),
        Value::Float(float) if !float.is_nan() => {
            // 0.0 and -0.0 are the same key.
            let bits = (float + 0.0).to_bits();
            let negative = bits >> 63 == 1;
            write!(out, "{:016x}", if negative { !bits } else { bits | 1 << 63 })
        }
        Value::Text(text) => {
            let mut rest = text;
            while let Some(at) = rest.find(|c| c <= '!') {
                write_text(out, &rest[..at]);
                // Writing into memory cannot fail.
                let _ = write!(out, "!{:02x}", rest.as_bytes()[at]);
                rest = &rest[at + 1..];
            }
            write_text(out, rest);
            out.push(b' ');
            Ok(())
        }
        other => return Err(invalid_key(other)),
    };
    written.map_err(|error| EngineError::failed(NAME, "write a key", error))
}

/// Writes a piece of a JSON string that has no control characters.
fn write_text(out: &mut Vec<u8>, text: &str) {
    for byte in text.bytes() {
        if matches!(byte, b'"' | b'\\') {
            out.push(b'\\');
        }
        out.push(byte);
    }
}

fn invalid_key(of: Value<'_>) -> EngineError {
    EngineError::unsupported(NAME, format!("{of:?} as a key"))
}

#[cfg(test)]
mod tests {
    use super::super::request::EXACT;
    use super::*;

    static PAIR: CollectionDef =
        CollectionDef { name: "pair", key: &["a", "b"], indexes: &[], fields: &[] };
    static ONE: CollectionDef =
        CollectionDef { name: "one", key: &["a"], indexes: &[], fields: &[] };

    fn text(values: &[Value<'_>]) -> String {
        let mut out = Vec::new();
        Key::new(&PAIR).write_from(&mut out, values).unwrap();
        serde_json::from_slice(&out).unwrap()
    }

    #[test]
    fn texts_of_keys_sort_as_their_values() {
        use Value::{Float, Int, Text};
        let sorted = [
            [Int(i64::MIN), Int(i64::MAX)],
            [Int(-EXACT), Int(EXACT)],
            [Int(-5), Int(7)],
            [Int(0), Int(-1)],
            [Int(0), Int(0)],
            [Int(3), Int(EXACT)],
            [Int(40), Int(-EXACT)],
        ];
        assert!(sorted.iter().is_sorted_by(|a, b| text(*a) < text(*b)));
        let floats = [f64::NEG_INFINITY, -1.5, -1e-320, 0.0, 1e-320, 2.0, f64::INFINITY];
        assert!(floats.iter().is_sorted_by(|a, b| text(&[Float(**a)]) < text(&[Float(**b)])));
        assert_eq!(text(&[Float(-0.0)]), text(&[Float(0.0)]));
        let texts =
            ["", "\0", "\0x", "\n", " ", " a", "!", "!0", "\"", "a", "a b", "ab", "\\", "ü"];
        let mut expected = texts;
        expected.sort_unstable();
        let mut found = texts;
        found.sort_unstable_by_key(|of| text(&[Text(of), Int(1)]));
        assert_eq!(found, expected);
    }

    #[test]
    fn a_prefix_of_keys_is_below_them_and_its_upper_bound_above() {
        let key = Key::new(&PAIR);
        let mut above = Vec::new();
        key.write_above(&mut above, &[Value::Int(4)]).unwrap();
        let above: String = serde_json::from_slice(&above).unwrap();
        let lowest = text(&[Value::Int(4)]);
        for second in [Value::Int(-EXACT), Value::Text("\u{10ffff}"), Value::Float(1.0)] {
            let of = text(&[Value::Int(4), second]);
            assert!(lowest < of && (of < above || second == Value::Text("\u{10ffff}")), "{of}");
        }
        assert!(above < text(&[Value::Int(5)]));
    }

    #[test]
    fn a_key_of_one_field_is_its_value_and_a_wrong_one_is_refused() {
        let key = Key::new(&ONE);
        let mut out = Vec::new();
        key.write(&mut out, &[Value::Int(-7)]).unwrap();
        assert_eq!((key.attribute(), out.as_slice()), ("a", &b"-7"[..]));
        assert!(key.write(&mut out, &[Value::Null]).unwrap_err().is_unsupported());
        assert!(key.write(&mut out, &[Value::Int(EXACT + 1)]).unwrap_err().is_unsupported());
        let error = Key::new(&PAIR).write(&mut out, &[Value::Int(1)]).unwrap_err().to_string();
        assert!(error.contains("1 values, the key 2 fields"), "{error}");
    }
}
