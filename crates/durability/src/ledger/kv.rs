//! Pairs: the key in four bytes, the commit and the text as the value.

mod copy;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::slice;

use embermark_contract::kv::{KvStore, Pairs, Range, Table, TableDef};
use embermark_contract::{Lifecycle, Result, Scope};

use super::Ledger;
use crate::oracle::Found;
use crate::work::{Change, Commit, Key, text};
use copy::Copy;

pub(super) struct KvLedger {
    store: Box<dyn KvStore>,
    table: Table,
    /// The same in columns, where the store keeps it so.
    copy: Option<Copy>,
}

impl KvLedger {
    pub(super) fn new(mut store: Box<dyn KvStore>) -> Result<Self> {
        let def = TableDef { name: "ledger", key_length: Some(size_of::<Key>()), indexes: &[] };
        let table = store.table(&def)?;
        let copy = Copy::show(&mut *store, table)?;
        Ok(Self { store, table, copy })
    }
}

fn value(key: Key, commit: u64) -> Vec<u8> {
    [&commit.to_be_bytes(), text(key, commit).as_bytes()].concat()
}

/// The pairs of a bulk load.
struct Loaded<'a> {
    changes: slice::Iter<'a, Change>,
    commit: u64,
    pair: ([u8; 4], Vec<u8>),
}

impl Pairs for Loaded<'_> {
    fn next(&mut self) -> Option<(&[u8], &[u8])> {
        let key = self.changes.next()?.key();
        self.pair = (key.to_be_bytes(), value(key, self.commit));
        Some((&self.pair.0, &self.pair.1))
    }
}

impl Ledger for KvLedger {
    fn commit(&mut self, commit: &Commit) -> Result<()> {
        let Self { store, table, copy } = self;
        let (table, number) = (*table, commit.number);
        if let Some(copy) = copy {
            copy.ask_before(&mut **store, number)?;
        }
        if commit.bulk {
            let (changes, pair) = (commit.changes.iter(), Default::default());
            let mut pairs = Loaded { changes, commit: number, pair };
            return store.bulk(table, &mut pairs).map(drop);
        }
        // A lone change is the engine's own commit of one operation.
        let scope = if commit.changes.len() == 1 { Scope::PerOperation } else { Scope::Batch };
        store.within(scope, |operations| {
            commit.changes.iter().try_for_each(|change| match change {
                Change::Insert(key) | Change::Update(key) => {
                    operations.put(table, &key.to_be_bytes(), &value(*key, number))
                }
                Change::Delete(key) => operations.delete(table, &key.to_be_bytes()).map(drop),
            })
        })
    }

    fn found(&mut self) -> Result<Found> {
        let (mut rows, table) = (BTreeMap::new(), self.table);
        self.store.within(Scope::Snapshot, |operations| {
            operations.scan(table, Range::default(), &mut |key, bytes| {
                let (key, commit) = row(key, bytes);
                rows.insert(key, commit);
                ControlFlow::Continue(())
            })
        })?;
        let Self { store, copy, .. } = self;
        let difference = copy.as_mut().map(|copy| copy.difference(&mut **store, table));
        let differs = difference.transpose()?.flatten();
        // To open a table is to make it: whether it was there cannot be told, nor need it.
        Ok(Found { table: true, rows, differs })
    }

    fn lifecycle(&mut self) -> &mut dyn Lifecycle {
        &mut *self.store
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}

/// A row as it was read, and its commit if the row is what that wrote. A key of another length is one
/// that nobody wrote.
fn row(key: &[u8], bytes: &[u8]) -> (Key, Option<u64>) {
    let Ok(key) = key.try_into().map(Key::from_be_bytes) else { return (Key::MAX, None) };
    let commit = bytes.first_chunk().map(|commit| u64::from_be_bytes(*commit));
    (key, commit.filter(|commit| value(key, *commit) == bytes))
}

#[cfg(test)]
mod tests;
