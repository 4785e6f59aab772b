use std::path::Path;

use super::*;
use crate::Engine;
use crate::Store;
use crate::wiredtiger::ENGINE;

/// A store with a cache of a few MiB, and a table in it.
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
    // How far it comes depends on how soon its eviction gives up: from 280,000 rows to more than a million were seen.
    let error = batch(&mut *store, 20_000_000).unwrap_err().to_string();
    assert!(error.contains("a transaction larger than its cache"), "{error}");
    assert!(error.contains("--memory") && error.contains("WT_ROLLBACK"), "{error}");
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
    let error = conflict.unwrap_err().to_string();
    assert!(error.contains("conflict") && !error.contains("larger"), "{error}");
    other.close().unwrap();
    store.close().unwrap();
}

#[test]
fn leaf_pages_are_small_where_the_cache_is() {
    let of = |mib: u64| leaf_page(mib << 20) >> 10;
    assert_eq!([1, 16, 64, 100, 256, 1024].map(of), [4, 4, 4, 8, 16, 32]);
}
