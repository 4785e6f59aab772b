//! Questions, each answered by one statement.

use embermark_contract::Result;
use embermark_language::Query;
use embermark_model::table::OwnedValue;

use super::super::params::Params;
use super::super::phases::seeks_each;
use super::SqlSession;
use crate::defined::statements::statistics::outliers_ask_for;
use crate::defined::{Found, Op, row};

impl SqlSession<'_> {
    /// Returns whether one statement finds the newest rows of all values.
    pub fn asks_for_all(&self, phase: usize) -> bool {
        let Some(Query::Latest { by, .. }) = self.cell.work(phase).query() else { return false };
        let each = self.cell.each(phase, 0);
        each.is_some_and(|(column, _)| column == *by)
            && !seeks_each(self.store.dialect(), self.cell, phase)
    }

    /// Finds the newest rows of all values that a phase asks about.
    pub fn latest_of_all(&mut self, phase: usize, found: &mut Found) -> Result<()> {
        let cell = self.cell;
        let values: Params<'_> = cell.each[phase].iter().map(OwnedValue::as_value).collect();
        self.rows(Op::new(cell, phase, 0), 1, &values, found)
    }

    /// Asks a question with a verb of its own.
    pub(super) fn ask(&mut self, op: Op, query: &'static Query, found: &mut Found) -> Result<()> {
        let (cell, dialect) = (self.cell, self.store.dialect());
        let (rows, each) = (&cell.tables[op.table], cell.each(op.phase, op.i));
        let (value, mut computed) = (each.map(|(_, value)| value).into_iter(), false);
        let params: Params<'_> = match query {
            &Query::Latest { by, time } => {
                let is_of_value = each.is_some_and(|(column, _)| column == by);
                let is_once = is_of_value && rows.is_one_at_a_time(by, time);
                value.cycle().take(if is_once { 1 } else { 2 }).collect()
            }
            Query::Gaps { .. } => value.collect(),
            Query::Outliers { .. } => value.cycle().take(outliers_ask_for(dialect)).collect(),
            Query::Correlate(question) => {
                computed = dialect.correlation("y", "x").is_some();
                question.between.iter().flatten().map(OwnedValue::as_value).collect()
            }
            Query::Find { conditions, .. } => self.bounds(rows, conditions),
            Query::Group(group) => {
                self.bounds(rows, &group.conditions).into_iter().chain(value).collect()
            }
        };
        cell.begin_question(op.phase, found);
        self.query((op.phase, 0), &params, &mut |result| {
            row::answer(result, query, rows, computed, found)
        })
    }
}
