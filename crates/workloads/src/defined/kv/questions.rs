//! Questions answered by client code over what the store finds.

use std::ops::ControlFlow;

use embermark_contract::{Result, kv};
use embermark_language::{Group, Query};
use embermark_model::answer;
use embermark_model::fingerprint::Fingerprint;
use embermark_model::table::Value;
use smallvec::SmallVec;

use super::super::access::{By, of_conditions};
use super::super::aggregate::{Gaps, Groups};
use super::super::codec::conditions::Conditions;
use super::super::outliers::Outliers;
use super::super::port::with;
use super::super::{Access, Codec, Filters, Found, Op, correlate, filters};
use super::native::counts_rows;
use super::session::{Buffers, KvSession, foreign, print, scan};
use super::{kernel, walks};

impl KvSession<'_> {
    /// Visits the rows that meet the conditions of an operation.
    pub fn filtered(
        &mut self,
        op: Op,
        visit: impl FnMut(&Codec, &[u8], &[u8]) -> ControlFlow<()>,
    ) -> Result<()> {
        self.filtered_by(&filters(self.cell, op.phase, op.i), op.table, visit)
    }

    /// Visits the rows that meet conditions.
    pub fn filtered_by(
        &mut self,
        filters: &Filters<'_>,
        table: usize,
        mut visit: impl FnMut(&Codec, &[u8], &[u8]) -> ControlFlow<()>,
    ) -> Result<()> {
        let rows = &self.cell.tables[table];
        let access = Access::best(rows.table, filters);
        let codec = &self.codecs[table];
        let Buffers { key: from, to, .. } = self.buffers;
        let ends = access.bounds(rows.table, codec, filters, from, to);
        let range = kv::Range::between(from, ends.then_some(&**to));
        let (operations, number) = (&mut *self.operations, self.tables[table]);
        let mut search = |each: &mut kv::Visit<'_>| match access.by {
            By::Index(index) => operations.find(number, index, range, each),
            By::All | By::Key => operations.scan(number, range, each),
        };
        if access.exact {
            // Called for every row, so it does as little as possible.
            return search(&mut |key, value| visit(codec, key, value));
        }
        let left = access.left(rows.table, filters);
        let conditions = Conditions::new(codec, &left);
        search(&mut |key, value| match conditions.are_met(codec, key, value) {
            true => visit(codec, key, value),
            false => ControlFlow::Continue(()),
        })
    }

    /// Adds the rows that meet conditions. `add` returns `None` for a pair that is not one of the
    /// table's.
    pub fn add_each(
        &mut self,
        filters: &Filters<'_>,
        table: usize,
        mut add: impl FnMut(&Codec, &[u8], &[u8]) -> Option<()>,
    ) -> Result<()> {
        let mut broken = false;
        self.filtered_by(filters, table, |codec, key, value| {
            broken |= add(codec, key, value).is_none();
            ControlFlow::Continue(())
        })?;
        if broken { Err(foreign()) } else { Ok(()) }
    }

    /// Reads the rows from a key on, as many as an operation asks for.
    pub fn rows_from(&mut self, op: Op, key: &[u8], found: &mut Found) -> Result<()> {
        let (by_values, codec) = (self.by_values, &self.codecs[op.table]);
        let mut left = self.cell.wanted(op.phase, op.i);
        let from = kv::Range::between(key, None);
        scan(self.operations, self.tables[op.table], from, |key, value| {
            found.rows += print(by_values, codec, key, value)?;
            left -= 1;
            Some(if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })
    }

    /// Reads whole rows that meet conditions.
    pub fn between(
        &mut self,
        table: usize,
        filters: &Filters<'_>,
        found: &mut Found,
    ) -> Result<()> {
        let by_values = self.by_values;
        self.add_each(filters, table, |codec, key, value| {
            found.rows += print(by_values, codec, key, value)?;
            Some(())
        })
    }

    /// Answers a query by client code, except `latest`.
    pub fn answer(&mut self, op: Op, query: &Query, found: &mut Found) -> Result<()> {
        let cell = self.cell;
        let (rows, filters) = (&cell.tables[op.table], filters(cell, op.phase, op.i));
        let of = (op.table, &filters);
        cell.begin_question(op.phase, found);
        match query {
            Query::Find { select, .. } if rows.is_whole(select) => {
                self.between(op.table, &filters, found)
            }
            Query::Find { select, .. } => self.add_each(&filters, op.table, |codec, key, value| {
                let read =
                    |print, column: &usize| Some(with(print, codec.column(key, value, *column)?));
                found.rows += select.iter().try_fold(Fingerprint::default(), read)?;
                Some(())
            }),
            &Query::Gaps { by, time, longer } => {
                self.gaps(of, (by, time), longer, &mut found.result)
            }
            &Query::Outliers { of: column, by, deviations } => {
                self.outliers(of, (column, by), deviations, &mut found.result)
            }
            Query::Correlate(question) => {
                correlate::answer(question, &mut found.result, &mut |group, result| {
                    let filters = of_conditions(rows, &group.conditions);
                    self.group((op.table, &filters), group, result)
                })
            }
            Query::Group(group) => self.group(of, group, &mut found.result),
            // It is found from the ends of values, where the key allows it.
            Query::Latest { .. } => Ok(()),
        }
    }

    /// Groups the rows that meet conditions.
    fn group(
        &mut self,
        (table, filters): (usize, &Filters<'_>),
        group: &Group,
        result: &mut Vec<answer::Value>,
    ) -> Result<()> {
        let (codec, of) = (&self.codecs[table], &self.cell.tables[table]);
        if counts_rows(group, of, filters) {
            let rows = self.count(table)?;
            result.extend(group.compute.iter().map(|_| answer::Value::Int(rows.cast_signed())));
            return Ok(());
        }
        let in_order = self.comes_by_key(table, filters).then_some(&*of.table.key);
        if let Some(mut groups) = kernel::Groups::new(group, codec, in_order) {
            self.add_each(filters, table, |_, key, value| {
                groups.add(key, value);
                Some(())
            })?;
            groups.result(result);
            return Ok(());
        }
        let mut groups = Groups::new(group);
        self.add_each(filters, table, |codec, key, value| {
            // A foreign pair is a row of absent values here, as in the kernel, which cannot tell
            // the two apart. The oracle finds the answer wrong.
            groups.add(|column| codec.column(key, value, column).unwrap_or(Value::Null));
            Some(())
        })?;
        groups.result(result);
        Ok(())
    }

    /// Returns the number of rows of a table, from the store or by a scan.
    pub fn count(&mut self, table: usize) -> Result<u64> {
        if let Some(rows) = self.operations.count(self.tables[table])? {
            return Ok(rows);
        }
        let mut rows = 0;
        self.operations.scan(self.tables[table], kv::Range::default(), &mut |_, _| {
            rows += 1;
            ControlFlow::Continue(())
        })?;
        Ok(rows)
    }

    /// Finds values far from the mean of their group.
    fn outliers(
        &mut self,
        (table, filters): (usize, &Filters<'_>),
        (of, by): (usize, usize),
        deviations: f64,
        result: &mut Vec<answer::Value>,
    ) -> Result<()> {
        let (codec, columns, key) =
            (&self.codecs[table], (of, by), &*self.cell.tables[table].table.key);
        let together = key.first() == Some(&by) && self.comes_by_key(table, filters);
        if let Some(mut outliers) = walks::Outliers::new(codec, key, columns, deviations, together)
        {
            self.add_each(filters, table, |_, key, value| {
                outliers.add(key, value, result);
                Some(())
            })?;
            outliers.end(result);
            return Ok(());
        }
        let mut outliers = Outliers::new(deviations, together);
        self.add_each(filters, table, |codec, pair_key, value| {
            let column = |column: usize| codec.column(pair_key, value, column);
            let own: Option<SmallVec<[Value<'_>; 4]>> = key.iter().map(|at| column(*at)).collect();
            outliers.add(column(by)?, column(of)?, own?);
            Some(())
        })?;
        outliers.result(result);
        Ok(())
    }

    /// Finds gaps in the times of each value of a column.
    fn gaps(
        &mut self,
        (table, filters): (usize, &Filters<'_>),
        (by, time): (usize, usize),
        longer: i64,
        result: &mut Vec<answer::Value>,
    ) -> Result<()> {
        let (codec, columns) = (&self.codecs[table], (by, time));
        let key = &self.cell.tables[table].table.key;
        let in_order = key.starts_with(&[by, time]) && self.comes_by_key(table, filters);
        if let (true, Some(mut gaps)) = (in_order, walks::Gaps::new(codec, columns, longer)) {
            return self.add_each(filters, table, |_, key, _| gaps.add(key, result));
        }
        let mut gaps = Gaps::new(longer, in_order);
        self.add_each(filters, table, |codec, key, value| {
            gaps.add(codec.column(key, value, by)?, codec.column(key, value, time)?);
            Some(())
        })?;
        gaps.result(result);
        Ok(())
    }

    /// Returns whether the rows that meet conditions come in the order of their keys.
    fn comes_by_key(&self, table: usize, filters: &Filters<'_>) -> bool {
        !matches!(Access::best(self.cell.tables[table].table, filters).by, By::Index(_))
    }
}
