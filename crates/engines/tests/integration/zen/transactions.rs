//! Transactions, and what they refuse.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use embermark_engines::kv::{IndexDef, Range, TableDef};
use embermark_engines::{EngineError, Scope};
use embermark_model::Durability;

use super::common::{
    Model, PLACES, bulk, calls, fail, numbered, on_each, open, short, table, unfreed,
};
use crate::scopes::{Alone, Reads, all, get};

#[test]
fn a_durable_change_is_a_transaction_of_its_own_or_part_of_the_one_under_way() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = open(Durability::Power, dir.path());
    let t = table(store.as_mut(), "t", &[]);
    let ends = || calls("ClientTransactionEnd");
    store.put(t, b"aa", b"1").unwrap();
    assert!(store.modify(t, b"aa", &mut |v| v[0] = b'2').unwrap());
    assert_eq!(ends(), 2);
    store.batch(|batch| {
        for n in 0..100u16 {
            batch.put(t, &n.to_be_bytes(), b"1").unwrap();
        }
        assert!(batch.delete(t, b"aa").unwrap());
    });
    assert_eq!(ends(), 3);
    store.snapshot(|snapshot| {
        assert_eq!(get(snapshot, t, b"aa"), None);
        let error = snapshot.put(t, b"aa", b"1").unwrap_err().to_string();
        assert!(error.contains("only reads"), "{error}");
    });
    assert_eq!((ends(), calls("ClientTransactionBegin")), (3, 3));
    assert_eq!(all(store.as_mut(), t).len(), 100);
    store.close().unwrap();
    assert_eq!(unfreed(), 0);
}

#[test]
fn what_fails_or_is_not_committed_is_undone() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = open(Durability::Power, dir.path());
    let t = table(store.as_mut(), "t", &[]);
    let kept = numbered(3, short);
    bulk(store.as_mut(), t, &kept).unwrap();
    let kept = Vec::from_iter(kept);

    fail("ClientTransactionEnd", 1, 74);
    let error = store.put(t, b"aa", b"1").unwrap_err().to_string();
    assert!(error.contains("commit") && error.contains("became an abort (status 74)"), "{error}");
    assert_eq!(all(store.as_mut(), t), kept, "a commit that failed");

    fail("FileBulkCreate", 2, 2);
    let many: Model = (9_000..29_000u16).map(|n| (n.to_be_bytes().to_vec(), short(n))).collect();
    let error = bulk(store.as_mut(), t, &many).unwrap_err().to_string();
    assert!(error.contains("input or output failed (status 2)"), "{error}");
    assert_eq!(all(store.as_mut(), t), kept, "a load that failed half way");

    let error = bulk(store.as_mut(), t, &numbered(5, short)).unwrap_err().to_string();
    assert!(error.contains("duplicate key (status 5)"), "{error}");
    assert_eq!(all(store.as_mut(), t), kept, "a load of keys that are there");

    fail("ClientTransactionEnd", 1, 74);
    assert!(store.within(Scope::Batch, |batch| batch.put(t, b"aa", b"1")).is_err());
    assert_eq!(all(store.as_mut(), t), kept, "a batch whose commit failed");

    let failed = store.within(Scope::Batch, |batch| {
        batch.put(t, b"aa", b"1")?;
        Err::<(), _>(EngineError::failed("the test", "go on", "enough"))
    });
    assert!(failed.unwrap_err().to_string().contains("enough"));
    assert_eq!(all(store.as_mut(), t), kept, "a batch whose work failed");

    let panicked = catch_unwind(AssertUnwindSafe(|| {
        store.batch(|batch| {
            batch.put(t, b"bb", b"1").unwrap();
            panic!("in the middle of a transaction");
        });
    }));
    assert!(panicked.is_err());
    drop(store);
    assert_eq!(unfreed(), 0);
    let mut store = open(Durability::Power, dir.path());
    let t = table(store.as_mut(), "t", &[]);
    assert_eq!(all(store.as_mut(), t), kept, "a store dropped in a transaction");
    store.put(t, b"cc", b"1").unwrap();
    store.close().unwrap();
    assert_eq!(unfreed(), 0);
}

#[test]
fn what_btrieve_cannot_do_is_refused_in_words() {
    on_each(|store, name| {
        let refused = |error: EngineError, words: &str| {
            assert!(error.is_unsupported(), "{name}: {error}");
            assert!(error.to_string().contains(words), "{name}: {error}");
        };
        let error = store.table(&TableDef::named("loose")).unwrap_err();
        refused(error, "keys have no fixed length");
        for (key_length, length) in [(0, 1), (256, 1), (8, 0), (8, 256)] {
            let indexes = [IndexDef { name: "i", at: 0, length }];
            let def = TableDef { name: "bad", key_length: Some(key_length), indexes: &indexes };
            refused(store.table(&def).unwrap_err(), "one to 255");
        }
        let indexes = [IndexDef { name: "far", at: 61_440, length: 1 }];
        let def = TableDef { name: "bad", key_length: Some(2), indexes: &indexes };
        refused(store.table(&def).unwrap_err(), "beyond byte 61440");
        let t = table(store, "t", PLACES);
        refused(store.put(t, b"abc", b"12").unwrap_err(), "a key of 3 bytes");
        refused(store.put(t, b"ab", b"1").unwrap_err(), "values of 2 to 61438");
        let mut visit = |_: &[u8], _: &[u8]| ControlFlow::Continue(());
        let mut find = |index, from: &[u8]| {
            store.visit_index(t, index, Range::between(from, None), &mut visit).unwrap_err()
        };
        refused(find(2, b"1"), "index 2");
        refused(find(0, b"12"), "over 2 bytes");

        assert_eq!(table(store, "t", PLACES), t, "{name}: one that is open may be asked for");
        assert_eq!(all(store, t), [], "{name}");
    });
}
