//! The work that fills a disk: most of its changes are new rows. On the full disk the oldest rows
//! are removed.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Change, Commit, Plan, Work};

/// Largest number of changes of a transaction, so that few commits fill a disk.
const MOST_CHANGES: u32 = 400;
/// Out of ten changes the first number are new rows. Those up to the second are updates, and the
/// others removals.
const SHARES: [u32; 2] = [8, 9];
/// Number of rows that a commit removes to make room. It is one if several are not a transaction,
/// so that a refused commit removes none.
const ROWS_PER_REMOVAL: usize = 200;

/// What determines the commits of a work that fills a disk, in addition to the random choices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filling {
    /// The first commit that removes the oldest rows.
    pub from: u64,
    /// Number of consecutive commits that do.
    pub removals: u64,
}

impl Filling {
    /// Returns those of the first `commits` that remove rows.
    fn removal_commits(self, commits: u64) -> Range<u64> {
        let end = (self.from + self.removals).min(commits + 1);
        if self.from < end { self.from..end } else { 0..0 }
    }
}

impl Work {
    /// Returns the next commit of a work that fills a disk.
    pub(super) fn next_filling_commit(&mut self, number: u64, filling: Filling) -> Commit {
        if (filling.from..filling.from + filling.removals).contains(&number) {
            let oldest = self.rows.keys().take(rows_per_removal(self.abilities().transactions));
            let changes = oldest.map(|key| Change::Delete(*key)).collect();
            return Commit { number, changes, bulk: false, maintained: false };
        }
        self.draw_commit(number, MOST_CHANGES, SHARES)
    }
}

impl Plan {
    /// Returns the work that fills a disk after this number of commits. Continues from `before` if
    /// possible, which avoids making all of them again.
    pub fn filling_after(self, filling: Filling, before: Option<Work>, commits: u64) -> Work {
        let plan = Self { filling: Some(filling), ..self };
        let is_there = |work: &Work| {
            let removed = work.plan.filling.map(|filling| filling.removal_commits(commits));
            let is_same = Self { filling: plan.filling, ..work.plan } == plan;
            work.done == commits && is_same && removed == Some(filling.removal_commits(commits))
        };
        match before.filter(is_there) {
            Some(work) => Work { plan, ..work },
            None => plan.work(0).after(commits),
        }
    }

    /// Returns the number of commits that remove a quarter of `rows` rows.
    pub const fn removals(self, rows: usize) -> u64 {
        (rows / 4).div_ceil(rows_per_removal(self.abilities.transactions)) as u64
    }

    /// Returns the refused commit whose number the first removal took. Some of its rows may be
    /// present if several are not a transaction.
    pub fn replaced(self) -> Option<Commit> {
        let Filling { from, .. } =
            self.filling.filter(|filling| filling.removals > 0 && !self.abilities.transactions)?;
        let plan = Self { filling: Some(Filling::default()), ..self };
        Some(plan.work(0).after(from - 1).commit())
    }
}

const fn rows_per_removal(transactions: bool) -> usize {
    if transactions { ROWS_PER_REMOVAL } else { 1 }
}

#[cfg(test)]
mod tests {
    use embermark_contract::DataModel;

    use super::*;
    use crate::work::{Abilities, Plan};

    fn plan(filling: Filling) -> Plan {
        let abilities = Abilities::for_family(DataModel::Sql);
        Plan { seed: 3, abilities, short: None, filling: Some(filling) }
    }

    #[test]
    fn it_grows_and_maintains_nothing() {
        let mut work = plan(Filling::default()).work(0);
        let commits: Vec<Commit> = (0..200).map(|_| work.commit()).collect();
        let changes = commits.iter().map(|commit| commit.changes.len()).sum::<usize>();
        assert!(work.rows().len() > changes / 2, "{} of {changes}", work.rows().len());
        assert!(commits.iter().all(|commit| !commit.maintained));
        assert!(commits.iter().any(|commit| commit.changes.len() > 300));
    }

    #[test]
    fn a_quarter_is_removed_where_it_is_asked_for_and_not_before() {
        let rows = plan(Filling::default()).work(0).after(100).rows().len();
        let filling = Filling { from: 101, removals: plan(Filling::default()).removals(rows) };
        let mut work = plan(filling).work(0).after(100);
        assert_eq!(work.rows().len(), rows);
        let oldest = *work.rows().keys().next().unwrap();
        for _ in 0..filling.removals {
            let commit = work.commit();
            assert!(commit.changes.iter().all(|change| matches!(change, Change::Delete(_))));
        }
        let left = work.rows().len();
        assert!(
            left <= rows - rows / 4 && left + ROWS_PER_REMOVAL > rows - rows / 4,
            "{left} of {rows}"
        );
        assert!(!work.rows().contains_key(&oldest));
        let next = work.commit();
        assert!(next.changes.iter().any(|change| matches!(change, Change::Insert(_))), "{next:?}");
    }

    #[test]
    fn a_work_that_stands_there_goes_on_as_one_that_is_made_anew() {
        let next = |filling, before, commits| {
            plan(filling).filling_after(filling, before, commits).commit()
        };
        let after = |filling, commits| plan(filling).work(0).after(commits);
        let removing = |removals| Filling { from: 51, removals };
        for (before, now, commits) in [
            (after(removing(0), 50), removing(1), 50),
            (after(removing(2), 52), removing(3), 52),
            // These cannot be continued: one removed what this one did not, and one has made too
            // many.
            (after(removing(2), 52), removing(1), 52),
            (after(removing(3), 53), removing(3), 52),
        ] {
            assert_eq!(next(now, Some(before), commits), next(now, None, commits), "{now:?}");
        }
        let (made, other) = (after(removing(0), 9), Plan { seed: 4, ..plan(removing(0)) });
        let anew = other.filling_after(removing(0), None, 9).commit();
        assert_eq!(other.filling_after(removing(0), Some(made), 9).commit(), anew);
    }

    #[test]
    fn without_transactions_a_row_is_removed_at_a_time_and_what_it_took_the_place_of_is_known() {
        let abilities = Abilities::for_family(DataModel::Document);
        let plan = |removals| {
            let filling = Some(Filling { from: 51, removals });
            Plan { seed: 3, abilities, short: None, filling }
        };
        assert_eq!(plan(2).removals(400), 100);
        assert_eq!(plan(2).work(0).after(50).commit().changes.len(), 1);
        assert_eq!(plan(0).replaced(), None);
        assert_eq!(plan(2).replaced(), Some(plan(0).work(0).after(50).commit()));
        let transactions = Plan { abilities: Abilities::for_family(DataModel::Sql), ..plan(2) };
        assert_eq!(transactions.replaced(), None, "it is there whole or not at all");
    }
}
