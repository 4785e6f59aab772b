//! Questions, each asked by a statement.

use embermark_contract::Result;
use embermark_language::Work;

use super::SqlSession;
use crate::defined::port::OperationResults;
use crate::defined::row;
use crate::defined::sql::params::{Params, param};
use crate::defined::sql::phases::seeks_each;
use crate::defined::statements::statistics::outliers_ask_for;

impl SqlSession<'_> {
    /// Returns whether one statement finds the newest rows of all values.
    pub(in super::super) fn asks_for_all(&self, phase: usize) -> bool {
        let Work::Latest { by, .. } = self.cell.work(phase) else { return false };
        let each = self.cell.each(phase, 0);
        each.is_some_and(|(column, _)| column == *by)
            && !seeks_each(self.store.dialect(), self.cell, phase)
    }

    /// Finds the newest rows. With `all`, one statement finds those of all values.
    pub(in super::super) fn latest(
        &mut self,
        phase: usize,
        i: usize,
        all: bool,
        found: &mut OperationResults,
    ) -> Result<()> {
        let cell = self.cell;
        let values = if all { &*cell.each[phase] } else { &[] };
        let mut params: Params<'_> = values.iter().map(|value| param(value.as_value())).collect();
        if let (false, Some(value)) = (all, self.each_value(phase, i)) {
            let Work::Latest { by, time, .. } = cell.work(phase) else { return Ok(()) };
            let is_short = cell.each(phase, i).is_some_and(|(column, _)| column == *by)
                && cell.rows_of(phase).is_one_at_a_time(*by, *time);
            params.push(value);
            if !is_short {
                params.push(value);
            }
        }
        cell.begin_question(phase, found);
        self.rows(phase, usize::from(all), &params, cell.rows_of(phase), found)
    }

    /// Asks question `i` of a phase.
    pub(super) fn ask(
        &mut self,
        phase: usize,
        i: usize,
        found: &mut OperationResults,
    ) -> Result<()> {
        let cell = self.cell;
        let rows = cell.rows_of(phase);
        match cell.work(phase) {
            Work::Latest { .. } => self.latest(phase, i, false, found),
            Work::Gaps { by, .. } => {
                cell.begin_question(phase, found);
                let each = Params::from_iter(self.each_value(phase, i));
                self.query(phase, &each, &mut |result| {
                    row::gap(result, rows.column_type(*by), &mut found.result)
                })
            }
            Work::Outliers { of, .. } => {
                cell.begin_question(phase, found);
                let times = outliers_ask_for(self.store.dialect());
                let each = self.each_value(phase, i);
                let each: Params<'_> = each.into_iter().cycle().take(times).collect();
                self.query(phase, &each, &mut |result| {
                    row::outlier(result, rows.table, *of, &mut found.result)
                })
            }
            Work::Correlate(question) => {
                cell.begin_question(phase, found);
                let computed = self.store.dialect().correlation("y", "x").is_some();
                let two = question.between.iter().flatten();
                let two: Params<'_> = two.map(|value| param(value.as_value())).collect();
                self.query(phase, &two, &mut |result| {
                    row::correlation(result, computed, &mut found.result)
                })
            }
            Work::Find { conditions, select, .. } => {
                found.rows = Default::default();
                let bounds = self.bounds(rows, conditions);
                self.query(phase, &bounds, &mut |result| {
                    found.rows += row::some(result, rows.table, select)?;
                    Ok(())
                })
            }
            Work::Group(group) => {
                let mut params = self.bounds(rows, &group.conditions);
                params.extend(self.each_value(phase, i));
                cell.begin_question(phase, found);
                self.query(phase, &params, &mut |result| {
                    row::group(result, group, rows, &mut found.result)
                })
            }
            Work::Sql(_) => {
                found.result.clear();
                let mut room = String::new();
                self.query(phase, &[], &mut |result| {
                    found.columns = row::every(result, &mut room, &mut found.result)?;
                    Ok(())
                })
            }
            _ => Ok(()),
        }
    }
}
