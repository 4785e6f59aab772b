//! Rows as keys and values of bytes.
//!
//! A key is its columns one after the other, each so that bytes compare as its values do: integers at
//! their width, greatest byte first, the sign turned; floats likewise; a text ended by a zero unless it
//! is the last. Bytes can be the last alone.
//!
//! A value is, for each column that an index has, those bytes again at a fixed place; then a bit for each
//! other column, whether it is there; the columns of fixed width; the length of each text, and of each JSON document
//! that has columns as its fields; the texts; the documents.

pub(super) mod conditions;
pub(super) mod field;
pub(super) mod shown;

use embermark_contract::kv::IndexDef;
use embermark_model::table::{ColumnType, Table, Value};
use smallvec::{SmallVec, smallvec};

use super::documents::{Document, FEW, Stored, stored};

/// Bytes of a text in an index: what is longer is compared again in the row.
const INDEXED_TEXT: usize = 16;

/// How a table's rows lie in a store.
pub(super) struct Codec {
    /// Of each column in the file's order, where it lies.
    places: Vec<Place>,
    /// The columns of the key, in its order.
    key: Vec<usize>,
    /// The columns that indexes have, each once, with their places in the value.
    indexed: Vec<(usize, usize)>,
    /// Of each index, where its bytes begin and how many there are.
    indexes: Vec<(usize, usize)>,
    /// Where the bits begin.
    bits: usize,
    /// Where the texts begin.
    texts: usize,
    /// The documents, each with the place of its length.
    documents: Vec<(Document, usize)>,
    /// The places of the lengths of all texts, and of those of the documents.
    lengths: Vec<usize>,
    of: Vec<ColumnType>,
    /// See [`key_length`](Self::key_length).
    fixed_key: Option<usize>,
}

/// Where a column lies.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// In the key, as its n-th column.
    Key(usize),
    /// In the value, at a place, the n-th bit.
    Fixed { at: usize, bit: usize },
    /// In the value: its length at a place, the n-th bit and the n-th text.
    Text { length_at: usize, bit: usize },
    /// In a document, as its n-th field.
    Field { document: usize, field: usize },
}

