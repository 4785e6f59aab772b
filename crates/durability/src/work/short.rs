//! Short works: one to three operations after the making of the table, of which most faults need no
//! more (*Finding Crash-Consistency Bugs with Bounded Black-Box Crash Testing*, OSDI 2018).

use std::fmt;

use super::{Change, Commit, MADE, Plan, Work};

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A commit of a new row.
    Insert,
    /// A commit that writes the oldest row anew.
    Update,
    /// A commit that removes the oldest row.
    Delete,
    /// A commit of new rows on several pages, and of an update and a removal where there are rows.
    Transaction,
    /// A commit of new rows by the bulk path: into an empty table.
    Bulk,
    /// Maintenance, after a commit.
    Maintain,
}

use Step::{Bulk, Delete, Insert, Maintain, Transaction, Update};

/// The short works. The begin of each is one, too, so that of each the states after its last operation
/// began are enough.
pub const WORKS: [&[Step]; 25] = [
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

/// How many of them have no more than two operations: with the making of the table they are three.
pub const OF_TWO: usize = 14;

/// Rows of a transaction, and of a bulk load: more than a page of 4 KiB holds.
const ROWS: usize = 25;

/// A commit of a short work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShortCommit {
    /// What it does.
    pub step: Step,
    /// Maintenance follows.
    pub maintained: bool,
}

/// The commits of a short work, after that of the table.
pub fn commits(place: usize) -> impl Iterator<Item = ShortCommit> {
    let steps = WORKS[place];
    let commits = steps.iter().enumerate().filter(|(_, step)| **step != Maintain);
    commits.map(|(at, step)| {
        let maintained = steps.get(at + 1) == Some(&Maintain);
        ShortCommit { step: *step, maintained }
    })
}

impl Plan {
    /// The commit of that number, where it is one of a short work.
    pub fn short(self, number: u64) -> Option<ShortCommit> {
        commits(self.short?).nth(usize::try_from(number.checked_sub(MADE + 1)?).ok()?)
    }

    /// The last commit up to whose acknowledgement a shorter work has every state, or 0.
    pub fn covered(self) -> u64 {
        let Some(place) = self.short else { return MADE - 1 };
        let last = MADE + commits(place).count() as u64;
        last - u64::from(WORKS[place].last() != Some(&Maintain))
    }
}

impl Work {
    /// A commit of a short work, of the rows that there are, in the order of keys.
    pub(super) fn stepped(&mut self, number: u64, commit: ShortCommit) -> Commit {
        let ShortCommit { step, maintained } = commit;
        let mut old = self.rows.keys().copied().collect::<Vec<_>>().into_iter();
        let mut changes = Vec::new();
        if matches!(step, Update | Transaction) {
            changes.extend(old.next().map(Change::Update));
        }
        if matches!(step, Delete | Transaction) {
            changes.extend(old.next().map(Change::Delete));
        }
        let new = match step {
            Insert => 1,
            Transaction | Bulk => ROWS,
            Update | Delete | Maintain => 0,
        };
        changes.extend((0..new).map(|_| self.new_row()));
        Commit { number, changes, bulk: step == Bulk, maintained }
    }
}

impl Step {
    /// In the words of a report.
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

/// A short work in the words of a report, by its place.
#[derive(Clone, Copy, Debug)]
pub struct Named(pub usize);

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("table")?;
        WORKS[self.0].iter().try_for_each(|step| write!(f, ", {}", step.name()))
    }
}

#[cfg(test)]
mod tests;
