//! Operations of a key-value store, in a scope or each by itself, as tests write them.

#![allow(dead_code, reason = "each test file uses its part")]

use embermark_engines::kv::{Change, KvStore, Operations, Range, Table, Visit};
use embermark_engines::{Result, Scope};

type Bytes = Vec<u8>;

/// Reading, in a scope or each by itself.
pub trait Reads {
    fn value(&mut self, table: Table, key: &[u8]) -> Result<Option<Bytes>>;
    fn visit(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()>;
    fn keys(&mut self, table: Table) -> Result<Option<u64>>;
    fn visit_index(
        &mut self,
        table: Table,
        index: usize,
        range: Range<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<()>;
}

impl Reads for dyn Operations + '_ {
    fn value(&mut self, table: Table, key: &[u8]) -> Result<Option<Bytes>> {
        Ok(self.get(table, key)?.map(<[u8]>::to_vec))
    }

    fn visit(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        self.scan(table, range, visit)
    }

    fn keys(&mut self, table: Table) -> Result<Option<u64>> {
        self.count(table)
    }

    fn visit_index(
        &mut self,
        table: Table,
        index: usize,
        range: Range<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        self.find(table, index, range, visit)
    }
}

impl Reads for dyn KvStore + '_ {
    fn value(&mut self, table: Table, key: &[u8]) -> Result<Option<Bytes>> {
        self.within(Scope::PerOperation, |each| each.value(table, key))
    }

    fn visit(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        self.within(Scope::PerOperation, |each| each.scan(table, range, visit))
    }

    fn keys(&mut self, table: Table) -> Result<Option<u64>> {
        self.within(Scope::PerOperation, |each| each.count(table))
    }

    fn visit_index(
        &mut self,
        table: Table,
        index: usize,
        range: Range<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        self.within(Scope::PerOperation, |each| each.find(table, index, range, visit))
    }
}

/// Changes, each by itself.
pub trait Alone {
    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()>;
    fn modify(&mut self, table: Table, key: &[u8], change: &mut Change<'_>) -> Result<bool>;
    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool>;
    fn batch(&mut self, work: impl FnOnce(&mut dyn Operations));
    fn snapshot(&mut self, work: impl FnOnce(&mut dyn Operations));
}

impl Alone for dyn KvStore + '_ {
    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        self.within(Scope::PerOperation, |each| each.put(table, key, value))
    }

    fn modify(&mut self, table: Table, key: &[u8], change: &mut Change<'_>) -> Result<bool> {
        self.within(Scope::PerOperation, |each| each.modify(table, key, change))
    }

    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        self.within(Scope::PerOperation, |each| each.delete(table, key))
    }

    fn batch(&mut self, work: impl FnOnce(&mut dyn Operations)) {
        self.within(Scope::Batch, |batch| {
            work(batch);
            Ok(())
        })
        .unwrap();
    }

    fn snapshot(&mut self, work: impl FnOnce(&mut dyn Operations)) {
        self.within(Scope::Snapshot, |snapshot| {
            work(snapshot);
            Ok(())
        })
        .unwrap();
    }
}

/// The value of a key.
pub fn get(reads: &mut (impl Reads + ?Sized), table: Table, key: &[u8]) -> Option<Bytes> {
    reads.value(table, key).unwrap()
}
