//! A table and its cursors, which all reads and writes of the library use.

use std::ffi::{CStr, CString, c_int};
use std::ops::ControlFlow;
use std::rc::Rc;
use std::{mem, ptr};

use super::ID;
use super::ffi::*;
use crate::EngineError;
use crate::kv::{Direction, Pairs, Range, Visit};
use crate::owned::{bytes, c_string};

/// Pairs per transaction of a load without a bulk cursor.
const TRANSACTION: u32 = 10_000;

pub(super) struct Cursor {
    raw: Owned,
    shim: &'static Shim,
    _session: Rc<Session>,
}

impl Cursor {
    pub(super) fn open(session: &Rc<Session>, uri: &CStr, config: &CStr) -> Result<Self> {
        let (shim, raw, mut out) = (session.shim, session.raw.raw, ptr::null_mut());
        // SAFETY: open; both texts live through the call.
        let code = unsafe { (shim.cursor)(raw, uri.as_ptr(), config.as_ptr(), &mut out) };
        check(code, "open a cursor")?;
        // SAFETY: ours, and dropped before the session.
        let raw = unsafe { Owned::new(out, shim.cursor_close) };
        Ok(Self { raw, shim, _session: Rc::clone(session) })
    }

    /// Leaves its position, which pins a page and a snapshot.
    #[inline]
    pub(super) fn reset(&mut self) -> Result<()> {
        // SAFETY: open.
        check(unsafe { (self.shim.reset)(self.raw.raw) }, "reset a cursor")
    }

    /// Moves to a key. Returns whether it exists.
    #[inline]
    pub(super) fn find(&mut self, key: &[u8]) -> Result<bool> {
        // SAFETY: open; the key lives through the call.
        found(unsafe { (self.shim.search)(self.raw.raw, Bytes::new(key)) }, "find a key")
    }

    #[inline]
    fn key(&self) -> Result<&[u8]> {
        self.current(self.shim.key, "read a key")
    }

    #[inline]
    pub(super) fn value(&self) -> Result<&[u8]> {
        self.current(self.shim.value, "read a value")
    }

    #[inline]
    fn current(
        &self,
        show: unsafe extern "C" fn(Raw, *mut Bytes) -> c_int,
        doing: &'static str,
    ) -> Result<&[u8]> {
        let mut shown = Bytes::new(&[]);
        // SAFETY: open.
        check(unsafe { show(self.raw.raw, &mut shown) }, doing)?;
        // SAFETY: in the library's memory until the cursor moves, for which `self` is borrowed.
        Ok(unsafe { bytes(shown.at, shown.size) })
    }

    #[inline]
    pub(super) fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let (key, value) = (Bytes::new(key), Bytes::new(value));
        // SAFETY: open; both live through the call.
        check(unsafe { (self.shim.insert)(self.raw.raw, key, value) }, "put a value")
    }

    #[inline]
    pub(super) fn update(&mut self, value: &[u8]) -> Result<()> {
        // SAFETY: open; the value lives through the call.
        check(unsafe { (self.shim.update)(self.raw.raw, Bytes::new(value)) }, "replace a value")
    }

    /// Removes a key. Returns whether it existed, if the cursor was opened without overwrite.
    #[inline]
    pub(super) fn remove(&mut self, key: &[u8]) -> Result<bool> {
        // SAFETY: open; the key lives through the call.
        found(unsafe { (self.shim.remove)(self.raw.raw, Bytes::new(key)) }, "delete a key")
    }

    /// Moves to the next pair, or to the first one without a position. Returns whether there is
    /// one.
    #[inline]
    fn move_cursor(&mut self, direction: Direction) -> Result<bool> {
        // SAFETY: open.
        let code = unsafe {
            match direction {
                Direction::Forward => (self.shim.next)(self.raw.raw),
                Direction::Backward => (self.shim.prev)(self.raw.raw),
            }
        };
        found(code, "move a cursor")
    }

    /// Returns whether its table has pairs. Leaves its position.
    fn has_pairs(&mut self) -> Result<bool> {
        let there = self.move_cursor(Direction::Forward)?;
        self.reset().map(|()| there)
    }

    /// Moves to the first pair of a range, or beyond it. Returns whether there is one.
    fn seek(&mut self, Range { from, to, direction }: Range<'_>) -> Result<bool> {
        let start = match direction {
            Direction::Forward => from.filter(|from| !from.is_empty()),
            Direction::Backward => to,
        };
        let Some(start) = start else { return self.move_cursor(direction) };
        if start.is_empty() {
            return Ok(false);
        }
        let mut order = 0;
        // SAFETY: open; the key lives through the call.
        let code = unsafe { (self.shim.search_near)(self.raw.raw, Bytes::new(start), &mut order) };
        let within = match direction {
            Direction::Forward => order >= 0,
            Direction::Backward => order < 0,
        };
        Ok(found(code, "find a place")? && (within || self.move_cursor(direction)?))
    }

    /// Visits the pairs of a range, starting without a position, and leaves its position.
    pub(super) fn walk(&mut self, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        self.reset()?;
        let mut there = self.seek(range)?;
        while there {
            let key = self.key()?;
            let is_beyond = match range.direction {
                Direction::Forward => range.to.is_some_and(|to| key >= to),
                Direction::Backward => range.from.is_some_and(|from| key < from),
            };
            if is_beyond || visit(key, self.value()?).is_break() {
                break;
            }
            there = self.move_cursor(range.direction)?;
        }
        self.reset()
    }
}

