//! Reads within a batch, for engines that write a batch at once and cannot read what it holds.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use smallvec::SmallVec;

use super::{Change, Direction, Operations, Range, Table, Visit};
use crate::{Result, Scope};

/// Tables whose writes do not read: each change is made at once, or goes to a batch that reads do
/// not see.
///
/// # Errors
/// Every call fails if the engine reports an error. A missing key is not an error.
pub trait BlindWrites {
    /// Returns the stored value of a key, valid until the next call.
    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>>;

    /// Visits the stored pairs of a range in key order.
    fn scan(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()>;

    /// Sets the value of a key or removes the key, whether it exists or not.
    ///
    /// # Errors
    /// The engine's error, or that this is a snapshot.
    fn set(&mut self, table: Table, key: &[u8], value: Option<&[u8]>) -> Result<()>;

    /// Shows what the batch holds so far, in the order of the writes. These are only values: no key
    /// is removed before the first read, which is when this is called.
    ///
    /// # Errors
    /// If the batch cannot be read back.
    fn puts(&self, visit: &mut VisitPut<'_>) -> Result<()>;
}

/// Receives the pairs that were put into a batch.
pub type VisitPut<'a> = dyn FnMut(Table, &[u8], &[u8]) + 'a;

/// Changes of a table. Short keys and values are stored in the map's own nodes.
type Changes = BTreeMap<SmallVec<[u8; 24]>, Option<SmallVec<[u8; 40]>>>;

/// The operations of a scope over [`BlindWrites`] tables. `delete` and `modify` first read whether
/// the key exists. Reads in a batch see its changes.
pub struct Overlay<B> {
    below: B,
    is_batch: bool,
    /// Changes of a batch by table number, from the first read on. A batch that only writes does
    /// not need them.
    seen: Option<Vec<Changes>>,
}

impl<B: BlindWrites> Overlay<B> {
    /// Wraps the tables of a scope. `below` writes each change at once or into a batch, or is a
    /// snapshot.
    pub fn new(scope: Scope, below: B) -> Self {
        Self { below, is_batch: scope == Scope::Batch, seen: None }
    }

    /// Loads the changes of a batch once, before its first read. Later reads then see them.
    #[inline]
    fn load_batch(&mut self) -> Result<()> {
        if self.is_batch && self.seen.is_none() { self.read_batch() } else { Ok(()) }
    }

    #[cold]
    fn read_batch(&mut self) -> Result<()> {
        let mut seen = Vec::new();
        self.below
            .puts(&mut |table, key, value| record_change(&mut seen, table, key, Some(value)))?;
        self.seen = Some(seen);
        Ok(())
    }

    fn set(&mut self, table: Table, key: &[u8], value: Option<&[u8]>) -> Result<()> {
        self.below.set(table, key, value)?;
        if let Some(seen) = &mut self.seen {
            record_change(seen, table, key, value);
        }
        Ok(())
    }
}

fn record_change(seen: &mut Vec<Changes>, Table(table): Table, key: &[u8], value: Option<&[u8]>) {
    if seen.len() <= table {
        seen.resize_with(table + 1, Changes::new);
    }
    seen[table].insert(key.into(), value.map(Into::into));
}

impl<B: BlindWrites> Operations for Overlay<B> {
    #[inline]
    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        self.load_batch()?;
        let changes = self.seen.as_ref().and_then(|seen| seen.get(table.0));
        match changes.and_then(|changes| changes.get(key)) {
            Some(change) => Ok(change.as_deref()),
            None => self.below.get(table, key),
        }
    }

    /// Visits a change before the stored pair that follows it, or instead of its own pair.
    fn scan(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        self.load_batch()?;
        let changes = self.seen.as_ref().and_then(|seen| seen.get(table.0));
        let Some(changes) = changes.filter(|changes| !changes.is_empty()) else {
            return self.below.scan(table, range, visit);
        };
        if matches!((range.from, range.to), (Some(from), Some(to)) if from >= to) {
            return Ok(());
        }
        let back = range.direction == Direction::Backward;
        let mut changes = changes.range::<[u8], _>(range.bounds());
        let mut next = || if back { changes.next_back() } else { changes.next() };
        let (mut change, mut flow) = (next(), ControlFlow::Continue(()));
        self.below.scan(table, range, &mut |key, value| {
            while let Some((changed, now)) = change {
                let order = if back { key.cmp(changed) } else { (**changed).cmp(key) };
                if order.is_gt() {
                    break;
                }
                change = next();
                flow = now.as_deref().map_or(flow, |now| visit(changed, now));
                if order.is_eq() || flow.is_break() {
                    return flow;
                }
            }
            flow = visit(key, value);
            flow
        })?;
        while let (Some((changed, now)), ControlFlow::Continue(())) = (change, flow) {
            change = next();
            flow = now.as_deref().map_or(flow, |now| visit(changed, now));
        }
        Ok(())
    }

    #[inline]
    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        self.set(table, key, Some(value))
    }

    fn modify(&mut self, table: Table, key: &[u8], change: &mut Change<'_>) -> Result<bool> {
        let Some(found) = self.get(table, key)? else { return Ok(false) };
        let mut value = SmallVec::<[u8; 40]>::from_slice(found);
        change(&mut value);
        self.set(table, key, Some(&value)).map(|()| true)
    }

    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        let there = self.get(table, key)?.is_some();
        if there { self.set(table, key, None).map(|()| true) } else { Ok(false) }
    }
}
