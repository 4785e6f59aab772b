//! The work: commits that follow from a plan, and the content of a database after each of them.
//!
//! Every row names the commit that wrote it and has its own digest. This reveals partial rows, rows
//! that no commit wrote, and mixed transactions.

pub(crate) mod filling;
pub(crate) mod short;

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};
use std::ops::Range;

use embermark_contract::{DataModel, Engine};
use filling::Filling;
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

/// The commit that makes the table.
pub const TABLE_COMMIT: u64 = 1;
/// The commit that loads rows in bulk.
pub const BULK_COMMIT: u64 = 2;
/// Number of rows that it loads.
const BULK_ROWS: u32 = 200;
/// Largest number of changes of a transaction.
const MOST_CHANGES: u32 = 100;
/// Number of commits between two maintenances, which bring checkpoints and compactions into the
/// middle of the work.
const MAINTENANCE_INTERVAL: u64 = 40;
/// Smallest and largest number of bytes of a row, without its key.
const ROW_BYTES: Range<usize> = 20..400;

/// Number of keys of each client, which no other client uses.
const KEYS_PER_CLIENT: Key = 1 << 24;
/// Distance between the seeds of two clients.
const SEED_STRIDE: u64 = 0x9e37_79b9_7f4a_7c15;

/// Key of a row.
pub type Key = u32;

/// What a family of stores promises for changes of rows. Nothing else is required of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// Several changes are made together or not at all. Without it a commit is one change, or rows
    /// loaded together, of which an interruption may leave some.
    pub transactions: bool,
    /// An existing row can be rewritten.
    pub updates: bool,
    /// A row can be removed.
    pub deletes: bool,
    /// Rows can be loaded in bulk into a table that has others, with other clients.
    pub shared_loads: bool,
}

impl Abilities {
    /// Returns those of a family, as the traits of `embermark_contract` promise them. Points can
    /// also be deleted, by statements for which no manual says when the deletion is durable.
    pub const fn for_family(family: DataModel) -> Self {
        let (transactions, deletes) = match family {
            DataModel::Sql | DataModel::KeyValue => (true, true),
            DataModel::Document => (false, true),
            DataModel::Series => (false, false),
        };
        let shared_loads = !matches!(family, DataModel::KeyValue);
        Self { transactions, updates: true, deletes, shared_loads }
    }

    /// Returns those of an engine.
    pub fn for_engine(engine: &dyn Engine) -> Self {
        let family = Self::for_family(engine.info().family);
        let changes = !engine.is_append_only();
        Self { updates: changes, deletes: changes && family.deletes, ..family }
    }
}

/// What determines the work of every client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Seed of the commits.
    pub seed: u64,
    /// What the engine can do.
    pub abilities: Abilities,
    /// Index of a [short work](short::WORKS), whose commits come first.
    pub short: Option<usize>,
    /// Set if the work is to fill a disk.
    pub filling: Option<Filling>,
}

impl Plan {
    /// Returns the work of a client, from the beginning: on rows that no other client changes.
    pub fn work(self, client: u32) -> Work {
        let seed = self.seed.wrapping_add(SEED_STRIDE.wrapping_mul(client.into()));
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let Range { start: first_key, .. } = keys(client);
        let (rows, next_key) = (Rows::new(), first_key);
        Work { plan: self, random, rows, done: 0, first_key, next_key }
    }
}

/// Returns the keys of a client's rows.
pub const fn keys(client: u32) -> Range<Key> {
    client * KEYS_PER_CLIENT..(client + 1) * KEYS_PER_CLIENT
}

/// Largest number of clients that there are keys for.
pub const MAX_CLIENTS: u32 = Key::MAX / KEYS_PER_CLIENT;

/// The change of one row by a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Writes a new row.
    Insert(Key),
    /// Rewrites an existing row.
    Update(Key),
    /// Removes a row.
    Delete(Key),
}

impl Change {
    /// Returns the row's key.
    pub const fn key(self) -> Key {
        match self {
            Self::Insert(key) | Self::Update(key) | Self::Delete(key) => key,
        }
    }
}

