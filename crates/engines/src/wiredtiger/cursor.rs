//! Cursors: every read and write of the library goes through one.

use std::ffi::CStr;
use std::ops::ControlFlow::{self, Break, Continue};
use std::ptr;

use super::connection::{check, found};
use super::ffi;
use crate::Result;
use crate::kv::{Range, Visit};

/// An open cursor, closed when dropped.
pub(super) struct Cursor(*mut ffi::Cursor);

impl Cursor {
    /// Opens a cursor.
    ///
    /// # Safety
    /// The session is open and stays so until the cursor is dropped.
    pub(super) unsafe fn open(
        session: *mut ffi::Session,
        uri: &CStr,
        config: &CStr,
    ) -> Result<Self> {
        let mut raw = ptr::null_mut();
        // SAFETY: the caller's promise; both texts live through the call.
        let code =
            unsafe { ffi::ember_wt_cursor(session, uri.as_ptr(), config.as_ptr(), &mut raw) };
        check(code, "open a cursor")?;
        Ok(Self(raw))
    }

    /// Closes it, telling of an error: a bulk load ends here.
    pub(super) fn close(self) -> Result<()> {
        let raw = std::mem::ManuallyDrop::new(self).0;
        // SAFETY: open, and forgotten.
        check(unsafe { ffi::ember_wt_cursor_close(raw) }, "close a cursor")
    }

    /// Leaves its place, which pins a page and a snapshot.
    #[inline]
    pub(super) fn reset(&mut self) -> Result<()> {
        // SAFETY: open.
        check(unsafe { ffi::ember_wt_reset(self.0) }, "reset a cursor")
    }

    /// Goes to a key; whether it is there.
    #[inline]
    pub(super) fn find(&mut self, key: &[u8]) -> Result<bool> {
        // SAFETY: open; the key lives through the call.
        let code = unsafe { ffi::ember_wt_search(self.0, key.as_ptr(), key.len()) };
        found(code, "find a key")
    }

    /// The key it stands on.
    #[inline]
    fn key(&self) -> Result<&[u8]> {
        let (mut at, mut size) = (ptr::null(), 0);
        // SAFETY: open.
        check(unsafe { ffi::ember_wt_key(self.0, &mut at, &mut size) }, "read a key")?;
        // SAFETY: in the library's memory until the cursor moves, for which `self` is borrowed.
        Ok(unsafe { bytes(at, size) })
    }

    /// The value it stands on.
    #[inline]
    pub(super) fn value(&self) -> Result<&[u8]> {
        let (mut at, mut size) = (ptr::null(), 0);
        // SAFETY: open.
        check(unsafe { ffi::ember_wt_value(self.0, &mut at, &mut size) }, "read a value")?;
        // SAFETY: in the library's memory until the cursor moves, for which `self` is borrowed.
        Ok(unsafe { bytes(at, size) })
    }

    /// Puts a pair.
    #[inline]
    pub(super) fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        // SAFETY: open; key and value live through the call.
        let code = unsafe {
            ffi::ember_wt_insert(self.0, key.as_ptr(), key.len(), value.as_ptr(), value.len())
        };
        check(code, "put a value")
    }

    /// Replaces the value it stands on.
    #[inline]
    pub(super) fn update(&mut self, value: &[u8]) -> Result<()> {
        // SAFETY: open; the value lives through the call.
        let code = unsafe { ffi::ember_wt_update(self.0, value.as_ptr(), value.len()) };
        check(code, "replace a value")
    }

    /// Removes a key; whether it was there, if the cursor was opened not to overwrite.
    #[inline]
    pub(super) fn remove(&mut self, key: &[u8]) -> Result<bool> {
        // SAFETY: open; the key lives through the call.
        let code = unsafe { ffi::ember_wt_remove(self.0, key.as_ptr(), key.len()) };
        found(code, "delete a key")
    }

    /// Moves on, from no place to the first pair; whether there is one.
    pub(super) fn next(&mut self) -> Result<bool> {
        // SAFETY: open.
        found(unsafe { ffi::ember_wt_next(self.0) }, "move a cursor")
    }

    fn prev(&mut self) -> Result<bool> {
        // SAFETY: open.
        found(unsafe { ffi::ember_wt_prev(self.0) }, "move a cursor")
    }

    /// Goes to a key or one beside it; on which side of it that is. `None` in an empty table.
    fn near(&mut self, key: &[u8]) -> Result<Option<std::cmp::Ordering>> {
        let mut beside = 0;
        // SAFETY: open; the key lives through the call.
        let code =
            unsafe { ffi::ember_wt_search_near(self.0, key.as_ptr(), key.len(), &mut beside) };
        Ok(found(code, "find a place")?.then(|| beside.cmp(&0)))
    }

    /// Visits a range in ascending order.
    pub(super) fn forward(
        &mut self,
        range: Range<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<ControlFlow<()>> {
        let mut there = match range.from {
            Some(from) if !from.is_empty() => match self.near(from)? {
                Some(side) => side.is_ge() || self.next()?,
                None => false,
            },
            _ => self.next()?,
        };
        while there {
            let key = self.key()?;
            if range.to.is_some_and(|to| key >= to) || visit(key, self.value()?).is_break() {
                return Ok(Break(()));
            }
            there = self.next()?;
        }
        Ok(Continue(()))
    }

    /// Visits a range in descending order.
    pub(super) fn backward(
        &mut self,
        range: Range<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<ControlFlow<()>> {
        let mut there = match range.to {
            Some([]) => false,
            Some(to) => match self.near(to)? {
                Some(side) => side.is_lt() || self.prev()?,
                None => false,
            },
            None => self.prev()?,
        };
        while there {
            let key = self.key()?;
            if range.from.is_some_and(|from| key < from) || visit(key, self.value()?).is_break() {
                return Ok(Break(()));
            }
            there = self.prev()?;
        }
        Ok(Continue(()))
    }
}

/// Bytes the library points to.
///
/// # Safety
/// `at` points to `size` bytes that stay as they are for the lifetime chosen, or `size` is zero.
#[inline]
const unsafe fn bytes<'a>(at: *const u8, size: usize) -> &'a [u8] {
    if size == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(at, size) }
}

impl Drop for Cursor {
    fn drop(&mut self) {
        // SAFETY: open by the promise to `open`, and never used again. Closing it can only fail
        // for what was loaded in bulk, and that is closed by `close`.
        let _ = unsafe { ffi::ember_wt_cursor_close(self.0) };
    }
}
