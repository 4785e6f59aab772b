//! Whether what a database holds may be what is left of the work.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::work::{Change, Key, MADE, Plan, Rows, Work};

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

/// What was found out about a database. All but [`Verdict::Holds`] and [`Verdict::HalfMade`] break
/// the promise of a tier that covers the experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Exactly what some commit had left, and every one acknowledged is there.
    Holds,
    /// What an earlier commit had left: acknowledged ones are lost, from some commit on.
    LostCommits,
    /// A commit is there in part.
    HalfCommit,
    /// A commit is missing and a later one there, or a row has an old version.
    Hole,
    /// A row that nobody wrote, or rows that the engine fails to read.
    CorruptRow,
    /// The engine does not open what is there.
    NotOpened,
    /// The engine does not open what is there, and its making had not been acknowledged. No tier
    /// promises that it does.
    HalfMade,
    /// The engine's process was ended by a signal that nobody sent.
    Crashed,
    /// The engine did not answer within [a time](crate::PATIENCE).
    Hangs,
    /// It opens, holds what it must, and its own check finds fault.
    CheckFailed,
    /// It opens and takes no new commits.
    NotWritable,
}

impl Verdict {
    /// In the words of a report.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::LostCommits => "lost acknowledged commits",
            Self::HalfCommit => "half a commit",
            Self::Hole => "a hole",
            Self::CorruptRow => "corrupt rows",
            Self::NotOpened => "does not open",
            Self::HalfMade => "does not open while it was made",
            Self::Crashed => "its process crashes",
            Self::Hangs => "does not answer",
            Self::CheckFailed => "its own check finds fault",
            Self::NotWritable => "takes no new commits",
        }
    }

    /// Whether a tier that survives the experiment had promised otherwise.
    pub const fn is_violation(self) -> bool {
        !matches!(self, Self::Holds | Self::HalfMade)
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

/// Compares what was found with what the commits of a plan leave.
pub fn judge(plan: impl Into<Plan>, found: &Found, promised: Promised) -> Judged {
    let judged = |verdict, last| Judged { verdict, last };
    let foreign = |(_, commit): (&Key, &Option<u64>)| commit.is_none_or(|c| c > promised.begun);
    if found.rows.iter().any(foreign) {
        return judged(Verdict::CorruptRow, None);
    }
    let (last, half) = match found.table {
        true => compare(plan.into(), found, promised.begun),
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
fn compare(plan: Plan, found: &Found, begun: u64) -> (Option<u64>, bool) {
    let row = |key: &Key| found.rows.get(key).copied().flatten();
    let is = |rows: &Rows, key: &Key| rows.get(key).copied() == row(key);
    let mut work = Work::new(plan);
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
