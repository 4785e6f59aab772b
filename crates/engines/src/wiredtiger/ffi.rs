//! The functions of `shim.c` and the two of `wiredtiger.h` that need no handle, and over them the
//! library's handles as safe types, closed when dropped.

use std::ffi::{CStr, CString, c_char, c_int};
use std::fmt::Display;
use std::mem::ManuallyDrop;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::{fs, ptr, slice};

use super::ID;
use crate::EngineError;
use crate::kv::{Direction, Pairs, Range, Visit};

#[repr(C)]
struct WtConnection([u8; 0]);
#[repr(C)]
struct WtSession([u8; 0]);
#[repr(C)]
struct WtCursor([u8; 0]);

/// No such key; the end of a scan: the shim's.
const ABSENT: c_int = -1;
/// `WT_ROLLBACK`.
const ROLLBACK: c_int = -31800;

unsafe extern "C" {
    fn wiredtiger_version(major: *mut c_int, minor: *mut c_int, patch: *mut c_int)
    -> *const c_char;
    fn wiredtiger_strerror(code: c_int) -> *const c_char;

    fn ember_wt_open(
        home: *const c_char,
        config: *const c_char,
        connection: *mut *mut WtConnection,
    ) -> c_int;
    fn ember_wt_session(connection: *mut WtConnection, session: *mut *mut WtSession) -> c_int;
    fn ember_wt_session_close(session: *mut WtSession) -> c_int;
    fn ember_wt_close(connection: *mut WtConnection) -> c_int;

    fn ember_wt_create(session: *mut WtSession, uri: *const c_char, config: *const c_char)
    -> c_int;
    fn ember_wt_drop(session: *mut WtSession, uri: *const c_char) -> c_int;
    fn ember_wt_checkpoint(session: *mut WtSession) -> c_int;
    fn ember_wt_begin(session: *mut WtSession) -> c_int;
    fn ember_wt_commit(session: *mut WtSession) -> c_int;
    fn ember_wt_rollback(session: *mut WtSession) -> c_int;

    fn ember_wt_cursor(
        session: *mut WtSession,
        uri: *const c_char,
        config: *const c_char,
        out: *mut *mut WtCursor,
    ) -> c_int;
    fn ember_wt_cursor_close(cursor: *mut WtCursor) -> c_int;
    fn ember_wt_reset(cursor: *mut WtCursor) -> c_int;
    fn ember_wt_search(cursor: *mut WtCursor, key: *const u8, size: usize) -> c_int;
    fn ember_wt_search_near(
        cursor: *mut WtCursor,
        key: *const u8,
        size: usize,
        beside: *mut c_int,
    ) -> c_int;
    fn ember_wt_next(cursor: *mut WtCursor) -> c_int;
    fn ember_wt_prev(cursor: *mut WtCursor) -> c_int;
    fn ember_wt_key(cursor: *mut WtCursor, key: *mut *const u8, size: *mut usize) -> c_int;
    fn ember_wt_value(cursor: *mut WtCursor, value: *mut *const u8, size: *mut usize) -> c_int;
    fn ember_wt_insert(
        cursor: *mut WtCursor,
        key: *const u8,
        key_size: usize,
        value: *const u8,
        value_size: usize,
    ) -> c_int;
    fn ember_wt_update(cursor: *mut WtCursor, value: *const u8, size: usize) -> c_int;
    fn ember_wt_remove(cursor: *mut WtCursor, key: *const u8, size: usize) -> c_int;
}

/// The library's version, `3.2.1`.
pub(super) fn version() -> String {
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: writes three integers; no other precondition.
    unsafe { wiredtiger_version(&mut major, &mut minor, &mut patch) };
    format!("{major}.{minor}.{patch}")
}

