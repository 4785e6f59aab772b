//! Encodes rows as keys and values of bytes.
//!
//! A key is its columns in sequence, each encoded so that its bytes compare as its values do.
//! Integers have their width, big-endian, with the sign bit flipped. Floats likewise. A text ends
//! with a zero unless it is the last column. Bytes can only be the last column.
//!
//! A value is the columns of indexes at fixed offsets, in the same encoding; a bit per other column
//! for whether it is present; the columns of fixed width; the length of each text and of each JSON
//! document whose fields are columns; the texts; the documents.

mod bytes;
pub(super) mod conditions;
pub(super) mod field;
mod read;
pub(super) mod row_decoder;
mod write;

use embermark_contract::kv::IndexDef;
use embermark_model::table::{ColumnType, Table};

use super::Stored;
use super::codec::bytes::{indexed_width, is_text, length, width};
use super::documents::{Document, stored};

/// First byte of a value in an index. That of an absent one is zero.
pub(super) const PRESENT: u8 = 1;

/// Layout of a table's rows in a store.
pub(super) struct Codec {
    /// Position of each column, in the file's order.
    places: Vec<Place>,
    /// The columns of the key, in its order.
    key: Vec<usize>,
    /// Columns of indexes, each once, with their offsets in the value.
    indexed: Vec<(usize, usize)>,
    /// Offset and length of each index in the value.
    indexes: Vec<(usize, usize)>,
    /// Offset of the bits.
    bits: usize,
    /// Offset of the texts.
    texts: usize,
    /// Documents, each with the offset of its length.
    documents: Vec<(Document, usize)>,
    /// Offsets of the lengths of all texts, then of the documents.
    lengths: Vec<usize>,
    of: Vec<ColumnType>,
    /// Length of every key, if all have the same.
    pub key_length: Option<usize>,
}

/// Position of a column.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// In the key, as its n-th column.
    Key(usize),
    /// In the value, at an offset, with the n-th bit.
    Fixed { at: usize, bit: usize },
    /// In the value: its length at an offset, the n-th bit, and the n-th text.
    Text { length_at: usize, bit: usize },
    /// In a document, as its n-th field.
    Field { document: usize, field: usize },
}

impl Codec {
    pub(super) fn new(table: &Table) -> Self {
        let of: Vec<ColumnType> = table.columns.iter().map(|column| column.of).collect();
        let (mut indexed, mut indexes, mut at) = (Vec::new(), Vec::new(), 0);
        for index in &table.indexes {
            let begin = at;
            for &column in index {
                indexed.push((column, at));
                at += indexed_width(of[column]);
            }
            indexes.push((begin, at - begin));
        }
        let bits = at;
        let own = |c: &usize| !table.key.contains(c) && table.columns[*c].within.is_none();
        let others: Vec<usize> = (0..of.len()).filter(own).collect();
        at += others.len().div_ceil(8);
        let mut places = vec![Place::Key(0); of.len()];
        for (bit, &column) in others.iter().enumerate() {
            places[column] = if is_text(of[column]) {
                Place::Text { length_at: at, bit }
            } else {
                Place::Fixed { at, bit }
            };
            at += width(of[column]);
        }
        let mut documents = Vec::new();
        let text = |place: &Place| {
            if let Place::Text { length_at, .. } = place { Some(*length_at) } else { None }
        };
        let mut lengths: Vec<usize> = places.iter().filter_map(text).collect();
        for stored in stored(table) {
            let Stored::Document(document) = stored else { continue };
            for (field, column) in document.columns.clone().enumerate() {
                places[column] = Place::Field { document: documents.len(), field };
            }
            documents.push((document, at));
            lengths.push(at);
            at += 4;
        }
        for (number, &column) in table.key.iter().enumerate() {
            places[column] = Place::Key(number);
        }
        let key = table.key.clone();
        let widths = key.iter().map(|c| (!is_text(of[*c])).then(|| width(of[*c])));
        let key_length = widths.sum();
        Self { places, key, indexed, indexes, bits, texts: at, documents, lengths, of, key_length }
    }

    /// Returns the length of every [laid out](Self::lay_pair) pair, if all have the same.
    pub(super) fn pair_length(&self) -> Option<usize> {
        let is_fixed = |place: &Place| matches!(place, Place::Key(_) | Place::Fixed { .. });
        let fixed = self.places.iter().all(is_fixed);
        self.key_length.filter(|_| fixed).map(|length| length + self.texts)
    }

    /// Lays out a pair in sequence: the key, after its length if keys differ in length, then the
    /// value.
    pub(super) fn lay_pair(&self, key: &[u8], value: &[u8], to: &mut Vec<u8>) {
        if self.key_length.is_none() {
            to.extend_from_slice(&(key.len() as u32).to_le_bytes());
        }
        to.extend_from_slice(key);
        to.extend_from_slice(value);
    }

    /// Returns the key and the value of a pair that was laid out.
    #[inline]
    pub(super) fn laid_pair<'a>(&self, pair: &'a [u8]) -> (&'a [u8], &'a [u8]) {
        match self.key_length {
            Some(length_of_key) => pair.split_at(length_of_key),
            None => pair[4..].split_at(length(pair, 0)),
        }
    }

    /// Returns the bytes of the longest index, without the key at the end of its entries.
    pub(super) fn longest_index(&self) -> usize {
        self.indexes.iter().map(|(_, length)| *length).max().unwrap_or_default()
    }

    /// Returns the indexes with these names.
    pub(super) fn indexes<'a>(&self, names: &'a [String]) -> Vec<IndexDef<'a>> {
        let places = self.indexes.iter().zip(names);
        places.map(|(&(at, length), name)| IndexDef { name, at, length }).collect()
    }
}

#[cfg(test)]
mod tests;
