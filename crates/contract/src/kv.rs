//! The key-value family: ordered pairs of bytes in named tables.

mod each;
mod expire;
mod indexed;
pub mod mirror;
mod overlay;

use std::ops::{Bound, ControlFlow};

use crate::{EngineError, Lifecycle, Result, Scope};

pub use each::Each;
pub use indexed::Indexed;
pub use overlay::{Blind, Overlay, SeePut};

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// Ascending keys.
    #[default]
    Forward,
    /// Descending keys.
    Backward,
}

/// Keys from `from` up to but without `to`, one way or the other; `None` is unbounded. By default
/// every key, ascending.
#[derive(Clone, Copy, Debug, Default)]
pub struct Range<'a> {
    /// The lowest key that belongs to it.
    pub from: Option<&'a [u8]>,
    /// The lowest key above it that does not.
    pub to: Option<&'a [u8]>,
    /// Which way it is visited.
    pub direction: Direction,
}

impl<'a> Range<'a> {
    /// Keys from `from` up to but without `to`, ascending.
    pub const fn between(from: &'a [u8], to: Option<&'a [u8]>) -> Self {
        Self { from: Some(from), to, direction: Direction::Forward }
    }

    /// Its ends, as collections take them.
    pub fn bounds(&self) -> (Bound<&'a [u8]>, Bound<&'a [u8]>) {
        let from = self.from.map_or(Bound::Unbounded, Bound::Included);
        (from, self.to.map_or(Bound::Unbounded, Bound::Excluded))
    }

    /// The same keys, descending.
    #[must_use]
    pub const fn backward(self) -> Self {
        Self { direction: Direction::Backward, ..self }
    }
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

/// Changes a value where it lies, keeping its length.
pub type Change<'a> = dyn FnMut(&mut [u8]) + 'a;

/// What is done in a scope.
pub type Work<'a> = dyn FnMut(&mut dyn Operations) -> Result<()> + 'a;

/// Gives the pairs of a bulk load, one at a time; `None` ends it.
pub trait Pairs {
    /// The next pair, valid until the next call.
    fn next(&mut self) -> Option<(&[u8], &[u8])>;
}

/// An ordered key-value store. Keys compare as bytes. What reads and changes single keys happens in
/// a [scope](Self::transact); the rest is a commit of its own, outside of any. One thread, one scope
/// at a time.
///
/// # Errors
/// Every call fails when the engine reports an error.
pub trait KvStore: Lifecycle {
    /// Opens the table of that name, creating it if need be. A store that does not
    /// [keep indexes](Self::keeps_indexes) ignores those of the definition.
    fn table(&mut self, def: &TableDef<'_>) -> Result<Table>;

    /// Whether the engine itself keeps secondary indexes up to date and answers
    /// [`find`](Operations::find).
    fn keeps_indexes(&self) -> bool {
        false
    }

    /// Removes every pair of a table, giving its space back.
    fn clear(&mut self, table: Table) -> Result<()>;

    /// Loads pairs by the engine's fastest documented path into an empty table, as one commit, and
    /// returns how many. When [`bulk_sorted`](Self::bulk_sorted) says so they come in key order.
    fn bulk(&mut self, table: Table, pairs: &mut dyn Pairs) -> Result<u64>;

    /// Whether the bulk path wants its pairs in ascending key order.
    fn bulk_sorted(&self) -> bool {
        true
    }

    /// Enters a scope, hands its operations to `work`, which is called once, and ends it: with a
    /// commit, or, where `work` fails, by undoing what a [batch](Scope::Batch) did. (Use
    /// [`within`](#method.within), which returns what the work does.) To enter
    /// [`Scope::PerOperation`] costs nothing worth measuring.
    ///
    /// # Errors
    /// When the engine reports one, or those of `work`.
    fn transact(&mut self, scope: Scope, work: &mut Work<'_>) -> Result<()>;

    /// Removes every key from `from` up to but without `to`, none where that is no range, by what the
    /// engine's manual has for many at once, as commits at the tier's durability. (By default it looks for
    /// them and removes them, a thousand a commit.)
    fn delete_range(&mut self, table: Table, from: &[u8], to: &[u8]) -> Result<()> {
        expire::in_batches(|scope, work| self.transact(scope, work), table, from, to)
    }

    /// By which means [`delete_range`](Self::delete_range) does so, for a reader.
    fn deletes_range(&self) -> &'static str {
        "a scan that finds the keys and a delete of each, 1,000 a commit"
    }

    /// The second copy of its tables in columns, where it keeps one.
    fn mirror(&mut self) -> Option<&mut dyn mirror::Mirror> {
        None
    }
}

impl dyn KvStore + '_ {
    /// Does `work` in a scope and returns what it returns.
    ///
    /// # Errors
    /// When the engine reports one, or those of `work`.
    pub fn within<T>(
        &mut self,
        scope: Scope,
        work: impl FnOnce(&mut dyn Operations) -> Result<T>,
    ) -> Result<T> {
        let (mut work, mut done) = (Some(work), None);
        self.transact(scope, &mut |operations| {
            if let Some(work) = work.take() {
                done = Some(work(operations)?);
            }
            Ok(())
        })?;
        done.ok_or_else(|| {
            EngineError::failed("the store", "enter a scope", "it did no work in it")
        })
    }
}

/// Copies the value of a key, valid in its scope alone, into `copy`; whether it is there.
///
/// # Errors
/// When the engine reports one.
pub fn copy_value(
    store: &mut dyn KvStore,
    scope: Scope,
    (table, key): (Table, &[u8]),
    copy: &mut Vec<u8>,
) -> Result<bool> {
    store.within(scope, |operations| {
        let Some(value) = operations.get(table, key)? else { return Ok(false) };
        copy.clear();
        copy.extend_from_slice(value);
        Ok(true)
    })
}

/// What can be done in a scope of a [`KvStore`]. A scope that only reads refuses changes.
///
/// # Errors
/// Every call fails when the engine reports an error. That a key is not there is none.
pub trait Operations {
    /// The value of a key, valid until the next call, without a copy where the engine allows it.
    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>>;

    /// Visits the pairs of a range in key order.
    fn scan(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()>;

    /// The exact number of keys, where the engine keeps it: not by a scan.
    fn count(&mut self, _table: Table) -> Result<Option<u64>> {
        Ok(None)
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

    /// Sets the value of a key, new or not.
    fn put(&mut self, _table: Table, _key: &[u8], _value: &[u8]) -> Result<()> {
        Err(EngineError::read_only("a store"))
    }

    /// Changes the value of a key in place, keeping its length; whether the key was there.
    fn modify(&mut self, _table: Table, _key: &[u8], _change: &mut Change<'_>) -> Result<bool> {
        Err(EngineError::read_only("a store"))
    }

    /// Removes a key; whether it was there.
    fn delete(&mut self, _table: Table, _key: &[u8]) -> Result<bool> {
        Err(EngineError::read_only("a store"))
    }
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
