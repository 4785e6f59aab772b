//! Groups of points, gaps, outliers, and correlations: asked of the store, or computed from its
//! points.

use embermark_contract::Result;
use embermark_language::{Correlate, Group, Query};
use embermark_model::answer;
use embermark_model::table::Value;
use smallvec::SmallVec;

use super::super::influxql::Measurement;
use super::super::influxql::statistics::{DEVIATION, GAP, MEAN};
use super::super::native::answers;
use super::super::point::value;
use super::SeriesSession;
use crate::defined::access::of_conditions;
use crate::defined::aggregate::{self, Gaps, in_order};
use crate::defined::outliers::Outliers;
use crate::defined::row::{aggregate as aggregated, owned};
use crate::defined::{Filters, Found, Op, Question, correlate, filters};

impl SeriesSession<'_> {
    /// Finds gaps in the times of each value of a column.
    pub fn gaps(
        &mut self,
        of: &Measurement,
        op: Op,
        (by, time): (usize, usize),
        longer: i64,
        found: &mut Found,
    ) -> Result<()> {
        let filters = filters(self.cell, op.phase, op.i);
        self.cell.begin_question(op.phase, found);
        if !answers(of, Query::Gaps { by, time, longer }, &filters) {
            let mut gaps = Gaps::new(longer, false);
            self.filtered(of, &filters, &mut |row| gaps.add(row[by], row[time]))?;
            gaps.result(&mut found.result);
            return Ok(());
        }
        of.gaps(&filters, longer, self.text);
        let columns = [&*of.table.columns[by].name, "time", GAP];
        let kind = |column: usize| of.table.columns[column].of;
        self.store.query(self.text, &columns, &mut |row| {
            let value_of = owned(value(row, 0, by, kind(by), of)?);
            let until = value(row, 1, time, kind(time), of)?;
            let gap = row.int(2)?.unwrap_or_default();
            let Value::Int(until) = until else { return Ok(()) };
            let [from, until] = [until - gap, until].map(answer::Value::Int);
            found.result.extend([value_of, from, until]);
            Ok(())
        })
    }

    /// Finds values far from the mean of their group. If InfluxQL can, it answers two questions:
    /// the mean and deviation of each series, and then the values outside.
    pub fn outliers(
        &mut self,
        of: &Measurement,
        op: Op,
        (column, by): (usize, usize),
        deviations: f64,
        found: &mut Found,
    ) -> Result<()> {
        let (table, filters) = (of.table, filters(self.cell, op.phase, op.i));
        self.cell.begin_question(op.phase, found);
        if !answers(of, Query::Outliers { of: column, by, deviations }, &filters) {
            let mut outliers = Outliers::new(deviations, false);
            self.filtered(of, &filters, &mut |row| {
                outliers.add(row[by], row[column], table.key.iter().map(|at| row[*at]));
            })?;
            outliers.result(&mut found.result);
            return Ok(());
        }
        of.spread(column, &filters, self.text);
        let (tag, mut bands) = (&*table.columns[by].name, Vec::new());
        self.store.query(self.text, &[tag, MEAN, DEVIATION], &mut |row| {
            if let (Some(mean), Some(deviation)) = (row.float(1)?, row.float(2)?) {
                let (near, of_tag) = (deviations * deviation, table.columns[by].of);
                let group = value(row, 0, by, of_tag, of)?.to_owned();
                bands.push((group, mean - near, mean + near));
            }
            Ok(())
        })?;
        if bands.is_empty() {
            return Ok(());
        }
        of.outside(column, &bands, self.text);
        let columns: Vec<usize> = table.key.iter().copied().chain([column]).collect();
        let names: Vec<&str> = columns.iter().map(|column| of.columns[*column]).collect();
        self.store.query(self.text, &names, &mut |row| {
            for (at, column) in columns.iter().enumerate() {
                let kind = table.columns[*column].of;
                found.result.push(owned(value(row, at, *column, kind, of)?));
            }
            Ok(())
        })
    }

    /// Correlates two groups by the means of each.
    pub fn correlate(
        &mut self,
        of: &Measurement,
        op: Op,
        question: &Correlate,
        found: &mut Found,
    ) -> Result<()> {
        let cell = self.cell;
        let rows = &cell.tables[question.table];
        cell.begin_question(op.phase, found);
        correlate::answer(question, &mut found.result, &mut |group, result| {
            let filters = of_conditions(rows, &group.conditions);
            let words = of.group(group, &filters);
            self.group(of, words.as_ref(), group, &filters, result)
        })
    }

    /// Groups the rows that meet conditions, by a question if InfluxQL can express it.
    pub fn group(
        &mut self,
        of: &Measurement,
        question: Option<&Question>,
        group: &Group,
        filters: &Filters<'_>,
        result: &mut Vec<answer::Value>,
    ) -> Result<()> {
        let Some(question) = question else {
            let mut groups = aggregate::Groups::new(group);
            let columns = group.by.iter().map(|by| by.column());
            let columns = columns.chain(group.compute.iter().filter_map(|compute| compute.column));
            self.filtered_some(of, filters, columns, &mut |row| groups.add(|column| row[column]))?;
            groups.result(result);
            return Ok(());
        };
        let rows = &self.cell.tables[group.table];
        let mut all: Vec<SmallVec<[answer::Value; 4]>> = Vec::new();
        self.store.query(&question.text, &question.names(), &mut |row| {
            let mut values = SmallVec::new();
            for (at, by) in group.by.iter().enumerate() {
                let column = by.column();
                values.push(owned(value(row, at, column, rows.column_type(column), of)?));
            }
            for (compute, at) in group.compute.iter().zip(group.by.len()..) {
                let column = compute.column.map(|column| rows.column_type(column));
                values.push(aggregated(row, at, compute.aggregate, column)?);
            }
            all.push(values);
            Ok(())
        })?;
        if all.is_empty() && group.by.is_empty() {
            // No row meets the conditions, and InfluxQL then returns no group.
            aggregate::Groups::new(group).result(result);
        } else {
            in_order(all, group, result);
        }
        Ok(())
    }
}
