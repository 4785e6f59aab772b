//! Changes of points: each is rewritten or deleted.

use embermark_contract::Result;
use embermark_language::Work;
use embermark_model::table::OwnedValue;

use super::super::influxql::Measured;
use super::super::point::Row;
use super::SeriesSession;
use crate::defined::port::{OperationResults, Session};

impl SeriesSession<'_> {
    /// Rewrites fields of a point.
    pub(super) fn update(
        &mut self,
        of: &Measured,
        phase: usize,
        i: usize,
        found: &mut OperationResults,
    ) -> Result<()> {
        let (cell, measurement) = (self.cell, &of.measurement);
        let mut row = Row::of_key(measurement, cell.key_in(self.arena, phase, i))?;
        for column in cell.set(phase, i) {
            row.set(measurement, *column, cell.update_value(phase, i, *column));
        }
        // An absent value stays absent, and can be all there was to set.
        if !row.fields.is_empty() {
            self.store.write(&measurement.table.name, &row.point())?;
        }
        found.changed += 1;
        Ok(())
    }

    /// Changes adjacent points of a series: deletes them, or finds and rewrites each.
    pub(super) fn change_span(&mut self, of: &Measured, phase: usize, i: usize) -> Result<()> {
        let (cell, measurement) = (self.cell, &of.measurement);
        let [first, last] = cell.ends(phase, i);
        let Some(last) = last.last().copied() else { return Ok(()) };
        if let Work::Delete { .. } = cell.work(phase) {
            measurement.delete_between(&first, last, self.text);
            return self.store.execute(self.text);
        }
        let mut keys = std::mem::take(self.looked);
        keys.clear();
        measurement.rows(&measurement.between(&first, last), self.text);
        let key = &measurement.table.key;
        self.read(of, &mut |row| {
            keys.push(key.iter().map(|column| row[*column].to_owned()).collect());
        })?;
        for key in &keys {
            let mut row = Row::of_key(measurement, key.iter().map(OwnedValue::as_value))?;
            for column in cell.set(phase, i) {
                row.set(measurement, *column, cell.update_value(phase, i, *column));
            }
            if !row.fields.is_empty() {
                self.store.write(&measurement.table.name, &row.point())?;
            }
        }
        *self.looked = keys;
        Ok(())
    }

    /// Rewrites or deletes the points that meet conditions, each by its key.
    pub(super) fn change_where(
        &mut self,
        phase: usize,
        found: &mut OperationResults,
    ) -> Result<()> {
        (0..self.find_rows(phase)?).try_for_each(|n| self.change(phase, n, found))
    }
}
