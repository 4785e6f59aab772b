//! Whether what a database holds may be what is left of the work.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::work::{Key, Rows, Work};

/// What a database was found to hold: by key the commit that a row says it is of, or `None` where the
/// row is not one that the commit wrote.
pub type Found = BTreeMap<Key, Option<u64>>;

/// What was promised, and how far the work had come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Promised {
    /// Commits that had been acknowledged.
    pub acknowledged: u64,
    /// Commits that had been begun: one more at most, with one client.
    pub begun: u64,
}

/// What is wrong with what was found. What is not is [`Verdict::Holds`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Exactly what some commit had left, and every one acknowledged is there.
    Holds,
    /// What an earlier commit had left: acknowledged ones are lost, from some commit on.
    LostCommits,
    /// A commit is there in part.
    HalfCommit,
    /// A commit is missing and a later one there.
    Hole,
    /// A row that nobody wrote.
    CorruptRow,
    /// The engine does not open what is there.
    NotOpened,
    /// The engine opens it, and its own check finds fault.
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
            Self::CheckFailed => "its own check fails",
            Self::NotWritable => "takes no new commits",
        }
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
    if found.iter().any(foreign) {
        return judged(Verdict::CorruptRow, None);
    }
    // The latest commit after which the rows are those found. How many differ is counted along the
    // commits, which touch few rows each.
    let mut work = Work::new(seed);
    let is = |rows: &Rows, key: &Key| rows.get(key).copied() == found.get(key).copied().flatten();
    let mut different: BTreeSet<Key> = found.keys().copied().collect();
    let mut last = different.is_empty().then_some(0);
    for number in 1..=promised.begun {
        for change in work.commit().changes {
            let key = change.key();
            match is(work.rows(), &key) {
                true => different.remove(&key),
                false => different.insert(key),
            };
        }
        if different.is_empty() {
            last = Some(number);
        }
    }
    match last {
        Some(last) if last >= promised.acknowledged => judged(Verdict::Holds, Some(last)),
        Some(last) => judged(Verdict::LostCommits, Some(last)),
        None => judged(torn(seed, found, promised), None),
    }
}

/// What is not a prefix of the work: half of its last commit, or a hole before it.
fn torn(seed: u64, found: &Found, promised: Promised) -> Verdict {
    // If leaving the last commit that shows out of account leaves no difference, that one is torn.
    let shown = found.values().flatten().max().copied().unwrap_or(0);
    let candidates = shown..=promised.begun.min(shown + 1);
    for number in candidates.filter(|number| *number > 0) {
        let mut work = Work::new(seed).after(number - 1);
        let before = work.rows().clone();
        let changes = work.commit().changes;
        let touched: Vec<Key> = changes.iter().map(|change| change.key()).collect();
        let elsewhere = |key: &&Key| !touched.contains(key);
        let same = |key: &Key| before.get(key).copied() == found.get(key).copied().flatten();
        let others = before.keys().chain(found.keys()).filter(elsewhere);
        if others.into_iter().all(same) {
            return Verdict::HalfCommit;
        }
    }
    Verdict::Hole
}

#[cfg(test)]
mod tests;
