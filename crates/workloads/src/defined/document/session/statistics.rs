//! Groups of documents, gaps, outliers and correlations, asked of the store or computed from its
//! documents.

use embermark_contract::Result;
use embermark_contract::document::Language;
use embermark_language::{Correlate, Group, Work};
use embermark_model::answer;

use super::super::harper_sql;
use super::DocumentSession;
use crate::defined::access::of_conditions;
use crate::defined::aggregate::{Gaps, Groups};
use crate::defined::outliers::Outliers;
use crate::defined::{Filters, Found, Op, correlate, filters, row};

impl DocumentSession<'_> {
    pub fn group(&mut self, op: Op, group: &Group, found: &mut Found) -> Result<()> {
        let cell = self.cell;
        cell.begin_question(op.phase, found);
        let from = found.result.len();
        let rows = &cell.tables[group.table];
        let Some(question) = self.question(op) else {
            return self.group_here(group, &filters(cell, op.phase, op.i), &mut found.result);
        };
        let width = group.by.len() + group.compute.len();
        let is_sql = matches!(self.store.language(), Language::Sql(_));
        self.ask(group.table, question, &mut |document| {
            let from = found.result.len();
            row::group(document, group, rows, &mut found.result)?;
            if is_sql {
                // There is no sum of no values.
                for ((sum, _), count) in harper_sql::sums(group).zip(width..) {
                    if document.int(count)?.unwrap_or_default() == 0 {
                        found.result[from + sum] = answer::Value::Null;
                    }
                }
            }
            Ok(())
        })?;
        if group.by.is_empty() && found.result.len() == from {
            // No row meets the conditions, and a pipeline then returns no group.
            Groups::new(group).result(&mut found.result);
        }
        Ok(())
    }

    /// Groups all documents in client code.
    fn group_here(
        &mut self,
        group: &Group,
        filters: &Filters<'_>,
        result: &mut Vec<answer::Value>,
    ) -> Result<()> {
        let mut groups = Groups::new(group);
        self.scan_by(group.table, filters, &mut |row| groups.add(|column| row[column]))?;
        groups.result(result);
        Ok(())
    }

    /// Finds values far from the mean of their group.
    pub fn outliers(&mut self, op: Op, found: &mut Found) -> Result<()> {
        let of_table = self.cell.tables[op.table].table;
        let Work::Outliers { of, by, deviations, .. } = op.work else { return Ok(()) };
        self.cell.begin_question(op.phase, found);
        if let Some(question) = self.question(op) {
            return self.ask(op.table, question, &mut |document| {
                row::outlier(document, of_table, *of, &mut found.result)
            });
        }
        let mut outliers = Outliers::new(*deviations, false);
        self.scan(op, &mut |row| {
            outliers.add(row[*by], row[*of], of_table.key.iter().map(|column| row[*column]));
        })?;
        outliers.result(&mut found.result);
        Ok(())
    }

    /// Correlates two groups, by a question or by the means of each.
    pub fn correlate(&mut self, op: Op, question: &Correlate, found: &mut Found) -> Result<()> {
        let cell = self.cell;
        cell.begin_question(op.phase, found);
        if let Some(asked) = self.question(Op { i: 0, ..op }) {
            return self.ask(question.table, asked, &mut |document| {
                row::correlation(document, false, found)
            });
        }
        let rows = &cell.tables[question.table];
        correlate::answer(question, &mut found.result, &mut |group, result| {
            self.group_here(group, &of_conditions(rows, &group.conditions), result)
        })
    }

    /// Finds gaps in the times of each value of a field.
    pub fn gaps(
        &mut self,
        op: Op,
        (by, time): (usize, usize),
        longer: i64,
        found: &mut Found,
    ) -> Result<()> {
        self.cell.begin_question(op.phase, found);
        if let Some(question) = self.question(op) {
            let of = self.cell.tables[op.table].column_type(by);
            return self.ask(op.table, question, &mut |document| row::gap(document, of, found));
        }
        let mut gaps = Gaps::new(longer, false);
        self.scan(op, &mut |row| gaps.add(row[by], row[time]))?;
        gaps.result(&mut found.result);
        Ok(())
    }
}
