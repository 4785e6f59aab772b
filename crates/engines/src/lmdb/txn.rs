//! LMDB's transactions and cursors as handles that end what they began, and what is done in them.
//!
//! What a transaction gives out lies in the map, and stays as it is until that transaction changes
//! something or ends: it is borrowed from the transaction, whose changes need it whole.

use std::ffi::CStr;
use std::marker::PhantomData;
use std::ptr;
use std::sync::Arc;

use smallvec::SmallVec;

use super::ffi::*;
use crate::Result;
use crate::kv::{Change, Direction, Operations, Pairs, Range, Table, Visit};
use crate::owned::Owned;
use crate::per_table::PerTable;

/// A transaction, undone when dropped. Its operations only read.
pub(super) struct Txn {
    raw: Owned<MDB_txn>,
    /// Stays open as long as the transaction.
    _env: Arc<Env>,
}

impl Txn {
    fn begin(env: &Arc<Env>, flags: u32) -> Result<Self> {
        let mut raw = ptr::null_mut();
        // SAFETY: the environment is open.
        check(unsafe { mdb_txn_begin(env.0.raw, ptr::null_mut(), flags, &mut raw) }, "begin")?;
        // SAFETY: ours; the environment is held.
        Ok(Self { raw: unsafe { Owned::new(raw, mdb_txn_abort) }, _env: Arc::clone(env) })
    }

    #[inline]
    fn open_cursor(&self, dbi: MDB_dbi) -> Result<*mut MDB_cursor> {
        let mut raw = ptr::null_mut();
        // SAFETY: under way.
        check(unsafe { mdb_cursor_open(self.raw.raw, dbi, &mut raw) }, "open a cursor")?;
        Ok(raw)
    }
}

impl Operations for Txn {
    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        let (mut key, mut value) = (val(key), NOTHING);
        // SAFETY: under way; the key is only read.
        let code = unsafe { mdb_get(self.raw.raw, dbi(table), &mut key, &mut value) };
        // SAFETY: found, so it is in the map until the transaction changes something or ends.
        Ok(found(code, "get a value")?.then(|| unsafe { bytes(value) }))
    }

    /// No key is empty, and the library looks for none that is.
    fn scan(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        let mut cursor = Cursor::open(self, table)?;
        let (from, to) = (range.from.unwrap_or_default(), range.to);
        let forward = range.direction == Direction::Forward;
        let mut at = match to {
            _ if forward && from.is_empty() => cursor.step(MDB_FIRST, &[])?,
            _ if forward => cursor.step(MDB_SET_RANGE, from)?,
            Some([]) => None,
            Some(to) if cursor.step(MDB_SET_RANGE, to)?.is_some() => cursor.step(MDB_PREV, &[])?,
            _ => cursor.step(MDB_LAST, &[])?,
        };
        let next = if forward { MDB_NEXT } else { MDB_PREV };
        let is_in = |key| if forward { to.is_none_or(|to| key < to) } else { key >= from };
        while let Some((key, value)) = at
            && is_in(key)
            && visit(key, value).is_continue()
        {
            at = cursor.step(next, &[])?;
        }
        Ok(())
    }

    /// As the root of the table's tree has it.
    fn count(&mut self, table: Table) -> Result<Option<u64>> {
        // SAFETY: a plain C struct of integers, for which zeros are valid.
        let mut stat = unsafe { std::mem::zeroed::<MDB_stat>() };
        // SAFETY: under way; fills the struct.
        check(unsafe { mdb_stat(self.raw.raw, dbi(table), &mut stat) }, "count the keys")?;
        Ok(Some(stat.ms_entries as u64))
    }
}

/// A transaction that reads, between two snapshots: reset when one ends and renewed when the next
/// begins, as the manual advises.
pub(super) struct Reader(Txn);

impl Reader {
    /// Of an environment.
    pub fn of(env: &Arc<Env>) -> Result<Self> {
        let txn = Txn::begin(env, MDB_RDONLY)?;
        // SAFETY: under way.
        unsafe { mdb_txn_reset(txn.raw.raw) };
        Ok(Self(txn))
    }

    /// Begins a snapshot.
    #[inline]
    pub fn snapshot(&mut self) -> Result<Snapshot<'_>> {
        // SAFETY: reset, for a snapshot that lasts borrows it.
        check(unsafe { mdb_txn_renew(self.0.raw.raw) }, "begin to read")?;
        Ok(Snapshot(&mut self.0))
    }
}

/// A snapshot, which ends when it is dropped.
pub(super) struct Snapshot<'reader>(pub &'reader mut Txn);

impl Drop for Snapshot<'_> {
    fn drop(&mut self) {
        // SAFETY: under way; nothing is borrowed from it any more.
        unsafe { mdb_txn_reset(self.0.raw.raw) };
    }
}

/// A transaction that reads and writes.
pub(super) struct Writer {
    txn: Txn,
    /// Those that change values, closed by the end of the transaction.
    cursors: PerTable<*mut MDB_cursor>,
}

