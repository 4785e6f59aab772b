//! Encodes rows: keys, entries of indexes, and values. Sets columns in an encoded value.

use embermark_model::table::Value;

use super::super::Codec;
use super::Place;
use super::bytes::{fixed, indexed, indexed_width, is_text, ordered, width};

impl Codec {
    /// Writes the bytes of a key, or of its first columns.
    #[inline]
    pub fn key<'a>(&self, values: impl IntoIterator<Item = Value<'a>>, to: &mut Vec<u8>) {
        to.clear();
        for (value, (number, column)) in values.into_iter().zip(self.key.iter().enumerate()) {
            ordered(value, self.of[*column], to);
            if is_text(self.of[*column]) && number + 1 < self.key.len() {
                to.push(0);
            }
        }
    }

    /// Writes the bytes of the first columns of an index.
    pub fn index<'a>(
        &self,
        columns: &[usize],
        values: impl IntoIterator<Item = Value<'a>>,
        to: &mut Vec<u8>,
    ) {
        to.clear();
        for (value, column) in values.into_iter().zip(columns) {
            let begin = to.len();
            to.resize(begin + indexed_width(self.of[*column]), 0);
            indexed(value, self.of[*column], &mut to[begin..]);
        }
    }

    /// Writes the bytes of a value. `get` returns the row's columns.
    #[inline]
    pub fn value<'a>(&self, get: impl Fn(usize) -> Value<'a>, to: &mut Vec<u8>) {
        to.clear();
        to.resize(self.texts, 0);
        for &(column, at) in &self.indexed {
            let end = at + indexed_width(self.of[column]);
            indexed(get(column), self.of[column], &mut to[at..end]);
        }
        for (column, place) in self.places.iter().enumerate() {
            match *place {
                Place::Key(_) | Place::Field { .. } => {}
                Place::Fixed { at, bit } => {
                    let value = get(column);
                    if value != Value::Null {
                        to[self.bits + bit / 8] |= 1 << (bit % 8);
                        fixed(value, &mut to[at..at + width(self.of[column])]);
                    }
                }
                Place::Text { length_at, bit } => {
                    let bytes = match get(column) {
                        Value::Text(text) => text.as_bytes(),
                        Value::Bytes(bytes) => bytes,
                        _ => continue,
                    };
                    to[self.bits + bit / 8] |= 1 << (bit % 8);
                    let length = (bytes.len() as u32).to_le_bytes();
                    to[length_at..length_at + 4].copy_from_slice(&length);
                    to.extend_from_slice(bytes);
                }
            }
        }
        for (document, length_at) in &self.documents {
            let from = to.len();
            document.write(&get, to);
            let length = ((to.len() - from) as u32).to_le_bytes();
            to[*length_at..length_at + 4].copy_from_slice(&length);
        }
    }

    /// Returns whether a new value has the same length as the old one in a value made by
    /// [`value`](Self::value), so that it can be [`set`](Self::set).
    pub fn fits(&self, bytes: &[u8], column: usize, value: Value<'_>) -> bool {
        match self.places[column] {
            Place::Key(_) | Place::Fixed { .. } => return true,
            // The length of a document is only known once it is written.
            Place::Field { .. } => return false,
            Place::Text { .. } => {}
        }
        match (self.column(&[], bytes, column), value) {
            (Some(Value::Text(old)), Value::Text(new)) => old.len() == new.len(),
            (Some(Value::Bytes(old)), Value::Bytes(new)) => old.len() == new.len(),
            _ => false,
        }
    }

    /// Sets a column in place, in a value made by [`value`](Self::value). Texts and bytes must have
    /// the length of the old ones.
    #[inline]
    pub fn set(&self, bytes: &mut [u8], column: usize, value: Value<'_>) {
        match self.places[column] {
            Place::Key(_) | Place::Field { .. } => return,
            Place::Fixed { at, bit } => {
                let mark = 1 << (bit % 8);
                if value == Value::Null {
                    bytes[self.bits + bit / 8] &= !mark;
                    bytes[at..at + width(self.of[column])].fill(0);
                } else {
                    bytes[self.bits + bit / 8] |= mark;
                    fixed(value, &mut bytes[at..at + width(self.of[column])]);
                }
            }
            Place::Text { .. } => {
                let text = match value {
                    Value::Text(text) => text.as_bytes(),
                    Value::Bytes(bytes) => bytes,
                    _ => return,
                };
                let from = self.text_at(bytes, column);
                if let Some(room) = bytes.get_mut(from..from + text.len()) {
                    room.copy_from_slice(text);
                }
            }
        }
        for &(of, at) in self.indexed.iter().filter(|(of, _)| *of == column) {
            let end = at + indexed_width(self.of[of]);
            bytes[at..end].fill(0);
            indexed(value, self.of[of], &mut bytes[at..end]);
        }
    }
}
