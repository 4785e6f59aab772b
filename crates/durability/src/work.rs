//! The work: commits that follow from a seed, and what a database holds after each of them.
//!
//! Every row says which commit wrote it and carries a digest of itself, so that a half row, a row of
//! nobody and a mixed transaction are seen.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};
use std::ops::Range;

use embermark_contract::DataModel;
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

/// The commit that makes the table.
pub const MADE: u64 = 1;
/// The commit that loads rows in bulk.
pub const BULK: u64 = 2;
/// Rows that it loads.
const LOADED: u32 = 200;
/// Most changes of a transaction.
const MOST_CHANGES: u32 = 100;
/// Commits between two maintenances: checkpoints and compactions in the middle of the work.
const MAINTAINED: u64 = 40;
/// Bytes of a row beside its key, at least and at most.
const BYTES: Range<usize> = 20..400;

/// Keys that a client has for itself.
const KEYS: Key = 1 << 24;
/// Between the seeds of two clients.
const APART: u64 = 0x9e37_79b9_7f4a_7c15;

/// A row's key.
pub type Key = u32;

/// What a family of stores promises of changes to rows. Nothing else is asked of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// Several changes are made together or not at all. Without it a commit is one change, or rows
    /// loaded together, of which an interruption may leave some.
    pub transactions: bool,
    /// A row that is there is written anew.
    pub updates: bool,
    /// A row is removed.
    pub deletes: bool,
    /// Rows are loaded in bulk into a table that has others, and other clients.
    pub shared_loads: bool,
}

impl Abilities {
    /// Those of a family, as the traits of `embermark_contract` have it. Points can be deleted,
    /// too, by statements of which no manual says when they are kept.
    pub const fn of(family: DataModel) -> Self {
        let (transactions, deletes) = match family {
            DataModel::Sql | DataModel::KeyValue => (true, true),
            DataModel::Document => (false, true),
            DataModel::Series => (false, false),
        };
        let shared_loads = !matches!(family, DataModel::KeyValue);
        Self { transactions, updates: true, deletes, shared_loads }
    }
}

/// What the work of every client follows from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Another makes other commits.
    pub seed: u64,
    /// What the engine can do.
    pub abilities: Abilities,
}

impl Plan {
    /// The work of a client, from the begin: of rows that no other client touches.
    pub fn work(self, client: u32) -> Work {
        let seed = self.seed.wrapping_add(APART.wrapping_mul(client.into()));
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let Range { start: first_key, .. } = keys(client);
        let (rows, next_key) = (Rows::new(), first_key);
        Work { random, abilities: self.abilities, rows, done: 0, first_key, next_key }
    }
}

/// The keys of a client's rows.
pub const fn keys(client: u32) -> Range<Key> {
    client * KEYS..(client + 1) * KEYS
}

/// The most clients that there are keys for.
pub const MOST_CLIENTS: u32 = Key::MAX / KEYS;

/// What a commit does to one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Writes a new one.
    Insert(Key),
    /// Writes one anew that is there.
    Update(Key),
    /// Removes it.
    Delete(Key),
}

impl Change {
    /// The row's key.
    pub const fn key(self) -> Key {
        match self {
            Self::Insert(key) | Self::Update(key) | Self::Delete(key) => key,
        }
    }
}

/// A commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Its number, from [`MADE`].
    pub number: u64,
    /// What it does, each row once, in the order of keys.
    pub changes: Vec<Change>,
    /// Loaded by the engine's bulk path: new rows alone.
    pub bulk: bool,
    /// Maintenance follows.
    pub maintained: bool,
}

/// The rows there are: by key, which commit wrote each.
pub type Rows = BTreeMap<Key, u64>;

/// The commits of a [client](Plan::work), without end.
#[derive(Clone, Debug)]
pub struct Work {
    random: Xoshiro256PlusPlus,
    abilities: Abilities,
    rows: Rows,
    done: u64,
    first_key: Key,
    next_key: Key,
}

impl Work {
    /// Goes on after so many commits.
    #[must_use]
    pub fn after(mut self, commits: u64) -> Self {
        while self.done < commits {
            self.commit();
        }
        self
    }

    /// The rows after the commits given out.
    pub const fn rows(&self) -> &Rows {
        &self.rows
    }

    /// What it asks of the engine.
    pub const fn abilities(&self) -> Abilities {
        self.abilities
    }

    /// The next commit.
    pub fn commit(&mut self) -> Commit {
        self.done += 1;
        let number = self.done;
        let mut changes: BTreeMap<Key, Change> = BTreeMap::new();
        let size = match number {
            MADE => 0,
            BULK => LOADED,
            // Half of them alone, half together.
            _ if self.random.random_bool(0.5) => 1,
            _ => self.random.random_range(2..=MOST_CHANGES),
        };
        let bulk = number == BULK || (size > 1 && !self.abilities.transactions);
        for _ in 0..size {
            let change = self.change(bulk);
            changes.entry(change.key()).or_insert(change);
        }
        for change in changes.values() {
            match change {
                Change::Insert(key) | Change::Update(key) => self.rows.insert(*key, number),
                Change::Delete(key) => self.rows.remove(key),
            };
        }
        let changes = changes.into_values().collect();
        Commit { number, changes, bulk, maintained: number.is_multiple_of(MAINTAINED) }
    }

    /// A new row, or one of those there are, written again or removed.
    fn change(&mut self, new: bool) -> Change {
        let Abilities { updates, deletes, .. } = self.abilities;
        let old = match new || self.rows.is_empty() {
            true => None,
            false => {
                let from = self.random.random_range(self.first_key..self.next_key);
                self.rows.range(from..).next()
            }
        };
        match (old.map(|(key, _)| *key), self.random.random_range(0..10)) {
            (Some(key), 5..8) if updates => Change::Update(key),
            (Some(key), 8..) if deletes => Change::Delete(key),
            _ => {
                self.next_key += 1;
                Change::Insert(self.next_key - 1)
            }
        }
    }
}

/// What a row holds beside its key: text of a length that follows from key and commit.
pub fn text(key: Key, commit: u64) -> String {
    let digest = digest(key, commit);
    let length = BYTES.start + (digest as usize) % (BYTES.end - BYTES.start);
    let letters = (0..length).map(|i| char::from(b'a' + ((digest >> (i % 48)) % 26) as u8));
    letters.collect()
}

/// A number that follows from key and commit; 63 bits, so that any integer column holds it.
pub fn digest(key: Key, commit: u64) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write_u32(key);
    hasher.write_u64(commit);
    hasher.finish() >> 1
}

#[cfg(test)]
mod tests;
