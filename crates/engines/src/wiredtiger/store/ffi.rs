//! The library's connections and sessions as safe types, closed when dropped.

use std::ffi::{CStr, CString, OsStr, c_int, c_void};
use std::path::Path;
use std::ptr;
use std::rc::Rc;
use std::sync::Arc;

use embermark_model::Durability;

use super::ID;
use crate::owned;
pub(super) use crate::wiredtiger::library::error_message;
use crate::wiredtiger::library::{LIBRARY, Library};
pub(super) use crate::wiredtiger::shim::{Bytes, Raw, Shim};
use crate::{EngineError, retry_if};

/// The key was not found, or the scan has ended. The shim's code.
const ABSENT: c_int = -1;
/// `WT_ROLLBACK`.
const ROLLBACK: c_int = -31800;

/// Why the library refused a call, by its code. (It has the same code for a conflict and for a
/// transaction that outgrew the cache. `get_rollback_reason`, which distinguishes them, is missing
/// in 3.2.1.)
#[derive(Clone, Copy, Debug)]
pub(super) struct Refusal {
    code: c_int,
    doing: &'static str,
}

impl Refusal {
    /// Returns whether it was because of another session's change, after which the manual advises
    /// to retry (<https://source.wiredtiger.com/11.3.1/error_handling.html>).
    pub(super) const fn is_conflict(&self) -> bool {
        self.code == ROLLBACK
    }

    /// Returns it as an error of the engine. (There is no `From`, because a second one for
    /// [`EngineError`] would make the type of `?` ambiguous where an error is generic.)
    pub fn into_error(self) -> EngineError {
        let Self { code, doing } = self;
        let error = EngineError::failed(ID, doing, error_message(code));
        if self.is_conflict() { error.into_conflict() } else { error }
    }

    /// Returns it as an error of a transaction. A session without others has no conflicts, so its
    /// transaction ended because the cache has no room for what is not committed yet.
    pub(super) fn in_transaction(self, is_alone: bool) -> EngineError {
        match self.code {
            ROLLBACK if is_alone => {
                let message = "WT_ROLLBACK, with one client";
                EngineError::transaction_too_large(ID, self.doing, message, "its cache")
            }
            _ => self.into_error(),
        }
    }
}

pub(super) type Result<T> = std::result::Result<T, Refusal>;

#[inline]
pub(super) const fn check(code: c_int, doing: &'static str) -> Result<()> {
    if code == 0 { Ok(()) } else { Err(Refusal { code, doing }) }
}

/// Returns whether the key was found.
#[inline]
pub(super) const fn found(code: c_int, doing: &'static str) -> Result<bool> {
    match code {
        0 => Ok(true),
        ABSENT => Ok(false),
        code => Err(Refusal { code, doing }),
    }
}

/// A handle, closed when dropped.
pub(super) type Owned = owned::Owned<c_void, c_int>;

/// An open database, closed when dropped.
pub(super) struct Connection {
    pub(super) raw: Owned,
    pub library: &'static Library,
    /// How its tables are created: raw bytes, and a page size.
    table: CString,
    /// Whether a new table is synced to the disk.
    pub(super) syncs: bool,
}

// SAFETY: threads share a connection, and any of them may call its methods; a session belongs to
// one thread: <https://source.wiredtiger.com/mongodb-4.4/threads.html>.
unsafe impl Send for Connection {}
// SAFETY: as above.
unsafe impl Sync for Connection {}

impl Connection {
    /// Opens or creates the database in a folder, and replays its log. Its tables get leaf pages of
    /// this many bytes.
    pub(super) fn open(
        folder: &Path,
        config: &str,
        leaf: u64,
        durability: Durability,
    ) -> crate::Result<Arc<Self>> {
        let doing = format!("open the database in {}", folder.display());
        let c_string = |text: &OsStr| owned::c_string(ID, &doing, text);
        let (home, config) = (c_string(folder.as_os_str())?, c_string(config.as_ref())?);
        // Values up to 16 KiB stay on a leaf page, as by default, where the limit follows the
        // page's size.
        let table = format!(
            "key_format=u,value_format=u,exclusive=true,leaf_page_max={leaf},leaf_value_max=16KB"
        );
        let table = c_string(table.as_ref())?;
        let (library, mut raw) = (LIBRARY.get()?, ptr::null_mut());
        let (home, config) = (home.as_ptr(), config.as_ptr());
        // SAFETY: both texts live through the call; on success the handle is open and ours.
        match unsafe { (library.api.open)(home, ptr::null_mut(), config, &mut raw) } {
            0 => {
                // SAFETY: sessions keep it alive.
                let raw = unsafe { Owned::new(raw, library.shim.close) };
                Ok(Arc::new(Self { raw, library, table, syncs: durability == Durability::Power }))
            }
            code => Err(EngineError::failed(ID, &doing, error_message(code))),
        }
    }

