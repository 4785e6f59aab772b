//! Operations on the front that record which keys they change.

use std::sync::atomic::Ordering;

use embermark_contract::kv::{Change, KvStore, Operations, Range, Table, Visit, copy_value};
use embermark_contract::{Result, Scope};

use crate::catalog::Catalog;
use crate::shared::Shared;
use crate::{change_log, cold};

/// Largest number of records that a transaction removes once the mirror no longer needs them. A
/// transaction adds one record, so their number decreases.
const REMOVED: usize = 2;

/// A table's number in the catalog, by its number in the front. `None` for the hybrid's own tables.
#[derive(Clone, Debug, Default)]
pub(crate) struct TableNumbers(Vec<Option<u8>>);

impl TableNumbers {
    pub fn set(&mut self, Table(table): Table, id: u8) {
        if self.0.len() <= table {
            self.0.resize(table + 1, None);
        }
        self.0[table] = Some(id);
    }

    #[inline]
    pub fn get(&self, Table(table): Table) -> Option<u8> {
        self.0.get(table).copied().flatten()
    }
}

/// Recorder of the keys that write transactions change.
pub(crate) struct ChangeRecorder {
    pub catalog: Catalog,
    /// Record of the current transaction.
    record: Vec<u8>,
}

impl ChangeRecorder {
    pub const fn new(catalog: Catalog) -> Self {
        Self { catalog, record: Vec::new() }
    }

    /// Runs a write transaction of the front that records its changes. It writes its record last. If
    /// the transaction fails, the record is put separately, because a front without transactions
    /// rolls nothing back.
    pub fn batch<T>(
        &mut self,
        front: &mut dyn KvStore,
        (shared, numbers): (&Shared, &TableNumbers),
        work: impl FnOnce(&mut dyn Operations) -> Result<T>,
    ) -> Result<T> {
        let Self { catalog, record } = self;
        record.clear();
        let mut number = None;
        let done = front.within(Scope::Batch, |inner| {
            let mut recording =
                RecordingOperations { inner, catalog: *catalog, shared, numbers, record };
            let done = work(&mut recording)?;
            if !record.is_empty() {
                number = Some(write(inner, catalog.records, shared, record)?);
            }
            Ok(done)
        });
        if done.is_err() && !record.is_empty() {
            // The error that led here is the one to report.
            let put = |batch: &mut dyn Operations| write(batch, catalog.records, shared, record);
            number = front.within(Scope::Batch, put).ok();
        }
        if let Some(number) = number {
            committed(shared, number, record);
        }
        done
    }

    /// Runs a transaction that records that a whole table has changed. Returns the number of its
    /// record.
    pub fn record_table_change(
        &mut self,
        front: &mut dyn KvStore,
        shared: &Shared,
        table: u8,
    ) -> Result<u64> {
        self.run_recorded(front, shared, |_, record| {
            change_log::append_all(record, table);
            Ok(())
        })
    }

    /// Runs a transaction whose work fills the record itself. The record is written even if it is
    /// empty. The transaction follows every one that had begun before. Returns the record's number.
    pub fn run_recorded(
        &mut self,
        front: &mut dyn KvStore,
        shared: &Shared,
        work: impl FnOnce(&mut dyn Operations, &mut Vec<u8>) -> Result<()>,
    ) -> Result<u64> {
        let Self { catalog, record } = self;
        record.clear();
        let number = front.within(Scope::Batch, |batch| {
            work(batch, record)?;
            write(batch, catalog.records, shared, record)
        })?;
        committed(shared, number, record);
        Ok(number)
    }
}

/// Notes that the transaction of a record is committed.
fn committed(shared: &Shared, number: u64, record: &[u8]) {
    shared.committed.fetch_max(number, Ordering::AcqRel);
    shared.recorded_bytes.fetch_add(record.len() as u64, Ordering::AcqRel);
}

/// Puts a record, and removes old ones whose changes are in the mirror. Returns the record's number.
fn write(batch: &mut dyn Operations, table: Table, shared: &Shared, record: &[u8]) -> Result<u64> {
    let applied = shared.applied.load(Ordering::Acquire);
    for _ in 0..REMOVED {
        let oldest = shared.oldest.load(Ordering::Acquire);
        if oldest > applied {
            break;
        }
        batch.delete(table, &change_log::key(oldest))?;
        shared.oldest.store(oldest + 1, Ordering::Release);
    }
    // Assigned in the transaction: write transactions are serialised, and so are the numbers.
    let number = shared.next.fetch_add(1, Ordering::AcqRel);
    batch.put(table, &change_log::key(number), record)?;
    Ok(number)
}

/// The operations of a transaction that records its changes.
struct RecordingOperations<'a> {
    inner: &'a mut dyn Operations,
    catalog: Catalog,
    shared: &'a Shared,
    numbers: &'a TableNumbers,
    record: &'a mut Vec<u8>,
}

impl RecordingOperations<'_> {
    /// Records the change of a key. If the key did not exist (`there` is false), the change is
    /// recorded only if a chunk may hold a row of it.
    #[inline]
    fn record_change(&mut self, table: Table, key: &[u8], there: bool) -> Result<()> {
        let Self { inner, catalog, shared, numbers, record } = self;
        let Some(id) = numbers.get(table) else { return Ok(()) };
        let is_late = shared.cold.is_archived(id)
            && cold::record_change(*inner, catalog.cold, shared, (id, key))?;
        if (there || is_late) && shared.is_recorded(id) {
            change_log::append(record, id, key);
        }
        Ok(())
    }
}

impl Operations for RecordingOperations<'_> {
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
        self.record_change(table, key, true)
    }

    #[inline]
    fn modify(&mut self, table: Table, key: &[u8], change: &mut Change<'_>) -> Result<bool> {
        let there = self.inner.modify(table, key, change)?;
        if there {
            self.record_change(table, key, true)?;
        }
        Ok(there)
    }

    #[inline]
    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        let there = self.inner.delete(table, key)?;
        self.record_change(table, key, there).map(|()| there)
    }
}

/// Operations that each run in their own transaction. Reads go to the front directly. A change of a
/// mirrored table is a transaction that records it.
pub(crate) struct SingleOperations<'a> {
    pub front: &'a mut dyn KvStore,
    pub recorder: &'a mut ChangeRecorder,
    pub shared: &'a Shared,
    pub numbers: &'a TableNumbers,
    pub value: &'a mut Vec<u8>,
}

impl SingleOperations<'_> {
    /// Whether changes of a table are recorded.
    fn records_changes(&self, table: Table) -> bool {
        let is_recorded = |id| self.shared.is_recorded(id) || self.shared.cold.is_archived(id);
        self.numbers.get(table).is_some_and(is_recorded)
    }

    /// Changes a key. If another client turned on recording during the change, the change is
    /// recorded afterwards.
    fn change<T>(
        &mut self,
        (table, key): (Table, &[u8]),
        work: impl FnOnce(&mut dyn Operations) -> Result<T>,
    ) -> Result<T> {
        let is_recorded = self.records_changes(table);
        let Self { front, recorder, shared, numbers, .. } = self;
        if is_recorded {
            return recorder.batch(*front, (shared, numbers), work);
        }
        let done = front.within(Scope::PerOperation, work)?;
        if self.records_changes(table) {
            let Self { front, recorder, shared, numbers, .. } = self;
            let catalog = recorder.catalog;
            recorder.run_recorded(*front, shared, |inner, record| {
                RecordingOperations { inner, catalog, shared, numbers, record }
                    .record_change(table, key, true)
            })?;
        }
        Ok(done)
    }
}

impl Operations for SingleOperations<'_> {
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
