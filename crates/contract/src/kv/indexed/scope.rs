//! The operations of an indexed store.

use std::ops::ControlFlow;

use super::super::{Change, KvStore, Operations, Range, Table, Visit, copy_value};
use super::{Index, NAME, too_short};
use crate::{EngineError, Result, Scope};

/// Number of index entries that are read before their values: in the first batch and in the
/// largest. Each batch is four times the one before.
const BATCH: (usize, usize) = (16, 1024);

/// Buffers that are reused.
#[derive(Default)]
pub(super) struct Scratch {
    /// The indexed bytes before and after a change, one index after the other.
    old: Vec<u8>,
    new: Vec<u8>,
    /// A key of an index.
    entry: Vec<u8>,
    /// Keys that an index found, and where each of them ends.
    found: Vec<u8>,
    ends: Vec<usize>,
}

/// Access to the inner store's operations.
pub(super) enum Inner<'a> {
    /// In its snapshot or batch.
    InScope(&'a mut dyn Operations),
    /// Each operation in its own transaction. A change that also changes an index is a batch.
    Autocommit(&'a mut dyn KvStore),
}

impl Inner<'_> {
    /// Runs `work` in the scope that was entered, or otherwise in the scope `own`.
    fn within<T>(
        &mut self,
        own: Scope,
        work: impl FnOnce(&mut dyn Operations) -> Result<T>,
    ) -> Result<T> {
        match self {
            Self::InScope(operations) => work(*operations),
            Self::Autocommit(store) => store.within(own, work),
        }
    }
}

/// The operations of a scope.
pub(super) struct Indexing<'a> {
    pub inner: Inner<'a>,
    pub indexes: &'a [Vec<Index>],
    pub scratch: &'a mut Scratch,
}

/// Returns a table's indexes, empty for a plain one.
pub(super) fn indexes_of(all: &[Vec<Index>], table: Table) -> &[Index] {
    all.get(table.0).map_or(&[], Vec::as_slice)
}

/// Concatenates the bytes of every index. Returns whether the value is long enough.
#[inline]
fn concat_indexed(indexes: &[Index], value: &[u8], into: &mut Vec<u8>) -> bool {
    into.clear();
    indexes
        .iter()
        .all(|index| index.bytes_in(value).map(|bytes| into.extend_from_slice(bytes)).is_some())
}

/// Replaces the content of `bytes` by two pieces.
fn set(bytes: &mut Vec<u8>, pieces: [&[u8]; 2]) {
    bytes.clear();
    pieces.iter().for_each(|piece| bytes.extend_from_slice(piece));
}

impl Scratch {
    /// Updates the indexes of a key from the bytes in `old`, if a pair existed (`was`), to those in
    /// `new`, if one exists now (`is`).
    fn update_indexes(
        &mut self,
        inner: &mut dyn Operations,
        indexes: &[Index],
        key: &[u8],
        (was, is): (bool, bool),
    ) -> Result<()> {
        let Self { old, new, entry, .. } = self;
        let mut at = 0;
        for index in indexes {
            let place = at..at + index.length;
            at = place.end;
            if was && is && old[place.clone()] == new[place.clone()] {
                continue;
            }
            if was {
                set(entry, [&old[place.clone()], key]);
                inner.remove(index.table, entry)?;
            }
            if is {
                set(entry, [&new[place], key]);
                inner.put(index.table, entry, &[])?;
            }
        }
        Ok(())
    }

    /// Reads the next keys of an index. Returns whether there may be more, starting at `entry`.
    fn read_entries(
        &mut self,
        inner: &mut dyn Operations,
        index: Index,
        range: Range<'_>,
        most: usize,
    ) -> Result<bool> {
        let Self { entry, found, ends, .. } = self;
        found.clear();
        ends.clear();
        let from = std::mem::take(entry);
        let range = Range::between(&from, range.to);
        inner.scan(index.table, range, &mut |key, _| {
            found.extend_from_slice(&key[index.length..]);
            ends.push(found.len());
            if ends.len() < most {
                return ControlFlow::Continue(());
            }
            // The lowest key above this one.
            entry.extend_from_slice(key);
            entry.push(0);
            ControlFlow::Break(())
        })?;
        Ok(ends.len() == most)
    }