/// A commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Number, from [`TABLE_COMMIT`].
    pub number: u64,
    /// Changes, at most one per row, in the order of keys.
    pub changes: Vec<Change>,
    /// Whether it is loaded by the engine's bulk path. It then has only new rows.
    pub bulk: bool,
    /// Whether maintenance follows.
    pub maintained: bool,
}

/// The rows: for each key the commit that wrote it.
pub type Rows = BTreeMap<Key, u64>;

/// The commits of a [client](Plan::work), without end.
#[derive(Clone, Debug)]
pub struct Work {
    plan: Plan,
    random: Xoshiro256PlusPlus,
    rows: Rows,
    done: u64,
    first_key: Key,
    next_key: Key,
}

impl Work {
    /// Skips to after this number of commits.
    #[must_use]
    pub fn after(mut self, commits: u64) -> Self {
        while self.done < commits {
            self.commit();
        }
        self
    }

    /// Returns the rows after the commits returned so far.
    pub const fn rows(&self) -> &Rows {
        &self.rows
    }

    /// Returns what it requires of the engine.
    pub const fn abilities(&self) -> Abilities {
        self.plan.abilities
    }

    /// Returns the next commit.
    pub fn commit(&mut self) -> Commit {
        self.done += 1;
        let number = self.done;
        let commit = match (self.plan.filling, self.plan.short_commit(number)) {
            (Some(filling), _) => self.next_filling_commit(number, filling),
            (None, Some(step)) => self.next_short_commit(number, step),
            (None, None) => self.next_random_commit(number),
        };
        for change in &commit.changes {
            match change {
                Change::Insert(key) | Change::Update(key) => self.rows.insert(*key, number),
                Change::Delete(key) => self.rows.remove(key),
            };
        }
        commit
    }

    /// Returns the next commit, drawn at random.
    fn next_random_commit(&mut self, number: u64) -> Commit {
        let commit = self.draw_commit(number, MOST_CHANGES, [5, 8]);
        Commit { maintained: number.is_multiple_of(MAINTENANCE_INTERVAL), ..commit }
    }

    /// Returns the next commit, with at most `most` changes. Out of ten changes the first of
    /// `shares` is the number of new rows. Those up to the second are updates, and the others
    /// removals.
    fn draw_commit(&mut self, number: u64, most: u32, shares: [u32; 2]) -> Commit {
        let mut changes: BTreeMap<Key, Change> = BTreeMap::new();
        let size = match number {
            TABLE_COMMIT => 0,
            BULK_COMMIT => BULK_ROWS,
            // Half of them with a single change, half with several.
            _ if self.random.random_bool(0.5) => 1,
            _ => self.random.random_range(2..=most),
        };
        let bulk = number == BULK_COMMIT || (size > 1 && !self.abilities().transactions);
        for _ in 0..size {
            let change = self.change(bulk, shares);
            changes.entry(change.key()).or_insert(change);
        }
        Commit { number, changes: changes.into_values().collect(), bulk, maintained: false }
    }

    /// Makes a new row, or rewrites or removes an existing one.
    fn change(&mut self, new: bool, [inserts, updated]: [u32; 2]) -> Change {
        let Abilities { updates, deletes, .. } = self.abilities();
        let old = match new || self.rows.is_empty() {
            true => None,
            false => {
                let from = self.random.random_range(self.first_key..self.next_key);
                self.rows.range(from..).next()
            }
        };
        match (old.map(|(key, _)| *key), self.random.random_range(0..10)) {
            (Some(key), drawn) if updates && (inserts..updated).contains(&drawn) => {
                Change::Update(key)
            }
            (Some(key), drawn) if deletes && drawn >= updated => Change::Delete(key),
            _ => self.new_row(),
        }
    }

    const fn new_row(&mut self) -> Change {
        self.next_key += 1;
        Change::Insert(self.next_key - 1)
    }
}

/// Returns a row's content without its key: text with a length that follows from key and commit.
pub fn text(key: Key, commit: u64) -> String {
    let digest = digest(key, commit);
    let length = ROW_BYTES.start + (digest as usize) % (ROW_BYTES.end - ROW_BYTES.start);
    (0..length).map(|i| char::from(b'a' + ((digest >> (i % 48)) % 26) as u8)).collect()
}

