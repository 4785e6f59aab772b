//! Transactions, and what is refused.

use std::ops::ControlFlow;

use embermark_engines::kv::{IndexDef, Range, TableDef};
use embermark_engines::{Access, EngineError};
use embermark_model::Durability;

use super::common::{
    Model, PLACES, all, bulk, calls, fail, get, numbered, on_each, open, short, table, unfreed,
};

#[test]
fn a_durable_change_is_a_transaction_of_its_own_or_part_of_the_one_under_way() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = open(Durability::Power, dir.path());
    let t = table(store.as_mut(), "t", &[]);
    let ends = || calls("ClientTransactionEnd");
    store.put(t, b"aa", b"1").unwrap();
    assert!(store.modify(t, b"aa", &mut |v| v[0] = b'2').unwrap());
    assert_eq!(ends(), 2);
    store.begin(Access::Write).unwrap();
    for n in 0..100u16 {
        store.put(t, &n.to_be_bytes(), b"1").unwrap();
    }
    assert!(store.delete(t, b"aa").unwrap());
    store.commit().unwrap();
    assert_eq!(ends(), 3);
    store.begin(Access::Read).unwrap();
    assert_eq!(get(store.as_mut(), t, b"aa"), None);
    let error = store.put(t, b"aa", b"1").unwrap_err().to_string();
    assert!(error.contains("only reads"), "{error}");
    store.commit().unwrap();
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

    store.begin(Access::Write).unwrap();
    store.put(t, b"aa", b"1").unwrap();
    fail("ClientTransactionEnd", 1, 74);
    assert!(store.commit().is_err());
    assert_eq!(all(store.as_mut(), t), kept);
    store.begin(Access::Write).unwrap();
    store.put(t, b"bb", b"1").unwrap();
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
        refused(
            store.find(t, 2, Range { from: Some(b"1"), to: None }, &mut visit).unwrap_err(),
            "index 2",
        );
        refused(
            store.find(t, 0, Range { from: Some(b"12"), to: None }, &mut visit).unwrap_err(),
            "over 2 bytes",
        );

        let failed = |error: EngineError, words: &str| {
            assert!(error.to_string().contains(words), "{name}: {error}");
        };
        failed(store.commit().unwrap_err(), "no transaction is open");
        store.begin(Access::Write).unwrap();
        failed(store.begin(Access::Read).unwrap_err(), "a transaction is open");
        failed(store.clear(t).unwrap_err(), "a transaction is open");
        failed(store.table(&TableDef::named("x")).unwrap_err(), "a transaction is open");
        assert_eq!(table(store, "t", PLACES), t, "{name}: one that is open may be asked for");
        store.commit().unwrap();
        assert_eq!(all(store, t), [], "{name}");
    });
}
