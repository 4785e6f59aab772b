//! Tables in a database without tables: the keys of each begin with a byte, the table's number.

use crate::kv::{Range, Table};

/// Table with the name of each table as a key and its number as the value.
pub(crate) const NAMES: Table = Table(0);
/// Highest table number. The keys of a table end at the next prefix byte, so 255 is not usable.
pub(crate) const MAX_TABLES: usize = 254;

/// Returns a table's prefix byte and a key, written to `into`.
pub(crate) fn prefixed_key<'a>(
    into: &'a mut Vec<u8>,
    Table(number): Table,
    key: &[u8],
) -> &'a [u8] {
    into.clear();
    into.push(number as u8);
    into.extend_from_slice(key);
    into
}

/// Returns a range of a table's keys as a range of all keys.
pub(crate) fn prefixed_range<'a>(
    [from, to]: &'a mut [Vec<u8>; 2],
    table: Table,
    range: Range<'_>,
) -> Range<'a> {
    let from = prefixed_key(from, table, range.from.unwrap_or_default());
    let to = match range.to {
        Some(end) => prefixed_key(to, table, end),
        None => prefixed_key(to, Table(table.0 + 1), &[]),
    };
    Range { from: Some(from), to: Some(to), direction: range.direction }
}
