//! The work: commits that follow from a seed, and what a database holds after each of them.
//!
//! Every row says which commit wrote it and carries a digest of itself, so that a half row, a row of
//! nobody and a mixed transaction are seen.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};

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
const BYTES: std::ops::Range<usize> = 20..400;

/// A row's key.
pub type Key = u32;

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
    /// Loaded by the engine's bulk path.
    pub bulk: bool,
    /// Maintenance follows.
    pub maintained: bool,
}

/// The rows there are: by key, which commit wrote each.
pub type Rows = BTreeMap<Key, u64>;

/// The commits of a seed, without end.
#[derive(Clone, Debug)]
pub struct Work {
    random: Xoshiro256PlusPlus,
    rows: Rows,
    done: u64,
    next_key: Key,
}

impl Work {
    /// From the begin.
    pub fn new(seed: u64) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        Self { random, rows: Rows::new(), done: 0, next_key: 0 }
    }

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
        for _ in 0..size {
            let change = self.change(number == BULK);
            changes.entry(change.key()).or_insert(change);
        }
        for change in changes.values() {
            match change {
                Change::Insert(key) | Change::Update(key) => self.rows.insert(*key, number),
                Change::Delete(key) => self.rows.remove(key),
            };
        }
        let changes = changes.into_values().collect();
        Commit {
            number,
            changes,
            bulk: number == BULK,
            maintained: number.is_multiple_of(MAINTAINED),
        }
    }

    /// A new row, or one of those there are, written again or removed.
    fn change(&mut self, new: bool) -> Change {
        let old = match new || self.rows.is_empty() {
            true => None,
            false => self.rows.range(self.random.random_range(0..self.next_key)..).next(),
        };
        match (old.map(|(key, _)| *key), self.random.random_range(0..10)) {
            (Some(key), 5..8) => Change::Update(key),
            (Some(key), 8..) => Change::Delete(key),
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
