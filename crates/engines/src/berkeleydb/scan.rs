//! Walking a table with a cursor.

use std::ffi::c_int;
use std::ops::ControlFlow::{self, Break, Continue};
use std::ptr;

use super::ID;
use super::batch::Batch;
use super::env::{check, found, size};
use super::ffi::{self, To};
use crate::kv::{Range, Visit};
use crate::{EngineError, Result};

/// Pairs fetched one by one before a scan goes over to batches: a batch copies a page and more,
/// which a scan for the first few pairs of a range would pay for nothing.
const SINGLE: u32 = 8;
/// Bytes of the first batch, and of the largest; each is four times the one before.
const BATCH: (usize, usize) = (4 << 10, 64 << 10);

/// A cursor of one scan, closed when dropped.
pub(super) struct Scan(*mut ffi::Cursor);

/// A pair in the library's memory.
type Pair<'a> = (&'a [u8], &'a [u8]);

/// Bytes the library points to.
///
/// # Safety
/// `at` points to `size` bytes that stay as they are for the lifetime chosen, or `size` is zero.
#[inline]
pub(super) const unsafe fn bytes<'a>(at: *const u8, size: u32) -> &'a [u8] {
    if size == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(at, size as usize) }
}

/// Moves a cursor and returns the pair it then stands on. `key` matters to moves by key alone.
///
/// # Safety
/// The cursor is open, and is neither used nor closed while the pair is.
#[inline]
pub(super) unsafe fn step<'a>(
    cursor: *mut ffi::Cursor,
    to: To,
    key: &[u8],
) -> Result<Option<Pair<'a>>> {
    let (mut key_at, mut key_size) = (key.as_ptr(), size(key)?);
    let (mut value_at, mut value_size) = (ptr::null(), 0);
    // SAFETY: the caller's promise; the key lives through the call and is only read.
    let code = unsafe {
        ffi::ember_move(cursor, to, &mut key_at, &mut key_size, &mut value_at, &mut value_size)
    };
    if !found(code, "move a cursor")? {
        return Ok(None);
    }
    // SAFETY: found, so both are in the cursor's memory until it moves or is closed.
    Ok(Some(unsafe { (bytes(key_at, key_size), bytes(value_at, value_size)) }))
}

impl Scan {
    /// Opens a cursor.
    ///
    /// # Safety
    /// Both handles are open, `txn` may be null, and both outlive the scan.
    pub(super) unsafe fn open(db: *mut ffi::Db, txn: *mut ffi::Txn) -> Result<Self> {
        let mut cursor = ptr::null_mut();
        // SAFETY: the caller's promise.
        check(unsafe { ffi::ember_cursor(db, txn, &mut cursor) }, "open a cursor")?;
        Ok(Self(cursor))
    }

    /// Closes the cursor, telling of an error.
    pub(super) fn close(self) -> Result<()> {
        let cursor = std::mem::ManuallyDrop::new(self).0;
        // SAFETY: open, and forgotten.
        check(unsafe { ffi::ember_cursor_close(cursor) }, "close a cursor")
    }

    fn step(&mut self, to: To, key: &[u8]) -> Result<Option<Pair<'_>>> {
        // SAFETY: open; the pair borrows `self`, so the cursor rests while it is used.
        unsafe { step(self.0, to, key) }
    }

    /// Visits a range in ascending order, in batches once it proves to be long.
    pub(super) fn forward(
        &mut self,
        range: Range<'_>,
        batch: &mut Batch,
        visit: &mut Visit<'_>,
    ) -> Result<ControlFlow<()>> {
        let ends = |key: &[u8]| range.to.is_some_and(|to| key >= to);
        let (mut to, key) = range.from.map_or((To::First, &[][..]), |from| (To::AtLeast, from));
        for _ in 0..SINGLE {
            match self.step(to, key)? {
                Some((key, value)) if !ends(key) && visit(key, value).is_continue() => {}
                _ => return Ok(Break(())),
            }
            to = To::Next;
        }
        let mut bytes = BATCH.0;
        loop {
            batch.reset(bytes);
            let mut needed = 0;
            // SAFETY: open; `reset` made the buffer at least `bytes` large, below 4 GiB.
            let code =
                unsafe { ffi::ember_next_batch(self.0, batch.raw().0, bytes as u32, &mut needed) };
            if code == ffi::TOO_SMALL {
                bytes = larger(bytes, needed)?;
                continue;
            }
            if !found(code, "fetch a batch")? {
                return Ok(Continue(()));
            }
            for (key, value) in batch.pairs(bytes) {
                if ends(key) || visit(key, value).is_break() {
                    return Ok(Break(()));
                }
            }
            bytes = bytes.max(BATCH.1.min(bytes * 4));
        }
    }

    /// Visits the pairs that a secondary index, whose cursor it is, leads to.
    pub(super) fn find(&mut self, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        let mut from = Some(range.from.unwrap_or_default());
        loop {
            let (mut index, mut key, mut value) =
                ((ptr::null(), 0), (ptr::null(), 0), (ptr::null(), 0));
            let seek = from.take();
            if let Some(from) = seek {
                index = (from.as_ptr(), size(from)?);
            }
            // SAFETY: open; where it seeks, the bytes live through the call and are only read.
            let code = unsafe {
                ffi::ember_find(
                    self.0,
                    c_int::from(seek.is_some()),
                    &mut index.0,
                    &mut index.1,
                    &mut key.0,
                    &mut key.1,
                    &mut value.0,
                    &mut value.1,
                )
            };
            if !found(code, "move in an index")? {
                return Ok(());
            }
            // SAFETY: found, so all three are in the cursor's memory until it moves.
            let (index, key, value) =
                unsafe { (bytes(index.0, index.1), bytes(key.0, key.1), bytes(value.0, value.1)) };
            if range.to.is_some_and(|to| index >= to) || visit(key, value).is_break() {
                return Ok(());
            }
        }
    }

    /// Visits a range in descending order; the library has no batches that way.
    pub(super) fn backward(
        &mut self,
        range: Range<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<ControlFlow<()>> {
        let above = match range.to {
            Some(to) => self.step(To::AtLeast, to)?.is_some(),
            None => false,
        };
        let mut to = if above { To::Prev } else { To::Last };
        while let Some((key, value)) = self.step(to, &[])? {
            if range.from.is_some_and(|from| key < from) || visit(key, value).is_break() {
                return Ok(Break(()));
            }
            to = To::Prev;
        }
        Ok(Continue(()))
    }
}

/// The size of a batch for a pair that did not fit into `bytes`; the library tells what it needs
/// for the pair at least.
fn larger(bytes: usize, needed: u32) -> Result<usize> {
    let size = (bytes * 2).max(needed as usize).next_multiple_of(1024);
    if size > u32::MAX as usize / 2 {
        return Err(EngineError::failed(ID, "fetch a batch", "a record is too large for one"));
    }
    Ok(size)
}

impl Drop for Scan {
    fn drop(&mut self) {
        // SAFETY: open, and never used again. The error that led here is the one to tell.
        let _ = unsafe { ffi::ember_cursor_close(self.0) };
    }
}
