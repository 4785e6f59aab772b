//! Rows that a phase changes, and the expected content of its table.

use embermark_language::{Removed, Work};
use embermark_model::fingerprint::Checksum;
use embermark_model::table::Value;

use super::super::kind::{one_by_one, rows_at_once};
use super::super::operation_keys::DrawnKey;
use super::super::port::fingerprint;
use super::super::table_rows::Rows;
use super::content::Touched;
use super::{Oracle, existing, groups};

impl Oracle {
    /// Returns what the first `ops` operations of a phase change in its table.
    pub(in super::super) fn touched(&self, phase: usize, ops: u64) -> Touched {
        let (cell, operations, mut touched) = (&*self.cell, 0..ops as usize, Touched::default());
        let work = cell.work(phase);
        let change = |touched: &mut Touched, i: usize, place: usize| match work {
            Work::Delete { .. } => touched.delete(place),
            _ => touched.set(cell, place, phase, i),
        };
        match work {
            work if rows_at_once(work) > 1 => {
                for i in operations {
                    let places = cell.operation_keys[phase].span(i).iter();
                    places.for_each(|place| change(&mut touched, i, *place as usize));
                }
            }
            Work::Update { .. }
            | Work::ReadModifyWrite { .. }
            | Work::Delete { removed: Removed::Keys { .. }, .. } => {
                existing(cell, phase, operations)
                    .for_each(|(i, place)| change(&mut touched, i, place));
            }
            Work::Upsert { .. } => {
                for i in operations {
                    match cell.drawn(phase, i) {
                        DrawnKey::Row(place) => touched.set(cell, place, phase, i),
                        DrawnKey::Absent(_) => touched.put(cell, phase, i, true),
                    }
                }
            }
            Work::UpdateWhere { table, conditions, .. }
            | Work::Delete { table, removed: Removed::Where { conditions, .. } } => {
                let rows = &cell.tables[*table];
                let is_met = groups::met(rows, conditions);
                let met = (0..rows.loaded).filter(|place| is_met(*place));
                met.for_each(|place| change(&mut touched, 0, place));
            }
            Work::Delete { table, removed: Removed::Older { time, units } } => {
                let rows = &cell.tables[*table];
                let until = rows.older(*time, *units);
                let old = |place: &usize| matches!(rows.value(*place, *time), Value::Int(at) if at <= until);
                (0..rows.loaded).filter(old).for_each(|place| touched.delete(place));
            }
            _ => {}
        }
        if one_by_one(work).is_some() {
            touched.reach(ops);
        }
        touched
    }

    /// Returns the checksum of a table's first rows.
    pub(in super::super) fn first(&self, table: usize, rows: usize) -> Checksum {
        let of = &self.cell.tables[table];
        if rows == of.loaded {
            return self.loaded.get_or_init(|| {
                self.cell.tables.iter().map(|rows| first(rows, rows.loaded)).collect()
            })[table];
        }
        first(of, rows)
    }

    /// Returns the checksum of a table after these changes.
    pub(in super::super) fn after(&self, table: usize, touched: &Touched) -> Checksum {
        let mut left = self.first(table, self.cell.tables[table].loaded);
        touched.apply(&self.cell, table, &mut left);
        left
    }

    /// Returns how many operations concern a row that exists.
    pub(super) fn present(&self, phase: usize, ops: u64) -> u64 {
        existing(&self.cell, phase, 0..ops as usize).count() as u64
    }
}

pub(super) fn first(rows: &Rows, most: usize) -> Checksum {
    (0..most.min(rows.loaded)).map(|place| fingerprint(rows.row(place))).collect()
}
