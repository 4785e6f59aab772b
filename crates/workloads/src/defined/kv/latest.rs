//! The newest rows of values, by backward scans of keys or by reading all rows.

use std::ops::ControlFlow;

use embermark_contract::{Result, kv};
use embermark_model::fingerprint::Checksum;

use super::super::aggregate::LatestRows;
use super::super::codec::conditions::Conditions;
use super::super::{Access, Op, filters};
use super::session::{Buffers, KvSession, RowSum, foreign, print};

impl KvSession<'_> {
    /// Finds the newest rows of each value of a column, by a backward scan from the end of its
    /// rows.
    pub fn newest_by_key(&mut self, table: usize, found: &mut Checksum) -> Result<()> {
        let codec = &self.codecs[table];
        let mut sum = RowSum::new(self.by_values, codec, found);
        // Prefix lengths of the newest key: rows of its value, and rows of its value and time,
        // begin with them.
        let (mut of_value, mut of_time) = (0, 0);
        let Buffers { key: newest, to, .. } = self.buffers;
        let (mut ended, mut first) = (false, true);
        while !ended {
            ended = true;
            let before = if first { None } else { Some(&to[..of_value]) };
            let range = kv::Range { from: None, to: before, ..Default::default() }.backward();
            newest.clear();
            self.operations.scan(self.tables[table], range, &mut |key, value| {
                if newest.is_empty() {
                    newest.extend_from_slice(key);
                    (of_value, of_time) = (codec.prefix(key, 1), codec.prefix(key, 2));
                    ended = false;
                } else if key.get(..of_time) != Some(&newest[..of_time]) {
                    return ControlFlow::Break(());
                }
                sum.add(key, value);
                ControlFlow::Continue(())
            })?;
            std::mem::swap(newest, to);
            first = false;
        }
        sum.end()
    }

    /// Finds the newest rows of the value of question `i`, from the end of its rows.
    pub fn newest_of_value(&mut self, op: Op, found: &mut Checksum) -> Result<()> {
        let (codec, of) = (&self.codecs[op.table], &self.cell.tables[op.table]);
        let mut sum = RowSum::new(self.by_values, codec, found);
        let filters = filters(self.cell, op.phase, op.i);
        let Buffers { key: from, to, room: newest, .. } = self.buffers;
        let access = Access::best(of.table, &filters);
        let ends = access.bounds(of.table, codec, &filters, from, to);
        let range = kv::Range::between(from, ends.then_some(&**to)).backward();
        // If the key ends with the time, the newest time has one row.
        let is_one = of.table.key.len() == 2;
        let mut of_time = 0;
        newest.clear();
        self.operations.scan(self.tables[op.table], range, &mut |key, value| {
            if newest.is_empty() {
                of_time = codec.prefix(key, 2);
                newest.extend_from_slice(key);
            } else if key.get(..of_time) != Some(&newest[..of_time]) {
                return ControlFlow::Break(());
            }
            sum.add(key, value);
            if is_one { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        sum.end()
    }

    /// Finds the newest row of the value of question `i` in a table whose key begins with the time,
    /// from the table's end.
    pub fn newest_from_end(&mut self, op: Op, found: &mut Checksum) -> Result<()> {
        let codec = &self.codecs[op.table];
        let mut sum = RowSum::new(self.by_values, codec, found);
        let filters = filters(self.cell, op.phase, op.i);
        let conditions = Conditions::new(codec, &filters);
        let backward = kv::Range::default().backward();
        self.operations.scan(self.tables[op.table], backward, &mut |key, value| {
            if !conditions.are_met(codec, key, value) {
                return ControlFlow::Continue(());
            }
            sum.add(key, value);
            ControlFlow::Break(())
        })?;
        sum.end()
    }

    /// Finds the newest rows of each value among all rows of a question.
    pub fn newest_of_all(
        &mut self,
        op: Op,
        (by, time): (usize, usize),
        found: &mut Checksum,
    ) -> Result<()> {
        let by_values = self.by_values;
        let (mut newest, mut broken) = (LatestRows::default(), false);
        self.filtered(op, |codec, key, value| {
            let columns = (codec.column(key, value, by), codec.column(key, value, time));
            let row = print(by_values, codec, key, value);
            let ((Some(of), Some(at)), Some(row)) = (columns, row) else {
                broken = true;
                return ControlFlow::Break(());
            };
            newest.add(of, at, row);
            ControlFlow::Continue(())
        })?;
        if broken {
            return Err(foreign());
        }
        *found += newest.rows();
        Ok(())
    }
}