/// What is read of a value whose columns are visited in their order.
struct Rest<'a> {
    /// From the text of the next column on.
    texts: &'a [u8],
    /// The fields of a document that was read, and which it is.
    fields: Option<(usize, SmallVec<[Value<'a>; FEW]>)>,
}

/// Bytes of a value of fixed width in a row.
const fn width(of: ColumnType) -> usize {
    match of {
        ColumnType::Bool => 1,
        ColumnType::Int { bits, .. } => bits as usize / 8,
        ColumnType::Float | ColumnType::Timestamp(_) => 8,
        // Its length.
        ColumnType::Text | ColumnType::Bytes => 4,
    }
}

/// Bytes of a column in an index: whether it is there, and its value.
const fn indexed_width(of: ColumnType) -> usize {
    1 + match of {
        ColumnType::Text | ColumnType::Bytes => INDEXED_TEXT,
        other => width(other),
    }
}

const fn is_text(of: ColumnType) -> bool {
    matches!(of, ColumnType::Text | ColumnType::Bytes)
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
        let fixed_key = widths.sum();
        Self { places, key, indexed, indexes, bits, texts: at, documents, lengths, of, fixed_key }
    }

    /// The length of every key, where it is the same.
    pub(super) const fn key_length(&self) -> Option<usize> {
        self.fixed_key
    }

    /// The length of every pair that is [laid out](Self::lay_pair), where it is the same.
    pub(super) fn pair_length(&self) -> Option<usize> {
        let is_fixed = |place: &Place| matches!(place, Place::Key(_) | Place::Fixed { .. });
        let fixed = self.places.iter().all(is_fixed);
        self.key_length().filter(|_| fixed).map(|length| length + self.texts)
    }

    /// Lays out a pair as one string: the key, behind its length where keys differ in theirs, and the value.
    pub(super) fn lay_pair(&self, key: &[u8], value: &[u8], to: &mut Vec<u8>) {
        if self.fixed_key.is_none() {
            to.extend_from_slice(&(key.len() as u32).to_le_bytes());
        }
        to.extend_from_slice(key);
        to.extend_from_slice(value);
    }

    /// The key and the value of a pair that was laid out.
    #[inline]
    pub(super) fn laid_pair<'a>(&self, pair: &'a [u8]) -> (&'a [u8], &'a [u8]) {
        match self.fixed_key {
            Some(length_of_key) => pair.split_at(length_of_key),
            None => pair[4..].split_at(length(pair, 0)),
        }
    }

    /// Bytes of the longest index before the key that ends each of its entries.
    pub(super) fn longest_index(&self) -> usize {
        self.indexes.iter().map(|(_, length)| *length).max().unwrap_or_default()
    }

    /// Its indexes, by these names.
    pub(super) fn indexes<'a>(&self, names: &'a [String]) -> Vec<IndexDef<'a>> {
        let places = self.indexes.iter().zip(names);
        places.map(|(&(at, length), name)| IndexDef { name, at, length }).collect()
    }

    /// The bytes of a key, or of its first columns.
    #[inline]
    pub(super) fn key<'a>(&self, values: impl IntoIterator<Item = Value<'a>>, to: &mut Vec<u8>) {
        to.clear();
        for (value, (number, column)) in values.into_iter().zip(self.key.iter().enumerate()) {
            ordered(value, self.of[*column], to);
            if is_text(self.of[*column]) && number + 1 < self.key.len() {
                to.push(0);
            }
        }
    }

    /// The bytes of the first columns of an index.
    pub(super) fn index<'a>(
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

    /// The bytes of a value; `get` has the row's columns.
    #[inline]
    pub(super) fn value<'a>(&self, get: impl Fn(usize) -> Value<'a>, to: &mut Vec<u8>) {
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

    /// Whether a value takes as much room as what stands in a column of a value that was made by
    /// [`value`](Self::value), so that it can be [`set`](Self::set).
    pub(super) fn fits(&self, bytes: &[u8], column: usize, value: Value<'_>) -> bool {
        match self.places[column] {
            Place::Key(_) | Place::Fixed { .. } => return true,
            // Of a document the length of all is known when it is written.
            Place::Field { .. } => return false,
            Place::Text { .. } => {}
        }
        match (self.column(&[], bytes, column), value) {
            (Some(Value::Text(old)), Value::Text(new)) => old.len() == new.len(),
            (Some(Value::Bytes(old)), Value::Bytes(new)) => old.len() == new.len(),
            _ => false,
        }
    }

    /// Sets a column in a value that was made by [`value`](Self::value), where it lies. Texts and bytes have the
    /// length of what was there.
    #[inline]
    pub(super) fn set(&self, bytes: &mut [u8], column: usize, value: Value<'_>) {
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

    /// Where a text begins: behind those of the columns before it.
    fn text_at(&self, bytes: &[u8], column: usize) -> usize {
        let before = self.places[..column].iter().map(|place| match place {
            Place::Text { length_at, .. } => length(bytes, *length_at),
            _ => 0,
        });
        self.texts + before.sum::<usize>()
    }

    /// A document of a value.
    #[inline]
    fn document<'a>(&self, value: &'a [u8], number: usize) -> Option<&'a str> {
        let texts = self.lengths.len() - self.documents.len();
        let before = self.lengths[..texts + number].iter().map(|at| length(value, *at));
        let from = self.texts + before.sum::<usize>();
        let own = value.get(from..from + length(value, self.documents[number].1))?;
        str::from_utf8(own).ok()
    }

    /// What is read of a value first.
    fn rest<'a>(&self, value: &'a [u8]) -> Option<Rest<'a>> {
        Some(Rest { texts: value.get(self.texts..)?, fields: None })
    }

    /// Whether there is nothing in a value behind its texts but its documents.
    fn is_all(&self, value: &[u8], rest: &Rest<'_>) -> bool {
        let documents = self.documents.iter().map(|(_, at)| length(value, *at));
        rest.texts.len() == documents.sum::<usize>()
    }

    /// Visits the columns of a pair in the file's order; `None` where it is no pair of this table.
    #[inline]
    pub(super) fn read<'a, B>(
        &self,
        key: &'a [u8],
        value: &'a [u8],
        start: B,
        mut add: impl FnMut(B, Value<'a>) -> B,
    ) -> Option<B> {
        let mut rest = self.rest(value)?;
        let mut done = start;
        for (column, place) in self.places.iter().enumerate() {
            let got = match *place {
                Place::Key(number) => self.in_key(key, number)?,
                _ => self.in_value(value, column, &mut rest)?,
            };
            done = add(done, got);
        }
        Some(done)
    }

    /// A column of a value, which is at least as long as one without texts; what is left of its texts
    /// begins with that of the column.
    #[inline]
    fn in_value<'a>(
        &self,
        value: &'a [u8],
        column: usize,
        rest: &mut Rest<'a>,
    ) -> Option<Value<'a>> {
        let of = self.of[column];
        let is_there = |bit: usize| value[self.bits + bit / 8] & 1 << (bit % 8) != 0;
        match self.places[column] {
            Place::Key(_) => None,
            Place::Fixed { bit, .. } | Place::Text { bit, .. } if !is_there(bit) => {
                Some(Value::Null)
            }
            Place::Fixed { at, .. } => Some(read_fixed(of, value.get(at..at + width(of))?)),
            Place::Text { length_at, .. } => {
                let (text, behind) = rest.texts.split_at_checked(length(value, length_at))?;
                rest.texts = behind;
                text_or_bytes(of, text)
            }
            Place::Field { document, field } => {
                if let Some((_, fields)) = rest.fields.as_ref().filter(|(of, _)| *of == document) {
                    return Some(fields[field]);
                }
                let def = &self.documents[document].0;
                let mut fields: SmallVec<[_; FEW]> = smallvec![Value::Null; def.columns.len()];
                def.read(self.document(value, document)?, |field, value| {
                    fields[field] = value;
                    true
                })?;
                let own = fields[field];
                rest.fields = Some((document, fields));
                Some(own)
            }
        }
    }

    /// One column of a pair; `None` where it is no pair of this table.
    #[inline]
    pub(super) fn column<'a>(
        &self,
        key: &'a [u8],
        value: &'a [u8],
        column: usize,
    ) -> Option<Value<'a>> {
        let of = self.of[column];
        let is_there = |bit: usize| {
            value.get(self.bits + bit / 8).is_some_and(|bits| bits & 1 << (bit % 8) != 0)
        };
        match self.places[column] {
            Place::Key(number) => self.in_key(key, number),
            Place::Fixed { bit, .. } | Place::Text { bit, .. } if !is_there(bit) => {
                Some(Value::Null)
            }
            Place::Fixed { at, .. } => Some(read_fixed(of, value.get(at..at + width(of))?)),
            Place::Text { length_at, .. } => {
                let from = self.text_at(value, column);
                text_or_bytes(of, value.get(from..from + length(value, length_at))?)
            }
            Place::Field { document, field } => {
                let mut own = Value::Null;
                self.documents[document].0.read(self.document(value, document)?, |at, value| {
                    if at == field {
                        own = value;
                    }
                    at < field
                })?;
                Some(own)
            }
        }
    }

    /// How long the first columns of a key are.
    pub(super) fn prefix(&self, key: &[u8], columns: usize) -> usize {
        let mut at = 0;
        for column in &self.key[..columns] {
            let of = self.of[*column];
            let rest = key.get(at..).unwrap_or_default();
            at += match of {
                _ if !is_text(of) => width(of),
                _ => rest.iter().position(|byte| *byte == 0).map_or(rest.len(), |end| end + 1),
            };
        }
        at.min(key.len())
    }

    /// The n-th column of a key.
    #[inline]
    fn in_key<'a>(&self, key: &'a [u8], number: usize) -> Option<Value<'a>> {
        let mut rest = key;
        for before in 0..number {
            (_, rest) = self.split_key(rest, before)?;
        }
        let (own, _) = self.split_key(rest, number)?;
        self.of_key(own, number)
    }

    /// What is left of a key, split behind its n-th column, with which it begins.
    #[inline]
    fn split_key<'a>(&self, rest: &'a [u8], number: usize) -> Option<(&'a [u8], &'a [u8])> {
        let of = self.of[*self.key.get(number)?];
        match of {
            _ if is_text(of) && number + 1 == self.key.len() => Some((rest, &[])),
            ColumnType::Text => {
                let end = rest.iter().position(|byte| *byte == 0)?;
                Some((&rest[..end], &rest[end + 1..]))
            }
            // Bytes that are not the last of a key are refused: no engine keeps them in order.
            ColumnType::Bytes => None,
            of => rest.split_at_checked(width(of)),
        }
    }

    /// The n-th column of a key, from its own bytes.
    #[inline]
    fn of_key<'a>(&self, own: &'a [u8], number: usize) -> Option<Value<'a>> {
        let of = self.of[self.key[number]];
        if is_text(of) { text_or_bytes(of, own) } else { Some(read_ordered(of, own)) }
    }
}

