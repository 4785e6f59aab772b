//! Format of change records: which keys of which tables a transaction of the front has changed.
//!
//! A record's key is its number, 8 bytes big-endian. Its value is the concatenated changes.

/// A change in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change<'a> {
    /// A key of a table was put, changed or deleted.
    Key(u8, &'a [u8]),
    /// A whole table was loaded, cleared, or shown with another decoder.
    All(u8),
}

const KEY: u8 = 0;
const ALL: u8 = 1;

/// Bytes before a key: the kind, the table, and two for the key's length.
const HEAD: usize = 4;

/// Appends a key's change. If the key is longer than 65,535 bytes, its whole table counts as
/// changed.
#[inline]
pub(crate) fn append(record: &mut Vec<u8>, table: u8, key: &[u8]) {
    match u16::try_from(key.len()) {
        Ok(length) => {
            let [low, high] = length.to_le_bytes();
            record.extend([KEY, table, low, high]);
            record.extend(key);
        }
        Err(_) => append_all(record, table),
    }
}

/// Appends the change of a whole table.
pub(crate) fn append_all(record: &mut Vec<u8>, table: u8) {
    record.extend([ALL, table, 0, 0]);
}

/// Returns the changes of a record, up to where it is truncated.
pub(crate) fn changes(mut record: &[u8]) -> impl Iterator<Item = Change<'_>> {
    std::iter::from_fn(move || {
        let (&[kind, table, low, high], rest) = record.split_first_chunk::<HEAD>()?;
        if kind == ALL {
            record = rest;
            return Some(Change::All(table));
        }
        let length = usize::from(u16::from_le_bytes([low, high]));
        let key;
        (key, record) = rest.split_at_checked(length)?;
        Some(Change::Key(table, key))
    })
}

/// Returns the key of the record with that number.
pub(crate) const fn key(number: u64) -> [u8; 8] {
    number.to_be_bytes()
}

/// Returns the number of the record with that key. 0 if it is invalid.
pub(crate) fn number(key: &[u8]) -> u64 {
    key.try_into().map_or(0, u64::from_be_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_gives_back_the_changes_in_their_order() {
        let mut record = Vec::new();
        append(&mut record, 3, b"one");
        append_all(&mut record, 0);
        append(&mut record, 7, b"");
        append(&mut record, 1, &vec![0; 70_000]);
        let known = [Change::Key(3, b"one"), Change::All(0), Change::Key(7, b""), Change::All(1)];
        assert_eq!(changes(&record).collect::<Vec<_>>(), known);
        assert_eq!(changes(&record[..5]).count(), 0);
    }

    #[test]
    fn keys_of_records_are_in_the_order_of_their_numbers() {
        assert!(key(255) < key(256));
        assert_eq!(number(&key(77)), 77);
    }
}
