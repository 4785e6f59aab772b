//! The work: commits that follow from a plan, and what a database holds after each of them.
//!
//! Every row says which commit wrote it and carries a digest of itself, so that a half row, a row of
//! nobody and a mixed transaction are seen.

pub(crate) mod short;

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use serde::{Deserialize, Serialize};

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

/// Which work it is: what every commit does follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Plan {
    /// The long one, drawn by a seed.
    Drawn(u64),
    /// A [short one](short::WORKS), by its place; what comes after its steps is drawn.
    Short(usize),
}

impl From<u64> for Plan {
    fn from(seed: u64) -> Self {
        Self::Drawn(seed)
    }
}

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

/// The commits of a plan, without end.
#[derive(Clone, Debug)]
pub struct Work {
    plan: Plan,
    random: Xoshiro256PlusPlus,
    rows: Rows,
    done: u64,
    next_key: Key,
}

impl Work {
    /// From the begin.
    pub fn new(plan: impl Into<Plan>) -> Self {
        let plan = plan.into();
        let seed = match plan {
            Plan::Drawn(seed) => seed,
            Plan::Short(_) => 0,
        };
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        Self { plan, random, rows: Rows::new(), done: 0, next_key: 0 }
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
        let short = self.plan.short(number);
        let changes = match short {
            Some(commit) => self.stepped(commit.step),
            None => self.drawn(number),
        };
        for change in &changes {
            match change {
                Change::Insert(key) | Change::Update(key) => self.rows.insert(*key, number),
                Change::Delete(key) => self.rows.remove(key),
            };
        }
        let bulk = short.map_or(number == BULK, |commit| commit.step == short::Step::Bulk);
        let maintained =
            short.map_or(number.is_multiple_of(MAINTAINED), |commit| commit.maintained);
        Commit { number, changes, bulk, maintained }
    }

    /// What a commit does that is drawn.
    fn drawn(&mut self, number: u64) -> Vec<Change> {
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
        changes.into_values().collect()
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
            _ => self.new_row(),
        }
    }

    fn new_row(&mut self) -> Change {
        self.next_key += 1;
        Change::Insert(self.next_key - 1)
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
