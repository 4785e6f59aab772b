//! Cursors.

use std::ops::ControlFlow::{self, Break, Continue};
use std::ptr;

use super::{NOTHING, bytes, check, ffi, found, val};
use crate::Result;
use crate::kv::{Range, Visit};

/// A cursor in a transaction, closed when dropped.
pub(super) struct Cursor(*mut ffi::MDB_cursor);

impl Cursor {
    /// Opens a cursor.
    ///
    /// # Safety
    /// The transaction is under way and stays so until the cursor is dropped.
    pub(super) unsafe fn open(txn: *mut ffi::MDB_txn, dbi: ffi::MDB_dbi) -> Result<Self> {
        let mut raw = ptr::null_mut();
        // SAFETY: the caller's promise.
        check(unsafe { ffi::mdb_cursor_open(txn, dbi, &mut raw) }, "open a cursor")?;
        Ok(Self(raw))
    }

    /// Moves to a pair; `key` matters to moves by key alone.
    #[inline]
    pub(super) fn step(
        &mut self,
        to: ffi::MDB_cursor_op,
        key: &[u8],
    ) -> Result<Option<(&[u8], &[u8])>> {
        let (mut key, mut value) = (val(key), NOTHING);
        // SAFETY: open, its transaction under way.
        let code = unsafe { ffi::mdb_cursor_get(self.0, &mut key, &mut value, to) };
        if !found(code, "move a cursor")? {
            return Ok(None);
        }
        // SAFETY: in the map until the transaction changes something, which borrows the store.
        Ok(Some(unsafe { (bytes(key), bytes(value)) }))
    }

    /// Puts a pair.
    #[inline]
    pub(super) fn put(&mut self, key: &[u8], value: &[u8], flags: u32) -> Result<()> {
        let (mut key, mut value) = (val(key), val(value));
        // SAFETY: open, its transaction under way; both are only read.
        check(unsafe { ffi::mdb_cursor_put(self.0, &mut key, &mut value, flags) }, "put a value")
    }

    /// Visits a range in ascending order.
    pub(super) fn forward(
        &mut self,
        range: Range<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<ControlFlow<()>> {
        let (mut to, key) = match range.from {
            Some(from) if !from.is_empty() => (ffi::MDB_SET_RANGE, from),
            _ => (ffi::MDB_FIRST, &[][..]),
        };
        while let Some((key, value)) = self.step(to, key)? {
            if range.to.is_some_and(|to| key >= to) || visit(key, value).is_break() {
                return Ok(Break(()));
            }
            to = ffi::MDB_NEXT;
        }
        Ok(Continue(()))
    }

    /// Visits a range in descending order.
    pub(super) fn backward(
        &mut self,
        range: Range<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<ControlFlow<()>> {
        let above = match range.to {
            Some([]) => return Ok(Continue(())),
            Some(to) => self.step(ffi::MDB_SET_RANGE, to)?.is_some(),
            None => false,
        };
        let mut to = if above { ffi::MDB_PREV } else { ffi::MDB_LAST };
        while let Some((key, value)) = self.step(to, &[])? {
            if range.from.is_some_and(|from| key < from) || visit(key, value).is_break() {
                return Ok(Break(()));
            }
            to = ffi::MDB_PREV;
        }
        Ok(Continue(()))
    }
}

impl Drop for Cursor {
    fn drop(&mut self) {
        // SAFETY: open, its transaction under way by the promise to `open`, and not used again.
        unsafe { ffi::mdb_cursor_close(self.0) };
    }
}