fn length(bytes: &[u8], at: usize) -> usize {
    bytes
        .get(at..at + 4)
        .map_or(0, |four| u32::from_le_bytes([four[0], four[1], four[2], four[3]]) as usize)
}

fn text_or_bytes(of: ColumnType, bytes: &[u8]) -> Option<Value<'_>> {
    if of == ColumnType::Bytes {
        return Some(Value::Bytes(bytes));
    }
    str::from_utf8(bytes).ok().map(Value::Text)
}

/// A value of fixed width, least byte first.
#[inline]
fn fixed(value: Value<'_>, to: &mut [u8]) {
    let bits = match value {
        Value::Int(value) => value.cast_unsigned(),
        Value::Float(value) => value.to_bits(),
        _ => return,
    };
    to.copy_from_slice(&bits.to_le_bytes()[..to.len()]);
}

#[inline]
fn read_fixed(of: ColumnType, bytes: &[u8]) -> Value<'static> {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    number(of, u64::from_le_bytes(word))
}

/// The low bytes of a word as a value.
#[inline]
fn number(of: ColumnType, bits: u64) -> Value<'static> {
    match of {
        ColumnType::Float => Value::Float(f64::from_bits(bits)),
        ColumnType::Int { bits: width, signed: true } => {
            let unused = 64 - u32::from(width);
            Value::Int((bits << unused).cast_signed() >> unused)
        }
        _ => Value::Int(bits.cast_signed()),
    }
}

