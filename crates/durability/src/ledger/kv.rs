//! Pairs with the key in four bytes, and the commit and the text as the value.

mod copy;

use std::ops::ControlFlow;
use std::slice;

use embermark_contract::kv::{KvStore, Pairs, Range, Table, TableDef};
use embermark_contract::{Lifecycle, Result, Scope};

use super::Ledger;
use crate::oracle::TableContent;
use crate::work::{Change, Commit, Key, text};
use copy::ColumnarCopy;

pub(super) struct KvLedger {
    store: Box<dyn KvStore>,
    table: Table,
    /// The columnar copy, if the store keeps one.
    copy: Option<ColumnarCopy>,
}

impl KvLedger {
    pub(super) fn new(mut store: Box<dyn KvStore>) -> Result<Self> {
        let def = TableDef { name: "ledger", key_length: Some(size_of::<Key>()), indexes: &[] };
        let table = store.table(&def)?;
        let copy = ColumnarCopy::open(&mut *store, table)?;
        Ok(Self { store, table, copy })
    }
}

fn value(key: Key, commit: u64) -> Vec<u8> {
    [&commit.to_be_bytes(), text(key, commit).as_bytes()].concat()
}

/// Pairs of a bulk load.
struct BulkPairs<'a> {
    changes: slice::Iter<'a, Change>,
    commit: u64,
    pair: ([u8; 4], Vec<u8>),
}

impl Pairs for BulkPairs<'_> {
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
            copy.query_before(&mut **store, number)?;
        }
        if commit.bulk {
            let (changes, pair) = (commit.changes.iter(), Default::default());
            let mut pairs = BulkPairs { changes, commit: number, pair };
            return store.bulk(table, &mut pairs).map(drop);
        }
        // A single change is the engine's own commit of one operation.
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

    fn read_all(&mut self) -> Result<TableContent> {
        // Opening a table creates it: whether it existed is unknown and does not matter.
        let mut found = TableContent { table: true, ..TableContent::default() };
        let table = self.table;
        self.store.within(Scope::Snapshot, |operations| {
            operations.scan(table, Range::default(), &mut |key, bytes| {
                let (key, commit) = row(key, bytes);
                found.add_row(key, commit);
                ControlFlow::Continue(())
            })
        })?;
        let Self { store, copy, .. } = self;
        let difference = copy.as_mut().map(|copy| copy.difference(&mut **store, table));
        found.differs = difference.transpose()?.flatten();
        Ok(found)
    }

    fn lifecycle(&mut self) -> &mut dyn Lifecycle {
        &mut *self.store
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}

/// Reads a row. Returns its commit if the row is what that commit wrote. Returns the largest key,
/// which no client writes, for a key of another length.
fn row(key: &[u8], bytes: &[u8]) -> (Key, Option<u64>) {
    let Ok(key) = key.try_into().map(Key::from_be_bytes) else { return (Key::MAX, None) };
    let commit = bytes.first_chunk().map(|commit| u64::from_be_bytes(*commit));
    (key, commit.filter(|commit| value(key, *commit) == bytes))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use embermark_contract::{EngineError, OpenOptions, Store};
    use embermark_engines::registry::ENGINES;
    use embermark_hybrid::{Hybrid, Options};
    use embermark_model::Durability;
    use embermark_skips::is_here;

    use super::*;
    use crate::work::{Abilities, Plan};

    const PLAN: Plan = Plan {
        seed: 3,
        abilities: Abilities::for_family(embermark_contract::DataModel::KeyValue),
        short: None,
        filling: None,
    };

    fn open(id: &str, folder: &Path) -> Result<Store> {
        let engine = ENGINES.iter().find(|engine| engine.info().id == id).unwrap();
        std::fs::create_dir_all(folder).unwrap();
        let options = OpenOptions::new(folder, Durability::Process, 16 << 20);
        engine.open(&OpenOptions { clients: 4, ..options }).map(|opened| opened.store)
    }

    /// A ledger in a store that also keeps its tables in columns.
    fn ledger(folder: &Path) -> KvLedger {
        let Ok(Store::Kv(front)) = open("lmdb", &folder.join("front")) else { panic!("lmdb") };
        let mirror = |folder: &Path| match open("duckdb", folder)? {
            Store::Sql(sql) => Ok(sql),
            _ => Err(EngineError::unsupported("duckdb", "SQL")),
        };
        let options = Options::new(folder.join("mirror"), std::sync::Arc::new(mirror));
        KvLedger::new(Box::new(Hybrid::open(front, options).unwrap())).unwrap()
    }

    fn are_here() -> bool {
        let needed = ENGINES.iter().filter(|engine| ["lmdb", "duckdb"].contains(&engine.info().id));
        needed.filter(|engine| is_here(**engine)).count() == 2
    }

    #[test]
    fn both_copies_are_compared_after_changes_that_came_between_questions() {
        if !are_here() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let mut work = PLAN.work(0);
        for _ in 0..2 {
            let mut ledger = ledger(&folder);
            for _ in 0..50 {
                ledger.commit(&work.commit()).unwrap();
            }
            let found = ledger.read_all().unwrap();
            let rows = work.rows().iter().map(|(key, commit)| (*key, Some(*commit))).collect();
            assert_eq!(found, TableContent { table: true, rows, differs: None });
            Box::new(ledger).close().unwrap();
        }
    }

    #[test]
    fn a_row_that_is_not_its_pair_is_told() {
        if !are_here() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let mut ledger = ledger(&folder.path().canonicalize().unwrap());
        let mut work = PLAN.work(0);
        for _ in 0..2 {
            ledger.commit(&work.commit()).unwrap();
        }
        let told = |ledger: &mut KvLedger, change: &str| {
            let (sql, _) = ledger.store.mirror().unwrap().sql().unwrap();
            sql.batch(change).unwrap();
            ledger.read_all().unwrap().differs
        };
        let says = "the rows differ from the pairs: key 7 is of commit 2, by SQL of commit 9";
        let change = "UPDATE ledger·hot SET commit_number = 9 WHERE id = 7";
        assert_eq!(told(&mut ledger, change).unwrap(), says);
        let says = "the rows differ from the pairs: key 0 of commit 2 is missing by SQL";
        assert_eq!(told(&mut ledger, "DELETE FROM ledger·hot WHERE id = 0").unwrap(), says);
    }
}
