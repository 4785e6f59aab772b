//! The work that fills a disk: most of its changes are new rows. On the full disk the oldest rows are
//! removed.

use serde::{Deserialize, Serialize};

use super::{Change, Commit, Plan, Work};

/// Most changes of a transaction: few commits are to fill a disk.
const MOST_CHANGES: u32 = 400;
/// Of ten changes these are new rows, those up to the second number updates, the others removals.
const SHARES: [u32; 2] = [8, 9];
/// Rows that a commit removes to make room: one, where several are no transaction, so that one that is
/// refused removes none.
const REMOVED: usize = 200;

/// What the commits of a work that fills a disk are, beside what is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filling {
    /// The first commit that removes the oldest rows.
    pub from: u64,
    /// How many commits do, one after the other.
    pub removals: u64,
}

impl Work {
    /// The next commit of a work that fills a disk.
    pub(super) fn filled(&mut self, number: u64, filling: Filling) -> Commit {
        if (filling.from..filling.from + filling.removals).contains(&number) {
            let oldest = self.rows.keys().take(removed(self.abilities().transactions));
            let changes = oldest.map(|key| Change::Delete(*key)).collect();
            return Commit { number, changes, bulk: false, maintained: false };
        }
        self.of_shares(number, MOST_CHANGES, SHARES)
    }
}

impl Plan {
    /// How many commits remove a quarter of so many rows.
    pub const fn removals(self, rows: usize) -> u64 {
        (rows / 4).div_ceil(removed(self.abilities.transactions)) as u64
    }

    /// The commit that was refused before the first removal took its number, where some of its rows may be
    /// there: where several are no transaction.
    pub fn replaced(self) -> Option<Commit> {
        let Filling { from, .. } =
            self.filling.filter(|filling| filling.removals > 0 && !self.abilities.transactions)?;
        let plan = Self { filling: Some(Filling::default()), ..self };
        Some(plan.work(0).after(from - 1).commit())
    }
}

const fn removed(transactions: bool) -> usize {
    if transactions { REMOVED } else { 1 }
}

#[cfg(test)]
mod tests;
