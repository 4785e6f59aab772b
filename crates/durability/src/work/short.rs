//! Short works: one to three operations after creating the table, which is enough to trigger most
//! faults (*Finding Crash-Consistency Bugs with Bounded Black-Box Crash Testing*, OSDI 2018).

use std::fmt;

use super::{Abilities, Change, Commit, Plan, TABLE_COMMIT, Work};

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A commit of a new row.
    Insert,
    /// A commit that rewrites the oldest row.
    Update,
    /// A commit that removes the oldest row.
    Delete,
    /// A commit of new rows on several pages, and of an update and a removal if there are rows.
    Transaction,
    /// A commit of new rows by the bulk path, into an empty table.
    Bulk,
    /// Maintenance, after a commit.
    Maintain,
}

use Operation::{Bulk, Delete, Insert, Maintain, Transaction, Update};

/// The short works. The beginning of each is one too, so for each only the states after the start
/// of its last operation are needed.
pub const WORKS: [&[Operation]; 25] = [
    &[],
    &[Insert],
    &[Transaction],
    &[Bulk],
    &[Insert, Insert],
    &[Insert, Update],
    &[Insert, Delete],
    &[Insert, Maintain],
    &[Transaction, Transaction],
    &[Transaction, Delete],
    &[Transaction, Maintain],
    &[Bulk, Update],
    &[Bulk, Transaction],
    &[Bulk, Maintain],
    &[Insert, Update, Delete],
    &[Insert, Delete, Insert],
    &[Insert, Delete, Maintain],
    &[Insert, Maintain, Update],
    &[Insert, Maintain, Delete],
    &[Transaction, Transaction, Maintain],
    &[Transaction, Maintain, Insert],
    &[Transaction, Maintain, Transaction],
    &[Bulk, Transaction, Maintain],
    &[Bulk, Maintain, Delete],
    &[Bulk, Maintain, Transaction],
];

/// Number of them with at most two operations. With creating the table they are three.
pub const UP_TO_TWO: usize = 14;

/// Number of rows of a transaction and of a bulk load: more than a page of 4 KiB can hold.
const ROWS: usize = 25;

/// A commit of a short work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShortCommit {
    /// Its operation.
    pub operation: Operation,
    /// Whether maintenance follows.
    pub maintained: bool,
}

/// Returns the commits of a short work, after that of the table.
pub fn commits(index: usize) -> impl Iterator<Item = ShortCommit> {
    let operations = WORKS[index];
    let commits = operations.iter().enumerate().filter(|(_, operation)| **operation != Maintain);
    commits.map(|(at, operation)| {
        let maintained = operations.get(at + 1) == Some(&Maintain);
        ShortCommit { operation: *operation, maintained }
    })
}

impl Plan {
    /// Returns the commit with that number, if it is one of a short work.
    pub fn short_commit(self, number: u64) -> Option<ShortCommit> {
        commits(self.short?).nth(usize::try_from(number.checked_sub(TABLE_COMMIT + 1)?).ok()?)
    }

    /// Returns the last commit up to whose acknowledgement a shorter work covers every state, or 0.
    pub fn last_covered_commit(self) -> u64 {
        let Some(index) = self.short else { return TABLE_COMMIT - 1 };
        let last = TABLE_COMMIT + commits(index).count() as u64;
        last - u64::from(WORKS[index].last() != Some(&Maintain))
    }
}

impl Work {
    /// Returns a commit of a short work, which uses the existing rows in the order of keys.
    pub(super) fn next_short_commit(&mut self, number: u64, commit: ShortCommit) -> Commit {
        let ShortCommit { operation, maintained } = commit;
        let mut old = self.rows.keys().copied().collect::<Vec<_>>().into_iter();
        let mut changes = Vec::new();
        let Abilities { updates, deletes, .. } = self.abilities();
        if updates && matches!(operation, Update | Transaction) {
            changes.extend(old.next().map(Change::Update));
        }
        if deletes && matches!(operation, Delete | Transaction) {
            changes.extend(old.next().map(Change::Delete));
        }
        let new = match operation {
            Insert => 1,
            Transaction | Bulk => ROWS,
            // A change that the engine does not support is replaced by a new row.
            Update => usize::from(!updates),
            Delete => usize::from(!deletes),
            Maintain => 0,
        };
        changes.extend((0..new).map(|_| self.new_row()));
        Commit { number, changes, bulk: operation == Bulk, maintained }
    }
}

