//! Transactions and cursors as handles that end what they began, and their operations.
//!
//! Data that a transaction returns is in the map, and stays valid until the transaction changes
//! something or ends. So it borrows from the transaction, and changes need exclusive access to it.

use std::ffi::CStr;
use std::ptr;
use std::sync::Arc;

use smallvec::SmallVec;

use super::library::{CursorMove, Env, Library, Pair, Write, check, found};
use crate::Result;
use crate::kv::{Change, Direction, Operations, Pairs, Range, Table, Visit};
use crate::owned::Owned;
use crate::per_table::PerTable;

/// A transaction, aborted when dropped. Its operations only read.
pub(super) struct Txn<L: Library> {
    raw: Owned<L::Txn, L::Ended>,
    /// Keeps the environment open.
    _env: Arc<Env<L>>,
}

impl<L: Library> Txn<L> {
    fn begin(env: &Arc<Env<L>>, reads: bool) -> Result<Self> {
        let mut raw = ptr::null_mut();
        // SAFETY: the environment is open.
        check::<L>(unsafe { L::begin(env.0.raw, reads, &mut raw) }, "begin")?;
        // SAFETY: ours; the environment is kept alive.
        Ok(Self { raw: unsafe { Owned::new(raw, L::ABORT) }, _env: Arc::clone(env) })
    }

    #[inline]
    fn open_cursor(&self, table: Table) -> Result<Owned<L::Cursor>> {
        let mut raw = ptr::null_mut();
        // SAFETY: the transaction is open.
        let code = unsafe { (L::OPEN_CURSOR)(self.raw.raw, dbi(table), &mut raw) };
        check::<L>(code, "open a cursor")?;
        // SAFETY: ours; whoever has it closes it before the transaction is freed.
        Ok(unsafe { Owned::new(raw, L::CLOSE_CURSOR) })
    }
}

impl<L: Library> Operations for Txn<L> {
    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        let mut pair = Pair::new(key, &[]);
        // SAFETY: the transaction is open; the key is only read.
        let code = unsafe { L::get(self.raw.raw, dbi(table), &mut pair) };
        // SAFETY: it was found, so it is in the map until the transaction changes something or
        // ends.
        Ok(found::<L>(code, "get a value")?.then(|| unsafe { L::bytes(pair.value) }))
    }

    fn scan(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        let cursor = self.open_cursor(table)?;
        Cursor::<L>(&cursor).walk(range, visit)
    }

    /// Reads the count from the root of the table's tree.
    fn count(&mut self, table: Table) -> Result<Option<u64>> {
        let mut keys = 0;
        // SAFETY: the transaction is open.
        let code = unsafe { L::count(self.raw.raw, dbi(table), &mut keys) };
        check::<L>(code, "count the keys").map(|()| Some(keys))
    }
}

/// A transaction that reads, between two snapshots. It is reset when one ends and renewed when the
/// next begins, as the manuals advise. A cursor is renewed for its first scan in a snapshot.
pub(super) struct Reader<L: Library> {
    /// They are dropped before the transaction.
    cursors: PerTable<RenewedCursor<L>>,
    txn: Txn<L>,
    /// Number of the newest snapshot.
    snapshot: u64,
}

/// A cursor, and the number of the snapshot that it can read.
struct RenewedCursor<L: Library> {
    raw: Owned<L::Cursor>,
    snapshot: u64,
}

impl<L: Library> Reader<L> {
    pub fn new(env: &Arc<Env<L>>) -> Result<Self> {
        let txn = Txn::begin(env, true)?;
        // SAFETY: the transaction is open.
        unsafe { (L::RESET)(txn.raw.raw) };
        Ok(Self { cursors: PerTable::new(), txn, snapshot: 0 })
    }

    #[inline]
    pub fn snapshot(&mut self) -> Result<Snapshot<'_, L>> {
        // SAFETY: the transaction is reset, since a snapshot that still lasted would borrow it.
        check::<L>(unsafe { (L::RENEW)(self.txn.raw.raw) }, "begin to read")?;
        self.snapshot += 1;
        Ok(Snapshot(self))
    }
}