/// The open cursors of a table.
pub(super) struct Cursors {
    /// Sets a key, existing or not.
    pub put: Cursor,
    /// Does everything else, and reports missing keys.
    pub other: Cursor,
}

impl Cursors {
    fn open(session: &Rc<Session>, uri: &CStr) -> Result<Self> {
        let put = Cursor::open(session, uri, c"overwrite=true")?;
        Ok(Self { put, other: Cursor::open(session, uri, c"overwrite=false")? })
    }

    /// Removes every key from `from` (inclusive) to `to` (exclusive), with one commit
    /// (<https://source.wiredtiger.com/11.3.1/struct_w_t___s_e_s_s_i_o_n.html>, `truncate`, which
    /// includes the last key).
    pub(super) fn truncate(&mut self, session: &Session, from: &[u8], to: &[u8]) -> Result<()> {
        let mut last = None;
        self.other.walk(Range::between(from, Some(to)).backward(), &mut |key, _| {
            last = Some(key.to_vec());
            ControlFlow::Break(())
        })?;
        let Some(last) = last else { return Ok(()) };
        let (start, stop) = (self.other.raw.raw, self.put.raw.raw);
        let (from, last) = (Bytes::new(from), Bytes::new(&last));
        // SAFETY: all are open, the cursors of this session and of one table; the keys live through the call.
        let code = unsafe { (session.shim.truncate)(session.raw.raw, start, from, stop, last) };
        let done = check(code, "truncate a range");
        done.and(self.other.reset()).and(self.put.reset())
    }

    /// Returns the value of a key, at which the cursor then is.
    #[inline]
    pub(super) fn get(&mut self, key: &[u8]) -> Result<Option<&[u8]>> {
        if self.other.find(key)? { self.other.value().map(Some) } else { Ok(None) }
    }
}

pub(super) struct Tree {
    pub uri: CString,
    session: Rc<Session>,
    /// `None` if they could not be opened after the table was created again.
    cursors: Option<Cursors>,
    /// Whether no checkpoint and no operation has used it since it was created.
    pub is_unused: bool,
}

impl Tree {
    /// Opens a table, and creates a missing one.
    pub(super) fn open(session: &Rc<Session>, name: &str) -> crate::Result<Self> {
        let uri = c_string(ID, "open a table", format!("table:{name}"))?;
        let is_unused = session.create(&uri).map_err(Refusal::into_error)?;
        let cursors = Some(Cursors::open(session, &uri).map_err(Refusal::into_error)?);
        Ok(Self { uri, session: Rc::clone(session), cursors, is_unused })
    }

    /// Returns whether it is the table with this name.
    pub(super) fn is_named(&self, name: &str) -> bool {
        self.uri.as_bytes().strip_prefix(b"table:") == Some(name.as_bytes())
    }

    /// Returns its cursors, for an operation.
    #[inline]
    pub(super) fn cursors(&mut self) -> crate::Result<&mut Cursors> {
        let lost = || EngineError::failed(ID, "use a table", "it could not be made anew");
        self.is_unused = false;
        self.cursors.as_mut().ok_or_else(lost)
    }

    /// Closes the cursors, runs `work`, and opens the cursors again.
    pub(super) fn without_cursors<T>(
        &mut self,
        work: impl FnOnce(&Rc<Session>, &CStr) -> Result<T>,
    ) -> Result<T> {
        self.cursors = None;
        let done = work(&self.session, &self.uri);
        // Always, so that the table stays usable.
        self.cursors = Some(Cursors::open(&self.session, &self.uri)?);
        done
    }

    pub(super) fn clear(&mut self) -> crate::Result<()> {
        self.without_cursors(|session, uri| session.remove(uri).and_then(|()| session.create(uri)))
            .map_err(Refusal::into_error)?;
        self.is_unused = true;
        Ok(())
    }

    /// Loads it with a bulk cursor, which requires an unused table. Returns the number of pairs. A
    /// used table is created again, unless a power cut must not find it missing or incomplete.
    pub(super) fn load(&mut self, pairs: &mut dyn Pairs) -> crate::Result<u64> {
        if !mem::take(&mut self.is_unused) {
            if self.cursors()?.other.has_pairs().map_err(Refusal::into_error)? {
                return Err(EngineError::failed(ID, "load a table in bulk", "it is not empty"));
            }
            if self.session.connection.syncs {
                return self.insert(pairs);
            }
            self.clear()?;
            self.is_unused = false;
        }
        self.without_cursors(|session, uri| {
            let (mut cursor, mut rows) = (Cursor::open(session, uri, c"bulk")?, 0);
            while let Some((key, value)) = pairs.next() {
                cursor.insert(key, value)?;
                rows += 1;
            }
            // The load ends here, and can fail here.
            check(cursor.raw.end(), "end a load").map(|()| rows)
        })
        .map_err(Refusal::into_error)
    }

    /// Inserts pairs in transactions. Returns their number.
    fn insert(&mut self, pairs: &mut dyn Pairs) -> crate::Result<u64> {
        let (session, mut rows, mut is_more) = (Rc::clone(&self.session), 0, true);
        let cursors = self.cursors()?;
        while is_more {
            session.within(|| {
                for _ in 0..TRANSACTION {
                    let Some((key, value)) = pairs.next() else {
                        is_more = false;
                        break;
                    };
                    cursors.put.insert(key, value).map_err(Refusal::into_error)?;
                    rows += 1;
                }
                Ok(())
            })?;
        }
        Ok(rows)
    }
}
