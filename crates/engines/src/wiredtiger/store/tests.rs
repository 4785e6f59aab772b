use std::path::Path;

use super::*;
use crate::Engine;
use crate::Store;
use crate::wiredtiger::ENGINE;

/// Returns a store with a cache of a few MiB and a table.
fn small(dir: &Path) -> (Box<dyn KvStore>, Table) {
    let options = OpenOptions::new(dir, Durability::Process, 4 << 20);
    let Store::Kv(mut store) = ENGINE.open(&options).unwrap().store else {
        panic!("it keeps pairs")
    };
    let table = store.table(&TableDef { name: "t", key_length: Some(8), indexes: &[] }).unwrap();
    (store, table)
}

#[test]
fn a_transaction_larger_than_the_cache_says_so_and_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (mut store, table) = small(dir.path());
    let batch = |store: &mut dyn KvStore, rows: u64| {
        store.within(Scope::Batch, |batch| {
            (0..rows).try_for_each(|n| batch.put(table, &n.to_be_bytes(), &[7; 100]))
        })
    };
    // How far it gets depends on when its eviction gives up: from 280,000 rows to more than a
    // million were seen.
    let error = batch(&mut *store, 20_000_000).unwrap_err().to_string();
    assert!(error.contains("a transaction larger than its cache"), "{error}");
    assert!(error.contains("--cache") && error.contains("WT_ROLLBACK"), "{error}");
    let first = |store: &mut dyn KvStore| {
        let key = 0_u64.to_be_bytes();
        store.within(Scope::Snapshot, |s| Ok(s.get(table, &key)?.is_some())).unwrap()
    };
    assert!(!first(&mut *store));
    batch(&mut *store, 1_000).unwrap();
    assert!(first(&mut *store));
    store.close().unwrap();
}

#[test]
fn a_conflict_with_another_client_is_told_as_one() {
    let dir = tempfile::tempdir().unwrap();
    let (mut store, table) = small(dir.path());
    let Store::Kv(mut other) = store.open_client().unwrap().open().unwrap() else {
        panic!("it keeps pairs")
    };
    let same = other.table(&TableDef { name: "t", key_length: Some(8), indexes: &[] }).unwrap();
    let key = 1_u64.to_be_bytes();
    let conflict = store.within(Scope::Batch, |batch| {
        batch.put(table, &key, b"first")?;
        other.within(Scope::Batch, |other| other.put(same, &key, b"second"))
    });
    let error = conflict.unwrap_err();
    let text = error.to_string();
    assert!(error.is_conflict() && text.contains("conflict") && !text.contains("larger"), "{text}");
    other.close().unwrap();
    store.close().unwrap();
}

/// Emptying a table with changes that no checkpoint has can take a checkpoint, which affects the
/// others.
#[test]
fn a_table_is_emptied_beside_a_new_one_which_is_then_loaded() {
    for durability in [Durability::None, Durability::Process, Durability::Power] {
        let dir = tempfile::tempdir().unwrap();
        let options = OpenOptions::new(dir.path(), durability, 16 << 20);
        let Store::Kv(mut store) = ENGINE.open(&options).unwrap().store else {
            panic!("it keeps pairs")
        };
        let mut table = |name: &str| {
            store.table(&TableDef { name, key_length: Some(8), indexes: &[] }).unwrap()
        };
        let [new, changed] = ["new", "changed"].map(&mut table);
        let key = 1_u64.to_be_bytes();
        store.within(Scope::Batch, |batch| batch.put(changed, &key, b"value")).unwrap();
        store.clear(changed).unwrap();
        let mut rows = 0_u64;
        for table in [new, changed] {
            let mut pairs = Rows(0..1_000, [0; 8]);
            rows += store.bulk(table, &mut pairs).unwrap();
        }
        assert_eq!(rows, 2_000, "{durability:?}");
        let found = |store: &mut dyn KvStore, table| {
            store.within(Scope::Snapshot, |s| Ok(s.get(table, &key)?.map(<[u8]>::to_vec)))
        };
        for table in [new, changed] {
            assert_eq!(found(&mut *store, table).unwrap(), Some(b"loaded".to_vec()));
        }
        store.close().unwrap();
    }
}

/// Pairs in key order.
struct Rows(std::ops::Range<u64>, [u8; 8]);

impl Pairs for Rows {
    fn next(&mut self) -> Option<(&[u8], &[u8])> {
        self.1 = self.0.next()?.to_be_bytes();
        Some((&self.1, b"loaded"))
    }
}

#[test]
fn leaf_pages_are_small_where_the_cache_is() {
    let of = |mib: u64| leaf_page(mib << 20) >> 10;
    assert_eq!([1, 16, 64, 100, 256, 1024].map(of), [4, 4, 4, 8, 16, 32]);
}
