//! Runs each operation in its own transaction, for engines without autocommit.

use super::{Change, KvStore, Operations, Range, Table, Visit, copy_value};
use crate::{Result, Scope};

/// The operations of [`Scope::PerOperation`], each in its own snapshot or batch.
pub struct Autocommit<'a> {
    store: &'a mut dyn KvStore,
    value: Vec<u8>,
}

impl<'a> Autocommit<'a> {
    /// Wraps a store.
    pub const fn new(store: &'a mut dyn KvStore) -> Self {
        Self { store, value: Vec::new() }
    }
}

impl Operations for Autocommit<'_> {
    /// Returns a copy, because the snapshot ends before the value is used.
    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        let Self { store, value } = self;
        let found = copy_value(*store, Scope::Snapshot, (table, key), value)?;
        Ok(found.then_some(value))
    }

    fn scan(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        self.store.within(Scope::Snapshot, |snapshot| snapshot.scan(table, range, visit))
    }

    fn count(&mut self, table: Table) -> Result<Option<u64>> {
        self.store.within(Scope::Snapshot, |snapshot| snapshot.count(table))
    }

    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        self.store.within(Scope::Batch, |batch| batch.put(table, key, value))
    }

    fn modify(&mut self, table: Table, key: &[u8], change: &mut Change<'_>) -> Result<bool> {
        self.store.within(Scope::Batch, |batch| batch.modify(table, key, change))
    }

    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        self.store.within(Scope::Batch, |batch| batch.delete(table, key))
    }

    fn remove(&mut self, table: Table, key: &[u8]) -> Result<()> {
        self.store.within(Scope::Batch, |batch| batch.remove(table, key))
    }
}
