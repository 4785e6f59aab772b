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

    /// Shows what the batch holds so far, in the order of the writes. These are only values: this
    /// is called once, before the first read and before the first removal.
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
/// the key exists. `remove` does not read. Reads in a batch see its changes.
pub struct Overlay<B> {
    below: B,
    is_batch: bool,
    /// Changes of a batch by table number, from the first read or removal on. A batch that only
    /// puts does not need them.
    seen: Option<Vec<Changes>>,
}

impl<B: BlindWrites> Overlay<B> {
    /// Wraps the tables of a scope. `below` writes each change at once or into a batch, or is a
    /// snapshot.
    pub fn new(scope: Scope, below: B) -> Self {
        Self { below, is_batch: scope == Scope::Batch, seen: None }
    }

    /// Loads the changes of a batch once, before its first read or removal. Later reads then see
    /// them.
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
        if range.is_empty() {
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

    fn remove(&mut self, table: Table, key: &[u8]) -> Result<()> {
        self.load_batch()?;
        self.set(table, key, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: Table = Table(0);

    /// A table that counts its reads, and the batch in front of it.
    #[derive(Default)]
    struct Counted {
        stored: BTreeMap<Vec<u8>, Vec<u8>>,
        batch: Vec<(Vec<u8>, Option<Vec<u8>>)>,
        gets: usize,
    }

    impl BlindWrites for Counted {
        fn get(&mut self, _: Table, key: &[u8]) -> Result<Option<&[u8]>> {
            self.gets += 1;
            Ok(self.stored.get(key).map(Vec::as_slice))
        }

        fn scan(&mut self, _: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
            let mut pairs = self.stored.range::<[u8], _>(range.bounds());
            let _ = pairs.try_for_each(|(key, value)| visit(key, value));
            Ok(())
        }

        fn set(&mut self, _: Table, key: &[u8], value: Option<&[u8]>) -> Result<()> {
            self.batch.push((key.to_vec(), value.map(<[u8]>::to_vec)));
            Ok(())
        }

        fn puts(&self, visit: &mut VisitPut<'_>) -> Result<()> {
            for (key, value) in &self.batch {
                visit(TABLE, key, value.as_ref().expect("nothing is removed before this call"));
            }
            Ok(())
        }
    }

    fn keys(operations: &mut dyn Operations) -> Vec<Vec<u8>> {
        let mut keys = Vec::new();
        let mut see = |key: &[u8], _: &[u8]| {
            keys.push(key.to_vec());
            ControlFlow::Continue(())
        };
        operations.scan(TABLE, Range::default(), &mut see).unwrap();
        keys
    }

    #[test]
    fn a_key_that_was_found_is_removed_without_a_read() {
        for scope in [Scope::PerOperation, Scope::Batch] {
            let mut below = Counted::default();
            below.stored.insert(b"old".to_vec(), b"1".to_vec());
            let mut overlay = Overlay::new(scope, below);
            overlay.remove(TABLE, b"old").unwrap();
            assert_eq!(overlay.below.gets, 0, "{scope:?}");
            assert_eq!(overlay.below.batch, [(b"old".to_vec(), None)], "{scope:?}");
        }
    }

    #[test]
    fn reads_of_a_batch_see_what_it_removed_before_they_began() {
        let mut below = Counted::default();
        below.stored.insert(b"old".to_vec(), b"1".to_vec());
        below.stored.insert(b"stays".to_vec(), b"1".to_vec());
        let mut overlay = Overlay::new(Scope::Batch, below);
        overlay.put(TABLE, b"new", b"2").unwrap();
        overlay.put(TABLE, b"gone", b"2").unwrap();
        overlay.remove(TABLE, b"old").unwrap();
        overlay.remove(TABLE, b"gone").unwrap();
        assert_eq!(overlay.get(TABLE, b"old").unwrap(), None);
        assert_eq!(overlay.get(TABLE, b"new").unwrap(), Some(&b"2"[..]));
        assert_eq!(keys(&mut overlay), [b"new".to_vec(), b"stays".to_vec()]);
        assert!(!overlay.delete(TABLE, b"gone").unwrap());
    }
}
