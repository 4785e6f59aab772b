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
mod tests {
    use embermark_data::contacts;

    use super::*;

    #[test]
    fn every_contact_comes_back_from_its_key_and_record() {
        for contact in contacts::generate(5_000, 1) {
            let record = encode(&contact);
            assert_eq!(decode(&key(contact.id), &record), Some(Stored::of(&contact)));
        }
    }

    #[test]
    fn a_column_is_found_and_set_in_its_place_alone() {
        assert_eq!((STATE, ZIP), (110..112, 112..122));
        for contact in contacts::generate(100, 1) {
            for column in [Column::State, Column::Zip] {
                let mut record = encode(&contact);
                let text = if column == Column::State { &*contact.state } else { &contact.zip };
                assert_eq!(is_chosen(&record, column), text == column.chosen());
                refresh(&mut record, column);
                assert!(!is_chosen(&record, column));
                let mut expected = Stored::of(&contact);
                expected.texts[if column == Column::State { 4 } else { 5 }] = column.fresh();
                assert_eq!(decode(&key(contact.id), &record), Some(expected));
            }
        }
    }

    #[test]
    fn what_is_no_contact_is_not_taken_for_one() {
        let record = encode(&contacts::generate(1, 1).next().unwrap());
        assert_eq!(decode(b"no", &record), None);
        assert_eq!(decode(&key(1), &record[1..]), None);
        assert_eq!(decode(&key(1), &[0xff; 155]), None);
    }
}
