//! The operations of an indexed store: inside a transaction, and each one for itself.

use std::ops::ControlFlow;

use super::super::{Change, KvStore, Operations, Range, Table, Visit, copy_value};
use super::{Index, NAME, too_short};
use crate::{EngineError, Result, Scope};

/// Entries of an index that are read before the values they lead to: of the first batch, and of
/// the largest; each is four times the one before.
const BATCH: (usize, usize) = (16, 1024);

/// Room for bytes on their way.
#[derive(Default)]
pub(super) struct Scratch {
    /// The indexed bytes before and after a change, one index after the other.
    old: Vec<u8>,
    new: Vec<u8>,
    /// A key of an index.
    entry: Vec<u8>,
    /// Keys that an index led to, and where each of them ends.
    found: Vec<u8>,
    ends: Vec<usize>,
}

/// A table's indexes, none where it is plain.
fn indexes_of(all: &[Vec<Index>], table: Table) -> &[Index] {
    all.get(table.0).map_or(&[], Vec::as_slice)
}

/// Puts the bytes of every index together; whether the value is long enough for that.
#[inline]
fn gather(indexes: &[Index], value: &[u8], into: &mut Vec<u8>) -> bool {
    into.clear();
    indexes.iter().all(|index| index.of(value).map(|bytes| into.extend_from_slice(bytes)).is_some())
}

/// Reads the indexed bytes of a key's value into `old`; whether it is there.
fn fetch(
    operations: &mut dyn Operations,
    indexes: &[Index],
    (table, key): (Table, &[u8]),
    old: &mut Vec<u8>,
) -> Result<bool> {
    let Some(value) = operations.get(table, key)? else { return Ok(false) };
    match gather(indexes, value, old) {
        true => Ok(true),
        false => Err(too_short(value.len(), indexes)),
    }
}

/// In a snapshot or a batch of the inner store.
pub(super) struct Entered<'a> {
    pub inner: &'a mut dyn Operations,
    pub indexes: &'a [Vec<Index>],
    pub scratch: &'a mut Scratch,
}

impl Entered<'_> {
    /// Brings the indexes of a key from the bytes in `old`, if there were any, to those in `new`, if
    /// there are any.
    fn follow(&mut self, table: Table, key: &[u8], was: bool, is: bool) -> Result<()> {
        let Self { inner, indexes, scratch: Scratch { old, new, entry, .. } } = self;
        let mut at = 0;
        for index in indexes_of(indexes, table) {
            let place = at..at + index.length;
            at = place.end;
            if was && is && old[place.clone()] == new[place.clone()] {
                continue;
            }
            if was {
                entry.clear();
                entry.extend_from_slice(&old[place.clone()]);
                entry.extend_from_slice(key);
                inner.delete(index.table, entry)?;
            }
            if is {
                entry.clear();
                entry.extend_from_slice(&new[place]);
                entry.extend_from_slice(key);
                inner.put(index.table, entry, &[])?;
            }
        }
        Ok(())
    }

    /// Puts a pair whose indexed bytes were `old`, if it `was` there, and are `new`.
    fn put_known(&mut self, table: Table, key: &[u8], value: &[u8], was: bool) -> Result<()> {
        self.inner.put(table, key, value)?;
        self.follow(table, key, was, true)
    }

    /// Deletes a pair whose indexed bytes are `old`.
    fn delete_known(&mut self, table: Table, key: &[u8]) -> Result<()> {
        self.inner.delete(table, key)?;
        self.follow(table, key, true, false)
    }

    /// Reads the next keys of an index; whether there may be more, from `entry` on.
    fn read_entries(&mut self, index: Index, range: Range<'_>, most: usize) -> Result<bool> {
        let Self { inner, scratch: Scratch { entry, found, ends, .. }, .. } = self;
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

    /// Visits the pairs of the keys read; whether the visitor wants more.
    fn visit_found(&mut self, table: Table, visit: &mut Visit<'_>) -> Result<ControlFlow<()>> {
        let mut from = 0;
        for end in &self.scratch.ends {
            let key = &self.scratch.found[from..*end];
            from = *end;
            let Some(value) = self.inner.get(table, key)? else { return Err(stray()) };
            if visit(key, value).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

#[cold]
fn stray() -> EngineError {
    EngineError::failed(NAME, "find a pair", "the index leads to a key that is not there")
}

impl Operations for Entered<'_> {
    #[inline]
    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        self.inner.get(table, key)
    }

    fn scan(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        self.inner.scan(table, range, visit)
    }

    fn count(&mut self, table: Table) -> Result<Option<u64>> {
        self.inner.count(table)
    }

    /// In batches: entries of the index first, then the values that they lead to.
    fn find(
        &mut self,
        table: Table,
        index: usize,
        range: Range<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let known = indexes_of(self.indexes, table).get(index).copied();
        let longest = [range.from, range.to].into_iter().flatten().map(<[u8]>::len).max();
        let known = known.filter(|known| longest.is_none_or(|bytes| bytes <= known.length));
        let Some(known) = known else {
            let what = format!("index {index}, which {table:?} has not, or not of that length");
            return Err(EngineError::unsupported(NAME, what));
        };
        self.scratch.entry.clear();
        self.scratch.entry.extend_from_slice(range.from.unwrap_or_default());
        let mut most = BATCH.0;
        loop {
            let more = self.read_entries(known, range, most)?;
            if self.visit_found(table, visit)?.is_break() || !more {
                return Ok(());
            }
            most = BATCH.1.min(most * 4);
        }
    }

    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        let indexes = indexes_of(self.indexes, table);
        if indexes.is_empty() {
            return self.inner.put(table, key, value);
        }
        if !gather(indexes, value, &mut self.scratch.new) {
            return Err(too_short(value.len(), indexes));
        }
        let was = fetch(self.inner, indexes, (table, key), &mut self.scratch.old)?;
        self.put_known(table, key, value, was)
    }

    fn modify(&mut self, table: Table, key: &[u8], change: &mut Change<'_>) -> Result<bool> {
        let Self { inner, indexes, scratch: Scratch { old, new, .. } } = self;
        let indexes = indexes_of(indexes, table);
        if indexes.is_empty() {
            return inner.modify(table, key, change);
        }
        let mut short = None;
        let there = inner.modify(table, key, &mut |value| {
            let before = gather(indexes, value, old);
            change(value);
            if !(before && gather(indexes, value, new)) {
                short = Some(value.len());
            }
        })?;
        if let Some(bytes) = short {
            return Err(too_short(bytes, indexes));
        }
        if there && old != new {
            self.follow(table, key, true, true)?;
        }
        Ok(there)
    }

    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        let indexes = indexes_of(self.indexes, table);
        if indexes.is_empty() {
            return self.inner.delete(table, key);
        }
        let there = fetch(self.inner, indexes, (table, key), &mut self.scratch.old)?;
        if there {
            self.delete_known(table, key)?;
        }
        Ok(there)
    }
}

