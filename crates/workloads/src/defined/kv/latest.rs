//! The newest rows of values, by backward scans of keys or by reading all rows.

use std::ops::ControlFlow;

use embermark_contract::{Result, kv};
use embermark_model::fingerprint::Checksum;

use super::super::aggregate::LatestRows;
use super::super::codec::conditions::Conditions;
use super::super::{Access, Op, filters};
use super::session::{Buffers, KvSession, print, scan};

impl KvSession<'_> {
    /// Finds the newest rows of each value of a column, by a backward scan from the end of its
    /// rows.
    pub fn newest_by_key(&mut self, table: usize, found: &mut Checksum) -> Result<()> {
        let (by_values, codec) = (self.by_values, &self.codecs[table]);
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
            scan(self.operations, self.tables[table], range, |key, value| {
                if newest.is_empty() {
                    newest.extend_from_slice(key);
                    (of_value, of_time) = (codec.prefix(key, 1), codec.prefix(key, 2));
                    ended = false;
                } else if key.get(..of_time) != Some(&newest[..of_time]) {
                    return Some(ControlFlow::Break(()));
                }
                *found += print(by_values, codec, key, value)?;
                Some(ControlFlow::Continue(()))
            })?;
            std::mem::swap(newest, to);
            first = false;
        }
        Ok(())
    }

    /// Finds the newest rows of the value of question `i`, from the end of its rows.
    pub fn newest_of_value(&mut self, op: Op, found: &mut Checksum) -> Result<()> {
        let (by_values, codec) = (self.by_values, &self.codecs[op.table]);
        let of = self.cell.tables[op.table].table;
        let filters = filters(self.cell, op.phase, op.i);
        let Buffers { key: from, to, room: newest, .. } = self.buffers;
        let access = Access::best(of, &filters);
        let ends = access.bounds(of, codec, &filters, from, to);
        let range = kv::Range::between(from, ends.then_some(&**to)).backward();
        // If the key ends with the time, the newest time has one row.
        let is_one = of.key.len() == 2;
        let mut of_time = 0;
        newest.clear();
        scan(self.operations, self.tables[op.table], range, |key, value| {
            if newest.is_empty() {
                of_time = codec.prefix(key, 2);
                newest.extend_from_slice(key);
            } else if key.get(..of_time) != Some(&newest[..of_time]) {
                return Some(ControlFlow::Break(()));
            }
            *found += print(by_values, codec, key, value)?;
            Some(if is_one { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })
    }

    /// Finds the newest row of the value of question `i` in a table whose key begins with the time,
    /// from the table's end.
    pub fn newest_from_end(&mut self, op: Op, found: &mut Checksum) -> Result<()> {
        let (by_values, codec) = (self.by_values, &self.codecs[op.table]);
        let filters = filters(self.cell, op.phase, op.i);
        let conditions = Conditions::new(codec, &filters);
        let backward = kv::Range::default().backward();
        scan(self.operations, self.tables[op.table], backward, |key, value| {
            if !conditions.are_met(codec, key, value) {
                return Some(ControlFlow::Continue(()));
            }
            *found += print(by_values, codec, key, value)?;
            Some(ControlFlow::Break(()))
        })
    }

    /// Finds the newest rows of each value among all rows of a question.
    pub fn newest_of_all(
        &mut self,
        op: Op,
        (by, time): (usize, usize),
        found: &mut Checksum,
    ) -> Result<()> {
        let (by_values, mut newest) = (self.by_values, LatestRows::default());
        self.add_each(&filters(self.cell, op.phase, op.i), op.table, |codec, key, value| {
            let column = |column: usize| codec.column(key, value, column);
            newest.add(column(by)?, column(time)?, print(by_values, codec, key, value)?);
            Some(())
        })?;
        *found += newest.rows();
        Ok(())
    }
}