/// Bits of a value that compare as it does, greatest first.
#[inline]
fn ordered_bits(value: Value<'_>, of: ColumnType) -> u64 {
    match (value, of) {
        (Value::Int(value), ColumnType::Int { bits, signed: true }) => {
            value.cast_unsigned() ^ 1 << (bits - 1)
        }
        (Value::Int(value), ColumnType::Timestamp(_)) => value.cast_unsigned() ^ 1 << 63,
        (Value::Int(value), _) => value.cast_unsigned(),
        (Value::Float(value), _) => {
            let bits = (value + 0.0).to_bits();
            if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
        }
        _ => 0,
    }
}

#[inline]
fn ordered(value: Value<'_>, of: ColumnType, to: &mut Vec<u8>) {
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
fn read_ordered(of: ColumnType, bytes: &[u8]) -> Value<'static> {
    let mut word = [0; 8];
    word[8 - bytes.len()..].copy_from_slice(bytes);
    let bits = u64::from_be_bytes(word);
    match of {
        ColumnType::Int { bits: width, signed: true } => number(of, bits ^ 1 << (width - 1)),
        ColumnType::Timestamp(_) => number(of, bits ^ 1 << 63),
        ColumnType::Float if bits >> 63 == 1 => Value::Float(f64::from_bits(bits & !(1 << 63))),
        ColumnType::Float => Value::Float(f64::from_bits(!bits)),
        _ => number(of, bits),
    }
}

/// A column in an index, into its zeroed place.
fn indexed(value: Value<'_>, of: ColumnType, to: &mut [u8]) {
    let (there, to) = to.split_at_mut(1);
    there[0] = u8::from(value != Value::Null);
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

#[cfg(test)]
mod tests;