/// What a database was made with, as the library keeps it there.
pub(super) fn created_with(folder: &Path) -> crate::Result<Vec<(String, String)>> {
    let path = folder.join("WiredTiger.basecfg");
    let text = fs::read_to_string(&path).map_err(|e| EngineError::file(ID, "read", path, e))?;
    let text = text.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join(",");
    Ok(entries(&text).map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

/// The `name=value` pairs of a configuration; a value may be a list in parentheses.
fn entries(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut depth = 0;
    let entries = text.split(move |c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ',' && depth == 0
    });
    entries.filter_map(|entry| entry.split_once('='))
}

/// What the library refused, by its code.
#[derive(Clone, Copy, Debug)]
pub(super) struct Refusal {
    code: c_int,
    doing: &'static str,
}

impl Refusal {
    /// Whether it was for the sake of another session's change, after which the manual has it made
    /// again (<https://source.wiredtiger.com/11.3.1/error_handling.html>).
    pub(super) const fn is_conflict(&self) -> bool {
        self.code == ROLLBACK
    }
}

/// Turns a refusal into the adapter's error.
pub(super) trait Told<T> {
    fn told(self) -> crate::Result<T>;
}

impl<T> Told<T> for Result<T> {
    #[inline]
    fn told(self) -> crate::Result<T> {
        self.map_err(|Refusal { code, doing }| EngineError::failed(ID, doing, words(code)))
    }
}

/// The library's own words for a return code.
fn words(code: c_int) -> String {
    // SAFETY: returns a NUL-terminated text for any code, which is copied at once.
    unsafe { CStr::from_ptr(wiredtiger_strerror(code)) }.to_string_lossy().into_owned()
}

/// What a call returns.
pub(super) type Result<T> = std::result::Result<T, Refusal>;

#[inline]
const fn check(code: c_int, doing: &'static str) -> Result<()> {
    if code == 0 { Ok(()) } else { Err(Refusal { code, doing }) }
}

/// Whether the key was there.
#[inline]
const fn found(code: c_int, doing: &'static str) -> Result<bool> {
    match code {
        0 => Ok(true),
        ABSENT => Ok(false),
        code => Err(Refusal { code, doing }),
    }
}

/// An open database.
pub(super) struct Connection(*mut WtConnection);

// SAFETY: threads share a connection, whose methods may be called by any of them; a session belongs
// to one thread: <https://source.wiredtiger.com/mongodb-4.4/threads.html>.
unsafe impl Send for Connection {}
// SAFETY: as above.
unsafe impl Sync for Connection {}

impl Connection {
    /// Opens or makes the database in a folder, with its log replayed where there is one.
    pub(super) fn open(folder: &Path, config: &str) -> crate::Result<Arc<Self>> {
        let doing = format!("open the database in {}", folder.display());
        let failed = |why: &dyn Display| EngineError::failed(ID, &doing, why);
        let home = CString::new(folder.as_os_str().as_bytes()).map_err(|error| failed(&error))?;
        let config = CString::new(config).map_err(|error| failed(&error))?;
        let mut raw = ptr::null_mut();
        // SAFETY: both texts live through the call; on success the handle is open and ours.
        match unsafe { ember_wt_open(home.as_ptr(), config.as_ptr(), &mut raw) } {
            0 => Ok(Arc::new(Self(raw))),
            code => Err(failed(&words(code))),
        }
    }

    /// Begins a session.
    pub(super) fn session(self: &Arc<Self>) -> Result<Rc<Session>> {
        let (mut raw, connection) = (ptr::null_mut(), Arc::clone(self));
        // SAFETY: open, and held by the session.
        check(unsafe { ember_wt_session(self.0, &mut raw) }, "begin a session")?;
        Ok(Rc::new(Session { raw, connection }))
    }

    fn close(self) -> Result<()> {
        let raw = ManuallyDrop::new(self).0;
        // SAFETY: open, without sessions, and forgotten whatever this returns.
        check(unsafe { ember_wt_close(raw) }, "close the database")
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // SAFETY: open, without sessions, and not used again. Nobody is left to tell of an error.
        let _ = unsafe { ember_wt_close(self.0) };
    }
}

/// What runs transactions in a database, on one thread.
pub(super) struct Session {
    /// Null once it has ended.
    raw: *mut WtSession,
    pub connection: Arc<Connection>,
}

impl Session {
    /// Makes a table of bytes, as they are, if it is not there; whether it was made.
    pub(super) fn create(&self, uri: &CStr) -> Result<bool> {
        let format = c"key_format=u,value_format=u,exclusive=true";
        // SAFETY: open; both texts live through the call.
        match unsafe { ember_wt_create(self.raw, uri.as_ptr(), format.as_ptr()) } {
            libc::EEXIST => Ok(false),
            code => check(code, "make a table").map(|()| true),
        }
    }

    /// Removes a table, which is without cursors.
    pub(super) fn remove(&self, uri: &CStr) -> Result<()> {
        // SAFETY: open; the text lives through the call.
        check(unsafe { ember_wt_drop(self.raw, uri.as_ptr()) }, "remove a table")
    }

    /// Takes a checkpoint.
    pub(super) fn checkpoint(&self) -> Result<()> {
        // SAFETY: open.
        check(unsafe { ember_wt_checkpoint(self.raw) }, "checkpoint")
    }

    /// Does work in a transaction, which is committed, or else undone.
    pub(super) fn within(&self, work: impl FnOnce() -> crate::Result<()>) -> crate::Result<()> {
        // SAFETY: open.
        check(unsafe { ember_wt_begin(self.raw) }, "begin a transaction").told()?;
        match work() {
            // SAFETY: open; the transaction ends whatever this returns.
            Ok(()) => check(unsafe { ember_wt_commit(self.raw) }, "commit").told(),
            Err(error) => {
                // SAFETY: as above.
                check(unsafe { ember_wt_rollback(self.raw) }, "roll back").told()?;
                Err(error)
            }
        }
    }

    /// Opens a cursor.
    pub(super) fn cursor(self: &Rc<Self>, uri: &CStr, config: &CStr) -> Result<Cursor> {
        let (mut raw, session) = (ptr::null_mut(), Rc::clone(self));
        // SAFETY: open, and held by the cursor; both texts live through the call.
        let code = unsafe { ember_wt_cursor(self.raw, uri.as_ptr(), config.as_ptr(), &mut raw) };
        check(code, "open a cursor")?;
        Ok(Cursor { raw, _session: session })
    }

    /// Loads a table that nobody has looked into yet; how many pairs.
    pub(super) fn load(self: &Rc<Self>, uri: &CStr, pairs: &mut dyn Pairs) -> Result<u64> {
        let (mut cursor, mut rows) = (self.cursor(uri, c"bulk")?, 0);
        while let Some((key, value)) = pairs.next() {
            cursor.insert(key, value)?;
            rows += 1;
        }
        // The load ends here, and may fail here.
        cursor.end().map(|()| rows)
    }

    /// Ends it, which has no cursors, and with the last session the database is closed.
    pub(super) fn close(self: Rc<Self>) -> Result<()> {
        let connection = Arc::clone(&self.connection);
        let ended = Rc::into_inner(self).map_or(Ok(()), |mut session| session.end());
        ended.and(Arc::into_inner(connection).map_or(Ok(()), Connection::close))
    }

    fn end(&mut self) -> Result<()> {
        match std::mem::replace(&mut self.raw, ptr::null_mut()) {
            raw if raw.is_null() => Ok(()),
            // SAFETY: open, without cursors, and forgotten whatever this returns.
            raw => check(unsafe { ember_wt_session_close(raw) }, "end a session"),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Nobody is left to tell of an error.
        let _ = self.end();
    }
}

/// A place in a table: every read and write of the library goes through one.
pub(super) struct Cursor {
    /// Null once it is closed.
    raw: *mut WtCursor,
    _session: Rc<Session>,
}

impl Cursor {
    fn end(&mut self) -> Result<()> {
        match std::mem::replace(&mut self.raw, ptr::null_mut()) {
            raw if raw.is_null() => Ok(()),
            // SAFETY: open, in a session that is, and forgotten whatever this returns.
            raw => check(unsafe { ember_wt_cursor_close(raw) }, "close a cursor"),
        }
    }

    /// Leaves its place, which pins a page and a snapshot.
    #[inline]
    pub(super) fn reset(&mut self) -> Result<()> {
        // SAFETY: open.
        check(unsafe { ember_wt_reset(self.raw) }, "reset a cursor")
    }

    /// Goes to a key; whether it is there.
    #[inline]
    pub(super) fn find(&mut self, key: &[u8]) -> Result<bool> {
        // SAFETY: open; the key lives through the call.
        found(unsafe { ember_wt_search(self.raw, key.as_ptr(), key.len()) }, "find a key")
    }

    #[inline]
    fn key(&self) -> Result<&[u8]> {
        let (mut at, mut size) = (ptr::null(), 0);
        // SAFETY: open.
        check(unsafe { ember_wt_key(self.raw, &mut at, &mut size) }, "read a key")?;
        // SAFETY: in the library's memory until the cursor moves, for which `self` is borrowed.
        Ok(unsafe { bytes(at, size) })
    }

    /// The value it stands on.
    #[inline]
    pub(super) fn value(&self) -> Result<&[u8]> {
        let (mut at, mut size) = (ptr::null(), 0);
        // SAFETY: open.
        check(unsafe { ember_wt_value(self.raw, &mut at, &mut size) }, "read a value")?;
        // SAFETY: in the library's memory until the cursor moves, for which `self` is borrowed.
        Ok(unsafe { bytes(at, size) })
    }

    /// Puts a pair.
    #[inline]
    pub(super) fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let (at, size) = (value.as_ptr(), value.len());
        // SAFETY: open; key and value live through the call.
        let code = unsafe { ember_wt_insert(self.raw, key.as_ptr(), key.len(), at, size) };
        check(code, "put a value")
    }

    /// Replaces the value it stands on.
    #[inline]
    pub(super) fn update(&mut self, value: &[u8]) -> Result<()> {
        // SAFETY: open; the value lives through the call.
        let code = unsafe { ember_wt_update(self.raw, value.as_ptr(), value.len()) };
        check(code, "replace a value")
    }

    /// Removes a key; whether it was there, if the cursor was opened not to overwrite.
    #[inline]
    pub(super) fn remove(&mut self, key: &[u8]) -> Result<bool> {
        // SAFETY: open; the key lives through the call.
        found(unsafe { ember_wt_remove(self.raw, key.as_ptr(), key.len()) }, "delete a key")
    }

    /// Moves on, from no place to the first pair of that way; whether there is one.
    #[inline]
    fn step(&mut self, direction: Direction) -> Result<bool> {
        // SAFETY: open.
        let code = unsafe {
            match direction {
                Direction::Forward => ember_wt_next(self.raw),
                Direction::Backward => ember_wt_prev(self.raw),
            }
        };
        found(code, "move a cursor")
    }

    /// Whether its table has any; it leaves its place.
    pub(super) fn has_pairs(&mut self) -> Result<bool> {
        let there = self.step(Direction::Forward)?;
        self.reset().map(|()| there)
    }

    /// Goes to the first pair of a range, or beyond it; whether there is one.
    fn seek(&mut self, Range { from, to, direction }: Range<'_>) -> Result<bool> {
        let start = match direction {
            Direction::Forward => from.filter(|from| !from.is_empty()),
            Direction::Backward => to,
        };
        let Some(start) = start else { return self.step(direction) };
        if start.is_empty() {
            return Ok(false);
        }
        let mut beside = 0;
        // SAFETY: open; the key lives through the call.
        let code =
            unsafe { ember_wt_search_near(self.raw, start.as_ptr(), start.len(), &mut beside) };
        let within = match direction {
            Direction::Forward => beside >= 0,
            Direction::Backward => beside < 0,
        };
        Ok(found(code, "find a place")? && (within || self.step(direction)?))
    }

    /// Visits the pairs of a range, from no place, and leaves its place.
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
            there = self.step(range.direction)?;
        }
        self.reset()
    }
}

impl Drop for Cursor {
    fn drop(&mut self) {
        // It can only fail for what was loaded in bulk, which has ended by then.
        let _ = self.end();
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
    unsafe { slice::from_raw_parts(at, size) }
}

#[cfg(test)]
mod tests {
    use super::entries;

    #[test]
    fn a_list_in_parentheses_is_one_value() {
        let found: Vec<_> = entries("a=1,log=(enabled=true,path=(x,y)),create,b=").collect();
        assert_eq!(found, [("a", "1"), ("log", "(enabled=true,path=(x,y))"), ("b", "")]);
    }
}
