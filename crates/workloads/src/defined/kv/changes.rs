//! Changes of several rows: adjacent ones, and those that meet conditions.

use std::ops::ControlFlow;

use embermark_contract::{Result, kv};
use embermark_language::Work;
use embermark_model::table::Value;
use smallvec::SmallVec;

use super::super::access::beyond;
use super::super::{Cell, Codec, Found, Op, Session};
use super::session::{Buffers, KvSession, foreign};

/// Most expired rows that one transaction deletes.
const DELETED_AT_ONCE: usize = 10_000;

impl KvSession<'_> {
    /// Changes adjacent rows. They are found first, because some engines cannot continue a scan
    /// from a changed pair.
    pub fn change_span(&mut self, op: Op, found: &mut Found) -> Result<()> {
        let (codec, number) = (&self.codecs[op.table], self.tables[op.table]);
        let change = Change::new(self.cell, codec, op);
        let Buffers { key: from, to, pairs, ends, value, .. } = &mut *self.buffers;
        let [first, last] = self.cell.ends(op.phase, op.i);
        codec.key(first, from);
        codec.key(last, to);
        let range = kv::Range::between(from, beyond(to).then_some(&**to));
        pairs.clear();
        ends.clear();
        self.operations.scan(number, range, &mut |key, value| {
            pairs.extend_from_slice(key);
            let end_of_key = pairs.len();
            pairs.extend_from_slice(value);
            ends.push((end_of_key, pairs.len()));
            ControlFlow::Continue(())
        })?;
        let mut at = 0;
        for (end_of_key, end) in &*ends {
            let (key, bytes) = pairs[at..*end].split_at_mut(*end_of_key - at);
            at = *end;
            if let Work::Delete { .. } = op.work {
                self.operations.remove(number, key)?;
            } else if change.in_place(bytes) {
                self.operations.put(number, key, bytes)?;
            } else {
                change.encode(key, bytes, value)?;
                self.operations.put(number, key, value)?;
            }
            found.changed += 1;
        }
        Ok(())
    }

    /// Sets columns of rows that meet conditions, up to the limit of a transaction. All rows are
    /// found before any is changed, because a change can make rows meet the conditions or not.
    pub fn update_where(&mut self, op: Op, found: &mut Found) -> Result<()> {
        if !found.more {
            self.find_rows(op.phase)?;
        }
        let mut keys = std::mem::take(&mut self.buffers.found);
        let some = keys.len().saturating_sub(DELETED_AT_ONCE);
        for key in keys.drain(some..) {
            found.changed += u64::from(self.set_row(op, &key)?);
        }
        found.more = !keys.is_empty();
        self.buffers.found = keys;
        Ok(())
    }

    /// Sets columns of a row that meets the conditions of a phase. Returns whether it exists. New
    /// values as long as the old ones are set in place.
    pub fn set_row(&mut self, op: Op, key: &[u8]) -> Result<bool> {
        let (codec, number) = (&self.codecs[op.table], self.tables[op.table]);
        let (change, mut fits) = (Change::new(self.cell, codec, op), true);
        let is_there = self.operations.modify(number, key, &mut |bytes| {
            fits = change.in_place(bytes);
        })?;
        if fits {
            return Ok(is_there);
        }
        let Some(bytes) = self.operations.get(number, key)? else { return Ok(false) };
        let to = &mut self.buffers.value;
        change.encode(key, bytes, to)?;
        self.operations.put(number, key, to)?;
        Ok(true)
    }

    /// Deletes rows that have expired or meet conditions, up to the limit of a transaction.
    pub fn delete_older(&mut self, op: Op, found: &mut Found) -> Result<()> {
        let mut keys = std::mem::take(&mut self.buffers.found);
        keys.clear();
        self.filtered(op, |_, key, _| {
            keys.push(key.to_vec());
            if keys.len() == DELETED_AT_ONCE {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })?;
        keys.iter().try_for_each(|key| self.operations.remove(self.tables[op.table], key))?;
        found.changed += keys.len() as u64;
        found.more = keys.len() == DELETED_AT_ONCE;
        self.buffers.found = keys;
        Ok(())
    }
}

/// The columns that an operation sets in a row.
struct Change<'a> {
    cell: &'a Cell,
    codec: &'a Codec,
    op: Op,
    set: &'a [usize],
}

impl<'a> Change<'a> {
    fn new(cell: &'a Cell, codec: &'a Codec, op: Op) -> Self {
        Self { cell, codec, op, set: cell.set(op.phase, op.i) }
    }

    fn value(&self, column: usize) -> Value<'a> {
        self.cell.update_value(self.op.phase, self.op.i, column)
    }

    /// Sets the columns in an encoded value, if the new ones are as long as the old ones. Returns
    /// whether they are.
    fn in_place(&self, bytes: &mut [u8]) -> bool {
        let new = self.set.iter().map(|column| (*column, self.value(*column)));
        let fits = new.clone().all(|(column, value)| self.codec.fits(bytes, column, value));
        if fits {
            new.for_each(|(column, value)| self.codec.set(bytes, column, value));
        }
        fits
    }

    /// Encodes the value of a pair with the columns set.
    fn encode(&self, key: &[u8], bytes: &[u8], to: &mut Vec<u8>) -> Result<()> {
        let columns = 0..self.cell.tables[self.op.table].table.columns.len();
        let row = columns.map(|column| match self.set.contains(&column) {
            true => Some(self.value(column)),
            false => self.codec.column(key, bytes, column),
        });
        let row = row.collect::<Option<SmallVec<[Value<'_>; 12]>>>().ok_or_else(foreign)?;
        self.codec.value(|column| row[column], to);
        Ok(())
    }
}
