//! Operations on pairs in an open scope.

use std::ops::ControlFlow;

use embermark_contract::kv::{self, Operations, Table};
use embermark_contract::{EngineError, Result};
use embermark_language::{Query, Range, Removed, Span, Work};
use embermark_model::fingerprint::{Checksum, Fingerprint};

use super::super::arena::Strings;
use super::super::kind::rows_at_once;
use super::super::port::{One, with};
use super::super::{Arena, Cell, Codec, Found, Op, Session, Shared, Steps, filters};
use super::bulk::pair;
use super::native::{newest_by_key, newest_from_end};

pub(super) struct KvSession<'a> {
    pub operations: &'a mut dyn Operations,
    pub cell: &'a Cell,
    pub codecs: &'a [Codec],
    pub tables: &'a [Table],
    pub arena: &'a Arena,
    pub buffers: &'a mut Buffers,
    /// See [`KvTables::by_values`](super::KvTables::by_values).
    pub by_values: bool,
}

/// The keys of a phase's operations.
#[derive(Clone, Copy)]
struct Keys<'a> {
    cell: &'a Cell,
    codec: &'a Codec,
    phase: usize,
    laid: Option<Strings<'a>>,
}

impl<'a> Keys<'a> {
    /// Returns the key of operation `i`, in `room` if it was not laid out.
    #[inline]
    fn at<'b>(&self, i: usize, room: &'b mut Vec<u8>) -> &'b [u8]
    where
        'a: 'b,
    {
        if let Some(keys) = self.laid {
            return keys.at(i);
        }
        self.codec.key(self.cell.key(self.phase, i), room);
        room
    }
}

impl<'a> KvSession<'a> {
    fn keys(&self, phase: usize, table: usize) -> Keys<'a> {
        let (cell, codec) = (self.cell, &self.codecs[table]);
        Keys { cell, codec, phase, laid: self.arena.strings(phase) }
    }

    /// Reads the row of a key.
    #[inline]
    fn get(&mut self, table: usize, key: &[u8], found: &mut Found) -> Result<()> {
        if let Some(value) = self.operations.get(self.tables[table], key)? {
            found.rows += Fingerprint::of_pair(key, value);
        }
        Ok(())
    }

    /// Inserts rows, from the arena if they were laid out.
    fn put(&mut self, phase: usize, table: usize, steps: impl Steps) -> Result<u64> {
        let (cell, codec, number) = (self.cell, &self.codecs[table], self.tables[table]);
        let Self { operations, buffers: Buffers { key, value, .. }, .. } = self;
        let pairs = self.arena.strings(phase);
        steps.each(|i| {
            let (key, value) = match pairs {
                Some(pairs) => codec.laid_pair(pairs.at(i)),
                None => {
                    pair(cell, codec, (phase, i), key, value);
                    (&**key, &**value)
                }
            };
            operations.put(number, key, value)
        })
    }

    /// Sets columns of the row of a key, in place.
    fn update(&mut self, phase: usize, i: usize, table: usize, key: &[u8]) -> Result<bool> {
        let (cell, codec) = (self.cell, &self.codecs[table]);
        self.operations.modify(self.tables[table], key, &mut |bytes| {
            for column in cell.set(phase, i) {
                codec.set(bytes, *column, cell.update_value(phase, i, *column));
            }
        })
    }

    /// Does operations of a phase. What they have in common is looked up once.
    fn work(&mut self, phase: usize, steps: impl Steps, found: &mut Found) -> Result<u64> {
        let cell = self.cell;
        let all = Op::new(cell, phase, 0);
        let (Op { work, table, .. }, op) = (all, |i| Op { i, ..all });
        let (keys, mut room) = (self.keys(phase, table), std::mem::take(&mut self.buffers.room));
        let done = match work {
            Work::Insert { .. } | Work::Upsert { .. } => {
                self.put(phase, table, steps).inspect(|rows| found.changed += rows)
            }
            Work::Get { .. } | Work::Open { .. } => {
                steps.each(|i| self.get(table, keys.at(i, &mut room), found))
            }
            work if rows_at_once(work) > 1 => steps.each(|i| self.change_span(op(i), found)),
            Work::Update { .. } => steps.each(|i| {
                let there = self.update(phase, i, table, keys.at(i, &mut room))?;
                found.changed += u64::from(there);
                Ok(())
            }),
            Work::ReadModifyWrite { .. } => steps.each(|i| {
                let key = keys.at(i, &mut room);
                self.get(table, key, found)?;
                found.changed += u64::from(self.update(phase, i, table, key)?);
                Ok(())
            }),
            Work::Delete { removed: Removed::Keys { .. }, .. } => steps.each(|i| {
                let key = keys.at(i, &mut room);
                found.changed += u64::from(self.operations.delete(self.tables[table], key)?);
                Ok(())
            }),
            Work::Delete { .. } => steps.each(|_| self.delete_older(all, found)),
            Work::Range(Range { span: Span::Rows { .. }, .. }) => {
                steps.each(|i| self.rows_from(op(i), keys.at(i, &mut room), found))
            }
            Work::Range(_) => steps.each(|i| self.between(table, &filters(cell, phase, i), found)),
            Work::Ask { query: Query::Latest { .. }, .. } if newest_from_end(cell, phase) => {
                steps.each(|i| self.newest_from_end(op(i), &mut found.rows))
            }
            &Work::Ask { query: Query::Latest { by, time }, .. } => {
                let (by_key, adds_up) = (newest_by_key(cell, phase), cell.adds_up(phase));
                steps.each(|i| {
                    if !adds_up {
                        found.rows = Checksum::default();
                    }
                    match (by_key, adds_up) {
                        (true, true) => self.newest_of_value(op(i), &mut found.rows),
                        (true, false) => self.newest_by_key(table, &mut found.rows),
                        _ => self.newest_of_all(op(i), (by, time), &mut found.rows),
                    }
                })
            }
            Work::Ask { query, .. } => steps.each(|i| self.answer(op(i), query, found)),
            Work::UpdateWhere { .. } => steps.each(|_| self.update_where(all, found)),
            Work::Sql(_) | Work::Mix(_) | Work::Sequence(_) | Work::Keep(_) | Work::Arrive(_) => {
                Ok(0)
            }
        };
        self.buffers.room = room;
        done
    }
}

