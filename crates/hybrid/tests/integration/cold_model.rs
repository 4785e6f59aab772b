//! Whatever is done to an archived hybrid, its pairs and rows match a model.

use std::collections::BTreeSet;

use crate::common::{BulkPairs, Rows, close, key, open_over, options_of_seed, pairs, rows, value};
use embermark_contract::EngineError;
use embermark_contract::kv::{KvStore, Table};
use embermark_hybrid::{Archive, Hybrid};
use embermark_skips::sampled;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

type Key = (u16, u32);

#[derive(Clone, Default)]
struct Chunk {
    /// The valid rows.
    rows: Rows,
    highest: u32,
}

#[derive(Clone, Default)]
struct Model {
    pairs: Rows,
    /// Keys of pairs whose rows are in no chunk.
    hot: BTreeSet<Key>,
    chunks: Vec<Chunk>,
    is_archived: bool,
}

impl Model {
    fn put(&mut self, key: Key, row: (i64, String)) {
        self.delete(key);
        self.pairs.insert(key, row);
        self.hot.insert(key);
    }

    fn delete(&mut self, key: Key) -> bool {
        self.chunks.iter_mut().for_each(|chunk| drop(chunk.rows.remove(&key)));
        self.hot.remove(&key);
        self.pairs.remove(&key).is_some()
    }

    fn archive(&mut self, what: &Archive<'_>) -> u64 {
        self.is_archived = true;
        let past: Vec<_> =
            self.hot.iter().copied().filter(|key| i64::from(key.1) < what.before).collect();
        for part in past.chunks(what.rows_per_file) {
            let mut chunk = Chunk::default();
            for key in part {
                chunk.highest = chunk.highest.max(key.1);
                chunk.rows.insert(*key, self.pairs[key].clone());
                self.hot.remove(key);
                if what.removes_pairs {
                    self.pairs.remove(key);
                }
            }
            self.chunks.push(chunk);
        }
        past.len() as u64
    }

    fn expire(&mut self, before: u32) -> (u64, u64) {
        let (pairs, chunks) = (self.pairs.len(), self.chunks.len());
        self.pairs.retain(|key, _| key.1 >= before);
        self.hot.retain(|key| key.1 >= before);
        self.chunks.retain(|chunk| chunk.highest >= before);
        ((pairs - self.pairs.len()) as u64, (chunks - self.chunks.len()) as u64)
    }

    fn rows(&self) -> Rows {
        let mut rows: Rows = self.hot.iter().map(|key| (*key, self.pairs[key].clone())).collect();
        for (key, row) in self.chunks.iter().flat_map(|chunk| &chunk.rows) {
            assert_eq!(rows.insert(*key, row.clone()), None, "{key:?}");
        }
        rows
    }
}

fn some_row(random: &mut Xoshiro256PlusPlus) -> (Key, (i64, String)) {
    let key = (random.random_range(0..4_u16), random.random_range(0..40_u32));
    (key, (random.random_range(-3..3_i64), format!("w{}", random.random_range(0..1000))))
}

