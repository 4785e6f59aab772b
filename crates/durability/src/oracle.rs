//! Decides whether the content of a database is a permitted remainder of the work.

use std::collections::{BTreeMap, BTreeSet};

pub use embermark_model::durability_result::Verdict;
use serde::{Deserialize, Serialize};

use crate::work::{Change, Key, Plan, Rows, TABLE_COMMIT, keys};

/// Content of a database.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableContent {
    /// Whether the table existed. Always true for a store that creates a table by opening it.
    pub table: bool,
    /// For each key the commit that the row claims, or `None` if the row is not one that the commit
    /// wrote.
    pub rows: BTreeMap<Key, Option<u64>>,
    /// How the store's second copy of the rows differs, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub differs: Option<String>,
}

impl TableContent {
    /// Adds a row. With a second row of the same key, that key's row is one that no commit wrote.
    pub fn add_row(&mut self, key: Key, commit: Option<u64>) {
        self.rows.entry(key).and_modify(|known| *known = None).or_insert(commit);
    }
}

/// What was promised to a client, and the progress of its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Promised {
    /// The last commit that had been acknowledged. 0 if not even the table had been.
    pub acknowledged: u64,
    /// The last commit that had begun: at most one more.
    pub begun: u64,
}

impl Promised {
    /// The next commit has begun.
    pub const fn after(acknowledged: u64) -> Self {
        Self { acknowledged, begun: acknowledged + 1 }
    }
}

/// A verdict and its basis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The verdict. The worst of several clients.
    pub verdict: Verdict,
    /// The client that it concerns.
    pub client: usize,
    /// The last commit of each client that was found, if the content is a prefix of each one's
    /// work.
    pub last: Option<Vec<u64>>,
}

/// Compares the content with what the commits of a plan leave, separately for each client.
pub fn judge(plan: Plan, found: &TableContent, promised: &[Promised]) -> Judgement {
    // Rows that may be present but no longer belong to a commit.
    let refused = plan.replaced().into_iter().flat_map(|commit| {
        let new = commit.changes.into_iter().filter(|change| matches!(change, Change::Insert(_)));
        new.map(move |change| (change.key(), Some(commit.number)))
    });
    let refused: BTreeSet<_> = refused.collect();
    let of_client = |(client, promised): (u32, &Promised)| {
        let rows = found.rows.range(keys(client)).map(|(key, commit)| (*key, *commit));
        let rows = rows.filter(|row| !refused.contains(row)).collect();
        let found = TableContent { table: found.table, rows, differs: None };
        judge_client(plan, client, &found, *promised)
    };
    let clients: Vec<_> = (0..).zip(promised).map(of_client).collect();
    let mut judged = Judgement { verdict: Verdict::Holds, client: 0, last: None };
    for (client, (verdict, _)) in clients.iter().enumerate() {
        if *verdict > judged.verdict {
            (judged.verdict, judged.client) = (*verdict, client);
        }
    }
    if found.differs.is_some() && judged.verdict < Verdict::CopiesDiffer {
        (judged.verdict, judged.client) = (Verdict::CopiesDiffer, 0);
    }
    let is_a_clients_key =
        |key: &Key| (0..).zip(promised).any(|(client, _)| keys(client).contains(key));
    if !found.rows.keys().all(is_a_clients_key) {
        judged.verdict = Verdict::CorruptRow;
        return judged;
    }
    judged.last = clients.into_iter().map(|(_, last)| last).collect();
    judged
}

/// Returns the verdict on one client's rows, and the last commit found.
fn judge_client(
    plan: Plan,
    client: u32,
    found: &TableContent,
    promised: Promised,
) -> (Verdict, Option<u64>) {
    let foreign = |(_, commit): (&Key, &Option<u64>)| commit.is_none_or(|c| c > promised.begun);
    if found.rows.iter().any(foreign) {
        return (Verdict::CorruptRow, None);
    }
    let (last, half) = match found.table {
        true => find_last_commit(plan, client, found, promised.begun),
        false => (Some(TABLE_COMMIT - 1), None),
    };
    // If a commit of several rows is not a transaction, a part of it is permitted.
    let last = last.max(half.filter(|_| !plan.abilities.transactions));
    match last {
        Some(last) if last >= promised.acknowledged => (Verdict::Holds, Some(last)),
        Some(last) => (Verdict::LostCommits, Some(last)),
        None if half.is_some() => (Verdict::HalfCommit, None),
        None => (Verdict::Hole, None),
    }
}

/// Returns the latest commit whose rows are those found, and the latest whose rows differ from
/// those only by a part of the next commit. Follows the differing rows along the commits, each of
/// which changes few.
fn find_last_commit(
    plan: Plan,
    client: u32,
    found: &TableContent,
    begun: u64,
) -> (Option<u64>, Option<u64>) {
    let row = |key: &Key| found.rows.get(key).copied().flatten();
    let is = |rows: &Rows, key: &Key| rows.get(key).copied() == row(key);
    let mut work = plan.work(client);
    let mut different: BTreeSet<Key> = found.rows.keys().copied().collect();
    let (mut last, mut half) = (None, None);
    for number in TABLE_COMMIT..=begun {
        let changes = work.commit().changes;
        let by_this = |key: &Key| {
            changes.binary_search_by_key(key, |change| change.key()).is_ok() && is(work.rows(), key)
        };
        if !different.is_empty() && different.iter().all(by_this) {
            half = Some(number - 1);
        }
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
