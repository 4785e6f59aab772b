//! What every key-value engine must do, in every tier it offers.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use crate::scopes::{Alone, Bytes, Listed, Reads, all, get, scan};
use crate::stores::{Model, Offer, bulk, numbered, offers, open, some_offers, victims};
use embermark_engines::kv::{Direction, KvStore, Operations, Range, Table, TableDef};
use embermark_engines::{
    Availability, Engine, EngineError, Kind, OpenOptions, Reopener, Scope, Store, registry,
};
use embermark_model::Durability;
use embermark_skips::is_here;

/// Runs a check on a fresh store of every engine and tier, and closes the store.
fn on_each(check: impl Fn(&mut dyn KvStore, &str)) {
    for (engine, tier, _) in offers() {
        let name = format!("{} ({tier})", engine.info().id);
        let dir = tempfile::tempdir().unwrap();
        let mut store = open(engine, tier, dir.path());
        check(store.as_mut(), &name);
        store.close().unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

fn expected(model: &Model, range: Range<'_>, most: usize) -> Vec<(Bytes, Bytes)> {
    if matches!((range.from, range.to), (Some(from), Some(to)) if from >= to) {
        return Vec::new();
    }
    let pairs = model.range::<[u8], _>(range.bounds()).map(|(k, v)| (k.clone(), v.clone()));
    match range.direction {
        Direction::Forward => pairs.take(most).collect(),
        Direction::Backward => pairs.rev().take(most).collect(),
    }
}

/// Numbers that look random: Steele, Lea and Flood's SplitMix64.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    }
}

#[test]
fn an_empty_table_has_nothing() {
    on_each(|store, name| {
        let table = store.table(&TableDef::named("empty")).unwrap();
        assert_eq!(get(store, table, b"key"), None, "{name}");
        assert!(!store.delete(table, b"key").unwrap(), "{name}");
        assert!(!store.modify(table, b"key", &mut |_| panic!("called")).unwrap(), "{name}");
        for direction in [Direction::Forward, Direction::Backward] {
            for to in [None, Some(&b"x"[..])] {
                for from in [None, to] {
                    let range = Range { from, to, direction };
                    assert_eq!(scan(store, table, range, 9), [], "{name}");
                }
            }
        }
        assert_eq!(store.bulk(table, &mut Listed::of(&Model::new())).unwrap(), 0, "{name}");
        store.maintain().unwrap();
        assert_eq!(all(store, table), [], "{name}");
    });
}

#[test]
fn what_is_put_is_found_overwritten_and_deleted() {
    on_each(|store, name| {
        let table = store.table(&TableDef::named("t")).unwrap();
        store.put(table, b"a", b"1").unwrap();
        store.put(table, b"b", b"").unwrap();
        assert_eq!(get(store, table, b"a"), Some(b"1".to_vec()), "{name}");
        assert_eq!(get(store, table, b"b"), Some(Vec::new()), "{name}: an empty value is a value");
        assert_eq!(get(store, table, b"aa"), None, "{name}");
        store.put(table, b"a", b"longer than before").unwrap();
        assert_eq!(get(store, table, b"a"), Some(b"longer than before".to_vec()), "{name}");
        assert!(store.delete(table, b"a").unwrap(), "{name}");
        assert!(!store.delete(table, b"a").unwrap(), "{name}: deleted twice");
        assert_eq!(get(store, table, b"a"), None, "{name}");
        assert_eq!(all(store, table), [(b"b".to_vec(), Vec::new())], "{name}");
        store.put(table, b"a", b"again").unwrap();
        assert_eq!(get(store, table, b"a"), Some(b"again".to_vec()), "{name}");
    });
}

#[test]
fn a_key_that_was_found_in_a_scope_is_removed_in_it() {
    on_each(|store, name| {
        let table = store.table(&TableDef::named("t")).unwrap();
        for scope in [Scope::PerOperation, Scope::Batch] {
            let mut model = numbered(300, 33);
            bulk(store, table, &model);
            let removed = store.within(scope, |operations| {
                let found = all(operations, table);
                for (key, _) in found.iter().step_by(3) {
                    operations.remove(table, key)?;
                    model.remove(key);
                    assert_eq!(get(operations, table, key), None, "{name}, {scope:?}");
                }
                operations.put(table, b"new", b"1")?;
                assert!(get(operations, table, b"new").is_some(), "{name}, {scope:?}");
                operations.remove(table, b"new")?;
                let left = all(operations, table);
                assert_eq!(left, Vec::from_iter(model.clone()), "{name}, {scope:?}");
                Ok(())
            });
            removed.unwrap();
            assert_eq!(all(store, table), Vec::from_iter(model), "{name}, {scope:?}");
            store.clear(table).unwrap();
        }
    });
}

#[test]
fn modify_changes_a_value_in_place_and_nothing_else() {
    on_each(|store, name| {
        let table = store.table(&TableDef::named("t")).unwrap();
        let mut model = numbered(500, 33);
        bulk(store, table, &model);
        let raise = |value: &mut [u8]| value[7] = value[7].wrapping_add(100);
        let keys: Vec<Bytes> = model.keys().cloned().collect();
        // In transactions of 50, and between them single operations; a few keys twice.
        for (i, keys) in keys.chunks(50).enumerate() {
            let scope = if i % 2 == 0 { Scope::Batch } else { Scope::PerOperation };
            let changed = store.within(scope, |operations| {
                for (i, key) in keys.iter().enumerate() {
                    for _ in 0..1 + i % 7 / 6 {
                        assert!(operations.modify(table, key, &mut |v| raise(v))?, "{name}");
                        raise(model.get_mut(key).unwrap());
                    }
                    assert_eq!(get(operations, table, key).as_ref(), model.get(key), "{name}");
                    assert!(!operations.modify(table, b"missing", &mut |_| panic!("called"))?);
                }
                Ok(())
            });
            changed.unwrap();
        }
        assert_eq!(all(store, table), Vec::from_iter(model), "{name}");
    });
}

#[test]
fn keys_are_ordered_as_bytes() {
    on_each(|store, name| {
        let table = store.table(&TableDef::named("t")).unwrap();
        let mut keys: Vec<Bytes> =
            (0..=255).flat_map(|b| [vec![b], vec![b, 0], vec![b, 0xff], vec![7, b, 3]]).collect();
        keys.extend([
            b"a".repeat(400),
            b"a".repeat(399),
            vec![0; 8],
            (-1i64).to_be_bytes().to_vec(),
        ]);
        let mut dice = Dice(3);
        for i in (1..keys.len()).rev() {
            keys.swap(i, dice.below(i as u64 + 1) as usize);
        }
        store.batch(|batch| keys.iter().for_each(|key| batch.put(table, key, b"v").unwrap()));
        keys.sort();
        keys.dedup();
        let found: Vec<Bytes> = all(store, table).into_iter().map(|(key, _)| key).collect();
        assert_eq!(found, keys, "{name}");
    });
}

#[test]
fn a_scan_visits_exactly_its_range_in_both_directions_until_it_is_stopped() {
    on_each(|store, name| {
        let some = |n: u64| Some(n.to_be_bytes().to_vec());
        // 3,000 rows go beyond one page and one batch.
        for (rows, table) in [(1, "one"), (9, "few"), (3_000, "many")] {
            let table = store.table(&TableDef::named(table)).unwrap();
            let model = numbered(rows, 33);
            bulk(store, table, &model);
            let last = (rows - 1) * 10;
            // At, between, below and above the keys, shorter and longer than a key.
            let bounds = [
                None,
                Some(Vec::new()),
                some(0),
                some(1),
                some(40),
                some(45),
                some(79),
                some(80),
                some(last),
                some(last + 1),
                Some(vec![0xff; 9]),
            ];
            for scope in [Scope::PerOperation, Scope::Snapshot, Scope::Batch] {
                let scanned = store.within(scope, |operations| {
                    for (from, to) in bounds.iter().flat_map(|a| bounds.iter().map(move |b| (a, b)))
                    {
                        for direction in [Direction::Forward, Direction::Backward] {
                            let (from, to) = (from.as_deref(), to.as_deref());
                            let range = Range { from, to, direction };
                            for most in [1, 7, 8, 9, 300, usize::MAX] {
                                assert_eq!(
                                    scan(operations, table, range, most),
                                    expected(&model, range, most),
                                    "{name}: {rows} rows, {range:?}, at most {most}, {scope:?}"
                                );
                            }
                        }
                    }
                    Ok(())
                });
                scanned.unwrap();
            }
        }
    });
}

#[test]
fn values_of_any_size_come_back() {
    on_each(|store, name| {
        let (loaded, put) = (
            store.table(&TableDef::named("loaded")).unwrap(),
            store.table(&TableDef::named("put")).unwrap(),
        );
        let sizes = [0, 1, 100, 5_000, 300_000, 3, 1_000_000, 70_000, 2, 2, 2, 2, 2, 600_000, 9];
        let row = |(i, size): (usize, usize)| (vec![i as u8], vec![i as u8 + 1; size]);
        let model: Model = sizes.into_iter().enumerate().map(row).collect();
        assert_eq!(bulk(store, loaded, &model), sizes.len() as u64, "{name}");
        for (key, value) in &model {
            store.put(put, key, value).unwrap();
        }
        for table in [loaded, put] {
            assert!(all(store, table) == Vec::from_iter(model.clone()), "{name}");
            for (key, value) in &model {
                assert!(get(store, table, key).as_ref() == Some(value), "{name}: {key:?}");
            }
            assert!(store.modify(table, &[6], &mut |v| v[999_999] = 0).unwrap(), "{name}");
            assert_eq!(get(store, table, &[6]).unwrap()[999_998..], [7, 0], "{name}");
        }
    });
}

#[test]
fn a_transaction_sees_its_own_changes_and_they_are_kept() {
    on_each(|store, name| {
        let (one, two) = (
            store.table(&TableDef::named("one")).unwrap(),
            store.table(&TableDef::named("two")).unwrap(),
        );
        store.put(one, b"old", b"1").unwrap();
        store.batch(|batch| {
            batch.put(one, b"new", b"2").unwrap();
            batch.put(two, b"new", b"3").unwrap();
            assert!(batch.modify(one, b"new", &mut |v| v[0] += 4).unwrap(), "{name}");
            assert!(batch.delete(one, b"old").unwrap(), "{name}");
            assert_eq!(get(batch, one, b"new"), Some(b"6".to_vec()), "{name}");
            assert_eq!(get(batch, one, b"old"), None, "{name}");
            assert_eq!(all(batch, one), [(b"new".to_vec(), b"6".to_vec())], "{name}");
            assert!(batch.modify(one, b"new", &mut |v| v[0] += 1).unwrap(), "{name}");
        });
        store.snapshot(|snapshot| {
            assert_eq!(get(snapshot, one, b"new"), Some(b"7".to_vec()), "{name}");
            assert_eq!(all(snapshot, two), [(b"new".to_vec(), b"3".to_vec())], "{name}");
            assert_eq!(get(snapshot, one, b"old"), None, "{name}");
        });
    });
}

/// Engines that have no transactions in the tier `none`, and report that.
const WITHOUT_UNDO: [&str; 2] = ["berkeleydb", "hybrid-bdb"];

#[test]
fn a_failed_batch_is_undone_and_the_store_stays_usable() {
    let undoes = |(engine, tier, _): &Offer| {
        is_on_disk(*engine)
            && (*tier != Durability::None || !WITHOUT_UNDO.contains(&engine.info().id))
    };
    for (engine, tier, _) in some_offers(3, undoes) {
        let name = format!("{} ({tier})", engine.info().id);
        let dir = tempfile::tempdir().unwrap();
        let mut store = open(engine, tier, dir.path());
        let store_ = &mut *store;
        let [one, two] = ["one", "two"].map(|name| store_.table(&TableDef::named(name)).unwrap());
        let model = numbered(1_000, 33);
        bulk(store_, one, &model);
        for _ in 0..3 {
            let failed = store_.within(Scope::Batch, |batch| {
                for (key, value) in numbered(300, 40) {
                    batch.put(one, &key, &value)?;
                    batch.put(two, &key, &value)?;
                }
                assert!(batch.delete(one, &5_000_u64.to_be_bytes())?, "{name}");
                assert!(batch.modify(one, &6_000_u64.to_be_bytes(), &mut |v| v[0] ^= 1)?, "{name}");
                Err::<(), _>(EngineError::failed("the test", "go on", "enough"))
            });
            assert!(failed.unwrap_err().to_string().contains("enough"), "{name}");
            assert!(all(store_, one) == Vec::from_iter(model.clone()), "{name}");
            assert_eq!(all(store_, two), [], "{name}");
            store_.put(two, b"key", b"value").unwrap();
            assert!(store_.delete(two, b"key").unwrap(), "{name}");
        }
        store.close().unwrap();
    }
}

#[test]
fn a_snapshot_refuses_changes_and_stays_as_it_was() {
    for (engine, tier, _) in some_offers(3, |offer| is_on_disk(offer.0)) {
        let name = format!("{} ({tier})", engine.info().id);
        let dir = tempfile::tempdir().unwrap();
        let mut store = open(engine, tier, dir.path());
        let table = store.table(&TableDef::named("t")).unwrap();
        store.put(table, b"key", b"value").unwrap();
        store.snapshot(|snapshot| {
            assert!(snapshot.put(table, b"key", b"other").is_err(), "{name}");
            assert!(snapshot.modify(table, b"key", &mut |v| v[0] = 0).is_err(), "{name}");
            assert!(snapshot.delete(table, b"key").is_err(), "{name}");
            assert!(snapshot.remove(table, b"key").is_err(), "{name}");
            assert_eq!(get(snapshot, table, b"key"), Some(b"value".to_vec()), "{name}");
        });
        assert_eq!(get(&mut *store, table, b"key"), Some(b"value".to_vec()), "{name}");
        store.close().unwrap();
    }
}

#[test]
fn a_transaction_that_writes_scans_what_it_changed_both_ways() {
    on_each(|store, name| {
        let table = store.table(&TableDef::named("t")).unwrap();
        let mut model = numbered(2_000, 33);
        bulk(store, table, &model);
        store.batch(|batch| {
            for n in 0..600_u64 {
                let (new, old) = ((n * 33 + 1).to_be_bytes(), (n * 30).to_be_bytes());
                batch.put(table, &new, b"new").unwrap();
                model.insert(new.to_vec(), b"new".to_vec());
                assert_eq!(batch.delete(table, &old).unwrap(), model.remove(&old[..]).is_some());
            }
            for (from, to) in [(0_u64, 20_000_u64), (3_000, 3_100), (17_970, 19_990), (40, 41)] {
                let (from, to) = (from.to_be_bytes(), to.to_be_bytes());
                for direction in [Direction::Forward, Direction::Backward] {
                    let range = Range { direction, ..Range::between(&from, Some(&to)) };
                    let found = scan(batch, table, range, usize::MAX);
                    assert!(found == expected(&model, range, usize::MAX), "{name}: {range:?}");
                }
            }
        });
        assert!(all(store, table) == Vec::from_iter(model), "{name}");
    });
}

#[test]
fn many_tables_change_together_and_apart() {
    on_each(|store, name| {
        let names: Vec<String> = (0..30).map(|n| format!("table{n}")).collect();
        let tables =
            Vec::from_iter(names.iter().map(|n| store.table(&TableDef::named(n)).unwrap()));
        store.batch(|batch| {
            for (n, &table) in (0_u8..).zip(&tables) {
                batch.put(table, b"together", &[n]).unwrap();
            }
        });
        store.clear(tables[7]).unwrap();
        store.put(tables[8], b"apart", b"8").unwrap();
        store.snapshot(|snapshot| {
            for (n, &table) in (0_u8..).zip(&tables) {
                let right = (n != 7).then(|| vec![n]);
                assert_eq!(get(snapshot, table, b"together"), right, "{name}: {n}");
                assert_eq!(get(snapshot, table, b"apart").is_some(), n == 8, "{name}: {n}");
            }
        });
    });
}

#[test]
fn a_table_that_was_emptied_key_by_key_takes_a_bulk_load() {
    on_each(|store, name| {
        let table = store.table(&TableDef::named("t")).unwrap();
        for round in 0..2 {
            for (key, value) in numbered(300, 33) {
                store.put(table, &key, &value).unwrap();
            }
            for (key, _) in numbered(300, 33) {
                assert!(store.delete(table, &key).unwrap(), "{name}");
            }
            store.maintain().unwrap();
            let model = numbered(5_000, 33);
            assert_eq!(bulk(store, table, &model), 5_000, "{name}, round {round}");
            assert!(all(store, table) == Vec::from_iter(model), "{name}, round {round}");
            store.clear(table).unwrap();
        }
    });
}

#[test]
fn a_read_sees_what_was_written_since_the_last_read_of_another_table() {
    on_each(|store, name| {
        let [one, two] = ["one", "two"].map(|name| store.table(&TableDef::named(name)).unwrap());
        for n in 0..50_u8 {
            store.put(one, b"key", &[n]).unwrap();
            assert_eq!(get(store, one, b"key"), Some(vec![n]), "{name}");
            store.put(two, b"key", &[n, n]).unwrap();
            assert_eq!(get(store, two, b"key"), Some(vec![n, n]), "{name}");
            assert!(store.modify(one, b"key", &mut |v| v[0] += 100).unwrap(), "{name}");
            assert_eq!(get(store, one, b"key"), Some(vec![n + 100]), "{name}");
            assert!(store.delete(two, b"key").unwrap(), "{name}");
            assert_eq!(get(store, two, b"key"), None, "{name}");
        }
    });
}

#[test]
fn a_transaction_may_be_large() {
    on_each(|store, name| {
        let table = store.table(&TableDef::named("t")).unwrap();
        const ROWS: u64 = 200_000;
        store.batch(|batch| {
            for n in 0..ROWS {
                // An odd factor permutes the numbers: keys arrive in random order.
                let key = (n.wrapping_mul(0x9e37_79b9_7f4a_7c15)).to_be_bytes();
                batch.put(table, &key, &[n as u8; 33]).unwrap();
            }
        });
        let (mut rows, mut ordered, mut before) = (0, true, Vec::new());
        let mut visit = |key: &[u8], value: &[u8]| {
            ordered &= before.as_slice() < key && value.len() == 33;
            before.clear();
            before.extend_from_slice(key);
            rows += 1;
            ControlFlow::Continue(())
        };
        store.visit(table, Range::default(), &mut visit).unwrap();
        assert_eq!((rows, ordered), (ROWS, true), "{name}");
        store.maintain().unwrap();
        let key = 12_345_u64.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes();
        assert_eq!(get(store, table, &key), Some(vec![12_345_u64 as u8; 33]), "{name}");
    });
}

#[test]
fn a_bulk_load_keeps_every_pair_and_the_table_takes_changes_after_it() {
    on_each(|store, name| {
        let table = store.table(&TableDef::named("t")).unwrap();
        let mut model = numbered(100_000, 33);
        assert_eq!(bulk(store, table, &model), 100_000, "{name}");
        assert!(all(store, table) == Vec::from_iter(model.clone()), "{name}");
        for n in [0, 5, 499_990, 499_995, 999_990, 2_000_000_u64] {
            let key = n.to_be_bytes();
            store.put(table, &key, b"changed").unwrap();
            model.insert(key.to_vec(), b"changed".to_vec());
        }
        assert!(all(store, table) == Vec::from_iter(model), "{name}");
    });
}

#[test]
fn clearing_empties_one_table_which_can_be_used_again() {
    on_each(|store, name| {
        let (one, two) = (
            store.table(&TableDef::named("one")).unwrap(),
            store.table(&TableDef::named("two")).unwrap(),
        );
        assert_ne!(one, two, "{name}");
        assert_eq!(store.table(&TableDef::named("one")).unwrap(), one, "{name}");
        let model = numbered(20_000, 33);
        for round in 0..3 {
            assert_eq!(bulk(store, one, &model), 20_000, "{name}, round {round}");
            store.put(two, &[round], b"stays").unwrap();
            let ten = 10_u64.to_be_bytes();
            store.batch(|batch| assert!(batch.modify(one, &ten, &mut |v| v[0] = 0).unwrap()));
            store.clear(one).unwrap();
            assert_eq!(all(store, one), [], "{name}, round {round}");
            assert_eq!(get(store, one, &10_u64.to_be_bytes()), None, "{name}");
            assert_eq!(all(store, two).len(), usize::from(round) + 1, "{name}");
            store.put(one, b"key", b"value").unwrap();
            assert_eq!(all(store, one).len(), 1, "{name}");
            store.clear(one).unwrap();
        }
    });
}

#[test]
fn any_sequence_of_operations_agrees_with_a_sorted_map() {
    on_each(|store, name| {
        let mut dice = Dice(20_240_229);
        let tables = [
            store.table(&TableDef::named("one")).unwrap(),
            store.table(&TableDef::named("two")).unwrap(),
        ];
        let mut models = [Model::new(), Model::new()];
        let mut step = 0;
        while step < 6_000 {
            let scope =
                [Scope::PerOperation, Scope::Snapshot, Scope::Batch][dice.below(3) as usize];
            let end = step + 1 + dice.below(30);
            let done = store.within(scope, |operations| {
                for step in step..end {
                    let at = format!("{name}, step {step}, {scope:?}");
                    any_operation(operations, &mut dice, tables, &mut models, scope, &at);
                }
                Ok(())
            });
            done.unwrap();
            step = end;
            match dice.below(20) {
                0..3 => store.maintain().unwrap_or_else(|error| panic!("{name}, {step}: {error}")),
                3 => {
                    let which = dice.below(2) as usize;
                    store.clear(tables[which]).unwrap();
                    models[which].clear();
                }
                _ => {}
            }
        }
        for (table, model) in tables.into_iter().zip(models) {
            assert_eq!(all(store, table), Vec::from_iter(model), "{name}");
        }
    });
}

/// Performs an operation and compares the result with the models.
fn any_operation(
    operations: &mut dyn Operations,
    dice: &mut Dice,
    tables: [Table; 2],
    models: &mut [Model; 2],
    scope: Scope,
    at: &str,
) {
    let which = dice.below(2) as usize;
    let (table, model) = (tables[which], &mut models[which]);
    let key = dice.below(700).to_be_bytes()[5..].to_vec();
    let writes = scope != Scope::Snapshot;
    match dice.below(85) {
        0..30 if writes => {
            let value = vec![dice.below(256) as u8; dice.below(120) as usize];
            operations.put(table, &key, &value).unwrap();
            model.insert(key, value);
        }
        30..45 if writes => {
            let there = model.remove(&key).is_some();
            assert_eq!(operations.delete(table, &key).unwrap(), there, "{at}, key {key:?}");
        }
        45..60 if writes => {
            let change = |value: &mut [u8]| value.iter_mut().for_each(|b| *b ^= 0x5a);
            let there = operations.modify(table, &key, &mut |v| change(v)).unwrap();
            let known = model.get_mut(&key).map(|v| change(v)).is_some();
            assert_eq!(there, known, "{at}, key {key:?}");
        }
        60..70 => {
            let to = dice.below(700).to_be_bytes()[5..].to_vec();
            let direction = [Direction::Forward, Direction::Backward][dice.below(2) as usize];
            let range = Range { direction, ..Range::between(&key, Some(&to)) };
            let most = 1 + dice.below(60) as usize;
            assert_eq!(scan(operations, table, range, most), expected(model, range, most), "{at}");
        }
        _ => assert_eq!(get(operations, table, &key).as_ref(), model.get(&key), "{at}, {key:?}"),
    }
}

#[test]
fn settings_are_read_back_from_every_candidate() {
    for (engine, tier, _) in offers() {
        let dir = tempfile::tempdir().unwrap();
        let options = OpenOptions::new(dir.path(), tier, 64 << 20);
        let opened = engine.open(&options).unwrap();
        let Availability::Ready { version } = engine.availability() else { panic!("not ready") };
        assert_eq!(opened.version, version);
        if engine.info().kind != Kind::Reference {
            println!("{} {version} ({tier}): {:?}", engine.info().id, opened.settings);
            assert!(!opened.settings.is_empty(), "{} ({tier})", engine.info().id);
        }
    }
}

#[test]
fn a_closed_database_has_its_content_when_it_is_opened_again() {
    for (engine, tier, _) in some_offers(3, |offer| is_on_disk(offer.0)) {
        let dir = tempfile::tempdir().unwrap();
        let model = numbered(5_000, 33);
        let mut store = open(engine, tier, dir.path());
        let table = store.table(&TableDef::named("t")).unwrap();
        bulk(store.as_mut(), table, &model);
        store.put(table, &0_u64.to_be_bytes(), &[0; 33]).unwrap();
        store.close().unwrap();
        let mut store = open(engine, tier, dir.path());
        let table = store.table(&TableDef::named("t")).unwrap();
        assert!(
            all(store.as_mut(), table) == Vec::from_iter(model),
            "{} ({tier})",
            engine.info().id
        );
        store.close().unwrap();
    }
}

#[test]
fn a_reopened_database_has_every_table_and_stays_usable() {
    for (engine, tier, _) in offers() {
        let name = format!("{} ({tier})", engine.info().id);
        let dir = tempfile::tempdir().unwrap();
        let reopener = Reopener::for_engine(engine, OpenOptions::new(dir.path(), tier, 64 << 20));
        let mut store = open(engine, tier, dir.path());
        let tables = |store: &mut dyn KvStore| {
            ["one", "two"].map(|name| store.table(&TableDef::named(name)).unwrap())
        };
        let [one, two] = tables(&mut *store);
        let mut model = numbered(3_000, 33);
        bulk(&mut *store, one, &model);
        store.put(two, b"key", b"value").unwrap();
        for round in 0..3_u8 {
            store = reopen(&reopener, store);
            let store = &mut *store;
            let [one, two] = tables(store);
            assert!(all(store, one) == Vec::from_iter(model.clone()), "{name}, round {round}");
            assert_eq!(get(store, two, b"key"), Some(b"value".to_vec()), "{name}");

            let (new, gone) = ([0xff, round], u64::from(round * 10).to_be_bytes());
            store.put(one, &new, b"alone").unwrap();
            store.batch(|batch| {
                assert!(batch.modify(one, &new, &mut |value| value[0] = round).unwrap(), "{name}");
                assert!(batch.delete(one, &gone).unwrap(), "{name}");
            });
            model.insert(new.to_vec(), [&[round], &b"lone"[..]].concat());
            model.remove(&gone[..]);
            let more = store.table(&TableDef::named(&format!("more{round}"))).unwrap();
            assert_eq!(bulk(store, more, &model), model.len() as u64, "{name}");
            assert!(all(store, more) == Vec::from_iter(model.clone()), "{name}");
        }
        let [_, two] = tables(&mut *store);
        store.clear(two).unwrap();
        store = reopen(&reopener, store);
        let [_, two] = tables(&mut *store);
        assert_eq!(all(&mut *store, two), [], "{name}");
        store.close().unwrap();
    }
}

#[test]
fn a_table_that_was_cleared_and_loaded_is_there_when_the_database_is_opened_again() {
    for (engine, tier, _) in offers() {
        let name = format!("{} ({tier})", engine.info().id);
        let dir = tempfile::tempdir().unwrap();
        let reopener = Reopener::for_engine(engine, OpenOptions::new(dir.path(), tier, 64 << 20));
        let mut store = open(engine, tier, dir.path());
        let model = numbered(2_000, 33);
        for round in 0..2 {
            let table = store.table(&TableDef::named("t")).unwrap();
            store.put(table, b"before", b"cleared").unwrap();
            store.clear(table).unwrap();
            bulk(&mut *store, table, &model);
            store.put(table, &0_u64.to_be_bytes(), &[0; 33]).unwrap();
            store = reopen(&reopener, store);
            let table = store.table(&TableDef::named("t")).unwrap();
            let found = all(&mut *store, table);
            assert!(found == Vec::from_iter(model.clone()), "{name}, round {round}");
        }
        store.close().unwrap();
    }
}

fn reopen(reopener: &Reopener, store: Box<dyn KvStore>) -> Box<dyn KvStore> {
    match reopener.reopen(Store::Kv(store)).unwrap() {
        Store::Kv(store) => store,
        _ => panic!("no key-value store"),
    }
}

/// The engines that recover from a log within their process. They support both `crash_on_close` and
/// `suspend_checkpoints`, the others neither.
const RECOVER: [&str; 6] = ["berkeleydb", "hybrid-bdb", "leveldb", "logmap", "rocksdb", "fjall"];

/// The engines of these whose log is limited by their write buffer.
const LIMITED: [&str; 3] = ["leveldb", "rocksdb", "fjall"];

fn recovers((engine, _, keeps): &Offer) -> bool {
    RECOVER.contains(&engine.info().id) && *keeps >= Durability::Process
}

/// Returns two offers that recover and one that does not, each with whether it does, or all.
fn with_and_without_recovery() -> impl Iterator<Item = (Offer, bool)> {
    let of = |most, wanted| {
        let some = some_offers(most, |offer| is_on_disk(offer.0) && recovers(offer) == wanted);
        some.into_iter().map(move |offer| (offer, wanted))
    };
    of(2, true).chain(of(1, false))
}

#[test]
fn after_a_crash_the_log_has_every_commit_or_the_engine_has_no_log() {
    for ((engine, tier, _), recovers) in with_and_without_recovery() {
        let name = format!("{} ({tier})", engine.info().id);
        let dir = tempfile::tempdir().unwrap();
        let reopener = Reopener::for_engine(engine, OpenOptions::new(dir.path(), tier, 64 << 20));
        let mut store = open(engine, tier, dir.path());
        let [_, _, loaded] = victims(&mut *store);
        bulk(&mut *store, loaded, &numbered(5_000, 33));
        for round in 0..3_u64 {
            let [alone, together, _] = victims(&mut *store);
            store.batch(|batch| {
                for (key, value) in numbered(500 + 500 * round, 33) {
                    batch.put(together, &key, &value).unwrap();
                }
            });
            for (key, value) in numbered(100 + 100 * round, 33) {
                store.put(alone, &key, &value).unwrap();
            }
            match store.crash_on_close() {
                Ok(()) => {
                    assert!(recovers, "{name}");
                    store = reopen(&reopener, store);
                }
                Err(error) => assert!(error.is_unsupported() && !recovers, "{name}: {error}"),
            }
            let rows = |of| Vec::from_iter(numbered(of, 33));
            let [alone, together, loaded] = victims(&mut *store);
            assert!(all(&mut *store, loaded) == rows(5_000), "{name}, {round}");
            assert!(all(&mut *store, together) == rows(500 + 500 * round), "{name}, {round}");
            assert!(all(&mut *store, alone) == rows(100 + 100 * round), "{name}, {round}");
        }
        store.close().unwrap();
    }
}

#[test]
fn a_log_has_every_change_after_checkpoints_are_suspended_or_the_reason_is_reported() {
    const PAIRS: u64 = 2_000;
    for ((engine, tier, _), recovers) in with_and_without_recovery() {
        let name = format!("{} ({tier})", engine.info().id);
        let dir = tempfile::tempdir().unwrap();
        let mut store = open(engine, tier, dir.path());
        let table = store.table(&TableDef::named("t")).unwrap();
        store.maintain().unwrap();
        match store.suspend_checkpoints(PAIRS * 41) {
            Ok(()) => assert!(recovers, "{name}"),
            Err(error) => {
                assert!(error.is_unsupported() && !recovers, "{name}: {error}");
                store.close().unwrap();
                continue;
            }
        }
        for (key, value) in numbered(PAIRS, 33) {
            store.put(table, &key, &value).unwrap();
        }
        let bytes = store.log_bytes().unwrap();
        assert!(bytes >= PAIRS * 41, "{name}: {bytes}");
        // No write buffer is this large; a separate log has no such limit.
        let most = store.suspend_checkpoints(1 << 50);
        let is_limited = LIMITED.contains(&engine.info().id);
        assert_eq!(most.is_err_and(|error| error.is_unsupported()), is_limited, "{name}");
        store.close().unwrap();
    }
}

#[test]
fn an_engine_that_counts_its_keys_counts_all_of_them() {
    on_each(|store, name| {
        let table = store.table(&TableDef::named("t")).unwrap();
        fn counts(reads: &mut (impl Reads + ?Sized), table: Table, right: u64, name: &str) {
            let count = reads.keys(table).unwrap();
            assert!(count.is_none_or(|count| count == right), "{name}: {count:?}, not {right}");
        }
        counts(store, table, 0, name);
        bulk(store, table, &numbered(3_000, 33));
        counts(store, table, 3_000, name);
        store.batch(|batch| {
            batch.put(table, b"a", b"1").unwrap();
            batch.put(table, b"a", b"2").unwrap();
            counts(batch, table, 3_001, name);
            batch.delete(table, &0_u64.to_be_bytes()).unwrap();
            batch.delete(table, &10_u64.to_be_bytes()).unwrap();
            counts(batch, table, 2_999, name);
        });
        store.snapshot(|snapshot| counts(snapshot, table, 2_999, name));
        store.delete(table, b"a").unwrap();
        counts(store, table, 2_998, name);
        store.clear(table).unwrap();
        counts(store, table, 0, name);
    });
}

fn is_on_disk(engine: &dyn Engine) -> bool {
    engine.info().kind != Kind::Reference
}

/// The files as after a power cut when Berkeley DB had made the file of a table but not written its
/// first page. Its own recovery fails there.
#[test]
fn hybrid_bdb_opens_where_the_file_of_a_table_is_empty() {
    let engine = registry::find("hybrid-bdb").unwrap();
    if !is_here(engine) {
        return;
    }
    let (dir, cut) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let options =
        |dir: &Path| OpenOptions::new(dir.canonicalize().unwrap(), Durability::Power, 32 << 20);
    let Store::Kv(mut store) = engine.open(&options(dir.path())).unwrap().store else {
        panic!("it keeps pairs");
    };
    let table = store.table(&TableDef::named("t")).unwrap();
    store.within(Scope::PerOperation, |each| each.put(table, b"key", b"value")).unwrap();
    // Copies the files while it is open, without what closing it would write.
    fs::create_dir(cut.path().join("front")).unwrap();
    for entry in fs::read_dir(dir.path().join("front")).unwrap() {
        let from = entry.unwrap().path();
        let to = cut.path().join("front").join(from.file_name().unwrap());
        fs::copy(&from, &to).unwrap();
    }
    store.close().unwrap();
    fs::write(cut.path().join("front/hybridcold.db"), []).unwrap();
    let Store::Kv(mut store) = engine.open(&options(cut.path())).unwrap().store else {
        panic!("it keeps pairs");
    };
    let table = store.table(&TableDef::named("t")).unwrap();
    let found =
        store.within(Scope::Snapshot, |all| Ok(all.get(table, b"key")?.map(<[u8]>::to_vec)));
    assert_eq!(found.unwrap().as_deref(), Some(&b"value"[..]));
    store.close().unwrap();
}
