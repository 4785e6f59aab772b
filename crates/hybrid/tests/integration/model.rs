//! Whatever is done to a hybrid, its rows match its pairs, and both match a map.

use crate::common::{
    BulkPairs, Rows, as_store, close, collecting_events, key, open, open_over, options_of_seed,
    pairs, put, rows, value,
};
use embermark_contract::kv::{KvStore, Table};
use embermark_contract::{EngineError, Scope};
use embermark_hybrid::Hybrid;
use embermark_skips::sampled;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Applies one random operation to the hybrid and to the model.
fn step(hybrid: &mut Hybrid, table: Table, model: &mut Rows, random: &mut Xoshiro256PlusPlus) {
    let some_key = |random: &mut Xoshiro256PlusPlus| {
        (random.random_range(0..4_u16), random.random_range(0..40_u32))
    };
    let some_value = |random: &mut Xoshiro256PlusPlus| {
        (random.random_range(-3..3_i64), format!("w{}", random.random_range(0..1000)))
    };
    match random.random_range(0..20) {
        0..8 => {
            let (known, (amount, word)) = (some_key(random), some_value(random));
            put(hybrid, table, &key(known.0, known.1), &value(amount, &word)).unwrap();
            model.insert(known, (amount, word));
        }
        8..11 => {
            let known = some_key(random);
            let gone = as_store(hybrid)
                .within(Scope::PerOperation, |each| each.delete(table, &key(known.0, known.1)))
                .unwrap();
            assert_eq!(gone, model.remove(&known).is_some());
        }
        11..13 => {
            let known = some_key(random);
            let changed = as_store(hybrid).within(Scope::PerOperation, |each| {
                each.modify(table, &key(known.0, known.1), &mut |value| value[0] = 7)
            });
            let row = model.get_mut(&known);
            assert_eq!(changed.unwrap(), row.is_some());
            if let Some((amount, _)) = row {
                *amount = (*amount & !0xff) | 7;
            }
        }
        13..16 => {
            // A transaction that reads what it writes, and is rolled back or not.
            let mut after = model.clone();
            let undone = random.random_bool(0.3);
            let done = as_store(hybrid).within(Scope::Batch, |batch| {
                for _ in 0..random.random_range(1..30) {
                    let (known, (amount, word)) = (some_key(random), some_value(random));
                    let bytes = key(known.0, known.1);
                    if random.random_bool(0.3) {
                        assert_eq!(batch.delete(table, &bytes)?, after.remove(&known).is_some());
                    } else {
                        batch.put(table, &bytes, &value(amount, &word))?;
                        assert_eq!(batch.get(table, &bytes)?, Some(&value(amount, &word)[..]));
                        after.insert(known, (amount, word));
                    }
                }
                if undone { Err(EngineError::impossible("undone")) } else { Ok(()) }
            });
            assert_eq!(done.is_err(), undone);
            if !undone {
                *model = after;
            }
        }
        16 => {
            hybrid.clear(table).unwrap();
            model.clear();
            let count = random.random_range(0..50);
            assert_eq!(hybrid.bulk(table, &mut BulkPairs::new(count)).unwrap(), u64::from(count));
            model.extend(BulkPairs::rows(count));
        }
        17 => hybrid.refresh().unwrap(),
        18 => assert_eq!(&pairs(hybrid, table), model),
        _ => assert_eq!(&rows(hybrid), model),
    }
}

fn follows(engine: &str, seed: u64, background: bool) {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut model = Rows::new();
    let options = options_of_seed(folder.path(), seed, background);
    for _ in 0..4 {
        let (mut hybrid, table) = open_over(engine, folder.path(), options.clone());
        for _ in 0..150 {
            step(&mut hybrid, table, &mut model, &mut random);
        }
        if random.random_bool(0.5) {
            assert_eq!(rows(&mut hybrid), model);
        }
        assert_eq!(pairs(&mut hybrid, table), model);
        close(hybrid);
    }
}

#[test]
fn rows_and_pairs_are_those_of_a_model() {
    // An odd seed has a short log of changes.
    for seed in [sampled([0_u64, 2, 4], 1), sampled([1, 3, 5], 1)].concat() {
        follows("lmdb", seed, false);
    }
}

#[test]
fn they_are_with_a_refresh_in_the_background() {
    for seed in [sampled([10_u64, 12], 1), sampled([11, 13], 1)].concat() {
        follows("lmdb", seed, true);
    }
}

#[test]
fn they_are_over_berkeley_db() {
    for seed in sampled([20, 21], 1) {
        follows("berkeleydb", seed, false);
    }
}

#[test]
fn a_mirror_that_was_closed_is_opened_again_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let (options, events) = collecting_events(folder.path());
    let (mut hybrid, table) = open(folder.path(), options.clone());
    put(&mut hybrid, table, &key(1, 1), &value(1, "one")).unwrap();
    assert_eq!(rows(&mut hybrid).len(), 1);
    // Changes that no query has transferred are transferred by the next one.
    put(&mut hybrid, table, &key(1, 2), &value(2, "two")).unwrap();
    close(hybrid);
    let (mut hybrid, table) = open(folder.path(), options.clone());
    put(&mut hybrid, table, &key(1, 3), &value(3, "three")).unwrap();
    assert_eq!(rows(&mut hybrid).len(), 3);
    close(hybrid);
    assert_eq!(*events.lock().unwrap(), [""; 0]);
    // Deleted: it is rebuilt, which is reported.
    std::fs::remove_dir_all(folder.path().join("mirror")).unwrap();
    let (mut hybrid, _) = open(folder.path(), options);
    assert_eq!(rows(&mut hybrid).len(), 3);
    close(hybrid);
    let events = events.lock().unwrap();
    assert!(events.len() == 1 && events[0].contains("rebuilt"), "{events:?}");
}
