//! Questions answered by client code over what the store finds.

use std::ops::ControlFlow;

use embermark_contract::{Result, kv};
use embermark_language::{Correlate, Group};
use embermark_model::answer;
use embermark_model::fingerprint::{Checksum, Fingerprint};
use embermark_model::table::Value;
use smallvec::SmallVec;

use super::super::access::{By, of_conditions};
use super::super::aggregate::{Gaps, Groups};
use super::super::codec::conditions::Conditions;
use super::super::outliers::Outliers;
use super::super::port::with;
use super::super::{Access, Codec, Filters, Found, Op, correlate, filters};
use super::native::{counts_rows, newest_by_key};
use super::session::{Buffers, KvSession, RowSum, foreign};
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

    /// Reads the rows from a key on, as many as an operation asks for.
    pub fn rows_from(&mut self, op: Op, key: &[u8], found: &mut Found) -> Result<()> {
        let mut sum = RowSum::new(self.by_values, &self.codecs[op.table], &mut found.rows);
        let mut left = self.cell.wanted(op.phase, op.i);
        let from = kv::Range::between(key, None);
        self.operations.scan(self.tables[op.table], from, &mut |key, value| {
            sum.add(key, value);
            left -= 1;
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        sum.end()
    }

    /// Reads whole rows that meet the conditions of an operation.
    pub fn between(&mut self, op: Op, found: &mut Found) -> Result<()> {
        let mut sum = RowSum::new(self.by_values, &self.codecs[op.table], &mut found.rows);
        self.filtered(op, |_, key, value| {
            sum.add(key, value);
            ControlFlow::Continue(())
        })?;
        sum.end()
    }

    /// Groups the rows that meet conditions.
    pub fn group(
        &mut self,
        group: &Group,
        filters: &Filters<'_>,
        result: &mut Vec<answer::Value>,
    ) -> Result<()> {
        let (codec, of) = (&self.codecs[group.table], &self.cell.tables[group.table]);
        let table = of.table;
        if counts_rows(group, of) {
            let rows = self.count(group.table)?;
            result.clear();
            result.extend(group.compute.iter().map(|_| answer::Value::Int(rows.cast_signed())));
            return Ok(());
        }
        let by_key = !matches!(Access::best(table, filters).by, By::Index(_));
        let in_order = by_key.then_some(&*table.key);
        if let Some(mut groups) = kernel::Groups::new(group, codec, in_order) {
            self.filtered_by(filters, group.table, |_, key, value| {
                groups.add(key, value);
                ControlFlow::Continue(())
            })?;
            groups.result(result);
            return Ok(());
        }
        let mut groups = Groups::new(group);
        self.filtered_by(filters, group.table, |codec, key, value| {
            // A foreign pair is a row of absent values here, as in the kernel, which cannot tell
            // the two apart. The oracle finds the answer wrong.
            groups.add(|column| codec.column(key, value, column).unwrap_or(Value::Null));
            ControlFlow::Continue(())
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

    /// Correlates two groups by the means of each.
    pub fn correlate(&mut self, op: Op, question: &Correlate, found: &mut Found) -> Result<()> {
        let cell = self.cell;
        let rows = &cell.tables[question.table];
        cell.begin_question(op.phase, found);
        correlate::answer(question, &mut found.result, &mut |group, result| {
            self.group(group, &of_conditions(rows, &group.conditions), result)
        })
    }

    /// Finds values far from the mean of their group.
    pub fn outliers(
        &mut self,
        op: Op,
        (of, by): (usize, usize),
        deviations: f64,
        found: &mut Found,
    ) -> Result<()> {
        let (cell, Op { phase, i, table, .. }, codec) = (self.cell, op, &self.codecs[op.table]);
        let (table_of, filters) = (cell.tables[table].table, filters(cell, phase, i));
        let together = table_of.key.first() == Some(&by)
            && !matches!(Access::best(table_of, &filters).by, By::Index(_));
        cell.begin_question(phase, found);
        let (columns, key) = ((of, by), &*table_of.key);
        if let Some(mut outliers) = walks::Outliers::new(codec, key, columns, deviations, together)
        {
            self.filtered_by(&filters, table, |_, key, value| {
                outliers.add(key, value, &mut found.result);
                ControlFlow::Continue(())
            })?;
            outliers.end(&mut found.result);
            return Ok(());
        }
        let (mut outliers, mut broken) = (Outliers::new(deviations, together), false);
        self.filtered_by(&filters, table, |codec, pair_key, value| {
            let column = |column: usize| codec.column(pair_key, value, column);
            let own: Option<SmallVec<[Value<'_>; 4]>> = key.iter().map(|at| column(*at)).collect();
            match (column(by), column(of), own) {
                (Some(of_group), Some(number), Some(own)) => outliers.add(of_group, number, own),
                _ => broken = true,
            }
            ControlFlow::Continue(())
        })?;
        outliers.result(&mut found.result);
        if broken { Err(foreign()) } else { Ok(()) }
    }

    /// Finds gaps in the times of each value of a column.
    pub fn gaps(
        &mut self,
        op: Op,
        (by, time): (usize, usize),
        longer: i64,
        found: &mut Found,
    ) -> Result<()> {
        let Op { phase, i, table, .. } = op;
        let (cell, codec, mut broken) = (self.cell, &self.codecs[table], false);
        let (rows, filters) = (&cell.tables[table], filters(cell, phase, i));
        let in_order = newest_by_key(rows, by, time)
            && !matches!(Access::best(rows.table, &filters).by, By::Index(_));
        cell.begin_question(phase, found);
        let columns = (by, time);
        if let (true, Some(mut gaps)) = (in_order, walks::Gaps::new(codec, columns, longer)) {
            self.filtered_by(&filters, table, |_, key, _| {
                broken |= gaps.add(key, &mut found.result).is_none();
                ControlFlow::Continue(())
            })?;
            return if broken { Err(foreign()) } else { Ok(()) };
        }
        let mut gaps = Gaps::new(longer, in_order);
        self.filtered_by(&filters, table, |codec, key, value| {
            match (codec.column(key, value, by), codec.column(key, value, time)) {
                (Some(of), Some(at)) => gaps.add(of, at),
                _ => broken = true,
            }
            ControlFlow::Continue(())
        })?;
        if broken {
            return Err(foreign());
        }
        gaps.result(&mut found.result);
        Ok(())
    }

    /// Reads columns of the rows that meet conditions.
    pub fn find(&mut self, op: Op, select: &[usize], found: &mut Found) -> Result<()> {
        found.rows = Checksum::default();
        if self.cell.tables[op.table].is_whole(select) {
            return self.between(op, found);
        }
        let (mut rows, mut broken) = (Checksum::default(), false);
        self.filtered(op, |codec, key, value| {
            let read =
                |print, column: &usize| Some(with(print, codec.column(key, value, *column)?));
            match select.iter().try_fold(Fingerprint::default(), read) {
                Some(print) => rows += print,
                None => broken = true,
            }
            ControlFlow::Continue(())
        })?;
        found.rows = rows;
        if broken { Err(foreign()) } else { Ok(()) }
    }
}
