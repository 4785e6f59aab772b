//! Encodes single values: in a value, in the order of keys, and cut to a fixed length in an index.

use embermark_model::table::{ColumnType, Value};

use super::PRESENT;

/// Bytes of a text in an index. Longer texts are compared again in the row.
const INDEXED_TEXT: usize = 16;

/// Returns the bytes of a column of fixed width in a value.
pub(super) const fn width(of: ColumnType) -> usize {
    match of {
        ColumnType::Bool => 1,
        ColumnType::Int { bits, .. } => bits as usize / 8,
        ColumnType::Float | ColumnType::Timestamp(_) => 8,
        // The length of the text.
        ColumnType::Text | ColumnType::Bytes => 4,
    }
}

/// Returns the bytes of a column in an index: one for its presence, then its value.
pub(super) const fn indexed_width(of: ColumnType) -> usize {
    1 + match of {
        ColumnType::Text | ColumnType::Bytes => INDEXED_TEXT,
        other => width(other),
    }
}

pub(super) const fn is_text(of: ColumnType) -> bool {
    matches!(of, ColumnType::Text | ColumnType::Bytes)
}

pub(super) fn length(bytes: &[u8], at: usize) -> usize {
    bytes
        .get(at..at + 4)
        .map_or(0, |four| u32::from_le_bytes([four[0], four[1], four[2], four[3]]) as usize)
}

pub(super) fn text_or_bytes(of: ColumnType, bytes: &[u8]) -> Option<Value<'_>> {
    if of == ColumnType::Bytes {
        return Some(Value::Bytes(bytes));
    }
    str::from_utf8(bytes).ok().map(Value::Text)
}

/// Writes a value of fixed width, little-endian.
#[inline]
pub(super) fn fixed(value: Value<'_>, to: &mut [u8]) {
    let bits = match value {
        Value::Int(value) => value.cast_unsigned(),
        Value::Float(value) => value.to_bits(),
        _ => return,
    };
    to.copy_from_slice(&bits.to_le_bytes()[..to.len()]);
}

#[inline]
pub(super) fn read_fixed(of: ColumnType, bytes: &[u8]) -> Value<'static> {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    number(of, u64::from_le_bytes(word))
}

/// Returns the low bytes of a word as a value.
#[inline]
pub(super) fn number(of: ColumnType, bits: u64) -> Value<'static> {
    match of {
        ColumnType::Float => Value::Float(f64::from_bits(bits)),
        ColumnType::Int { bits: width, signed: true } => {
            let unused = 64 - u32::from(width);
            Value::Int((bits << unused).cast_signed() >> unused)
        }
        _ => Value::Int(bits.cast_signed()),
    }
}

/// Returns a float as a number that compares as [`f64::total_cmp`] does, with -0.0 as 0.0.
#[inline]
pub(super) const fn of_float(value: f64) -> i64 {
    turned((value + 0.0).to_bits().cast_signed())
}

/// Returns the float of such a number.
#[inline]
pub(super) const fn float(ordered: i64) -> f64 {
    f64::from_bits(turned(ordered).cast_unsigned())
}

/// Flips the bits below the sign of negative numbers. Doing it twice restores them.
#[inline]
const fn turned(bits: i64) -> i64 {
    bits ^ ((bits >> 63).cast_unsigned() >> 1).cast_signed()
}

/// Returns bits that compare as the value does, most significant first.
#[inline]
fn ordered_bits(value: Value<'_>, of: ColumnType) -> u64 {
    match (value, of) {
        (Value::Int(value), ColumnType::Int { bits, signed: true }) => {
            value.cast_unsigned() ^ 1 << (bits - 1)
        }
        (Value::Int(value), ColumnType::Timestamp(_)) => value.cast_unsigned() ^ 1 << 63,
        (Value::Int(value), _) => value.cast_unsigned(),
        (Value::Float(value), _) => of_float(value).cast_unsigned() ^ 1 << 63,
        _ => 0,
    }
}

#[inline]
pub(super) fn ordered(value: Value<'_>, of: ColumnType, to: &mut Vec<u8>) {
    match value {
        Value::Text(text) => to.extend_from_slice(text.as_bytes()),
        Value::Bytes(bytes) => to.extend_from_slice(bytes),
        value => {
            let bits = ordered_bits(value, of).to_be_bytes();
            to.extend_from_slice(&bits[8 - width(of)..]);
        }
    }
}

#[inline]
pub(super) fn read_ordered(of: ColumnType, bytes: &[u8]) -> Value<'static> {
    let mut word = [0; 8];
    word[8 - bytes.len()..].copy_from_slice(bytes);
    let bits = u64::from_be_bytes(word);
    match of {
        ColumnType::Int { bits: width, signed: true } => number(of, bits ^ 1 << (width - 1)),
        ColumnType::Timestamp(_) => number(of, bits ^ 1 << 63),
        ColumnType::Float => Value::Float(float((bits ^ 1 << 63).cast_signed())),
        _ => number(of, bits),
    }
}

/// Writes a column of an index into zeroed bytes.
pub(super) fn indexed(value: Value<'_>, of: ColumnType, to: &mut [u8]) {
    let (there, to) = to.split_at_mut(1);
    there[0] = if value == Value::Null { 0 } else { PRESENT };
    let text = match value {
        Value::Null => return,
        Value::Text(text) => text.as_bytes(),
        Value::Bytes(bytes) => bytes,
        value => {
            let bits = ordered_bits(value, of).to_be_bytes();
            return to.copy_from_slice(&bits[8 - width(of)..]);
        }
    };
    let length = text.len().min(to.len());
    to[..length].copy_from_slice(&text[..length]);
}