#[cold]
pub(super) fn foreign() -> EngineError {
    EngineError::failed("the store", "return a row", "its pair was never written")
}

impl Session for KvSession<'_> {
    fn find_rows(&mut self, phase: usize) -> Result<usize> {
        let mut keys = std::mem::take(&mut self.buffers.found);
        keys.clear();
        self.filtered(Op::new(self.cell, phase, 0), |_, key, _| {
            keys.push(key.to_vec());
            ControlFlow::Continue(())
        })?;
        self.buffers.found = keys;
        Ok(self.buffers.found.len())
    }

    fn change(&mut self, phase: usize, n: usize, found: &mut Found) -> Result<()> {
        let op = Op::new(self.cell, phase, 0);
        let key = std::mem::take(&mut self.buffers.found[n]);
        let changed = match op.work {
            Work::Delete { .. } => self.operations.delete(self.tables[op.table], &key),
            _ => self.set_row(op, &key),
        };
        self.buffers.found[n] = key;
        found.changed += u64::from(changed?);
        Ok(())
    }

    fn perform(&mut self, phase: usize, i: usize, found: &mut Found) -> Result<()> {
        self.work(phase, One(i), found).map(drop)
    }

    fn each(&mut self, phase: usize, part: Shared<'_>, found: &mut Found) -> Result<u64> {
        self.work(phase, part, found)
    }
}

/// Memory for pairs on their way to and from the store.
#[derive(Default)]
pub(super) struct Buffers {
    pub(super) key: Vec<u8>,
    pub(super) value: Vec<u8>,
    /// Key of an operation that was not laid out.
    pub(super) room: Vec<u8>,
    pub(super) to: Vec<u8>,
    /// Keys found, to delete.
    pub(super) found: Vec<Vec<u8>>,
    /// Pairs found, to change: their bytes in sequence, and where each key and each value ends.
    pub(super) pairs: Vec<u8>,
    pub(super) ends: Vec<(usize, usize)>,
}

/// Visits the pairs of a range. `visit` returns `None` for a pair that is not one of the table's.
pub(super) fn scan(
    operations: &mut dyn Operations,
    table: Table,
    range: kv::Range<'_>,
    mut visit: impl FnMut(&[u8], &[u8]) -> Option<ControlFlow<()>>,
) -> Result<()> {
    let mut broken = false;
    operations.scan(table, range, &mut |key, value| {
        visit(key, value).unwrap_or_else(|| {
            broken = true;
            ControlFlow::Break(())
        })
    })?;
    if broken { Err(foreign()) } else { Ok(()) }
}

/// Returns what a pair adds: its bytes, or the values of its row.
#[inline]
pub(super) fn print(
    by_values: bool,
    codec: &Codec,
    key: &[u8],
    value: &[u8],
) -> Option<Fingerprint> {
    match by_values {
        true => codec.read(key, value, Fingerprint::default(), with),
        false => Some(Fingerprint::of_pair(key, value)),
    }
}
