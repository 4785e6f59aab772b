//! The key-value family: ordered pairs of bytes in named tables.

mod autocommit;
mod expire;
mod indexed;
pub mod mirror;
mod overlay;

use std::ops::{Bound, ControlFlow};

use crate::{EngineError, Lifecycle, Result, Scope};

pub use autocommit::Autocommit;
pub use indexed::Indexed;
pub use overlay::{BlindWrites, Overlay, VisitPut};

/// Number of a table in its [`KvStore`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table(pub usize);

/// A table to open or create.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableDef<'a> {
    /// Name: letters and digits.
    pub name: &'a str,
    /// Length of every key in bytes, if all keys have the same. A store of records with fixed key
    /// positions needs it.
    pub key_length: Option<usize>,
    /// Secondary indexes.
    pub indexes: &'a [IndexDef<'a>],
}

impl<'a> TableDef<'a> {
    /// A table with keys of any length and without indexes.
    pub const fn named(name: &'a str) -> Self {
        Self { name, key_length: None, indexes: &[] }
    }
}

/// A secondary index: bytes at a fixed offset in every value. Not unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexDef<'a> {
    /// Name: letters and digits.
    pub name: &'a str,
    /// Offset in the value, in bytes.
    pub at: usize,
    /// Length in bytes.
    pub length: usize,
}

/// Direction of a scan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// Ascending keys.
    #[default]
    Forward,
    /// Descending keys.
    Backward,
}

/// Keys from `from` (inclusive) to `to` (exclusive) in either direction. `None` is unbounded. The
/// default is every key, ascending.
#[derive(Clone, Copy, Debug, Default)]
pub struct Range<'a> {
    /// Lowest key that is included.
    pub from: Option<&'a [u8]>,
    /// Lowest key above the range.
    pub to: Option<&'a [u8]>,
    /// Direction of the scan.
    pub direction: Direction,
}

impl<'a> Range<'a> {
    /// Keys from `from` (inclusive) to `to` (exclusive), ascending.
    pub const fn between(from: &'a [u8], to: Option<&'a [u8]>) -> Self {
        Self { from: Some(from), to, direction: Direction::Forward }
    }

    /// Whether no key is in it, because it ends at its begin or before.
    pub fn is_empty(&self) -> bool {
        self.to.is_some_and(|to| to <= self.from.unwrap_or_default())
    }

    /// Returns the bounds in the form that collections take, which panic at an
    /// [empty](Self::is_empty) range.
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

/// Returns the lowest bytes above everything that begins with `prefix`, or `None` if there are
/// none. A range from `prefix` to these bytes holds everything that begins with `prefix`.
pub fn beyond(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|byte| *byte != u8::MAX)?;
    let mut beyond = prefix[..=last].to_vec();
    beyond[last] += 1;
    Some(beyond)
}

/// Receives the pairs of a scan. `Break` ends the scan.
pub type Visit<'a> = dyn FnMut(&[u8], &[u8]) -> ControlFlow<()> + 'a;

/// Changes a value in place and keeps its length.
pub type Change<'a> = dyn FnMut(&mut [u8]) + 'a;

/// Work to do in a scope.
pub type Work<'a> = dyn FnMut(&mut dyn Operations) -> Result<()> + 'a;

/// Supplies the pairs of a bulk load one at a time. `None` ends the load.
pub trait Pairs {
    /// Returns the next pair, valid until the next call.
    fn next(&mut self) -> Option<(&[u8], &[u8])>;
}