    /// Visits the pairs of the keys read. Returns whether the visitor wants more.
    fn visit_found(
        &self,
        inner: &mut dyn Operations,
        table: Table,
        visit: &mut Visit<'_>,
    ) -> Result<ControlFlow<()>> {
        let mut from = 0;
        for end in &self.ends {
            let key = &self.found[from..*end];
            from = *end;
            let Some(value) = inner.get(table, key)? else { return Err(stray()) };
            if visit(key, value).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

#[cold]
fn stray() -> EngineError {
    EngineError::failed(NAME, "find a pair", "the index has an entry for a missing key")
}

impl Indexing<'_> {
    /// Returns whether a key exists and puts its indexed bytes in `old`. It reads before the
    /// batch that changes the key begins. No other client changes it, and some engines then write
    /// more cheaply.
    fn fetch(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        let Self { inner, indexes, scratch } = self;
        let indexes = indexes_of(indexes, table);
        inner.within(Scope::PerOperation, |inner| match inner.get(table, key)? {
            None => Ok(false),
            Some(value) if concat_indexed(indexes, value, &mut scratch.old) => Ok(true),
            Some(value) => Err(too_short(value.len(), indexes)),
        })
    }
}

#[deny(clippy::missing_trait_methods, reason = "a default would hide the store's own method")]
impl Operations for Indexing<'_> {
    #[inline]
    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        match &mut self.inner {
            Inner::InScope(operations) => operations.get(table, key),
            Inner::Autocommit(store) => {
                let copy = &mut self.scratch.found;
                let there = copy_value(*store, Scope::PerOperation, (table, key), copy)?;
                Ok(there.then_some(copy))
            }
        }
    }

    fn scan(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        self.inner.within(Scope::PerOperation, |inner| inner.scan(table, range, visit))
    }

    fn count(&mut self, table: Table) -> Result<Option<u64>> {
        self.inner.within(Scope::PerOperation, |inner| inner.count(table))
    }

    /// Reads in batches: entries of the index first, then their values. One snapshot covers
    /// everything.
    fn find(
        &mut self,
        table: Table,
        index: usize,
        range: Range<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let Self { inner, indexes, scratch } = self;
        let known = indexes_of(indexes, table).get(index).copied();
        let longest = [range.from, range.to].into_iter().flatten().map(<[u8]>::len).max();
        let known = known.filter(|known| longest.is_none_or(|bytes| bytes <= known.length));
        let Some(known) = known else {
            let what = format!("index {index}, which {table:?} has not, or not of that length");
            return Err(EngineError::unsupported(NAME, what));
        };
        set(&mut scratch.entry, [range.from.unwrap_or_default(), &[]]);
        inner.within(Scope::Snapshot, |inner| {
            let mut most = BATCH.0;
            loop {
                let more = scratch.read_entries(inner, known, range, most)?;
                if scratch.visit_found(inner, table, visit)?.is_break() || !more {
                    return Ok(());
                }
                most = BATCH.1.min(most * 4);
            }
        })
    }

    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        let indexes = indexes_of(self.indexes, table);
        if !concat_indexed(indexes, value, &mut self.scratch.new) {
            return Err(too_short(value.len(), indexes));
        }
        let was = !indexes.is_empty() && self.fetch(table, key)?;
        let Self { inner, scratch, .. } = self;
        if indexes.is_empty() || (was && scratch.old == scratch.new) {
            return inner.within(Scope::PerOperation, |inner| inner.put(table, key, value));
        }
        inner.within(Scope::Batch, |inner| {
            inner.put(table, key, value)?;
            scratch.update_indexes(inner, indexes, key, (was, true))
        })
    }

    fn modify(&mut self, table: Table, key: &[u8], change: &mut Change<'_>) -> Result<bool> {
        let Self { inner, indexes, scratch } = self;
        let indexes = indexes_of(indexes, table);
        if indexes.is_empty() {
            return inner.within(Scope::PerOperation, |inner| inner.modify(table, key, change));
        }
        inner.within(Scope::Batch, |inner| {
            let (mut short, Scratch { old, new, .. }) = (None, &mut *scratch);
            let there = inner.modify(table, key, &mut |value| {
                let before = concat_indexed(indexes, value, old);
                change(value);
                if !(before && concat_indexed(indexes, value, new)) {
                    short = Some(value.len());
                }
            })?;
            if let Some(bytes) = short {
                return Err(too_short(bytes, indexes));
            }
            if there && scratch.old != scratch.new {
                scratch.update_indexes(inner, indexes, key, (true, true))?;
            }
            Ok(there)
        })
    }

    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        let indexes = indexes_of(self.indexes, table);
        if indexes.is_empty() {
            return self.inner.within(Scope::PerOperation, |inner| inner.delete(table, key));
        }
        let there = self.fetch(table, key)?;
        let Self { inner, scratch, .. } = self;
        if there {
            inner.within(Scope::Batch, |inner| {
                inner.remove(table, key)?;
                scratch.update_indexes(inner, indexes, key, (true, false))
            })?;
        }
        Ok(there)
    }

    /// Reads a key of a table with indexes all the same: the entries follow from its value.
    fn remove(&mut self, table: Table, key: &[u8]) -> Result<()> {
        if indexes_of(self.indexes, table).is_empty() {
            return self.inner.within(Scope::PerOperation, |inner| inner.remove(table, key));
        }
        self.delete(table, key).map(drop)
    }
}
