//! Queries, asked of the store or answered from its documents.

use embermark_contract::Result;
use embermark_contract::document::Language;
use embermark_language::{Group, Query};
use embermark_model::answer;

use super::super::harper_sql;
use super::DocumentSession;
use crate::defined::access::of_conditions;
use crate::defined::aggregate::{Gaps, Groups, LatestRows};
use crate::defined::outliers::Outliers;
use crate::defined::{Filters, Found, Op, correlate, filters, fingerprint, row};

impl DocumentSession<'_> {
    /// Answers a query: the store does if its language can express it, and otherwise client code
    /// over its documents.
    pub fn answer(&mut self, op: Op, query: &Query, found: &mut Found) -> Result<()> {
        let (cell, rows) = (self.cell, &self.cell.tables[op.table]);
        cell.begin_question(op.phase, found);
        if let &Query::Latest { by, time } = query
            && self.latest_by_key(op, (by, time), found)?
        {
            return Ok(());
        }
        if let Some(question) = self.question(op) {
            let (before, language) = (found.result.len(), self.store.language());
            self.ask(op.table, question, &mut |document| {
                let from = found.result.len();
                row::answer(document, query, rows, false, found)?;
                if let (Query::Group(group), Language::Sql(_)) = (query, language) {
                    let width = group.by.len() + group.compute.len();
                    // There is no sum of no values.
                    for ((sum, _), count) in harper_sql::sums(group).zip(width..) {
                        if document.int(count)?.unwrap_or_default() == 0 {
                            found.result[from + sum] = answer::Value::Null;
                        }
                    }
                }
                Ok(())
            })?;
            if let Query::Group(group) = query
                && group.by.is_empty()
                && found.result.len() == before
            {
                // No row meets the conditions, and a pipeline then returns no group.
                Groups::new(group).result(&mut found.result);
            }
            return Ok(());
        }
        match query {
            &Query::Latest { by, time } => {
                let mut newest = LatestRows::default();
                self.scan(op, &mut |row| {
                    newest.add(row[by], row[time], fingerprint(row.iter().copied()));
                })?;
                found.rows += newest.rows();
            }
            Query::Find { select, .. } => self.matching(op, &mut |row| {
                found.rows += fingerprint(select.iter().map(|column| row[*column]));
            })?,
            &Query::Gaps { by, time, longer } => {
                let mut gaps = Gaps::new(longer, false);
                self.scan(op, &mut |row| gaps.add(row[by], row[time]))?;
                gaps.result(&mut found.result);
            }
            &Query::Outliers { of, by, deviations } => {
                let (mut outliers, key) = (Outliers::new(deviations, false), &rows.table.key);
                self.scan(op, &mut |row| {
                    outliers.add(row[by], row[of], key.iter().map(|column| row[*column]));
                })?;
                outliers.result(&mut found.result);
            }
            Query::Correlate(question) => {
                correlate::answer(question, &mut found.result, &mut |group, result| {
                    let filters = of_conditions(rows, &group.conditions);
                    self.group((op.table, &filters), group, result)
                })?;
            }
            Query::Group(group) => {
                let filters = filters(cell, op.phase, op.i);
                self.group((op.table, &filters), group, &mut found.result)?;
            }
        }
        Ok(())
    }

    /// Groups documents in client code.
    fn group(
        &mut self,
        (table, filters): (usize, &Filters<'_>),
        group: &Group,
        result: &mut Vec<answer::Value>,
    ) -> Result<()> {
        let mut groups = Groups::new(group);
        self.scan_by(table, filters, &mut |row| groups.add(|column| row[column]))?;
        groups.result(result);
        Ok(())
    }
}
