//! Secondary indexes, those an engine maintains itself and those maintained for it, in every tier.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use crate::scopes::{Alone, Reads, get};
use embermark_engines::kv::{
    IndexDef, Indexed, KvStore, Operations, Pairs, Range, Table, TableDef,
};
use embermark_engines::registry::ENGINES;
use embermark_engines::{
    DataModel, Engine, EngineError, Kind, OpenOptions, Reopener, Scope, Store, Tier,
};
use embermark_model::Durability;
use embermark_skips::{is_here, sampled};

type Bytes = Vec<u8>;
type Model = BTreeMap<Bytes, Bytes>;

/// Two places that overlap.
const INDEXES: &[IndexDef<'_>] =
    &[IndexDef { name: "kind", at: 0, length: 2 }, IndexDef { name: "part", at: 1, length: 4 }];
const TABLE: TableDef<'_> = TableDef { name: "people", key_length: Some(8), indexes: INDEXES };

/// Engines that maintain indexes themselves.
const KEEPING: [&str; 3] = ["berkeleydb", "hybrid-bdb", "zen"];

/// Runs a check on a fresh store with indexes: of an engine that maintains them itself and of three
/// others in one tier each, as [`sampled`], or of every engine and tier.
fn on_each(check: impl Fn(&mut dyn KvStore, Table, &str)) {
    let kv = ENGINES.iter().filter(|engine| engine.info().family == DataModel::KeyValue);
    let here = kv.filter(|engine| engine.info().id != "null" && is_here(**engine));
    let (keeping, others): (Vec<_>, Vec<_>) =
        here.partition(|engine| KEEPING.contains(&engine.info().id));
    let drawn: [Vec<&'static dyn Engine>; 2] = [sampled(keeping, 1), sampled(others, 3)];
    for engine in drawn.concat() {
        let offered = |tier: &Durability| matches!(engine.tier(*tier), Tier::Offered { .. });
        for tier in sampled(Durability::ALL.into_iter().filter(offered), 1) {
            let name = format!("{} ({tier})", engine.info().id);
            let dir = tempfile::tempdir().unwrap();
            let options = OpenOptions::new(dir.path(), tier, 16 << 20);
            let Store::Kv(store) = engine.open(&options).unwrap().store else { panic!("{name}") };
            assert_eq!(store.keeps_indexes(), KEEPING.contains(&engine.info().id), "{name}");
            let mut store = Indexed::new(store);
            assert!(store.keeps_indexes(), "{name}");
            let table = store.table(&TABLE).unwrap();
            assert_eq!(store.table(&TABLE).unwrap(), table, "{name}");
            check(store.as_mut(), table, &name);
            store.close().unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }
}

fn found(
    reads: &mut (impl Reads + ?Sized),
    table: Table,
    index: usize,
    range: Range<'_>,
) -> Vec<Bytes> {
    let (mut keys, mut last) = (Vec::new(), Bytes::new());
    let IndexDef { at, length, .. } = INDEXES[index];
    let mut visit = |key: &[u8], value: &[u8]| {
        let bytes = &value[at..at + length];
        assert!(*last <= *bytes, "not in the order of the index");
        last = bytes.to_vec();
        keys.push(key.to_vec());
        ControlFlow::Continue(())
    };
    reads.visit_index(table, index, range, &mut visit).unwrap();
    // Among equal bytes any order is correct.
    keys.sort();
    keys
}

fn expected(model: &Model, index: usize, range: Range<'_>) -> Vec<Bytes> {
    let IndexDef { at, length, .. } = INDEXES[index];
    let within = |value: &[u8]| {
        let bytes = &value[at..at + length];
        range.from.is_none_or(|from| bytes >= from) && range.to.is_none_or(|to| bytes < to)
    };
    model.iter().filter(|(_, value)| within(value)).map(|(key, _)| key.clone()).collect()
}

fn assert_index_matches(reads: &mut (impl Reads + ?Sized), table: Table, model: &Model, at: &str) {
    let bounds: [Option<&[u8]>; 7] =
        [Some(b"a"), Some(b"b"), None, Some(b"ab"), Some(b""), Some(&[0xff]), Some(&[0xff, 0xff])];
    let bounds = &bounds[..if model.len() > 5_000 { 2 } else { bounds.len() }];
    for index in 0..INDEXES.len() {
        for (from, to) in bounds.iter().flat_map(|a| bounds.iter().map(move |b| (*a, *b))) {
            let range = Range { from, to, ..Range::default() };
            let (found, expected) =
                (found(reads, table, index, range), expected(model, index, range));
            assert_eq!(found, expected, "{at}, index {index}, {range:?}");
        }
    }
}

fn key(n: u64) -> Bytes {
    n.to_be_bytes().to_vec()
}

/// Forty of each hundred values have the same beginning.
fn value(n: u64) -> Bytes {
    let first = if n % 100 < 40 { b'a' } else { b'b' + (n % 23) as u8 };
    [&[first, b'a' + (n % 7) as u8], &n.to_be_bytes()[4..], b" and more"].concat()
}

fn rows(of: std::ops::Range<u64>) -> Model {
    of.map(|n| (key(n), value(n))).collect()
}

struct Listed<'a>(std::collections::btree_map::Iter<'a, Bytes, Bytes>);

impl Pairs for Listed<'_> {
    fn next(&mut self) -> Option<(&[u8], &[u8])> {
        self.0.next().map(|(key, value)| (&**key, &**value))
    }
}

#[test]
fn an_index_finds_current_values_and_no_deleted_ones() {
    on_each(|store, table, name| {
        for scope in [Scope::PerOperation, Scope::Batch] {
            let mut model = Model::new();
            let done = store.within(scope, |operations| {
                changes(operations, table, &mut model, name);
                Ok(())
            });
            done.unwrap();
            assert_index_matches(store, table, &model, name);
            store.clear(table).unwrap();
            assert_index_matches(store, table, &Model::new(), name);
        }
    });
}

fn changes(operations: &mut dyn Operations, table: Table, model: &mut Model, name: &str) {
    assert_index_matches(operations, table, model, name);
    for (key, value) in rows(0..60) {
        operations.put(table, &key, &value).unwrap();
        model.insert(key, value);
    }
    assert_index_matches(operations, table, model, name);
    for n in 0..60 {
        // The indexed bytes of every third value stay the same.
        let key = key(n);
        let mut new = value(if n % 3 == 0 { n } else { n + 31 });
        new.extend_from_slice(b" than before");
        match n % 4 {
            0 | 1 => {
                operations.put(table, &key, &new).unwrap();
                model.insert(key, new);
            }
            2 => {
                let change = |value: &mut [u8]| {
                    let length = value.len();
                    value.copy_from_slice(&new[..length]);
                };
                assert!(operations.modify(table, &key, &mut |v| change(v)).unwrap(), "{name}");
                model.get_mut(&key).map(|value| change(value)).unwrap();
            }
            _ => {
                assert!(operations.delete(table, &key).unwrap(), "{name}");
                assert!(!operations.delete(table, &key).unwrap(), "{name}");
                model.remove(&key);
            }
        }
    }
    let missing = operations.modify(table, &key(99), &mut |_| panic!("called"));
    assert!(!missing.unwrap(), "{name}");
    assert_index_matches(operations, table, model, name);
}

#[test]
fn a_bulk_load_of_many_alike_is_found_cleared_and_loaded_again() {
    on_each(|store, table, name| {
        let plain = store.table(&TableDef { indexes: &[], ..OTHER_TABLE }).unwrap();
        for _ in 0..2 {
            let mut model = rows(0..10_000);
            let loaded = store.bulk(table, &mut Listed(model.iter())).unwrap();
            assert_eq!(loaded, 10_000, "{name}");
            assert_index_matches(store, table, &model, name);
            assert_eq!(expected(&model, 0, Range::between(b"a", Some(b"b"))).len(), 4_000);
            // A visitor that stops gets no more.
            for most in [1, 16, 17, 100, 3_000] {
                let mut seen = 0;
                let mut visit = |_: &[u8], _: &[u8]| {
                    seen += 1;
                    if seen < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
                };
                store.visit_index(table, 0, Range::default(), &mut visit).unwrap();
                assert_eq!(seen, most, "{name}");
            }
            for (key, value) in rows(20_000..20_100) {
                store.put(table, &key, &value).unwrap();
                store.put(plain, &key, &value).unwrap();
                model.insert(key, value);
            }
            assert!(store.delete(table, &key(7)).unwrap(), "{name}");
            model.remove(&key(7));
            assert_index_matches(store, table, &model, name);
            store.clear(table).unwrap();
            assert_index_matches(store, table, &Model::new(), name);
        }
        assert!(get(store, plain, &key(20_050)).is_some(), "{name}");
    });
}

const OTHER_TABLE: TableDef<'_> = TableDef { name: "beside", key_length: Some(8), indexes: &[] };

#[test]
fn an_index_changes_with_its_table_or_not_at_all() {
    for engine in ENGINES.iter().filter(|engine| {
        let info = engine.info();
        info.family == DataModel::KeyValue && info.kind == Kind::Embedded
    }) {
        if !is_here(*engine) {
            continue;
        }
        let (id, durability) = (engine.info().id, Durability::Power);
        if !matches!(engine.tier(durability), Tier::Offered { .. }) {
            continue;
        }
        let dir = tempfile::tempdir().unwrap();
        let options = OpenOptions::new(dir.path(), durability, 16 << 20);
        let open = || {
            let Store::Kv(store) = engine.open(&options).unwrap().store else { panic!("{id}") };
            let mut store = Indexed::new(store);
            let table = store.table(&TABLE).unwrap();
            (store, table)
        };
        let (mut store, table) = open();
        let model = rows(0..50);
        for (key, value) in &model {
            store.put(table, key, value).unwrap();
        }
        let failed = store.within(Scope::Batch, |batch| {
            for (key, value) in rows(40..80) {
                let mut other = value;
                other[0] = b'z';
                batch.put(table, &key, &other)?;
            }
            assert!(batch.delete(table, &key(3))?, "{id}");
            Err::<(), _>(EngineError::failed("the test", "go on", "enough"))
        });
        assert!(failed.is_err(), "{id}");
        assert_index_matches(&mut *store, table, &model, id);
        // After it is opened again, it still assert_index_matches.
        let reopener = Reopener::for_engine(*engine, options.clone());
        let Store::Kv(store) = reopener.reopen(Store::Kv(store)).unwrap() else { panic!("{id}") };
        let mut store = Indexed::new(store);
        let table = store.table(&TABLE).unwrap();
        assert_index_matches(&mut *store, table, &model, id);
        assert!(get(&mut *store, table, &key(3)).is_some(), "{id}");
        store.close().unwrap();
    }
}

#[test]
fn a_value_too_short_for_its_indexes_is_refused_and_nothing_of_it_stays() {
    on_each(|store, table, name| {
        store.put(table, &key(1), &value(1)).unwrap();
        assert!(store.put(table, &key(2), b"abcd").is_err(), "{name}");
        assert!(get(store, table, &key(2)).is_none(), "{name}");
        store.put(table, &key(2), b"abcde").unwrap();
        let model = Model::from([(key(1), value(1)), (key(2), b"abcde".to_vec())]);
        assert_index_matches(store, table, &model, name);
        store.clear(table).unwrap();
        let mut model = rows(0..2_000);
        model.insert(key(1_000), b"abcd".to_vec());
        assert!(store.bulk(table, &mut Listed(model.iter())).is_err(), "{name}");
        // Without transactions, a part of it may exist.
        store.clear(table).unwrap();
        assert_index_matches(store, table, &Model::new(), name);
        assert!(get(store, table, &key(0)).is_none(), "{name}");
        model.insert(key(1_000), value(1_000));
        assert_eq!(store.bulk(table, &mut Listed(model.iter())).unwrap(), 2_000, "{name}");
        assert_index_matches(store, table, &model, name);
        let range = Range::between(b"abc", None);
        let too_long = store.visit_index(table, 0, range, &mut |_, _| ControlFlow::Break(()));
        assert!(too_long.unwrap_err().is_unsupported(), "{name}");
        let unknown =
            store.visit_index(table, 2, Range::default(), &mut |_, _| ControlFlow::Break(()));
        assert!(unknown.unwrap_err().is_unsupported(), "{name}");
    });
}
