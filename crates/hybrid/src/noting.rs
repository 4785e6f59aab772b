//! Operations on the front that record which keys they change.

use std::sync::atomic::Ordering;

use embermark_contract::kv::{Change, KvStore, Operations, Range, Table, Visit, copy_value};
use embermark_contract::{Result, Scope};

use crate::books::Books;
use crate::shared::Shared;
use crate::{cold, log};

/// Largest number of records that a transaction removes once the mirror no longer needs them. It is
/// one more than it adds, so that their number decreases.
const REMOVED: usize = 2;

/// A table's number in the hybrid's own tables, by its number in the front. `None` for the hybrid's
/// own tables.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers(Vec<Option<u8>>);

impl Numbers {
    pub(crate) fn set(&mut self, Table(table): Table, id: u8) {
        if self.0.len() <= table {
            self.0.resize(table + 1, None);
        }
        self.0[table] = Some(id);
    }

    #[inline]
    pub(crate) fn get(&self, Table(table): Table) -> Option<u8> {
        self.0.get(table).copied().flatten()
    }
}

/// What a transaction records.
pub(crate) struct Note {
    pub books: Books,
    /// The changes so far.
    record: Vec<u8>,
}

impl Note {
    pub(crate) const fn new(books: Books) -> Self {
        Self { books, record: Vec::new() }
    }

    /// Runs a write transaction of the front that records its changes. Its record is the last thing
    /// that it writes. If it fails, the record is put separately, because a front without
    /// transactions rolls nothing back.
    pub(crate) fn batch<T>(
        &mut self,
        front: &mut dyn KvStore,
        (shared, numbers): (&Shared, &Numbers),
        work: impl FnOnce(&mut dyn Operations) -> Result<T>,
    ) -> Result<T> {
        let Self { books, record } = self;
        record.clear();
        let mut number = None;
        let done = front.within(Scope::Batch, |inner| {
            let mut noting = Noting { inner, books: *books, shared, numbers, record };
            let done = work(&mut noting)?;
            if !record.is_empty() {
                number = Some(write(inner, books.log, shared, record)?);
            }
            Ok(done)
        });
        if done.is_err() && !record.is_empty() {
            // The error that led here is the one to report.
            let put = |batch: &mut dyn Operations| write(batch, books.log, shared, record);
            number = front.within(Scope::Batch, put).ok();
        }
        if let Some(number) = number {
            shared.committed.fetch_max(number, Ordering::AcqRel);
            shared.noted.fetch_add(record.len() as u64, Ordering::AcqRel);
        }
        done
    }

    /// Runs a transaction that records that a whole table has changed, or with `None` nothing. It
    /// follows every transaction that had begun before. Returns the number of its record.
    pub(crate) fn all_of(
        &mut self,
        front: &mut dyn KvStore,
        shared: &Shared,
        table: Option<u8>,
    ) -> Result<u64> {
        self.apart(front, shared, |_, record| {
            if let Some(table) = table {
                log::append_all(record, table);
            }
            Ok(())
        })
    }

    /// Runs a transaction that determines its own record, and always has one. Returns its number.
    pub(crate) fn apart(
        &mut self,
        front: &mut dyn KvStore,
        shared: &Shared,
        work: impl FnOnce(&mut dyn Operations, &mut Vec<u8>) -> Result<()>,
    ) -> Result<u64> {
        let Self { books, record } = self;
        record.clear();
        let number = front.within(Scope::Batch, |batch| {
            work(batch, record)?;
            write(batch, books.log, shared, record)
        })?;
        shared.committed.fetch_max(number, Ordering::AcqRel);
        Ok(number)
    }
}

/// Puts a record, and removes some that are in the mirror.
fn write(batch: &mut dyn Operations, table: Table, shared: &Shared, record: &[u8]) -> Result<u64> {
    let applied = shared.applied.load(Ordering::Acquire);
    for _ in 0..REMOVED {
        let oldest = shared.oldest.load(Ordering::Acquire);
        if oldest > applied {
            break;
        }
        batch.delete(table, &log::key(oldest))?;
        shared.oldest.store(oldest + 1, Ordering::Release);
    }
    // Assigned in the transaction: write transactions are serialised, and so are the numbers.
    let number = shared.next.fetch_add(1, Ordering::AcqRel);
    batch.put(table, &log::key(number), record)?;
    Ok(number)
}

