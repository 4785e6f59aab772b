//! Reads points by their keys, by conditions, and as a range.

use embermark_contract::Result;
use embermark_language::{Range, Span};
use embermark_model::table::Value;
use smallvec::SmallVec;

use super::super::influxql::Measurement;
use super::super::point::{value, values};
use super::SeriesSession;
use crate::defined::row::Values;
use crate::defined::{Filters, Found, Op, filters, fingerprint};

impl SeriesSession<'_> {
    /// Runs the statement in `text` and visits each of its rows.
    pub fn read(&mut self, of: &Measurement, visit: &mut dyn FnMut(Values<'_>)) -> Result<()> {
        self.store.query(self.text, &of.columns, &mut |point| {
            visit(values(point, of)?);
            Ok(())
        })
    }

    /// Visits the rows that meet all filters. Those that InfluxQL cannot express are checked here.
    pub fn filtered(
        &mut self,
        of: &Measurement,
        filters: &Filters<'_>,
        visit: &mut dyn FnMut(Values<'_>),
    ) -> Result<()> {
        let all = of.rows(filters, self.text);
        self.read(of, &mut |row| {
            if all || filters.iter().all(|filter| filter.is_met(&row[filter.column])) {
                visit(row);
            }
        })
    }

    /// Visits only some columns of the rows that meet all filters. The other columns are absent.
    pub fn filtered_some(
        &mut self,
        of: &Measurement,
        filters: &Filters<'_>,
        columns: impl IntoIterator<Item = usize>,
        visit: &mut dyn FnMut(Values<'_>),
    ) -> Result<()> {
        let mut columns: SmallVec<[usize; 8]> = columns.into_iter().collect();
        if !of.can_express_all(filters) {
            columns.extend(filters.iter().map(|filter| filter.column));
        }
        columns.sort_unstable();
        columns.dedup();
        let names: SmallVec<[&str; 8]> = columns.iter().map(|column| of.columns[*column]).collect();
        let all = of.some(&columns, filters, self.text);
        let width = of.table.columns.len();
        self.store.query(self.text, &names, &mut |point| {
            let mut row: Values<'_> = SmallVec::from_elem(Value::Null, width);
            for (at, column) in columns.iter().enumerate() {
                row[*column] = value(point, at, *column, of)?;
            }
            if all || filters.iter().all(|filter| filter.is_met(&row[filter.column])) {
                visit(row);
            }
            Ok(())
        })
    }

    /// Reads the row of an operation's key. Returns whether it exists.
    pub fn get(&mut self, of: &Measurement, op: Op, found: &mut Found) -> Result<bool> {
        of.get(&self.cell.key_in(self.arena, op.phase, op.i), self.text);
        let mut is_there = false;
        self.read(of, &mut |row| {
            found.rows += fingerprint(row);
            is_there = true;
        })?;
        Ok(is_there)
    }

    pub fn range(
        &mut self,
        of: &Measurement,
        op: Op,
        range: &Range,
        found: &mut Found,
    ) -> Result<()> {
        let (cell, Op { phase, i, .. }) = (self.cell, op);
        if let Span::Rows { .. } = range.span {
            let key = cell.key_in(self.arena, phase, i);
            of.from(key[0], cell.wanted(phase, i), self.text);
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
