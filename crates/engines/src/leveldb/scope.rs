//! What each scope can do.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Included};

use smallvec::SmallVec;

use super::batch::Batch;
use super::db::{Value, View};
use super::{failed, whole};
use crate::Result;
use crate::kv::{Change, Direction, Operations, Range, Table, Visit};

/// Changes that are not written yet, by key: a value, or none where the key was removed. Short ones
/// lie in the map's own nodes.
type Changes = BTreeMap<SmallVec<[u8; 24]>, Option<SmallVec<[u8; 40]>>>;

/// A state to read from, and what reading needs.
pub(super) struct Reads<'a> {
    view: View<'a>,
    /// Room for a key, or for the ends of a scan.
    keys: &'a mut [Vec<u8>; 2],
    /// The value that was given out last.
    value: Option<Value<'a>>,
}

impl<'a> Reads<'a> {
    pub(super) fn of(view: View<'a>, keys: &'a mut [Vec<u8>; 2]) -> Self {
        Self { view, keys, value: None }
    }

    /// A key as the database has it.
    fn key(&mut self, table: Table, key: &[u8]) -> &[u8] {
        whole(&mut self.keys[0], table, key)
    }

    fn take(&mut self, table: Table, key: &[u8]) -> Result<Option<Value<'a>>> {
        let key = whole(&mut self.keys[0], table, key);
        self.view.get(key).map_err(failed("get a value"))
    }

    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        self.value = self.take(table, key)?;
        Ok(self.value.as_deref())
    }

    /// Visits what is stored, and in its place what was changed.
    pub(super) fn scan(
        &mut self,
        changes: &Changes,
        table: Table,
        range: Range<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let [from, to] = &mut *self.keys;
        let from = whole(from, table, range.from.unwrap_or_default());
        let to = match range.to {
            Some(end) => whole(to, table, end),
            None => whole(to, Table(table.0 + 1), &[]),
        };
        if from >= to {
            return Ok(());
        }
        let back = range.direction == Direction::Backward;
        let mut cursor = self.view.cursor();
        if back {
            cursor.seek_below(to)
        } else {
            cursor.seek(from)
        }
        let mut changes = changes.range::<[u8], _>((Included(from), Excluded(to)));
        let mut change_next = || if back { changes.next_back() } else { changes.next() };
        let mut change = change_next();
        loop {
            let stored =
                cursor.pair().filter(|(key, _)| if back { from <= *key } else { *key < to });
            // Which of them comes first.
            let order = match (stored, change) {
                (None, None) => break,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some((key, _)), Some((changed, _))) if back => (**changed).cmp(key),
                (Some((key, _)), Some((changed, _))) => key.cmp(changed),
            };
            let pair = match order {
                Ordering::Less => stored,
                _ => change.and_then(|(key, value)| Some((&**key, value.as_deref()?))),
            };
            if pair.is_some_and(|(key, value)| visit(&key[1..], value).is_break()) {
                break;
            }
            if order.is_le() {
                cursor.step(back);
            }
            if order.is_ge() {
                change = change_next();
            }
        }
        cursor.check().map_err(failed("scan"))
    }

    /// Visits what is stored.
    pub(super) fn scan_stored(
        &mut self,
        table: Table,
        range: Range<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        self.scan(&Changes::new(), table, range, visit)
    }
}

/// One snapshot.
pub(super) struct Snapshot<'a>(pub Reads<'a>);

impl Operations for Snapshot<'_> {
    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        self.0.get(table, key)
    }

    fn scan(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        self.0.scan_stored(table, range, visit)
    }
}

/// Each operation by itself.
pub(super) struct Alone<'a>(pub Reads<'a>);

impl Operations for Alone<'_> {
    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        self.0.get(table, key)
    }

    fn scan(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        self.0.scan_stored(table, range, visit)
    }

    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        let db = self.0.view.db;
        db.put(self.0.key(table, key), value).map_err(failed("put a value"))
    }

    fn modify(&mut self, table: Table, key: &[u8], change: &mut Change<'_>) -> Result<bool> {
        let Some(mut value) = self.0.take(table, key)? else { return Ok(false) };
        change(&mut value);
        self.put(table, key, &value).map(|()| true)
    }

    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        if self.0.take(table, key)?.is_none() {
            return Ok(false);
        }
        let db = self.0.view.db;
        db.delete(self.0.key(table, key)).map_err(failed("delete a key")).map(|()| true)
    }
}

/// Changes of one batch, and reads that see them.
pub(super) struct Writes<'a> {
    reads: Reads<'a>,
    pub batch: Batch<'a>,
    /// What the batch holds, from the first read on: who only writes has no need of it.
    changes: Option<Changes>,
}

impl<'a> Writes<'a> {
    pub(super) fn of(reads: Reads<'a>) -> Self {
        let batch = reads.view.db.batch();
        Self { reads, batch, changes: None }
    }

    /// The changes so far, and what to read else.
    fn seen(&mut self) -> (&mut Changes, &mut Reads<'a>) {
        let changes = self.changes.get_or_insert_with(|| {
            let mut changes = Changes::new();
            self.batch.changes(&mut |key, value| {
                changes.insert(key.into(), value.map(Into::into));
            });
            changes
        });
        (changes, &mut self.reads)
    }

    /// Adds a change: a value, or none to remove the key.
    fn add(&mut self, table: Table, key: &[u8], value: Option<&[u8]>) {
        let key = self.reads.key(table, key);
        match value {
            Some(value) => self.batch.put(key, value),
            None => self.batch.delete(key),
        }
        if let Some(changes) = &mut self.changes {
            changes.insert(key.into(), value.map(Into::into));
        }
    }
}

impl Operations for Writes<'_> {
    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        let (changes, reads) = self.seen();
        match changes.get(reads.key(table, key)) {
            Some(change) => Ok(change.as_deref()),
            None => reads.get(table, key),
        }
    }

    fn scan(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        let (changes, reads) = self.seen();
        reads.scan(changes, table, range, visit)
    }

    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        self.add(table, key, Some(value));
        Ok(())
    }

    fn modify(&mut self, table: Table, key: &[u8], change: &mut Change<'_>) -> Result<bool> {
        let Some(value) = self.get(table, key)? else { return Ok(false) };
        let mut value: SmallVec<[u8; 40]> = value.into();
        change(&mut value);
        self.put(table, key, &value).map(|()| true)
    }

    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        if self.get(table, key)?.is_none() {
            return Ok(false);
        }
        self.add(table, key, None);
        Ok(true)
    }
}
