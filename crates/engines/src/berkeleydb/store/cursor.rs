//! Cursors, and scans with them.

use std::ffi::c_int;
use std::marker::PhantomData;
use std::ptr;

use smallvec::SmallVec;

use super::ffi::{NOTHING, Owned, Txn, check_code, handle, is_found, val};
use super::multiple::Multiple;
use super::raw::{self, Bytes, Position};
use crate::Result;
use crate::kv::{Change, Direction, Range, Visit};
use crate::owned;

/// Pairs read one by one before a scan changes to batches. A batch copies a page or more, which
/// would be wasted on a scan for the first few pairs of a range.
const SINGLE: u32 = 8;
/// Bytes of the first batch and of the largest batch. Each batch has four times the bytes of the
/// previous one.
const FETCH: (usize, usize) = (4 << 10, 64 << 10);

/// A pair in the library's memory.
type Pair<'a> = (&'a [u8], &'a [u8]);

/// A cursor, closed when dropped. Pairs that it returns are in its own memory.
pub struct Cursor<'a>(Owned, PhantomData<&'a Owned>);

/// Returns bytes that the library points to.
///
/// # Safety
/// The same as for [`owned::bytes`].
#[inline]
const unsafe fn bytes<'a>(val: Bytes) -> &'a [u8] {
    // SAFETY: the caller's promise.
    unsafe { owned::bytes(val.at, val.size as usize) }
}

impl<'a> Cursor<'a> {
    /// Opens a cursor of an open file, which it borrows with its transaction.
    pub(super) fn open(db: &'a Owned, txn: Option<&'a Txn<'_>>) -> Result<Self> {
        let mut cursor = ptr::null_mut();
        // SAFETY: both are open and stay borrowed; the transaction's handle may be null.
        let code = unsafe { raw::ember_cursor(db.raw, handle(txn), &mut cursor) };
        check_code(code, "open a cursor")?;
        // SAFETY: owned here. If it cannot be closed, ending its transaction fails.
        Ok(Self(unsafe { Owned::new(cursor, raw::ember_cursor_close) }, PhantomData))
    }

    /// Moves to a pair. Only moves by key use `key`.
    #[inline]
    fn step(&mut self, to: Position, key: &[u8]) -> Result<Option<Pair<'_>>> {
        let (mut key, mut value) = (val(key)?, NOTHING);
        // SAFETY: open; the key lives through the call and is only read.
        let code = unsafe { raw::ember_move(self.0.raw, to, &mut key, &mut value) };
        // SAFETY: it was found, so key and value stay until the cursor, which is borrowed, moves.
        Ok(is_found(code, "move a cursor")?.then(|| unsafe { (bytes(key), bytes(value)) }))
    }

    /// Moves an index's cursor to the next pair, or to the first one whose bytes are not below
    /// `from`. Returns those bytes, and the pair of its table.
    fn next_of_index(&mut self, from: Option<&[u8]>) -> Result<Option<(&[u8], Pair<'_>)>> {
        let (mut key, mut value) = (NOTHING, NOTHING);
        let mut index = val(from.unwrap_or_default())?;
        let seek = c_int::from(from.is_some());
        // SAFETY: open; if it seeks, the bytes live through the call and are only read.
        let code = unsafe { raw::ember_find(self.0.raw, seek, &mut index, &mut key, &mut value) };
        // SAFETY: as above.
        Ok(is_found(code, "move in an index")?
            .then(|| unsafe { (bytes(index), (bytes(key), bytes(value))) }))
    }

    /// Reads the next pairs into a batch of `bytes`, or a larger one if a pair needs it. Returns
    /// whether there are any.
    fn fetch(&mut self, batch: &mut Multiple, mut bytes: usize) -> Result<bool> {
        loop {
            batch.reset(bytes);
            let (at, mut size) = batch.raw();
            // SAFETY: open; there is that much room.
            let code = unsafe { raw::ember_next_batch(self.0.raw, at, &mut size) };
            if code != raw::TOO_SMALL {
                return is_found(code, "fetch a batch");
            }
            bytes = (bytes * 2).max(size as usize);
        }
    }

    /// Visits a range. In ascending order it reads batches after the first [`SINGLE`] pairs. (The
    /// library has no descending batches.)
    pub fn scan(self, range: Range<'_>, batch: &mut Multiple, visit: &mut Visit<'_>) -> Result<()> {
        match range.direction {
            Direction::Forward => self.forward(range, batch, visit),
            Direction::Backward => self.backward(range, visit),
        }
    }

    fn forward(
        mut self,
        range: Range<'_>,
        batch: &mut Multiple,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let mut should_continue = |key: &[u8], value: &[u8]| {
            range.to.is_none_or(|to| key < to) && visit(key, value).is_continue()
        };
        let (mut to, key) =
            range.from.map_or((Position::First, &[][..]), |from| (Position::AtLeast, from));
        for _ in 0..SINGLE {
            match self.step(to, key)? {
                Some((key, value)) if should_continue(key, value) => to = Position::Next,
                _ => return Ok(()),
            }
        }
        let mut bytes = FETCH.0;
        while self.fetch(batch, bytes)?
            && batch.pairs().all(|(key, value)| should_continue(key, value))
        {
            bytes = FETCH.1.min(bytes * 4);
        }
        Ok(())
    }

    fn backward(mut self, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        let above = match range.to {
            Some(to) => self.step(Position::AtLeast, to)?.is_some(),
            None => false,
        };
        let mut to = if above { Position::Prev } else { Position::Last };
        while let Some((key, value)) = self.step(to, &[])?
            && range.from.is_none_or(|from| key >= from)
            && visit(key, value).is_continue()
        {
            to = Position::Prev;
        }
        Ok(())
    }

    /// Visits the pairs that an index's cursor leads to.
    pub fn find(mut self, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        let mut from = Some(range.from.unwrap_or_default());
        while let Some((index, (key, value))) = self.next_of_index(from.take())?
            && range.to.is_none_or(|to| index < to)
            && visit(key, value).is_continue()
        {}
        Ok(())
    }

    /// Changes a copy of the value of a key, keeping its length. Returns whether the key existed.
    #[inline]
    pub fn modify(&mut self, key: &[u8], change: &mut Change<'_>) -> Result<bool> {
        let Some((_, value)) = self.step(Position::Key, key)? else { return Ok(false) };
        let mut copy = SmallVec::<[u8; 64]>::from_slice(value);
        change(&mut copy);
        // SAFETY: open, at that pair; the value lives through the call.
        let code = unsafe { raw::ember_replace(self.0.raw, val(&copy)?) };
        check_code(code, "replace a value").map(|()| true)
    }
}
