//! Index entries of a bulk load, collected while the table is loaded and then sorted.

use super::{Index, Pairs};

/// Passes pairs on and collects the entries of every index from them.
pub(super) struct EntryCollector<'a> {
    pairs: &'a mut dyn Pairs,
    indexes: &'a [Index],
    /// Entries of every index, in the order of the pairs.
    pub(super) entries: Vec<Entries>,
    /// Length of the value that was too short for the indexes and ended the load.
    pub(super) too_short: Option<usize>,
}

/// Keys of an index, one after the other, and the position of each.
#[derive(Default)]
pub(super) struct Entries {
    bytes: Vec<u8>,
    places: Vec<(usize, usize)>,
}

impl<'a> EntryCollector<'a> {
    /// Wraps the pairs of a table with these indexes.
    pub(super) fn new(pairs: &'a mut dyn Pairs, indexes: &'a [Index]) -> Self {
        let entries = indexes.iter().map(|_| Entries::default()).collect();
        Self { pairs, indexes, entries, too_short: None }
    }
}

impl Pairs for EntryCollector<'_> {
    fn next(&mut self) -> Option<(&[u8], &[u8])> {
        let (key, value) = self.pairs.next()?;
        for (index, entries) in self.indexes.iter().zip(&mut self.entries) {
            let Some(bytes) = index.bytes_in(value) else {
                self.too_short = Some(value.len());
                return None;
            };
            let start = entries.bytes.len();
            entries.bytes.extend_from_slice(bytes);
            entries.bytes.extend_from_slice(key);
            entries.places.push((start, entries.bytes.len()));
        }
        Some((key, value))
    }
}

/// The entries of an index in ascending order, with empty values.
pub(super) struct SortedEntries {
    entries: Entries,
    next: usize,
}

impl SortedEntries {
    /// Sorts the entries.
    pub(super) fn new(mut entries: Entries) -> Self {
        let bytes = &entries.bytes;
        entries.places.sort_unstable_by_key(|&(from, to)| &bytes[from..to]);
        Self { entries, next: 0 }
    }
}

impl Pairs for SortedEntries {
    fn next(&mut self) -> Option<(&[u8], &[u8])> {
        let &(from, to) = self.entries.places.get(self.next)?;
        self.next += 1;
        Some((&self.entries.bytes[from..to], &[]))
    }
}
