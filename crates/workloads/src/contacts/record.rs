//! A contact as key and value: the id, big-endian in four bytes, and a record of the published
//! table's columns, each in a place of its width and filled up with zeros.

use std::ops::Range;

use embermark_data::contacts::Contact;

use super::phase::Column;
use super::port::Stored;

/// An id; it sorts as it counts.
pub(super) type Key = [u8; 4];

/// A record.
pub(super) type Record = [u8; 155];

/// The widths of the columns after the id.
const WIDTHS: [usize; 8] = [25, 25, 30, 30, 2, 10, 20, 13];

const STATE: Range<usize> = place(4);

const ZIP: Range<usize> = place(5);

/// Where in a record the column of that number stands.
const fn place(column: usize) -> Range<usize> {
    let (mut at, mut from) = (0, 0);
    while at < column {
        from += WIDTHS[at];
        at += 1;
    }
    from..from + WIDTHS[column]
}

/// The bytes of a column by which rows are chosen.
pub(super) const fn bytes(of: Column) -> Range<usize> {
    match of {
        Column::State => STATE,
        Column::Zip => ZIP,
    }
}

/// The key of an id; none has more than 32 bits.
pub(super) const fn key(id: i64) -> Key {
    (id as u32).to_be_bytes()
}

/// The record of a contact.
pub(super) fn encode(contact: &Contact) -> Record {
    let (mut record, mut at) = ([0; _], 0);
    for (text, width) in Stored::of(contact).texts.into_iter().zip(WIDTHS) {
        record[at..at + text.len()].copy_from_slice(text.as_bytes());
        at += width;
    }
    record
}

/// The id of a key, if it is one.
pub(super) fn id(key: &[u8]) -> Option<i64> {
    key.try_into().ok().map(|key| i64::from(u32::from_be_bytes(key)))
}

/// The columns of a record, if it is one.
pub(super) fn texts(record: &[u8]) -> Option<[&str; 8]> {
    if record.len() != size_of::<Record>() {
        return None;
    }
    let record = str::from_utf8(record).ok()?;
    let (mut texts, mut at) = ([""; 8], 0);
    for (text, width) in texts.iter_mut().zip(WIDTHS) {
        let column = record.get(at..at + width)?;
        *text = column.split_once('\0').map_or(column, |(text, _)| text);
        at += width;
    }
    Some(texts)
}

/// The contact of a key and a record; `None` when they are none.
pub(super) fn decode<'a>(key: &[u8], record: &'a [u8]) -> Option<Stored<'a>> {
    Some(Stored { id: id(key)?, texts: texts(record)? })
}

/// Whether a column has its chosen value in a record.
pub(super) fn is_chosen(record: &[u8], by: Column) -> bool {
    record.get(bytes(by)) == Some(by.chosen().as_bytes())
}

/// Sets the fresh value of a column in a record.
pub(super) fn refresh(record: &mut [u8], column: Column) {
    // Both are as wide as their columns.
    if let Some(place) = record.get_mut(bytes(column)) {
        place.copy_from_slice(column.fresh().as_bytes());
    }
}

#[cfg(test)]
mod tests;
