//! Queries, asked of the store or answered from its points.

use embermark_contract::Result;
use embermark_language::{Group, Query};
use embermark_model::answer;
use embermark_model::table::Value;
use smallvec::SmallVec;

use super::super::influxql::Measurement;
use super::super::influxql::statistics::{DEVIATION, GAP, MEAN};
use super::super::native::answers;
use super::super::point::value;
use super::SeriesSession;
use crate::defined::access::of_conditions;
use crate::defined::aggregate::{Gaps, Groups, LatestRows, in_order};
use crate::defined::outliers::Outliers;
use crate::defined::row::{aggregate, owned};
use crate::defined::{Filters, Found, Op, Question, correlate, filters, fingerprint};

impl SeriesSession<'_> {
    /// Answers a query: the store does if InfluxQL can express it, and otherwise client code over
    /// the points that it finds.
    pub fn answer(
        &mut self,
        of: &Measurement,
        op: Op,
        query: &Query,
        found: &mut Found,
    ) -> Result<()> {
        let (cell, filters) = (self.cell, filters(self.cell, op.phase, op.i));
        let is_native = || answers(of, query, &filters);
        cell.begin_question(op.phase, found);
        match query {
            Query::Latest { .. } if is_native() => {
                of.latest_of(&filters, self.text);
                self.read(of, &mut |row| found.rows += fingerprint(row))?;
            }
            &Query::Latest { by, time } => {
                let mut newest = LatestRows::default();
                self.filtered(of, &filters, &mut |row| {
                    newest.add(row[by], row[time], fingerprint(row.iter().copied()));
                })?;
                found.rows += newest.rows();
            }
            Query::Find { select, .. } => {
                self.filtered_some(of, &filters, select.iter().copied(), &mut |row| {
                    found.rows += fingerprint(select.iter().map(|column| row[*column]));
                })?;
            }
            &Query::Gaps { by, time, longer } if is_native() => {
                of.gaps(&filters, longer, self.text);
                let columns = [&*of.table.columns[by].name, "time", GAP];
                self.store.query(self.text, &columns, &mut |row| {
                    let value_of = owned(value(row, 0, by, of)?);
                    let (until, gap) = (value(row, 1, time, of)?, row.int(2)?.unwrap_or_default());
                    let Value::Int(until) = until else { return Ok(()) };
                    let [from, until] = [until - gap, until].map(answer::Value::Int);
                    found.result.extend([value_of, from, until]);
                    Ok(())
                })?;
            }
            &Query::Gaps { by, time, longer } => {
                let mut gaps = Gaps::new(longer, false);
                self.filtered(of, &filters, &mut |row| gaps.add(row[by], row[time]))?;
                gaps.result(&mut found.result);
            }
            &Query::Outliers { of: column, by, deviations } if is_native() => {
                self.outliers(of, &filters, (column, by), deviations, &mut found.result)?;
            }
            &Query::Outliers { of: column, by, deviations } => {
                let (mut outliers, key) = (Outliers::new(deviations, false), &of.table.key);
                self.filtered(of, &filters, &mut |row| {
                    outliers.add(row[by], row[column], key.iter().map(|at| row[*at]));
                })?;
                outliers.result(&mut found.result);
            }
            Query::Correlate(question) => {
                let rows = &cell.tables[op.table];
                correlate::answer(question, &mut found.result, &mut |group, result| {
                    let filters = of_conditions(rows, &group.conditions);
                    let words = of.group(group, &filters);
                    self.group(of, words.as_ref(), group, &filters, result)
                })?;
            }
            Query::Group(group) => {
                let questions = &self.questions[op.phase];
                let question = questions.get(op.i % questions.len().max(1));
                self.group(of, question, group, &filters, &mut found.result)?;
            }
        }
        Ok(())
    }

    /// Finds values far from the mean of their group by two questions: the mean and deviation of
    /// each series, and then the values outside.
    fn outliers(
        &mut self,
        of: &Measurement,
        filters: &Filters<'_>,
        (column, by): (usize, usize),
        deviations: f64,
        result: &mut Vec<answer::Value>,
    ) -> Result<()> {
        of.spread(column, filters, self.text);
        let (tag, mut bands) = (&*of.table.columns[by].name, Vec::new());
        self.store.query(self.text, &[tag, MEAN, DEVIATION], &mut |row| {
            if let (Some(mean), Some(deviation)) = (row.float(1)?, row.float(2)?) {
                let near = deviations * deviation;
                let group = value(row, 0, by, of)?.to_owned();
                bands.push((group, mean - near, mean + near));
            }
            Ok(())
        })?;
        if bands.is_empty() {
            return Ok(());
        }
        of.outside(column, &bands, self.text);
        let columns: Vec<usize> = of.table.key.iter().copied().chain([column]).collect();
        let names: Vec<&str> = columns.iter().map(|column| of.columns[*column]).collect();
        self.store.query(self.text, &names, &mut |row| {
            for (at, column) in columns.iter().enumerate() {
                result.push(owned(value(row, at, *column, of)?));
            }
            Ok(())
        })
    }

    /// Groups the rows that meet conditions, by a question if InfluxQL can express it.
    fn group(
        &mut self,
        of: &Measurement,
        question: Option<&Question>,
        group: &Group,
        filters: &Filters<'_>,
        result: &mut Vec<answer::Value>,
    ) -> Result<()> {
        let mut groups = Groups::new(group);
        let Some(question) = question else {
            let columns = group.by.iter().map(|by| by.column());
            let columns = columns.chain(group.compute.iter().filter_map(|compute| compute.column));
            self.filtered_some(of, filters, columns, &mut |row| groups.add(|column| row[column]))?;
            groups.result(result);
            return Ok(());
        };
        let mut all: Vec<SmallVec<[answer::Value; 4]>> = Vec::new();
        self.store.query(&question.text, &question.names(), &mut |row| {
            let mut values = SmallVec::new();
            for (at, by) in group.by.iter().enumerate() {
                values.push(owned(value(row, at, by.column(), of)?));
            }
            for (compute, at) in group.compute.iter().zip(group.by.len()..) {
                let column = compute.column.map(|column| of.table.columns[column].of);
                values.push(aggregate(row, at, compute.aggregate, column)?);
            }
            all.push(values);
            Ok(())
        })?;
        if all.is_empty() && group.by.is_empty() {
            // No row meets the conditions, and InfluxQL then returns no group.
            groups.result(result);
        } else {
            in_order(all, group, result);
        }
        Ok(())
    }
}
