//! Questions, each answered by one statement.

use embermark_contract::Result;
use embermark_language::{Query, Work};

use super::super::params::Params;
use super::super::phases::seeks_each;
use super::SqlSession;
use crate::defined::statements::statistics::outliers_ask_for;
use crate::defined::{Found, Op, row};

impl SqlSession<'_> {
    /// Returns whether one statement finds the newest rows of all values.
    pub fn asks_for_all(&self, phase: usize) -> bool {
        let Work::Latest { by, .. } = self.cell.work(phase) else { return false };
        let each = self.cell.each(phase, 0);
        each.is_some_and(|(column, _)| column == *by)
            && !seeks_each(self.store.dialect(), self.cell, phase)
    }

    /// Finds the newest rows. With `all`, one statement finds those of all values.
    pub fn latest(&mut self, op: Op, all: bool, found: &mut Found) -> Result<()> {
        let (cell, Op { phase, i, table, .. }) = (self.cell, op);
        let values = if all { &*cell.each[phase] } else { &[] };
        let mut params: Params<'_> = values.iter().map(|value| value.as_value()).collect();
        if let (false, Some(value)) = (all, self.each_value(phase, i)) {
            let Work::Latest { by, time, .. } = op.work else { return Ok(()) };
            let is_short = cell.each(phase, i).is_some_and(|(column, _)| column == *by)
                && cell.tables[table].is_one_at_a_time(*by, *time);
            params.push(value);
            if !is_short {
                params.push(value);
            }
        }
        cell.begin_question(phase, found);
        self.rows(op, usize::from(all), &params, found)
    }

    /// Asks a question with a verb of its own. Does nothing for other work.
    pub(super) fn ask(&mut self, op: Op, found: &mut Found) -> Result<()> {
        let (cell, Op { phase, i, work, table }) = (self.cell, op);
        let rows = &cell.tables[table];
        let Some(query) = work.query() else { return Ok(()) };
        match query {
            Query::Latest { .. } => self.latest(op, false, found),
            Query::Gaps { by, .. } => {
                cell.begin_question(phase, found);
                let each = Params::from_iter(self.each_value(phase, i));
                let of = rows.column_type(by);
                self.query(phase, &each, &mut |result| row::gap(result, of, found))
            }
            Query::Outliers { of, .. } => {
                cell.begin_question(phase, found);
                let times = outliers_ask_for(self.store.dialect());
                let each = self.each_value(phase, i);
                let each: Params<'_> = each.into_iter().cycle().take(times).collect();
                self.query(phase, &each, &mut |result| {
                    row::outlier(result, rows.table, of, &mut found.result)
                })
            }
            Query::Correlate(question) => {
                cell.begin_question(phase, found);
                let computed = self.store.dialect().correlation("y", "x").is_some();
                let two = question.between.iter().flatten();
                let two: Params<'_> = two.map(|value| value.as_value()).collect();
                self.query(phase, &two, &mut |result| row::correlation(result, computed, found))
            }
            Query::Find { conditions, select } => {
                found.rows = Default::default();
                let bounds = self.bounds(rows, conditions);
                self.query(phase, &bounds, &mut |result| {
                    found.rows += row::some(result, rows.table, select)?;
                    Ok(())
                })
            }
            Query::Group(group) => {
                let mut params = self.bounds(rows, &group.conditions);
                params.extend(self.each_value(phase, i));
                cell.begin_question(phase, found);
                self.query(phase, &params, &mut |result| {
                    row::group(result, group, rows, &mut found.result)
                })
            }
        }
    }

    /// Asks a question that the workload file has in SQL.
    pub(super) fn ask_in_sql(&mut self, phase: usize, found: &mut Found) -> Result<()> {
        found.result.clear();
        let mut room = String::new();
        self.query(phase, &[], &mut |result| row::every(result, &mut room, found))
    }
}