/// Applies one random operation to the hybrid and to the model.
fn step(hybrid: &mut Hybrid, table: Table, model: &mut Model, random: &mut Xoshiro256PlusPlus) {
    let (known, row) = some_row(random);
    let bytes = key(known.0, known.1);
    match random.random_range(0..24) {
        0..7 => {
            hybrid.put(table, &bytes, &value(row.0, &row.1)).unwrap();
            model.put(known, row);
        }
        7..10 => assert_eq!(hybrid.delete(table, &bytes).unwrap(), model.delete(known)),
        10 => {
            let set = &mut |value: &mut [u8]| value[..8].copy_from_slice(&7_i64.to_le_bytes());
            let changed = hybrid.change(|batch| batch.modify(table, &bytes, set)).unwrap();
            assert_eq!(changed, model.pairs.contains_key(&known));
            if let Some((_, word)) = model.pairs.get(&known).cloned() {
                model.put(known, (7, word));
            }
        }
        11..14 => {
            let mut after = model.clone();
            let undone = random.random_bool(0.3);
            let done = hybrid.change(|batch| {
                for _ in 0..random.random_range(1..30) {
                    let (known, row) = some_row(random);
                    let bytes = key(known.0, known.1);
                    if random.random_bool(0.3) {
                        assert_eq!(batch.delete(table, &bytes)?, after.delete(known));
                    } else {
                        batch.put(table, &bytes, &value(row.0, &row.1))?;
                        after.put(known, row);
                    }
                }
                if undone { Err(EngineError::impossible("undone")) } else { Ok(()) }
            });
            assert_eq!(done.is_err(), undone);
            if !undone {
                *model = after;
            }
        }
        14 => {
            if !model.pairs.is_empty() && random.random_bool(0.4) {
                hybrid.clear(table).unwrap();
                *model = Model { is_archived: model.is_archived, ..Model::default() };
            }
            if model.pairs.is_empty() {
                let count = random.random_range(0..40);
                let loaded = hybrid.bulk(table, &mut BulkPairs::new(count)).unwrap();
                assert_eq!(loaded, u64::from(count));
                BulkPairs::rows(count).for_each(|(key, row)| model.put(key, row));
            }
        }
        15 | 16 => {
            let what = Archive {
                time: "place",
                before: random.random_range(0..35),
                removes_pairs: random.random_bool(0.5),
                rows_per_file: random.random_range(1..40),
            };
            let (chunks, rows) = (model.chunks.len(), model.archive(&what));
            let done = hybrid.archive(table, &what).unwrap();
            assert_eq!((done.rows, done.chunks), (rows, (model.chunks.len() - chunks) as u64));
        }
        17 if model.is_archived => {
            let before = random.random_range(0..25);
            let (pairs, chunks) = model.expire(before);
            let done = hybrid.expire(table, before.into()).unwrap();
            assert_eq!((done.pairs, done.chunks), (pairs, chunks));
        }
        18 => hybrid.refresh().unwrap(),
        19 => assert_eq!(pairs(hybrid, table), model.pairs),
        20..22 => assert_eq!(rows(hybrid), model.rows()),
        _ => assert_eq!(
            hybrid.get(table, &bytes).unwrap().is_some(),
            model.pairs.contains_key(&known)
        ),
    }
}

fn follows(engine: &str, seed: u64, background: bool) {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut model = Model::default();
    let options = options_of_seed(folder.path(), seed, background);
    let rounds = if embermark_skips::is_long() { 5 } else { 3 };
    for _ in 0..rounds {
        let (mut hybrid, table) = open_over(engine, folder.path(), options.clone());
        for _ in 0..100 {
            step(&mut hybrid, table, &mut model, &mut random);
        }
        if random.random_bool(0.5) {
            assert_eq!(rows(&mut hybrid), model.rows());
        }
        assert_eq!(pairs(&mut hybrid, table), model.pairs);
        close(hybrid);
        let files = std::fs::read_dir(folder.path().join("mirror-cold")).map_or(0, Iterator::count);
        assert_eq!(files, model.chunks.len());
        if random.random_bool(0.3) {
            std::fs::remove_dir_all(folder.path().join("mirror")).unwrap();
        }
    }
}

#[test]
fn rows_and_pairs_are_those_of_a_model() {
    // An odd seed has a short log of changes.
    for seed in [sampled([0_u64, 2, 4], 1), sampled([1, 3], 1)].concat() {
        follows("lmdb", seed, false);
    }
}

#[test]
fn they_are_with_a_refresh_in_the_background() {
    for seed in sampled(10..12, 1) {
        follows("lmdb", seed, true);
    }
}

#[test]
fn they_are_over_berkeley_db() {
    follows("berkeleydb", 20, false);
}
