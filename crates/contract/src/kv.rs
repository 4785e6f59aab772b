//! The key-value family: ordered pairs of bytes in named tables.

mod indexed;

use std::ops::ControlFlow;

use crate::{Access, EngineError, Lifecycle, Result};

pub use indexed::Indexed;

/// A table of a [`KvStore`], as that store numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table(pub usize);

/// A table to open or create.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableDef<'a> {
    /// Its name: letters and digits.
    pub name: &'a str,
    /// The length of every key in bytes, if they all have the same. A store of records with keys
    /// of fixed places needs it.
    pub key_length: Option<usize>,
    /// Its secondary indexes.
    pub indexes: &'a [IndexDef<'a>],
}

impl<'a> TableDef<'a> {
    /// A table of keys of any length without further indexes.
    pub const fn named(name: &'a str) -> Self {
        Self { name, key_length: None, indexes: &[] }
    }
}

/// A secondary index: some bytes at a fixed place in every value. Not unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexDef<'a> {
    /// Its name: letters and digits.
    pub name: &'a str,
    /// Where in the value its bytes begin.
    pub at: usize,
    /// How many bytes.
    pub length: usize,
}

/// Which way a scan goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Ascending keys.
    Forward,
    /// Descending keys.
    Backward,
}

/// Keys from `from` up to but without `to`; `None` is unbounded.
#[derive(Clone, Copy, Debug, Default)]
pub struct Range<'a> {
    /// The lowest key that belongs to it.
    pub from: Option<&'a [u8]>,
    /// The lowest key above it that does not.
    pub to: Option<&'a [u8]>,
}

/// The lowest bytes above everything that begins with `prefix`; `None` when there are none. A range
/// up to them holds what begins so.
pub fn beyond(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|byte| *byte != u8::MAX)?;
    let mut beyond = prefix[..=last].to_vec();
    beyond[last] += 1;
    Some(beyond)
}

/// Receives the pairs of a scan; `Break` ends it.
pub type Visit<'a> = dyn FnMut(&[u8], &[u8]) -> ControlFlow<()> + 'a;

/// Gives the pairs of a bulk load, one at a time; `None` ends it.
pub trait Pairs {
    /// The next pair, valid until the next call.
    fn next(&mut self) -> Option<(&[u8], &[u8])>;
}

/// An ordered key-value store. Keys compare as bytes. An operation outside of
/// [`begin`](Self::begin) … [`commit`](Self::commit) is a transaction of its own, committed at the
/// tier's durability before it returns. One thread, one transaction at a time.
pub trait KvStore: Lifecycle {
    /// Opens the table of that name, creating it if need be. Not inside a transaction. A store
    /// that does not [keep indexes](Self::keeps_indexes) ignores those of the definition.
    ///
    /// # Errors
    /// When the engine reports one.
    fn table(&mut self, def: &TableDef<'_>) -> Result<Table>;

    /// Whether the engine itself keeps secondary indexes up to date and answers
    /// [`find`](Self::find).
    fn keeps_indexes(&self) -> bool {
        false
    }

    /// Visits the pairs whose bytes at the place of the table's index number `index` lie in a range,
    /// in the order of those bytes. A bound may be shorter than the index.
    ///
    /// # Errors
    /// When the engine reports one, or keeps no indexes.
    fn find(
        &mut self,
        _table: Table,
        _index: usize,
        _range: Range<'_>,
        _visit: &mut Visit<'_>,
    ) -> Result<()> {
        Err(EngineError::unsupported("this store", "secondary indexes of its own"))
    }

    /// Removes every pair of a table, giving its space back. Not inside a transaction.
    ///
    /// # Errors
    /// When the engine reports one.
    fn clear(&mut self, table: Table) -> Result<()>;

    /// Begins a transaction. In a store without transactions it does nothing.
    ///
    /// # Errors
    /// When the engine reports one.
    fn begin(&mut self, access: Access) -> Result<()>;

    /// Ends the transaction; what it wrote is then kept as the tier promises.
    ///
    /// # Errors
    /// When the engine reports one.
    fn commit(&mut self) -> Result<()>;

    /// The value of a key, valid until the next call, without a copy where the engine allows it.
    ///
    /// # Errors
    /// When the engine reports one; a missing key is `None`.
    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>>;

    /// The exact number of keys, where the engine keeps it: not by a scan.
    ///
    /// # Errors
    /// When the engine reports one.
    fn count(&mut self, _table: Table) -> Result<Option<u64>> {
        Ok(None)
    }

    /// Sets the value of a key, new or not.
    ///
    /// # Errors
    /// When the engine reports one.
    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()>;

    /// Changes the value of a key in place, keeping its length; whether the key was there.
    ///
    /// # Errors
    /// When the engine reports one.
    fn modify(
        &mut self,
        table: Table,
        key: &[u8],
        change: &mut dyn FnMut(&mut [u8]),
    ) -> Result<bool>;

    /// Removes a key; whether it was there.
    ///
    /// # Errors
    /// When the engine reports one.
    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool>;

    /// Loads pairs by the engine's fastest documented path into an empty table, as one commit, and
    /// returns how many. When [`bulk_sorted`](Self::bulk_sorted) says so they come in key order.
    ///
    /// # Errors
    /// When the engine reports one.
    fn bulk(&mut self, table: Table, pairs: &mut dyn Pairs) -> Result<u64>;

    /// Whether the bulk path wants its pairs in ascending key order.
    fn bulk_sorted(&self) -> bool {
        true
    }

    /// Visits the pairs of a range in key order, one way or the other.
    ///
    /// # Errors
    /// When the engine reports one.
    fn scan(
        &mut self,
        table: Table,
        range: Range<'_>,
        direction: Direction,
        visit: &mut Visit<'_>,
    ) -> Result<()>;
}

#[cfg(test)]
mod tests {
    use super::beyond;

    #[test]
    fn what_lies_beyond_a_prefix_is_above_all_that_begins_with_it_and_no_higher() {
        assert_eq!(beyond(b"ab"), Some(b"ac".to_vec()));
        assert_eq!(beyond(&[1, 255, 255]), Some(vec![2]));
        assert_eq!(beyond(&[255]), None);
        assert_eq!(beyond(b""), None);
    }
}
