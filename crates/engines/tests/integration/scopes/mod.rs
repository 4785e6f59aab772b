//! Operations of a key-value store, in a scope or single ones, as tests write them.

#![allow(dead_code, reason = "each test file uses its part")]

use std::collections::{BTreeMap, btree_map};
use std::ops::ControlFlow;

use embermark_engines::kv::{Change, KvStore, Operations, Pairs, Range, Table, Visit};
use embermark_engines::{Result, Scope};

pub type Bytes = Vec<u8>;

/// Reads, in a scope or single ones.
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

/// Single changes.
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

/// Returns the value of a key.
pub fn get(reads: &mut (impl Reads + ?Sized), table: Table, key: &[u8]) -> Option<Bytes> {
    reads.value(table, key).unwrap()
}

/// Returns the first `most` pairs of a scan.
pub fn scan(
    reads: &mut (impl Reads + ?Sized),
    table: Table,
    range: Range<'_>,
    most: usize,
) -> Vec<(Bytes, Bytes)> {
    let mut seen = Vec::new();
    let mut visit = |key: &[u8], value: &[u8]| {
        seen.push((key.to_vec(), value.to_vec()));
        if seen.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    reads.visit(table, range, &mut visit).unwrap();
    seen
}

/// Returns every pair of a table.
pub fn all(reads: &mut (impl Reads + ?Sized), table: Table) -> Vec<(Bytes, Bytes)> {
    scan(reads, table, Range::default(), usize::MAX)
}

/// The rows of a model, in order.
pub struct Listed<'a>(btree_map::Iter<'a, Bytes, Bytes>);

impl<'a> Listed<'a> {
    pub fn of(model: &'a BTreeMap<Bytes, Bytes>) -> Self {
        Self(model.iter())
    }
}

impl Pairs for Listed<'_> {
    fn next(&mut self) -> Option<(&[u8], &[u8])> {
        self.0.next().map(|(key, value)| (&**key, &**value))
    }
}
