//! Rows of a table as pairs for a bulk load.

use embermark_contract::kv::Pairs;
use embermark_language::Work;

use super::super::arena::Strings;
use super::super::rows::{Given, Source};
use super::super::{Cell, Codec, Rows};

/// Pairs for a bulk load that were laid out beforehand.
pub(super) struct LaidPairs<'a> {
    pub pairs: Strings<'a>,
    pub codec: &'a Codec,
    pub given: Given<'a>,
}

impl Pairs for LaidPairs<'_> {
    #[inline]
    fn next(&mut self) -> Option<(&[u8], &[u8])> {
        let n = self.given.next()?;
        Some(self.codec.laid_pair(self.pairs.at(n)))
    }
}

/// Pairs for a bulk load that are encoded one by one.
pub(super) struct TablePairs<'a> {
    pub source: Source<'a>,
    pub codec: &'a Codec,
    pub key: Vec<u8>,
    pub value: Vec<u8>,
}

impl Pairs for TablePairs<'_> {
    fn next(&mut self) -> Option<(&[u8], &[u8])> {
        let (rows, place) = self.source.advance()?;
        pair_of_row(rows, place, self.codec, &mut self.key, &mut self.value);
        Some((&self.key, &self.value))
    }
}

/// Encodes the pair that operation `i` of an insert or an upsert writes.
pub(super) fn pair(
    cell: &Cell,
    codec: &Codec,
    (phase, i): (usize, usize),
    key: &mut Vec<u8>,
    value: &mut Vec<u8>,
) {
    let rows = cell.rows_of(phase);
    if let Work::Insert { .. } = cell.work(phase) {
        return pair_of_row(rows, i, codec, key, value);
    }
    let row = cell.upserted(phase, i);
    codec.key(rows.table.key.iter().map(|column| row[*column]), key);
    codec.value(|column| row[column], value);
}

/// Encodes the pair of a row.
#[inline]
pub(super) fn pair_of_row(
    rows: &Rows,
    place: usize,
    codec: &Codec,
    key: &mut Vec<u8>,
    value: &mut Vec<u8>,
) {
    codec.key(rows.key(place), key);
    codec.value(|column| rows.value(place, column), value);
}