/// The operations of a transaction that records its changes.
struct Noting<'a> {
    inner: &'a mut dyn Operations,
    books: Books,
    shared: &'a Shared,
    numbers: &'a Numbers,
    record: &'a mut Vec<u8>,
}

impl Noting<'_> {
    /// Records the change of a key. If the key does not exist (`there`), only what matters for a
    /// chunk.
    #[inline]
    fn note(&mut self, table: Table, key: &[u8], there: bool) -> Result<()> {
        let Self { inner, books, shared, numbers, record } = self;
        let Some(id) = numbers.get(table) else { return Ok(()) };
        let is_late = shared.cold.has(id) && cold::note(*inner, books.cold, shared, (id, key))?;
        if (there || is_late) && shared.is_noted(id) {
            log::append(record, id, key);
        }
        Ok(())
    }
}

impl Operations for Noting<'_> {
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

    fn find(
        &mut self,
        table: Table,
        index: usize,
        range: Range<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        self.inner.find(table, index, range, visit)
    }

    #[inline]
    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        self.inner.put(table, key, value)?;
        self.note(table, key, true)
    }

    #[inline]
    fn modify(&mut self, table: Table, key: &[u8], change: &mut Change<'_>) -> Result<bool> {
        let there = self.inner.modify(table, key, change)?;
        if there {
            self.note(table, key, true)?;
        }
        Ok(there)
    }

    #[inline]
    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        let there = self.inner.delete(table, key)?;
        self.note(table, key, there).map(|()| there)
    }
}

/// Runs each operation in its own transaction. Reads are the front's own. Changes of a shown table
/// are transactions that record them.
pub(crate) struct Each<'a> {
    pub front: &'a mut dyn KvStore,
    pub note: &'a mut Note,
    pub shared: &'a Shared,
    pub numbers: &'a Numbers,
    pub value: &'a mut Vec<u8>,
}

impl Each<'_> {
    /// Whether changes of a table are recorded.
    fn notes(&self, table: Table) -> bool {
        let is_noted = |id| self.shared.is_noted(id) || self.shared.cold.has(id);
        self.numbers.get(table).is_some_and(is_noted)
    }

    /// Changes a key. If another client made changes be recorded since it began, this one is
    /// recorded after it.
    fn change<T>(
        &mut self,
        (table, key): (Table, &[u8]),
        work: impl FnOnce(&mut dyn Operations) -> Result<T>,
    ) -> Result<T> {
        let is_noted = self.notes(table);
        let Self { front, note, shared, numbers, .. } = self;
        if is_noted {
            return note.batch(*front, (shared, numbers), work);
        }
        let done = front.within(Scope::PerOperation, work)?;
        if self.notes(table) {
            let Self { front, note, shared, numbers, .. } = self;
            let books = note.books;
            note.apart(*front, shared, |inner, record| {
                Noting { inner, books, shared, numbers, record }.note(table, key, true)
            })?;
        }
        Ok(done)
    }
}

impl Operations for Each<'_> {
    /// Returns a copy, because the operation ends before the value is used.
    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        let Self { front, value, .. } = self;
        let found = copy_value(*front, Scope::PerOperation, (table, key), value)?;
        Ok(found.then_some(value))
    }

    fn scan(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        self.front.within(Scope::PerOperation, |each| each.scan(table, range, visit))
    }

    fn count(&mut self, table: Table) -> Result<Option<u64>> {
        self.front.within(Scope::PerOperation, |each| each.count(table))
    }

    fn find(
        &mut self,
        table: Table,
        index: usize,
        range: Range<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        self.front.within(Scope::PerOperation, |each| each.find(table, index, range, visit))
    }

    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        self.change((table, key), |each| each.put(table, key, value))
    }

    fn modify(&mut self, table: Table, key: &[u8], change: &mut Change<'_>) -> Result<bool> {
        self.change((table, key), |each| each.modify(table, key, change))
    }

    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        self.change((table, key), |each| each.delete(table, key))
    }
}