/// An ordered key-value store. Keys compare as bytes. Reads and changes of single keys happen in a
/// [scope](Self::transact). Everything else happens outside of any scope and commits by itself. One
/// thread, one scope at a time.
///
/// # Errors
/// Every call fails if the engine reports an error.
pub trait KvStore: Lifecycle {
    /// Opens the table with that name and creates it if necessary. A store that does not [keep
    /// indexes](Self::keeps_indexes) ignores those of the definition.
    fn table(&mut self, def: &TableDef<'_>) -> Result<Table>;

    /// Whether the engine itself maintains secondary indexes and answers
    /// [`find`](Operations::find).
    fn keeps_indexes(&self) -> bool {
        false
    }

    /// Removes every pair of a table and frees its space.
    fn clear(&mut self, table: Table) -> Result<()>;

    /// Loads pairs into an empty table by the engine's fastest documented path and returns their
    /// number. It is one commit, or several if an engine keeps all of a commit in memory. Pairs come
    /// in key order if [`bulk_sorted`](Self::bulk_sorted) says so.
    fn bulk(&mut self, table: Table, pairs: &mut dyn Pairs) -> Result<u64>;

    /// Whether the bulk path needs its pairs in ascending key order.
    fn bulk_sorted(&self) -> bool {
        true
    }

    /// Enters a scope, calls `work` once with its operations, and ends the scope. It commits, or,
    /// if `work` fails, undoes what a [batch](Scope::Batch) did. [`within`](#method.within) also
    /// returns the result of the work. Entering [`Scope::PerOperation`] costs nothing measurable.
    ///
    /// # Errors
    /// The engine's error, or that of `work`.
    fn transact(&mut self, scope: Scope, work: &mut Work<'_>) -> Result<()>;

    /// Removes every key from `from` (inclusive) to `to` (exclusive). Removes none if that is no
    /// range. Uses what the engine's manual has for many keys at once, committed at the tier's
    /// durability. The default scans for the keys and removes 1,000 per commit.
    fn delete_range(&mut self, table: Table, from: &[u8], to: &[u8]) -> Result<()> {
        expire::in_batches(|scope, work| self.transact(scope, work), table, from, to)
    }

    /// Describes for a reader how [`delete_range`](Self::delete_range) works on a table.
    fn deletes_range(&self, _table: Table) -> &'static str {
        "a scan that finds the keys and a delete of each, 1,000 a commit"
    }

    /// Returns the second, columnar copy of its tables, if the engine keeps one.
    fn mirror(&mut self) -> Option<&mut dyn mirror::Mirror> {
        None
    }
}

impl dyn KvStore + '_ {
    /// Runs `work` in a scope and returns its result.
    ///
    /// # Errors
    /// The engine's error, or that of `work`.
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

/// Copies the value of a key into `copy` and returns whether the key exists. Needed because the
/// value is valid only in its scope.
///
/// # Errors
/// The engine's error.
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

/// Operations in a scope of a [`KvStore`]. A scope that only reads refuses changes.
///
/// # Errors
/// Every call fails if the engine reports an error. A missing key is not an error.
pub trait Operations {
    /// Returns the value of a key, valid until the next call. It is not copied if the engine allows
    /// that.
    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>>;

    /// Visits the pairs of a range in key order.
    fn scan(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()>;

    /// Returns the exact number of keys if the engine keeps it. Never scans.
    fn count(&mut self, _table: Table) -> Result<Option<u64>> {
        Ok(None)
    }

    /// Visits the pairs whose bytes in the table's index number `index` lie in a range, in the
    /// ascending order of those bytes, whatever the range's direction. A bound may be shorter than
    /// the index.
    ///
    /// # Errors
    /// The engine's error, or unsupported if the store keeps no indexes.
    fn find(
        &mut self,
        _table: Table,
        _index: usize,
        _range: Range<'_>,
        _visit: &mut Visit<'_>,
    ) -> Result<()> {
        Err(EngineError::unsupported("this store", "secondary indexes of its own"))
    }

    /// Sets the value of a key, which may be new.
    fn put(&mut self, _table: Table, _key: &[u8], _value: &[u8]) -> Result<()> {
        Err(EngineError::read_only("a store"))
    }

    /// Changes the value of a key in place, keeps its length, and returns whether the key existed.
    fn modify(&mut self, _table: Table, _key: &[u8], _change: &mut Change<'_>) -> Result<bool> {
        Err(EngineError::read_only("a store"))
    }

    /// Removes a key and returns whether it existed.
    fn delete(&mut self, _table: Table, _key: &[u8]) -> Result<bool> {
        Err(EngineError::read_only("a store"))
    }

    /// Removes a key that the caller found in this scope. The default is
    /// [`delete`](Self::delete). A store that has to read to know whether a key exists does not
    /// read here.
    fn remove(&mut self, table: Table, key: &[u8]) -> Result<()> {
        self.delete(table, key).map(drop)
    }
}

impl dyn Operations + '_ {
    /// Visits the pairs of a range in key order. The first error of `visit` ends the scan.
    ///
    /// # Errors
    /// The engine's error, or that of `visit`.
    pub fn try_scan(
        &mut self,
        table: Table,
        range: Range<'_>,
        mut visit: impl FnMut(&[u8], &[u8]) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let mut visited = Ok(());
        self.scan(table, range, &mut |key, value| {
            visit(key, value).unwrap_or_else(|error| {
                visited = Err(error);
                ControlFlow::Break(())
            })
        })?;
        visited
    }

    /// Returns the first key of a range in its direction, if there is any.
    ///
    /// # Errors
    /// The engine's error.
    pub fn first_key(&mut self, table: Table, range: Range<'_>) -> Result<Option<Vec<u8>>> {
        let mut found = None;
        self.scan(table, range, &mut |key, _| {
            found = Some(key.to_vec());
            ControlFlow::Break(())
        })?;
        Ok(found)
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
