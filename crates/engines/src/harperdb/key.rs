//! Primary keys: one value, or several values in one text. HarperDB's operations find records by a
//! string or a number (`search_by_id`, `update` and `delete` take nothing else), so a key of several
//! fields is one string of them that sorts as they do.

use std::io::Write;

use super::NAME;
use super::request;
use crate::document::{CollectionDef, Value};
use crate::{EngineError, Result};

/// The attribute that holds a key of several fields. The fields are in the record as well.
const COMBINED: &str = "_id";

/// Returns the attribute that is the primary key of a collection.
pub(super) fn attribute(def: &CollectionDef) -> &'static str {
    if let [only] = def.key { only } else { COMBINED }
}

/// Returns the key's fields that a record has in addition to its primary key.
pub(super) fn extra_fields(def: &CollectionDef) -> &'static [&'static str] {
    if let [_] = def.key { &[] } else { def.key }
}

/// Returns whether `field` is the first of several fields: the texts of keys then begin with its
/// text.
pub(super) fn begins_with(def: &CollectionDef, field: &str) -> bool {
    def.key.len() > 1 && def.key.first() == Some(&field)
}

/// Writes the key of a document, as JSON.
///
/// # Errors
/// When there are more or fewer values than fields, or one cannot be part of a key.
pub(super) fn write(def: &CollectionDef, out: &mut Vec<u8>, values: &[Value<'_>]) -> Result<()> {
    if values.len() != def.key.len() {
        let (has, wants) = (values.len(), def.key.len());
        let why = format!("it has {has} values, the key {wants} fields");
        return Err(EngineError::failed(NAME, "read a key", why));
    }
    write_from(def, out, values)
}

/// Writes the lowest key that begins with these values, as JSON.
pub(super) fn write_from(
    def: &CollectionDef,
    out: &mut Vec<u8>,
    values: &[Value<'_>],
) -> Result<()> {
    match (def.key, values) {
        // Its order is HarperDB's own: numbers, then texts.
        ([_], [of @ (Value::Int(_) | Value::Float(_) | Value::Text(_))]) => {
            request::write_value(out, *of)
        }
        ([_], [other]) => Err(invalid_key(*other)),
        _ => write_parts(out, values),
    }
}

/// Writes the lowest text above every key of several fields that begins with these values, as JSON.
pub(super) fn write_above(out: &mut Vec<u8>, values: &[Value<'_>]) -> Result<()> {
    write_parts(out, values)?;
    // Before the quotation mark: the blank after a text, or the last digit of a number.
    if let [.., last, _] = &mut out[..] {
        *last += 1;
    }
    Ok(())
}

fn write_parts(out: &mut Vec<u8>, values: &[Value<'_>]) -> Result<()> {
    out.push(b'"');
    for of in values {
        write_part(out, *of)?;
    }
    out.push(b'"');
    Ok(())
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
        write_from(&PAIR, &mut out, values).unwrap();
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
        let mut above = Vec::new();
        write_above(&mut above, &[Value::Int(4)]).unwrap();
        let above: String = serde_json::from_slice(&above).unwrap();
        let lowest = text(&[Value::Int(4)]);
        let utf16 = |text: &str| text.encode_utf16().collect::<Vec<_>>();
        let texts = ["\u{10ffff}", "\u{ffff}"].map(Value::Text);
        for second in [Value::Int(-EXACT), Value::Float(1.0)].into_iter().chain(texts) {
            let of = text(&[Value::Int(4), second]);
            assert!(lowest < of && of < above && utf16(&of) < utf16(&above), "{of}");
        }
        assert!(above <= text(&[Value::Int(5)]));
    }

    #[test]
    fn a_key_of_one_field_is_its_value_and_a_wrong_one_is_refused() {
        let mut out = Vec::new();
        write(&ONE, &mut out, &[Value::Int(-7)]).unwrap();
        assert_eq!((attribute(&ONE), out.as_slice()), ("a", &b"-7"[..]));
        assert!(write(&ONE, &mut out, &[Value::Null]).unwrap_err().is_unsupported());
        assert!(write(&ONE, &mut out, &[Value::Int(EXACT + 1)]).unwrap_err().is_unsupported());
        let error = write(&PAIR, &mut out, &[Value::Int(1)]).unwrap_err().to_string();
        assert!(error.contains("1 values, the key 2 fields"), "{error}");
    }
}