/// A snapshot, which ends when it is dropped.
pub(super) struct Snapshot<'reader, L: Library>(&'reader mut Reader<L>);

impl<L: Library> Drop for Snapshot<'_, L> {
    fn drop(&mut self) {
        // SAFETY: the transaction is open; nothing is borrowed from it any more. Its cursors are
        // not used before they are renewed.
        unsafe { (L::RESET)(self.0.txn.raw.raw) };
    }
}

impl<L: Library> Operations for Snapshot<'_, L> {
    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        self.0.txn.get(table, key)
    }

    fn scan(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        let Reader { cursors, txn, snapshot } = &mut *self.0;
        let cursor = cursors.get(table, |table| {
            Ok(RenewedCursor { raw: txn.open_cursor(table)?, snapshot: *snapshot })
        })?;
        if cursor.snapshot != *snapshot {
            // SAFETY: both are open; the cursor was opened in this transaction, for a table that
            // stays open.
            let code = unsafe { (L::RENEW_CURSOR)(txn.raw.raw, cursor.raw.raw) };
            check::<L>(code, "renew a cursor")?;
            cursor.snapshot = *snapshot;
        }
        Cursor::<L>(&cursor.raw).walk(range, visit)
    }

    fn count(&mut self, table: Table) -> Result<Option<u64>> {
        self.0.txn.count(table)
    }
}

/// A transaction that reads and writes.
pub(super) struct Writer<L: Library> {
    /// Cursors that change values. They are dropped before the transaction.
    cursors: PerTable<Owned<L::Cursor>>,
    txn: Txn<L>,
}

impl<L: Library> Writer<L> {
    /// Begins once no other transaction writes.
    pub fn begin(env: &Arc<Env<L>>) -> Result<Self> {
        Ok(Self { txn: Txn::begin(env, false)?, cursors: PerTable::new() })
    }

    pub fn commit(self) -> Result<()> {
        drop(self.cursors);
        // SAFETY: the transaction is open, and is forgotten whatever this returns.
        check::<L>(unsafe { L::commit(self.txn.raw.take()) }, "commit")
    }

    /// Opens a named database. (A transaction that creates one must not run at the same time as
    /// another that does. Two write transactions never do.)
    pub fn open(&mut self, name: &CStr, creates: bool) -> Result<Table> {
        let (flags, mut dbi) = (if creates { L::CREATE } else { 0 }, 0);
        // SAFETY: the transaction is open; the name lives through the call.
        let code = unsafe { (L::OPEN_TABLE)(self.txn.raw.raw, name.as_ptr(), flags, &mut dbi) };
        check::<L>(code, "open a table").map(|()| Table(dbi as usize))
    }

    #[inline]
    fn changing(&mut self, table: Table) -> Result<*mut L::Cursor> {
        let Self { txn, cursors } = self;
        cursors.get(table, |table| txn.open_cursor(table)).map(|cursor| cursor.raw)
    }

    /// Appends pairs above all others. Returns their number.
    pub fn append(&mut self, table: Table, pairs: &mut dyn Pairs) -> Result<u64> {
        let (cursor, mut rows) = (self.changing(table)?, 0);
        while let Some((key, value)) = pairs.next() {
            // SAFETY: open; both are only read.
            let code = unsafe { L::write(cursor, &mut Pair::new(key, value), Write::Append) };
            check::<L>(code, "append a pair")?;
            rows += 1;
        }
        Ok(rows)
    }

    /// Removes the keys from `from` (inclusive) to `to` (exclusive).
    pub fn delete_range(&mut self, table: Table, from: &[u8], to: &[u8]) -> Result<()> {
        let (cursor, mut pair) = (self.changing(table)?, Pair::<L>::new(from, &[]));
        // Keys are never empty, and LMDB cannot search for an empty one.
        let mut at = if from.is_empty() { CursorMove::First } else { CursorMove::From };
        loop {
            // SAFETY: open; the key is only read.
            let code = unsafe { pair.find(cursor, at) };
            // SAFETY: it was found, so its key is in the map until the change below.
            if !found::<L>(code, "find a key")? || unsafe { L::bytes(pair.key) } >= to {
                return Ok(());
            }
            // SAFETY: open, at that key.
            check::<L>(unsafe { L::delete_at(cursor) }, "delete a key")?;
            at = CursorMove::Next;
        }
    }

