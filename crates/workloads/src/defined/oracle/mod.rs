//! Computes the right answers from the rows.

mod changed;
mod content;
mod correlate;
mod gaps;
mod groups;
mod latest;
mod outliers;
mod questions;
mod reads;
mod row_set;
mod statistics;
mod times;

use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::Arc;

use embermark_language::{Bound, Condition, Operator, Phase, Removed, Work};
use embermark_model::answer::{Answer, Difference, Expected};
use embermark_model::fingerprint::{Checksum, Fingerprint};
use embermark_model::table::Value;

use super::cell::Cell;
use super::kind::one_by_one;
use super::operation_keys::DrawnKey;
use super::port::{Database, OperationResults, fingerprint};
use super::row::Values;
use super::table_rows::Rows;
use times::TimeOrder;

pub(super) use content::{Content, Touched};
pub(super) use latest::check as check_newest;
pub(super) use row_set::RowSet;

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
        Work::Find { select, .. } => fingerprint(select.iter().map(|column| row[*column])),
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
fn check_rows(expected: Checksum, found: &OperationResults) -> Result<(), Difference> {
    Expected::Checksum(expected).check(&Answer::Checksum(found.rows))
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
        found: &OperationResults,
        reports_changes: bool,
        print: &Print<'_>,
    ) -> Result<(), Difference> {
        let rows = self.cell.work(phase).table().map_or(0, |table| self.cell.tables[table].loaded);
        self.once((phase, ops, rows), found, |oracle| {
            oracle.compare(phase, ops, found, reports_changes, print)
        })
    }

    /// Checks an answer, unless the same answer was right before. Computing the right one again
    /// would also evict from the processor's caches what the next run reads.
    fn once(
        &mut self,
        of: (usize, u64, usize),
        found: &OperationResults,
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

    fn compare(
        &mut self,
        phase: usize,
        ops: u64,
        found: &OperationResults,
        reports_changes: bool,
        print: &Print<'_>,
    ) -> Result<(), Difference> {
        let cell = Arc::clone(&self.cell);
        let work = cell.work(phase);
        let counted = |expected: u64| {
            if !reports_changes || found.changed == expected {
                return Ok(());
            }
            let got = found.changed;
            Err(Difference(format!("expected {expected} rows changed, the engine reports {got}")))
        };
        let rows = |expected: Checksum| check_rows(expected, found);
        match work {
            Work::Insert { .. } | Work::Upsert { .. } => counted(ops),
            Work::Get { .. } | Work::Open { reads: true, .. } => rows(self.got(phase, ops, print)),
            Work::Open { .. } => Ok(()),
            Work::Range(range) => rows(self.ranged(phase, range, ops, print)),
            Work::UpdateWhere { .. } => counted(self.touched(phase, ops).changed()),
            Work::Update { keys, .. } if keys.rows > 1 => {
                counted(self.touched(phase, ops).changed())
            }
            Work::Update { .. } => counted(self.present(phase, ops)),
            Work::ReadModifyWrite { .. } => {
                rows(self.read_before(phase, ops, print))?;
                counted(self.present(phase, ops))
            }
            Work::Delete { .. } => counted(self.touched(phase, ops).gone()),
            Work::Latest { .. }
            | Work::Find { .. }
            | Work::Gaps { .. }
            | Work::Outliers { .. }
            | Work::Correlate(_)
            | Work::Group(_) => {
                let loaded = cell.rows_of(phase).loaded;
                self.answered(phase, (&RowSet::First(loaded), ops), found, print)
            }
            Work::Sql(_) | Work::Mix(_) | Work::Sequence(_) | Work::Keep(_) | Work::Arrive(_) => {
                Ok(())
            }
        }
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
        found: &OperationResults,
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
        Work::Find { table, conditions, .. }
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

#[cfg(test)]
mod by_hand;

#[cfg(test)]
mod tests;
