//! Encodes values in messages.

use super::api::{BlobId, types};
use super::message::{Field, Message, Shape};
use crate::sql::Param;

/// Most bytes of a text in a message: those of a VARCHAR.
const LONGEST: usize = 32_765;

/// Least bytes allocated for a text.
const LEAST_TEXT: usize = 64;

/// Character sets of texts without their own, and of bytes.
const NONE: u32 = 0;
const OCTETS: u32 = 1;

/// Returns the types in which parameters with these descriptions are sent: integers in 64 bits,
/// floats in double precision, and texts with their length and the bytes of their column. `None`
/// where the type stays.
pub(super) fn parameter_shapes(described: &Message) -> Vec<Option<Shape>> {
    let shape = |field: &Field| match field.sql_type {
        types::SHORT | types::LONG | types::INT64 => Some(INTEGER),
        types::FLOAT | types::DOUBLE => Some(DOUBLE),
        types::TEXT => Some(Shape {
            sql_type: types::VARYING,
            length: field.length,
            character_set: field.character_set,
        }),
        _ => None,
    };
    described.fields.iter().map(shape).collect()
}

/// Returns the types in which these values can be sent, where the message's types do not fit.
pub(super) fn fitting_shapes(message: &Message, params: &[Param<'_>]) -> Vec<Option<Shape>> {
    let shape = |(field, param): (&Field, &Param<'_>)| {
        if fits(field, *param) {
            return None;
        }
        let text = |bytes: &[u8], own| {
            let is_text = matches!(field.sql_type, types::VARYING | types::TEXT);
            let length = bytes.len().max(LEAST_TEXT).next_power_of_two().min(LONGEST);
            let character_set = if is_text { field.character_set } else { own };
            Some(Shape { sql_type: types::VARYING, length, character_set })
        };
        match param {
            Param::Null => None,
            Param::Int(_) => Some(INTEGER),
            Param::Float(_) => Some(DOUBLE),
            Param::Text(value) => text(value.as_bytes(), NONE),
            Param::Bytes(value) => text(value, OCTETS),
        }
    };
    message.fields.iter().zip(params).map(shape).collect()
}

const INTEGER: Shape = Shape { sql_type: types::INT64, length: 8, character_set: NONE };
const DOUBLE: Shape = Shape { sql_type: types::DOUBLE, length: 8, character_set: NONE };

/// Returns the types in which a row with these descriptions arrives: decimal floats in double
/// precision. `None` where the type stays.
pub(super) fn result_shapes(described: &Message) -> Vec<Option<Shape>> {
    let is_decimal =
        |field: &Field| matches!(field.sql_type, types::DECFLOAT16 | types::DECFLOAT34);
    described.fields.iter().map(|field| is_decimal(field).then_some(DOUBLE)).collect()
}

#[inline]
fn fits(field: &Field, param: Param<'_>) -> bool {
    match (field.sql_type, param) {
        (_, Param::Null)
        | (types::INT64 | types::DOUBLE | types::BOOLEAN, Param::Int(_))
        | (types::DOUBLE, Param::Float(_))
        | (types::BLOB, Param::Text(_) | Param::Bytes(_)) => true,
        (types::VARYING, Param::Text(text)) => text.len() <= field.length,
        (types::VARYING, Param::Bytes(bytes)) => bytes.len() <= field.length,
        _ => false,
    }
}

/// Writes a value into a message. Returns false if it does not fit the field, or belongs in a blob,
/// whose id is all that the message has.
#[inline]
pub(super) fn put(field: &Field, message: &mut [u8], param: Param<'_>) -> bool {
    if !fits(field, param) {
        return false;
    }
    write(message, field.null, u16::from(param == Param::Null).to_ne_bytes());
    let at = field.offset;
    match (field.sql_type, param) {
        (_, Param::Null) => {}
        (types::INT64, Param::Int(value)) => write(message, at, value.to_ne_bytes()),
        (types::DOUBLE, Param::Int(value)) => write(message, at, (value as f64).to_ne_bytes()),
        (types::BOOLEAN, Param::Int(value)) => write(message, at, [u8::from(value != 0)]),
        (_, Param::Float(value)) => write(message, at, value.to_ne_bytes()),
        (types::VARYING, Param::Text(text)) => write_text(message, at, text.as_bytes()),
        (types::VARYING, Param::Bytes(bytes)) => write_text(message, at, bytes),
        _ => return false,
    }
    true
}

/// Writes the id of a blob into a message.
pub(super) fn put_blob(field: &Field, message: &mut [u8], id: BlobId) {
    write(message, field.null, [0; 2]);
    write(message, field.offset, id.to_ne_bytes());
}

#[inline]
fn write<const N: usize>(message: &mut [u8], at: usize, bytes: [u8; N]) {
    message[at..at + N].copy_from_slice(&bytes);
}

/// Writes a length of two bytes, then the text.
#[inline]
fn write_text(message: &mut [u8], at: usize, text: &[u8]) {
    write(message, at, (text.len() as u16).to_ne_bytes());
    message[at + 2..at + 2 + text.len()].copy_from_slice(text);
}