impl Operation {
    /// Returns the words that a report uses.
    const fn name(self) -> &'static str {
        match self {
            Insert => "insert",
            Update => "update",
            Delete => "delete",
            Transaction => "transaction",
            Bulk => "bulk load",
            Maintain => "maintenance",
        }
    }
}

/// A short work by its index, formatted for a report.
#[derive(Clone, Copy, Debug)]
pub struct ShortWorkName(pub usize);

impl fmt::Display for ShortWorkName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("table")?;
        WORKS[self.0].iter().try_for_each(|operation| write!(f, ", {}", operation.name()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use embermark_contract::DataModel;

    use crate::work::{Abilities, Commit, Rows};

    fn plan(index: usize) -> Plan {
        Plan {
            seed: 0,
            abilities: Abilities::for_family(DataModel::Sql),
            short: Some(index),
            filling: None,
        }
    }

    fn all(index: usize) -> Vec<Commit> {
        let mut work = plan(index).work(0);
        let count = TABLE_COMMIT as usize + commits(index).count();
        (0..count).map(|_| work.commit()).collect()
    }

    #[test]
    fn the_begin_of_each_is_one_too_and_none_is_there_twice() {
        for (index, operations) in WORKS.iter().enumerate() {
            assert!(operations.len() <= if index < UP_TO_TWO { 2 } else { 3 }, "{operations:?}");
            assert!(index < UP_TO_TWO || operations.len() == 3, "{operations:?}");
            if let Some((_, before)) = operations.split_last() {
                assert!(WORKS[..index].contains(&before), "{operations:?}");
            }
            assert!(!WORKS[..index].contains(operations), "{operations:?}");
            assert_ne!(operations.first(), Some(&Maintain), "it follows a commit");
            let later = operations.get(1..).unwrap_or_default();
            assert!(!later.contains(&Bulk), "into an empty table alone: {operations:?}");
        }
    }

    #[test]
    fn each_commit_does_something_and_only_what_can_be_done() {
        for (index, operations) in WORKS.iter().enumerate() {
            let commits = all(index);
            let mut rows = Rows::new();
            for commit in &commits[1..] {
                assert!(!commit.changes.is_empty(), "{} {}", ShortWorkName(index), commit.number);
                assert!(commit.changes.is_sorted_by_key(|change| change.key()));
                for change in &commit.changes {
                    let was = match change {
                        Change::Insert(key) | Change::Update(key) => {
                            rows.insert(*key, commit.number)
                        }
                        Change::Delete(key) => rows.remove(key),
                    };
                    assert_eq!(was.is_none(), matches!(change, Change::Insert(_)), "{change:?}");
                }
            }
            let maintained = commits.iter().filter(|commit| commit.maintained).count();
            let asked = operations.iter().filter(|operation| **operation == Maintain).count();
            assert_eq!(maintained, asked, "{}", ShortWorkName(index));
            assert_eq!(commits.iter().any(|c| c.bulk), operations.contains(&Bulk));
        }
    }

    #[test]
    fn its_states_begin_with_its_last_operation() {
        let begun = |operations: &[Operation]| {
            let index = WORKS.iter().position(|work| *work == operations).unwrap();
            plan(index).last_covered_commit()
        };
        assert_eq!(begun(&[]), 0);
        assert_eq!(begun(&[Insert]), 1);
        assert_eq!(begun(&[Insert, Maintain]), 2);
        assert_eq!(begun(&[Insert, Maintain, Update]), 2);
        assert_eq!(begun(&[Insert, Update, Delete]), 3);
    }

    #[test]
    fn what_comes_after_it_is_drawn() {
        let mut work = plan(1).work(0).after(2);
        let later: Vec<Commit> = (0..50).map(|_| work.commit()).collect();
        assert!(later.iter().any(|commit| commit.changes.len() > 10));
        assert_eq!(later[0].number, 3);
    }
}