    pub fn clear(&mut self, table: Table) -> Result<()> {
        // SAFETY: the transaction is open.
        check::<L>(unsafe { L::clear(self.txn.raw.raw, dbi(table)) }, "clear a table")
    }
}

impl<L: Library> Operations for Writer<L> {
    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        self.txn.get(table, key)
    }

    fn scan(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        self.txn.scan(table, range, visit)
    }

    fn count(&mut self, table: Table) -> Result<Option<u64>> {
        self.txn.count(table)
    }

    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        // SAFETY: the transaction is open; both are only read.
        let code = unsafe { L::put(self.txn.raw.raw, dbi(table), &mut Pair::new(key, value)) };
        check::<L>(code, "put a value")
    }

    /// Changes a copy: a page of the map must not be written before the library has made one for
    /// this transaction.
    fn modify(&mut self, table: Table, key: &[u8], change: &mut Change<'_>) -> Result<bool> {
        let (cursor, mut pair) = (self.changing(table)?, Pair::<L>::new(key, &[]));
        // SAFETY: open; the key is only read.
        let code = unsafe { pair.find(cursor, CursorMove::At) };
        if !found::<L>(code, "get a value")? {
            return Ok(false);
        }
        // SAFETY: it was found, so it is in the map until the change below.
        let mut copy = SmallVec::<[u8; 64]>::from_slice(unsafe { L::bytes(pair.value) });
        change(&mut copy);
        pair.value = L::val(&copy);
        // SAFETY: open, at that key; both are only read.
        let code = unsafe { L::write(cursor, &mut pair, Write::Replace) };
        check::<L>(code, "replace a value").map(|()| true)
    }

    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        let mut key = L::val(key);
        // SAFETY: the transaction is open; the key is only read.
        let code = unsafe { L::delete(self.txn.raw.raw, dbi(table), &mut key) };
        found::<L>(code, "delete a key")
    }
}

/// Returns the library's handle of a table, which is its number.
const fn dbi(table: Table) -> u32 {
    table.0 as u32
}

/// An open cursor that reads. Its transaction neither changes anything nor ends meanwhile.
struct Cursor<'txn, L: Library>(&'txn Owned<L::Cursor>);

impl<'txn, L: Library> Cursor<'txn, L> {
    /// Visits the pairs of a range. Keys are never empty, and LMDB cannot search for an empty one.
    fn walk(&self, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        let (from, to) = (range.from.unwrap_or_default(), range.to);
        let forward = range.direction == Direction::Forward;
        let mut at = match to {
            _ if forward && from.is_empty() => self.move_cursor(CursorMove::First, &[])?,
            _ if forward => self.move_cursor(CursorMove::From, from)?,
            Some([]) => None,
            Some(to) if self.move_cursor(CursorMove::From, to)?.is_some() => {
                self.move_cursor(CursorMove::Previous, &[])?
            }
            _ => self.move_cursor(CursorMove::Last, &[])?,
        };
        let next = if forward { CursorMove::Next } else { CursorMove::Previous };
        let is_in = |key| if forward { to.is_none_or(|to| key < to) } else { key >= from };
        while let Some((key, value)) = at
            && is_in(key)
            && visit(key, value).is_continue()
        {
            at = self.move_cursor(next, &[])?;
        }
        Ok(())
    }

    /// Moves to a pair. Only moves by key use `key`.
    #[inline]
    fn move_cursor(&self, to: CursorMove, key: &[u8]) -> Result<Option<(&'txn [u8], &'txn [u8])>> {
        let mut pair = Pair::<L>::new(key, &[]);
        // SAFETY: open; the key is only read.
        let code = unsafe { pair.find(self.0.raw, to) };
        let is_found = found::<L>(code, "move a cursor")?;
        // SAFETY: it was found, so key and value are in the map until the transaction changes
        // something or ends.
        Ok(is_found.then(|| unsafe { (L::bytes(pair.key), L::bytes(pair.value)) }))
    }
}
