//! Computes the right answers from the rows.

mod content;
mod correlation;
mod gaps;
mod groups;
mod outliers;
mod questions;
mod reads;
mod statistics;

use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::Arc;

use embermark_language::{Bound, Condition, Operator, Phase, Query, Removed, Work};
use embermark_model::answer::{Answer, Difference};
use embermark_model::fingerprint::{Checksum, Fingerprint};
use embermark_model::table::Value;

use super::kind::one_by_one;
use super::operation_keys::DrawnKey;
pub(super) use super::oracle::content::{Content, Touched};
pub(super) use super::oracle::questions::check as check_newest;
use super::oracle::reads::TimeOrder;
use super::row::Values;
use super::{Cell, Database, Found, Rows, fingerprint};

/// Returns what a row adds to a phase's checksum, in the form of its database.
pub(super) type Print<'a> = dyn Fn(&[Value<'_>]) -> Fingerprint + 'a;

/// Returns what a row adds to a phase's checksum.
pub(super) fn print_of(
    cell: &Cell,
    database: &dyn Database,
    phase: usize,
    row: &[Value<'_>],
) -> Fingerprint {
    database.print(phase, row).unwrap_or_else(|| match cell.work(phase) {
        Work::Ask { query: Query::Find { select, .. }, .. } => {
            fingerprint(select.iter().map(|column| row[*column]))
        }
        _ => fingerprint(row.iter().copied()),
    })
}

/// Returns those of some operations of a phase whose keys exist, each with its row.
pub(super) fn existing(
    cell: &Cell,
    phase: usize,
    operations: impl Iterator<Item = usize>,
) -> impl Iterator<Item = (usize, usize)> {
    operations.filter_map(move |i| match cell.drawn(phase, i) {
        DrawnKey::Row(place) => Some((i, place)),
        DrawnKey::Absent(_) => None,
    })
}

/// Compares the rows that operations have read with the expected ones.
fn check_rows(expected: Checksum, found: &Found) -> Result<(), Difference> {
    Answer::Checksum(expected).check(&Answer::Checksum(found.rows))
}

/// Knows what every phase must find and leave.
pub(super) struct Oracle {
    cell: Arc<Cell>,
    /// Checksums of every table's loaded rows.
    loaded: OnceCell<Vec<Checksum>>,
    /// By phase, if a range by time needs an order.
    orders: HashMap<usize, TimeOrder>,
    /// Hashes of right answers, by phase, number of operations, and number of rows.
    right: HashMap<(usize, u64, usize), u64>,
}

impl Oracle {
    pub(super) fn new(cell: Arc<Cell>) -> Self {
        Self { cell, loaded: OnceCell::new(), orders: HashMap::new(), right: HashMap::new() }
    }

    /// Compares what the first `ops` operations of a phase found with what they must find.
    ///
    /// # Errors
    /// Returns the first difference.
    pub(super) fn check(
        &mut self,
        phase: usize,
        ops: u64,
        found: &Found,
        reports_changes: bool,
        print: &Print<'_>,
    ) -> Result<(), Difference> {
        let work = self.cell.work(phase);
        let loaded = work.table().map_or(0, |table| self.cell.tables[table].loaded);
        let counted = |expected: u64| {
            if !reports_changes || found.changed == expected {
                return Ok(());
            }
            let got = found.changed;
            Err(Difference(format!("expected {expected} rows changed, the engine reports {got}")))
        };
        let rows = |expected: Checksum| check_rows(expected, found);
        self.once((phase, ops, loaded), found, |oracle| match work {
            Work::Insert { .. } | Work::Upsert { .. } => counted(ops),
            Work::Get { .. } | Work::Open { reads: true, .. } => {
                rows(oracle.got(phase, ops, print))
            }
            Work::Range(range) => rows(oracle.ranged(phase, range, 0..ops as usize, print)),
            Work::Update { keys, .. } if keys.rows <= 1 => counted(oracle.present(phase, ops)),
            Work::Update { .. } | Work::UpdateWhere { .. } => {
                counted(oracle.touched(phase, ops).changed())
            }
            Work::ReadModifyWrite { .. } => {
                rows(oracle.read_before(phase, ops, print))?;
                counted(oracle.present(phase, ops))
            }
            Work::Delete { .. } => counted(oracle.touched(phase, ops).gone()),
            Work::Ask { .. } => oracle.answered(phase, (&RowSet::First(loaded), ops), found, print),
            // Nothing is read, or another part of the executor or a referee checks it.
            Work::Open { reads: false, .. }
            | Work::Sql(_)
            | Work::Mix(_)
            | Work::Sequence(_)
            | Work::Keep(_)
            | Work::Arrive(_) => Ok(()),
        })
    }

    /// Checks an answer, unless the same answer was right before. Computing the right one again
    /// would also evict from the processor's caches what the next run reads.
    fn once(
        &mut self,
        of: (usize, u64, usize),
        found: &Found,
        check: impl FnOnce(&mut Self) -> Result<(), Difference>,
    ) -> Result<(), Difference> {
        let digest = found.digest();
        if self.right.get(&of) == Some(&digest) {
            return Ok(());
        }
        check(self)?;
        self.right.insert(of, digest);
        Ok(())
    }

    /// Compares what a question found, when asked this often over these rows, with what it must
    /// find.
    ///
    /// # Errors
    /// Returns the first difference.
    pub(super) fn answers(
        &mut self,
        phase: usize,
        (there, asked): (&RowSet, u64),
        found: &Found,
        print: &Print<'_>,
    ) -> Result<(), Difference> {
        match there {
            RowSet::First(rows) => self.once((phase, asked, *rows), found, |oracle| {
                oracle.answered(phase, (there, asked), found, print)
            }),
            RowSet::Marked(_) | RowSet::These(_) => {
                self.answered(phase, (there, asked), found, print)
            }
        }
    }
}

/// Returns whether a loaded row of a table meets all conditions.
pub(super) fn any_met(rows: &Rows, conditions: &[Condition]) -> bool {
    (0..rows.loaded).any(groups::met(rows, conditions))
}

/// Returns how many rows meet the conditions of a phase whose operations are counted by them. 0 for
/// other phases.
pub(super) fn met(phase: &Phase, tables: &[Rows]) -> u64 {
    let count = |table: usize, conditions: &[Condition]| {
        let rows = &tables[table];
        let is_met = groups::met(rows, conditions);
        (0..rows.loaded).filter(|place| is_met(*place)).count() as u64
    };
    match &phase.work {
        work if !phase.per_row && one_by_one(work).is_none() => 0,
        Work::Ask { table, query: Query::Find { conditions, .. } }
        | Work::UpdateWhere { table, conditions, .. }
        | Work::Delete { table, removed: Removed::Where { conditions, .. } } => {
            count(*table, conditions)
        }
        Work::Delete { table, removed: Removed::Older { time, units } } => {
            let old = [Condition {
                column: *time,
                operator: Operator::AtMost,
                bound: Bound::End(units.saturating_neg()),
            }];
            count(*table, &old)
        }
        _ => 0,
    }
}

/// Returns the values of a row.
pub(super) fn values(rows: &Rows, place: usize) -> Values<'_> {
    rows.row(place).collect()
}

/// Positions of rows.
pub(super) enum RowSet {
    /// This many rows, from the first.
    First(usize),
    /// The marked rows, after a load that ended early in an order that only the engine knows.
    Marked(Vec<bool>),
    /// These rows, where rows come and expire.
    These(Vec<usize>),
}

impl RowSet {
    /// Returns each position.
    fn each(&self) -> impl Iterator<Item = usize> + '_ {
        let (most, these) = match self {
            Self::First(rows) => (*rows, &[][..]),
            Self::Marked(marks) => (marks.len(), &[][..]),
            Self::These(places) => (0, &places[..]),
        };
        let all = (0..most).filter(|place| match self {
            Self::Marked(marks) => marks[*place],
            Self::First(_) | Self::These(_) => true,
        });
        all.chain(these.iter().copied())
    }
}

#[cfg(test)]
mod tests;
