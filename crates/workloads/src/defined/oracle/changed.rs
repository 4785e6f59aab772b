//! Rows that a phase changes, and the expected content of its table.

use embermark_language::{Removed, Work};
use embermark_model::fingerprint::Checksum;
use embermark_model::table::Value;

use super::super::kind::{one_by_one, rows_at_once};
use super::super::operation_keys::DrawnKey;
use super::super::port::fingerprint;
use super::super::table_rows::Rows;
use super::content::Touched;
use super::{Oracle, groups};

impl Oracle {
    /// Returns what the first `ops` operations of a phase change in its table.
    pub(in super::super) fn touched(&self, phase: usize, ops: u64) -> Touched {
        let mut touched = Touched::default();
        match self.cell.work(phase) {
            work if rows_at_once(work) > 1 => {
                for i in 0..ops as usize {
                    for place in
                        self.cell.operation_keys[phase].span(i).iter().map(|place| *place as usize)
                    {
                        match work {
                            Work::Delete { .. } => touched.delete(place),
                            _ => touched.set(&self.cell, place, phase, i),
                        }
                    }
                }
            }
            Work::Update { .. } | Work::ReadModifyWrite { .. } => {
                for i in 0..ops as usize {
                    if let DrawnKey::Row(place) = self.cell.drawn(phase, i) {
                        touched.set(&self.cell, place, phase, i);
                    }
                }
            }
            Work::Upsert { .. } => {
                for i in 0..ops as usize {
                    match self.cell.drawn(phase, i) {
                        DrawnKey::Row(place) => touched.set(&self.cell, place, phase, i),
                        DrawnKey::Absent(_) => touched.put(&self.cell, phase, i, true),
                    }
                }
            }
            Work::Delete { removed: Removed::Keys { .. }, .. } => {
                for i in 0..ops as usize {
                    if let DrawnKey::Row(place) = self.cell.drawn(phase, i) {
                        touched.delete(place);
                    }
                }
            }
            Work::UpdateWhere { table, conditions, .. } => {
                let rows = &self.cell.tables[*table];
                let is_met = groups::met(rows, conditions);
                let met = (0..rows.loaded).filter(|place| is_met(*place));
                met.for_each(|place| touched.set(&self.cell, place, phase, 0));
            }
            Work::Delete { table, removed: Removed::Where { conditions, .. } } => {
                let rows = &self.cell.tables[*table];
                let is_met = groups::met(rows, conditions);
                let met = (0..rows.loaded).filter(|place| is_met(*place));
                met.for_each(|place| touched.delete(place));
            }
            Work::Delete { table, removed: Removed::Older { time, units } } => {
                let rows = &self.cell.tables[*table];
                let until = rows.older(*time, *units);
                let old = |place: &usize| matches!(rows.value(*place, *time), Value::Int(at) if at <= until);
                (0..rows.loaded).filter(old).for_each(|place| touched.delete(place));
            }
            _ => {}
        }
        if one_by_one(self.cell.work(phase)).is_some() {
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
        let drawn = (0..ops as usize).map(|i| self.cell.drawn(phase, i));
        drawn.filter(|drawn| matches!(drawn, DrawnKey::Row(_))).count() as u64
    }
}

pub(super) fn first(rows: &Rows, most: usize) -> Checksum {
    (0..most.min(rows.loaded)).map(|place| fingerprint(rows.row(place))).collect()
}