    pub(super) fn session(self: &Arc<Self>) -> crate::Result<Rc<Session>> {
        let (shim, mut raw) = (self.library.shim, ptr::null_mut());
        // SAFETY: open.
        check(unsafe { (shim.session)(self.raw.raw, &mut raw) }, "begin a session")
            .map_err(Refusal::into_error)?;
        // SAFETY: ours, and dropped before the connection.
        let raw = unsafe { Owned::new(raw, shim.session_close) };
        Ok(Rc::new(Session { raw, shim, connection: Arc::clone(self) }))
    }
}

/// Runs transactions in a database, on one thread.
pub(super) struct Session {
    pub raw: Owned,
    /// Functions of its handles.
    pub shim: &'static Shim,
    pub connection: Arc<Connection>,
}

impl Session {
    /// Creates a table, if it is missing. Returns whether it was created. The library does not
    /// write a new table before the next checkpoint. A checkpoint before a cursor has opened the
    /// table does not include it.
    pub(super) fn create(&self, uri: &CStr) -> Result<bool> {
        let Connection { table, syncs, .. } = &*self.connection;
        // SAFETY: open; both texts live through the call.
        match unsafe { (self.shim.create)(self.raw.raw, uri.as_ptr(), table.as_ptr()) } {
            libc::EEXIST => return Ok(false),
            code => check(code, "make a table")?,
        }
        if *syncs {
            // SAFETY: open.
            check(unsafe { (self.shim.checkpoint)(self.raw.raw) }, "checkpoint")?;
        }
        Ok(true)
    }

    /// Drops a table without cursors.
    pub(super) fn remove(&self, uri: &CStr) -> Result<()> {
        // SAFETY: open; the text lives through the call.
        let drop = || unsafe { (self.shim.drop)(self.raw.raw, uri.as_ptr()) };
        check(self.until_at_rest(drop), "remove a table")
    }

    /// Makes a call for a whole table, and returns its code. The library refuses it while the table
    /// has changes that no checkpoint has, or while one of its own threads works on it, for example
    /// eviction. The manual advises to take a checkpoint and repeat the call
    /// (<https://source.wiredtiger.com/11.3.1/error_handling.html>, "EBUSY errors").
    pub(super) fn until_at_rest(&self, mut call: impl FnMut() -> c_int) -> c_int {
        let mut is_again = false;
        let called = retry_if(
            |code| *code == libc::EBUSY,
            || {
                if std::mem::replace(&mut is_again, true) {
                    // If it fails, the table is unchanged and the call reports it.
                    let _ = self.checkpoint();
                }
                match call() {
                    0 => Ok(()),
                    code => Err(code),
                }
            },
        );
        called.err().unwrap_or_default()
    }

    pub(super) fn checkpoint(&self) -> crate::Result<()> {
        // SAFETY: open.
        check(unsafe { (self.shim.checkpoint)(self.raw.raw) }, "checkpoint")
            .map_err(Refusal::into_error)
    }

    /// Makes the library count its work from now on. By default it does not.
    pub(super) fn count(&self) -> Result<()> {
        // SAFETY: open.
        check(unsafe { (self.shim.count)(self.connection.raw.raw) }, "count what it does")
    }

    /// Returns what it counted: running checkpoints, and pages that threads of the program had to
    /// evict.
    pub(super) fn counted(&self) -> Result<[u64; 2]> {
        let mut counted = [0; 2];
        // SAFETY: open; the numbers live through the call.
        let code = unsafe { (self.shim.counted)(self.raw.raw, &mut counted) };
        check(code, "read its statistics")?;
        Ok(counted.map(|count| u64::try_from(count).unwrap_or(0)))
    }

    /// Returns whether its database has no other session now.
    pub(super) fn is_alone(&self) -> bool {
        Arc::strong_count(&self.connection) == 1
    }

    /// Does work in a transaction, which is committed or else rolled back.
    pub(super) fn within(&self, work: impl FnOnce() -> crate::Result<()>) -> crate::Result<()> {
        // SAFETY: open.
        check(unsafe { (self.shim.begin)(self.raw.raw) }, "begin a transaction")
            .map_err(Refusal::into_error)?;
        let done = work();
        // SAFETY: open; the transaction ends whatever these return.
        let ended = unsafe {
            match done {
                Ok(()) => check((self.shim.commit)(self.raw.raw), "commit"),
                Err(_) => check((self.shim.rollback)(self.raw.raw), "roll back"),
            }
        };
        ended.map_err(|refusal| refusal.in_transaction(self.is_alone())).and(done)
    }

    /// Closes it, without cursors. The last session closes the database.
    pub(super) fn close(self: Rc<Self>) -> crate::Result<()> {
        let Some(Self { raw, connection, .. }) = Rc::into_inner(self) else { return Ok(()) };
        let ended = check(raw.end(), "end a session");
        let closed = Arc::into_inner(connection).map_or(0, |connection| connection.raw.end());
        ended.and(check(closed, "close the database")).map_err(Refusal::into_error)
    }
}
