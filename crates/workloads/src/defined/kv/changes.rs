//! Changes of several rows: adjacent ones, and those that meet conditions.

use std::ops::ControlFlow;

use embermark_contract::{Result, kv};
use embermark_language::Work;
use embermark_model::table::Value;
use smallvec::SmallVec;

use super::super::access::beyond;
use super::super::cell::Cell;
use super::super::codec::Codec;
use super::super::port::{OperationResults, Session};
use super::buffers::Buffers;
use super::session::{KvSession, foreign};

/// Most expired rows that one transaction deletes.
const DELETED_AT_ONCE: usize = 10_000;

impl KvSession<'_> {
    /// Changes adjacent rows. They are found first, because some engines cannot continue a scan
    /// from a changed pair.
    pub(super) fn change_span(
        &mut self,
        phase: usize,
        i: usize,
        table: usize,
        found: &mut OperationResults,
    ) -> Result<()> {
        let (cell, codec, number) = (self.cell, &self.codecs[table], self.tables[table]);
        let Buffers { key: from, to, pairs, ends, value, .. } = &mut *self.buffers;
        let [first, last] = cell.ends(phase, i);
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
        let (set, mut at) = (cell.set(phase, i), 0);
        for (end_of_key, end) in &*ends {
            let (key, bytes) = pairs[at..*end].split_at_mut(*end_of_key - at);
            at = *end;
            if let Work::Delete { .. } = cell.work(phase) {
                self.operations.remove(number, key)?;
                found.changed += 1;
                continue;
            }
            if set_in_place(cell, codec, (phase, i), set, bytes) {
                self.operations.put(number, key, bytes)?;
            } else {
                encode_changed(cell, codec, (phase, i), set, (&*key, &*bytes), value)?;
                self.operations.put(number, key, value)?;
            }
            found.changed += 1;
        }
        Ok(())
    }

    /// Sets columns of rows that meet conditions, up to the limit of a transaction. All rows are
    /// found before any is changed, because a change can make rows meet the conditions or not.
    pub(super) fn update_where(
        &mut self,
        phase: usize,
        table: usize,
        found: &mut OperationResults,
    ) -> Result<()> {
        if !found.more {
            self.find_rows(phase)?;
        }
        let mut keys = std::mem::take(&mut self.buffers.found);
        let some = keys.len().saturating_sub(DELETED_AT_ONCE);
        for key in keys.drain(some..) {
            found.changed += u64::from(self.set_row(phase, table, &key)?);
        }
        found.more = !keys.is_empty();
        self.buffers.found = keys;
        Ok(())
    }

    /// Sets columns of a row that meets the conditions of a phase. Returns whether it exists. New
    /// values as long as the old ones are set in place.
    pub(super) fn set_row(&mut self, phase: usize, table: usize, key: &[u8]) -> Result<bool> {
        let (cell, codec, number) = (self.cell, &self.codecs[table], self.tables[table]);
        let (set, mut fits) = (cell.set(phase, 0), true);
        let is_there = self.operations.modify(number, key, &mut |bytes| {
            fits = set_in_place(cell, codec, (phase, 0), set, bytes);
        })?;
        if fits {
            return Ok(is_there);
        }
        let Some(bytes) = self.operations.get(number, key)? else { return Ok(false) };
        let to = &mut self.buffers.value;
        encode_changed(cell, codec, (phase, 0), set, (key, bytes), to)?;
        self.operations.put(number, key, to)?;
        Ok(true)
    }

    /// Deletes rows that have expired or meet conditions, up to the limit of a transaction.
    pub(super) fn delete_older(
        &mut self,
        phase: usize,
        table: usize,
        found: &mut OperationResults,
    ) -> Result<()> {
        let mut keys = std::mem::take(&mut self.buffers.found);
        keys.clear();
        self.filtered(phase, 0, table, |_, key, _| {
            keys.push(key.to_vec());
            if keys.len() == DELETED_AT_ONCE {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })?;
        keys.iter().try_for_each(|key| self.operations.remove(self.tables[table], key))?;
        found.changed += keys.len() as u64;
        found.more = keys.len() == DELETED_AT_ONCE;
        self.buffers.found = keys;
        Ok(())
    }
}

/// Sets the columns of operation `i` of a phase in a value, if the new ones are as long as the old
/// ones. Returns whether they are.
fn set_in_place(
    cell: &Cell,
    codec: &Codec,
    (phase, i): (usize, usize),
    set: &[usize],
    bytes: &mut [u8],
) -> bool {
    let new = set.iter().map(|column| (*column, cell.update_value(phase, i, *column)));
    let fits = new.clone().all(|(column, value)| codec.fits(bytes, column, value));
    if fits {
        new.for_each(|(column, value)| codec.set(bytes, column, value));
    }
    fits
}

/// Encodes the value of a pair with the columns of operation `i` of a phase.
fn encode_changed(
    cell: &Cell,
    codec: &Codec,
    (phase, i): (usize, usize),
    set: &[usize],
    (key, bytes): (&[u8], &[u8]),
    to: &mut Vec<u8>,
) -> Result<()> {
    let columns = 0..cell.rows_of(phase).table.columns.len();
    let row = columns.map(|column| match set.contains(&column) {
        true => Some(cell.update_value(phase, i, column)),
        false => codec.column(key, bytes, column),
    });
    let row = row.collect::<Option<SmallVec<[Value<'_>; 12]>>>().ok_or_else(foreign)?;
    codec.value(|column| row[column], to);
    Ok(())
}