/// Returns a number that follows from key and commit. It has 63 bits, so that any integer column
/// can hold it.
pub fn digest(key: Key, commit: u64) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write_u32(key);
    hasher.write_u64(commit);
    hasher.finish() >> 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(seed: u64) -> Work {
        Plan { seed, abilities: Abilities::for_family(DataModel::Sql), short: None, filling: None }
            .work(0)
    }

    #[test]
    fn the_commits_follow_from_the_seed_and_can_be_taken_up_anywhere() {
        let all: Vec<Commit> = {
            let mut work = work(7);
            (0..200).map(|_| work.commit()).collect()
        };
        let mut later = work(7).after(150);
        assert!(all[150..].iter().all(|commit| *commit == later.commit()));
        let mut other = work(8);
        assert!(all[2..].iter().any(|commit| *commit != other.commit()));
    }

    #[test]
    fn they_are_of_every_kind() {
        let mut work = work(1);
        let commits: Vec<Commit> = (0..300).map(|_| work.commit()).collect();
        assert!(commits[0].changes.is_empty(), "the table is made");
        assert!(commits[1].bulk && commits[1].changes.len() == BULK_ROWS as usize);
        let later = &commits[2..];
        assert!(
            later.iter().any(|c| c.changes.len() == 1)
                && later.iter().any(|c| c.changes.len() > 50)
        );
        assert!(later.iter().all(|c| c.changes.len() <= MOST_CHANGES as usize && !c.bulk));
        let changes: Vec<Change> = later.iter().flat_map(|c| c.changes.clone()).collect();
        let deleted = changes.iter().filter(|c| matches!(c, Change::Delete(_))).count();
        assert!(deleted > 100 && deleted < changes.len() / 2, "{deleted} of {}", changes.len());
        assert!(later.iter().filter(|c| c.maintained).count() >= 5);
    }

    #[test]
    fn the_rows_are_what_the_changes_made_in_their_order() {
        let mut work = work(3);
        let mut rows = Rows::new();
        for _ in 0..200 {
            let commit = work.commit();
            for change in &commit.changes {
                match change {
                    Change::Insert(key) | Change::Update(key) => rows.insert(*key, commit.number),
                    Change::Delete(key) => Some(rows.remove(key).unwrap()),
                };
            }
            assert_eq!(rows, *work.rows(), "{}", commit.number);
        }
    }

    #[test]
    fn clients_have_works_and_rows_of_their_own() {
        let plan = Plan {
            seed: 5,
            abilities: Abilities::for_family(DataModel::Sql),
            short: None,
            filling: None,
        };
        let [first, second] = [0, 1].map(|client| plan.work(client).after(100));
        assert!(first.rows().keys().all(|key| keys(0).contains(key)));
        assert!(second.rows().keys().all(|key| keys(1).contains(key)));
        let [first, second] = [first, second].map(|work| work.rows().len());
        assert_ne!(first, second, "another seed");
        assert!(keys(MAX_CLIENTS - 1).end > keys(MAX_CLIENTS - 1).start);
    }

    #[test]
    fn a_family_is_asked_for_what_it_promises_alone() {
        let commits = |family| {
            let mut work = Plan {
                seed: 9,
                abilities: Abilities::for_family(family),
                short: None,
                filling: None,
            }
            .work(0);
            (0..300).map(|_| work.commit()).collect::<Vec<Commit>>()
        };
        for family in [DataModel::Document, DataModel::Series] {
            let (mut updates, mut deletes) = (0, 0);
            for commit in commits(family) {
                let inserts =
                    commit.changes.iter().filter(|c| matches!(c, Change::Insert(_))).count();
                updates += commit.changes.iter().filter(|c| matches!(c, Change::Update(_))).count();
                deletes += commit.changes.iter().filter(|c| matches!(c, Change::Delete(_))).count();
                let several = commit.changes.len() > 1;
                assert_eq!(commit.bulk, several, "{commit:?}");
                assert!(!several || inserts == commit.changes.len(), "{commit:?}");
            }
            assert!(updates > 20, "{updates}");
            assert_eq!(deletes > 10, family == DataModel::Document, "{deletes}");
        }
    }
}