/// Each operation a transaction of its own: with those of its indexes where it changes an indexed
/// table, else the inner store's autocommit.
pub(super) struct Each<'a> {
    pub store: &'a mut dyn KvStore,
    pub indexes: &'a [Vec<Index>],
    pub scratch: &'a mut Scratch,
}

impl Each<'_> {
    /// One operation of the inner store.
    fn alone<T>(&mut self, work: impl FnOnce(&mut dyn Operations) -> Result<T>) -> Result<T> {
        self.store.within(Scope::PerOperation, work)
    }

    /// Several in one scope.
    fn together<T>(
        &mut self,
        scope: Scope,
        work: impl FnOnce(&mut Entered<'_>) -> Result<T>,
    ) -> Result<T> {
        let Self { store, indexes, scratch } = self;
        store.within(scope, |inner| work(&mut Entered { inner, indexes, scratch }))
    }

    /// Whether a key is there; its indexed bytes are then in `old`. Read before the transaction
    /// that changes it: nobody else does, and some engines then write cheaper.
    fn fetch(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        let Self { store, indexes, scratch: Scratch { old, .. } } = self;
        let indexes = indexes_of(indexes, table);
        store.within(Scope::PerOperation, |inner| fetch(inner, indexes, (table, key), old))
    }
}

impl Operations for Each<'_> {
    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        let Self { store, scratch: Scratch { found, .. }, .. } = self;
        let there = copy_value(*store, Scope::PerOperation, (table, key), found)?;
        Ok(there.then_some(&**found))
    }

    fn scan(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        self.alone(|inner| inner.scan(table, range, visit))
    }

    fn count(&mut self, table: Table) -> Result<Option<u64>> {
        self.alone(|inner| inner.count(table))
    }

    /// One snapshot for all of it.
    fn find(
        &mut self,
        table: Table,
        index: usize,
        range: Range<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        self.together(Scope::Snapshot, |entered| entered.find(table, index, range, visit))
    }

    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        let indexes = indexes_of(self.indexes, table);
        if indexes.is_empty() {
            return self.alone(|inner| inner.put(table, key, value));
        }
        if !gather(indexes, value, &mut self.scratch.new) {
            return Err(too_short(value.len(), indexes));
        }
        let was = self.fetch(table, key)?;
        if was && self.scratch.old == self.scratch.new {
            return self.alone(|inner| inner.put(table, key, value));
        }
        self.together(Scope::Batch, |entered| entered.put_known(table, key, value, was))
    }

    fn modify(&mut self, table: Table, key: &[u8], change: &mut Change<'_>) -> Result<bool> {
        match indexes_of(self.indexes, table).is_empty() {
            true => self.alone(|inner| inner.modify(table, key, change)),
            false => self.together(Scope::Batch, |entered| entered.modify(table, key, change)),
        }
    }

    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        if indexes_of(self.indexes, table).is_empty() {
            return self.alone(|inner| inner.delete(table, key));
        }
        let there = self.fetch(table, key)?;
        if there {
            self.together(Scope::Batch, |entered| entered.delete_known(table, key))?;
        }
        Ok(there)
    }
}
