//! Whether what a database holds may be what is left of the work.

use std::collections::{BTreeMap, BTreeSet};

pub use embermark_model::durability_result::Verdict;
use serde::{Deserialize, Serialize};

use crate::work::{Change, Key, MADE, Rows, Work};

/// What a database was found to hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// Whether the table was there. Of a store that makes a table by opening it, it always was.
    pub table: bool,
    /// By key the commit that a row says it is of, or `None` where the row is not one that the commit
    /// wrote.
    pub rows: BTreeMap<Key, Option<u64>>,
}

/// What was promised, and how far the work had come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Promised {
    /// The last commit that had been acknowledged; 0 where not even the table had been.
    pub acknowledged: u64,
    /// The last commit that had been begun: one more at most, with one client.
    pub begun: u64,
}

impl Promised {
    /// With the next commit under way.
    pub const fn after(acknowledged: u64) -> Self {
        Self { acknowledged, begun: acknowledged + 1 }
    }
}

/// A verdict, and what it rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judged {
    /// The verdict.
    pub verdict: Verdict,
    /// The last commit that is there, where what is there is a prefix of the work.
    pub last: Option<u64>,
}

/// Compares what was found with what the commits of a seed leave.
pub fn judge(seed: u64, found: &Found, promised: Promised) -> Judged {
    let judged = |verdict, last| Judged { verdict, last };
    let foreign = |(_, commit): (&Key, &Option<u64>)| commit.is_none_or(|c| c > promised.begun);
    if found.rows.iter().any(foreign) {
        return judged(Verdict::CorruptRow, None);
    }
    let (last, half) = match found.table {
        true => compare(seed, found, promised.begun),
        false => (Some(MADE - 1), false),
    };
    match last {
        Some(last) if last >= promised.acknowledged => judged(Verdict::Holds, Some(last)),
        Some(last) => judged(Verdict::LostCommits, Some(last)),
        None if half => judged(Verdict::HalfCommit, None),
        None => judged(Verdict::Hole, None),
    }
}

/// The latest commit after which the rows are those found; and whether they are those before some
/// commit but for a part of what that one did. Which rows differ is followed along the commits, which
/// touch few rows each.
fn compare(seed: u64, found: &Found, begun: u64) -> (Option<u64>, bool) {
    let row = |key: &Key| found.rows.get(key).copied().flatten();
    let is = |rows: &Rows, key: &Key| rows.get(key).copied() == row(key);
    let mut work = Work::new(seed);
    let mut different: BTreeSet<Key> = found.rows.keys().copied().collect();
    let (mut last, mut half) = (None, false);
    for number in MADE..=begun {
        let changes = work.commit().changes;
        let by_this = |key: &Key| {
            changes.binary_search_by_key(key, |change| change.key()).is_ok() && is(work.rows(), key)
        };
        half |= !different.is_empty() && different.iter().all(by_this);
        for key in changes.into_iter().map(Change::key) {
            match is(work.rows(), &key) {
                true => different.remove(&key),
                false => different.insert(key),
            };
        }
        if different.is_empty() {
            last = Some(number);
        }
    }
    (last, half)
}

#[cfg(test)]
mod tests;
