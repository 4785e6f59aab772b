//! Reads points by their keys, by conditions, and as a range.

use embermark_contract::Result;
use embermark_language::{Range, Span};
use embermark_model::fingerprint::Checksum;
use embermark_model::table::Value;
use smallvec::SmallVec;

use super::super::influxql::Measured;
use super::super::point::{value, values};
use super::SeriesSession;
use crate::defined::access::{Filters, filters};
use crate::defined::latest_rows::LatestRows;
use crate::defined::port::{OperationResults, fingerprint};
use crate::defined::row::Values;

impl SeriesSession<'_> {
    /// Runs the statement in `text` and visits each of its rows.
    pub(super) fn read(&mut self, of: &Measured, visit: &mut dyn FnMut(Values<'_>)) -> Result<()> {
        let Measured { measurement, columns } = of;
        self.store.query(self.text, columns, &mut |point| {
            visit(values(point, measurement)?);
            Ok(())
        })
    }

    /// Visits the rows that meet all filters. Those that InfluxQL cannot express are checked here.
    pub(super) fn filtered(
        &mut self,
        of: &Measured,
        filters: &Filters<'_>,
        visit: &mut dyn FnMut(Values<'_>),
    ) -> Result<()> {
        let all = of.measurement.rows(filters, self.text);
        self.read(of, &mut |row| {
            if all || filters.iter().all(|filter| filter.is_met(&row[filter.column])) {
                visit(row);
            }
        })
    }

    /// Visits only some columns of the rows that meet all filters. The other columns are absent.
    pub(super) fn filtered_some(
        &mut self,
        of: &Measured,
        filters: &Filters<'_>,
        columns: impl IntoIterator<Item = usize>,
        visit: &mut dyn FnMut(Values<'_>),
    ) -> Result<()> {
        let measurement = &of.measurement;
        let mut columns: SmallVec<[usize; 8]> = columns.into_iter().collect();
        if !measurement.can_express_all(filters) {
            columns.extend(filters.iter().map(|filter| filter.column));
        }
        columns.sort_unstable();
        columns.dedup();
        let names: SmallVec<[&str; 8]> = columns.iter().map(|column| of.columns[*column]).collect();
        let all = measurement.some(&columns, filters, self.text);
        let width = measurement.table.columns.len();
        self.store.query(self.text, &names, &mut |point| {
            let mut row: Values<'_> = SmallVec::from_elem(Value::Null, width);
            for (at, column) in columns.iter().enumerate() {
                let kind = measurement.table.columns[*column].of;
                row[*column] = value(point, at, *column, kind, measurement)?;
            }
            if all || filters.iter().all(|filter| filter.is_met(&row[filter.column])) {
                visit(row);
            }
            Ok(())
        })
    }

    /// Reads columns of the rows that meet the conditions of a phase.
    pub(super) fn find(
        &mut self,
        of: &Measured,
        phase: usize,
        select: &[usize],
        found: &mut OperationResults,
    ) -> Result<()> {
        let (mut rows, filters) = (Checksum::default(), filters(self.cell, phase, 0));
        self.filtered_some(of, &filters, select.iter().copied(), &mut |row| {
            rows += fingerprint(select.iter().map(|column| row[*column]));
        })?;
        found.rows = rows;
        Ok(())
    }

    /// Reads the row of an operation's key. Returns whether it exists.
    pub(super) fn get(
        &mut self,
        of: &Measured,
        phase: usize,
        i: usize,
        found: &mut OperationResults,
    ) -> Result<bool> {
        of.measurement.get(&self.cell.key_in(self.arena, phase, i), self.text);
        let mut is_there = false;
        self.read(of, &mut |row| {
            found.rows += fingerprint(row);
            is_there = true;
        })?;
        Ok(is_there)
    }

    pub(super) fn latest(
        &mut self,
        of: &Measured,
        (phase, i): (usize, usize),
        (by, time): (usize, usize),
        found: &mut OperationResults,
    ) -> Result<()> {
        let filters = filters(self.cell, phase, i);
        self.cell.begin_question(phase, found);
        if of.measurement.finds_latest(by, time) && of.measurement.can_express_all(&filters) {
            of.measurement.latest_of(&filters, self.text);
            return self.read(of, &mut |row| found.rows += fingerprint(row));
        }
        let mut newest = LatestRows::default();
        self.filtered(of, &filters, &mut |row| {
            newest.add(row[by], row[time], fingerprint(row.iter().copied()));
        })?;
        found.rows += newest.rows();
        Ok(())
    }

    pub(super) fn range(
        &mut self,
        of: &Measured,
        (phase, i): (usize, usize),
        range: &Range,
        found: &mut OperationResults,
    ) -> Result<()> {
        let cell = self.cell;
        if let Span::Rows { .. } = range.span {
            let key = cell.key_in(self.arena, phase, i);
            of.measurement.from(key[0], cell.wanted(phase, i), self.text);
            return self.read(of, &mut |row| found.rows += fingerprint(row));
        }
        if cell.range_value(phase, i) == Some(Value::Null) {
            // An absent value equals nothing.
            return Ok(());
        }
        let filters = filters(cell, phase, i);
        self.filtered(of, &filters, &mut |row| found.rows += fingerprint(row))
    }
}
