//! Decodes pairs: all columns, or one.

use embermark_model::table::{ColumnType, Value};
use smallvec::{SmallVec, smallvec};

use super::super::Codec;
use super::super::documents::FEW;
use super::Place;
use super::bytes::{is_text, length, read_fixed, read_ordered, text_or_bytes, width};

/// State of decoding a value whose columns are visited in order.
pub(super) struct Rest<'a> {
    /// Bytes from the text of the next column on.
    texts: &'a [u8],
    /// The document decoded last, and its fields.
    fields: Option<(usize, SmallVec<[Value<'a>; FEW]>)>,
}

impl Codec {
    /// Returns the offset of a text: after those of the columns before it.
    pub(super) fn text_at(&self, bytes: &[u8], column: usize) -> usize {
        let before = self.places[..column].iter().map(|place| match place {
            Place::Text { length_at, .. } => length(bytes, *length_at),
            _ => 0,
        });
        self.texts + before.sum::<usize>()
    }

    /// Returns a document of a value.
    #[inline]
    pub(super) fn document<'a>(&self, value: &'a [u8], number: usize) -> Option<&'a str> {
        let texts = self.lengths.len() - self.documents.len();
        let before = self.lengths[..texts + number].iter().map(|at| length(value, *at));
        let from = self.texts + before.sum::<usize>();
        let own = value.get(from..from + length(value, self.documents[number].1))?;
        str::from_utf8(own).ok()
    }

    /// Returns the state before the first column.
    pub(super) fn rest<'a>(&self, value: &'a [u8]) -> Option<Rest<'a>> {
        Some(Rest { texts: value.get(self.texts..)?, fields: None })
    }

    /// Returns whether only the documents follow the texts of a value.
    pub(super) fn is_all(&self, value: &[u8], rest: &Rest<'_>) -> bool {
        let documents = self.documents.iter().map(|(_, at)| length(value, *at));
        rest.texts.len() == documents.sum::<usize>()
    }

    /// Visits the columns of a pair in the file's order. `None` if it is not a pair of this table.
    #[inline]
    pub fn read<'a, B>(
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

    /// Returns a column of a value. The value is at least as long as one without texts, and the
    /// remaining texts begin with the column's.
    #[inline]
    pub(super) fn in_value<'a>(
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

    /// Returns one column of a pair. `None` if it is not a pair of this table.
    #[inline]
    pub fn column<'a>(&self, key: &'a [u8], value: &'a [u8], column: usize) -> Option<Value<'a>> {
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

    /// Returns the length of the first columns of a key.
    pub fn prefix(&self, key: &[u8], columns: usize) -> usize {
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

    /// Returns the n-th column of a key.
    #[inline]
    fn in_key<'a>(&self, key: &'a [u8], number: usize) -> Option<Value<'a>> {
        let mut rest = key;
        for before in 0..number {
            (_, rest) = self.split_key(rest, before)?;
        }
        let (own, _) = self.split_key(rest, number)?;
        self.of_key(own, number)
    }

    /// Splits the rest of a key after its n-th column, with which it begins.
    #[inline]
    pub(super) fn split_key<'a>(
        &self,
        rest: &'a [u8],
        number: usize,
    ) -> Option<(&'a [u8], &'a [u8])> {
        let of = self.of[*self.key.get(number)?];
        match of {
            _ if is_text(of) && number + 1 == self.key.len() => Some((rest, &[])),
            ColumnType::Text => {
                let end = rest.iter().position(|byte| *byte == 0)?;
                Some((&rest[..end], &rest[end + 1..]))
            }
            // Bytes that are not the last column of a key are refused: no engine keeps them in
            // order.
            ColumnType::Bytes => None,
            of => rest.split_at_checked(width(of)),
        }
    }

    /// Returns the n-th column of a key from its own bytes.
    #[inline]
    pub(super) fn of_key<'a>(&self, own: &'a [u8], number: usize) -> Option<Value<'a>> {
        let of = self.of[self.key[number]];
        if is_text(of) { text_or_bytes(of, own) } else { Some(read_ordered(of, own)) }
    }
}