impl Writer {
    /// Begins once no other writes.
    pub fn begin(env: &Arc<Env>) -> Result<Self> {
        Ok(Self { txn: Txn::begin(env, 0)?, cursors: PerTable::new() })
    }

    /// Commits.
    pub fn commit(self) -> Result<()> {
        // SAFETY: under way, and forgotten whatever this returns.
        check(unsafe { mdb_txn_commit(self.txn.raw.take()) }, "commit")
    }

    /// Opens a named database; `MDB_CREATE` makes it where there is none. (A transaction that does
    /// so may not run beside another that does; two that write never do.)
    pub fn open(&mut self, name: &CStr, flags: u32) -> Result<Table> {
        let (raw, mut dbi) = (self.txn.raw.raw, 0);
        // SAFETY: under way; the name lives through the call.
        check(unsafe { mdb_dbi_open(raw, name.as_ptr(), flags, &mut dbi) }, "open a table")?;
        Ok(Table(dbi as usize))
    }

    /// The cursor that changes a table.
    #[inline]
    fn changing(&mut self, table: Table) -> Result<*mut MDB_cursor> {
        let Self { txn, cursors } = self;
        cursors.of(table, |table| txn.open_cursor(dbi(table))).copied()
    }

    /// Adds pairs above all others; how many.
    pub fn append(&mut self, table: Table, pairs: &mut dyn Pairs) -> Result<u64> {
        let (cursor, mut rows) = (self.changing(table)?, 0);
        while let Some((key, value)) = pairs.next() {
            let (mut key, mut value) = (val(key), val(value));
            // SAFETY: open; both are only read.
            let code = unsafe { mdb_cursor_put(cursor, &mut key, &mut value, MDB_APPEND) };
            check(code, "append a pair")?;
            rows += 1;
        }
        Ok(rows)
    }

    /// Removes every key of a table.
    pub fn clear(&mut self, table: Table) -> Result<()> {
        // SAFETY: under way; 0 empties the database and keeps it.
        check(unsafe { mdb_drop(self.txn.raw.raw, dbi(table), 0) }, "clear a table")
    }
}

impl Operations for Writer {
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
        let (raw, mut key, mut value) = (self.txn.raw.raw, val(key), val(value));
        // SAFETY: under way; both are only read.
        check(unsafe { mdb_put(raw, dbi(table), &mut key, &mut value, 0) }, "put a value")
    }

    /// By a copy: a page of the map may not be written before the library has made one that is the
    /// transaction's own.
    fn modify(&mut self, table: Table, key: &[u8], change: &mut Change<'_>) -> Result<bool> {
        let (cursor, mut at, mut value) = (self.changing(table)?, val(key), NOTHING);
        // SAFETY: open; the key is only read.
        let code = unsafe { mdb_cursor_get(cursor, &mut at, &mut value, MDB_SET) };
        if !found(code, "get a value")? {
            return Ok(false);
        }
        // SAFETY: found, so it is in the map until the change below.
        let mut copy = SmallVec::<[u8; 64]>::from_slice(unsafe { bytes(value) });
        change(&mut copy);
        value = val(&copy);
        // SAFETY: open, at that key; both are only read.
        let code = unsafe { mdb_cursor_put(cursor, &mut at, &mut value, MDB_CURRENT) };
        check(code, "replace a value").map(|()| true)
    }

    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        let (raw, mut key) = (self.txn.raw.raw, val(key));
        // SAFETY: under way; the key is only read.
        found(unsafe { mdb_del(raw, dbi(table), &mut key, ptr::null_mut()) }, "delete a key")
    }
}

/// The library's handle of a table, which is its number.
const fn dbi(table: Table) -> MDB_dbi {
    table.0 as MDB_dbi
}

/// A cursor that reads, within its transaction; closed when dropped.
struct Cursor<'txn>(Owned<MDB_cursor>, PhantomData<&'txn Txn>);

impl<'txn> Cursor<'txn> {
    fn open(txn: &'txn Txn, table: Table) -> Result<Self> {
        let raw = txn.open_cursor(dbi(table))?;
        // SAFETY: ours; its transaction is borrowed.
        Ok(Self(unsafe { Owned::new(raw, mdb_cursor_close) }, PhantomData))
    }

    /// Moves to a pair; `key` matters to moves by key alone.
    #[inline]
    fn step(&mut self, to: MDB_cursor_op, key: &[u8]) -> Result<Option<(&'txn [u8], &'txn [u8])>> {
        let (mut key, mut value) = (val(key), NOTHING);
        // SAFETY: open; the key is only read.
        let code = unsafe { mdb_cursor_get(self.0.raw, &mut key, &mut value, to) };
        // SAFETY: found, so both are in the map until the transaction changes something or ends.
        Ok(found(code, "move a cursor")?.then(|| unsafe { (bytes(key), bytes(value)) }))
    }
}
