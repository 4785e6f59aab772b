//! Changes of points: each is rewritten or deleted.

use embermark_contract::Result;
use embermark_contract::series::SeriesStore;
use embermark_language::{Removed, Work};
use embermark_model::table::{OwnedValue, Value};

use super::super::influxql::{Measured, Measurement};
use super::super::point::Row;
use super::SeriesSession;
use crate::defined::cell::Cell;
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
        let key = self.cell.key_in(self.arena, phase, i);
        write_set(self.store, self.cell, &of.measurement, (phase, i), key)?;
        found.changed += 1;
        Ok(())
    }

    /// Deletes points: by a key, by conditions, or by their age.
    pub(super) fn delete(
        &mut self,
        of: &Measured,
        (phase, i): (usize, usize),
        removed: &Removed,
        found: &mut OperationResults,
    ) -> Result<()> {
        let cell = self.cell;
        match removed {
            Removed::Where { .. } => return self.change_where(phase, found),
            Removed::Keys { .. } => {
                of.measurement.delete(&cell.key_in(self.arena, phase, i), self.text);
            }
            Removed::Older { time, units } => {
                let until = cell.rows_of(phase).older(*time, *units);
                of.measurement.delete_until(until, self.text);
            }
        }
        self.store.execute(self.text)
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
            let key = key.iter().map(OwnedValue::as_value);
            write_set(self.store, cell, measurement, (phase, i), key)?;
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

/// Writes the fields that operation `i` of a phase sets into the point of a key.
pub(super) fn write_set<'a>(
    store: &mut dyn SeriesStore,
    cell: &'a Cell,
    measurement: &Measurement,
    (phase, i): (usize, usize),
    key: impl IntoIterator<Item = Value<'a>>,
) -> Result<()> {
    let mut row = Row::of_key(measurement, key)?;
    for column in cell.set(phase, i) {
        row.set(measurement, *column, cell.update_value(phase, i, *column));
    }
    // An absent value stays absent, and can be all there was to set.
    if row.fields.is_empty() {
        return Ok(());
    }
    store.write(&measurement.table.name, &row.point())
}
