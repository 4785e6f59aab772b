//! A client of the engine: its session, its transaction, its version; and its errors.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int};
use std::ptr;
use std::sync::atomic::{AtomicU16, Ordering};

use super::NAME;
use super::ffi::{Allocate, Api, Free, Handle, LOCK_NONE, Status, TRANSACTION_EXCLUSIVE, status};
use crate::{EngineError, Result};

/// The two letters that name us to the engine, `EM`.
const SERVICE_AGENT: c_int = 0x454d;

/// Turns a status into a result.
#[inline]
pub(super) fn check(api: &Api, code: Status, doing: &str) -> Result<()> {
    if code == status::NO_ERROR { Ok(()) } else { Err(error(api, code, doing)) }
}

/// The library's own words for a status.
#[cold]
pub(super) fn error(api: &Api, code: Status, doing: &str) -> EngineError {
    // SAFETY: the function takes any number.
    let words = text(unsafe { (api.StatusCodeToString)(code) });
    EngineError::failed(NAME, doing, format_args!("{words} (status {code})"))
}

/// A text of the library's.
pub(super) fn text(at: *const c_char) -> String {
    if at.is_null() {
        return "no words for it".to_owned();
    }
    // SAFETY: not null, so a constant text that ends with a zero byte, copied at once.
    unsafe { CStr::from_ptr(at) }.to_string_lossy().into_owned()
}

/// A length as the interface takes it.
///
/// Every length here was held against the limits of keys and records before, which are far below.
#[inline]
pub(super) const fn int(length: usize) -> c_int {
    length as c_int
}

/// A thing of the library's, freed when dropped.
pub(super) struct Owned {
    raw: Handle,
    free: Free,
}

impl Owned {
    /// Makes one. `allocate` and `free` belong together.
    pub(super) fn new(api: &Api, allocate: Allocate, free: Free, doing: &str) -> Result<Self> {
        let mut raw = ptr::null_mut();
        // SAFETY: the function stores a handle where it is told to.
        check(api, unsafe { allocate(&mut raw) }, doing)?;
        Ok(Self { raw, free })
    }

    /// Its handle, good as long as this lives.
    #[inline]
    pub(super) fn raw(&self) -> Handle {
        self.raw
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: made by the function's counterpart and freed once. It is memory of the
        // library's, so there is nothing to do about an error.
        let _ = unsafe { (self.free)(self.raw) };
    }
}

/// Versions as the library tells them.
pub(super) struct Versions {
    /// Of the library.
    pub client: String,
    /// Of the engine on this machine; none where there is none.
    pub engine: Option<String>,
}

/// A session with the engine. Files are closed before it is.
pub(super) struct Client {
    pub(super) api: &'static Api,
    /// Null once it is closed.
    raw: Cell<Handle>,
}

impl Client {
    /// Begins a session of its own.
    pub(super) fn new(api: &'static Api) -> Result<Self> {
        // Two sessions of one process need two numbers.
        static NUMBERS: AtomicU16 = AtomicU16::new(0);
        let number = c_int::from(NUMBERS.fetch_add(1, Ordering::Relaxed));
        let mut raw = ptr::null_mut();
        // SAFETY: the function stores a handle where it is told to.
        let code = unsafe { (api.ClientAllocate)(&mut raw, SERVICE_AGENT, number) };
        check(api, code, "begin a session")?;
        Ok(Self { api, raw: Cell::new(raw) })
    }

    /// Its handle, null once it is closed.
    #[inline]
    pub(super) fn raw(&self) -> Handle {
        self.raw.get()
    }

    /// The versions; the engine has to answer for that.
    pub(super) fn versions(&self) -> Result<Versions> {
        const DOING: &str = "ask for its version";
        let api = self.api;
        let version = Owned::new(api, api.VersionAllocate, api.VersionFree, DOING)?;
        let raw = version.raw();
        // SAFETY: both handles are open; without a file the call concerns no remote engine.
        check(api, unsafe { (api.ClientGetVersion)(self.raw(), raw, ptr::null_mut()) }, DOING)?;
        let number = |get: unsafe extern "C" fn(Handle) -> c_int| {
            // SAFETY: the version's handle is open.
            match unsafe { get(raw) } {
                // SAFETY: as above.
                -1 => Err(error(api, unsafe { (api.VersionGetLastStatusCode)(raw) }, DOING)),
                number => Ok(number),
            }
        };
        let client = (
            number(api.VersionGetClientVersionNumber)?,
            number(api.VersionGetClientRevisionNumber)?,
        );
        let engine =
            (number(api.VersionGetLocalVersionNumber)?, number(api.VersionGetLocalRevisionNumber)?);
        let words = |(version, revision): (c_int, c_int)| format!("{version}.{revision:02}");
        Ok(Versions { client: words(client), engine: (engine.0 > 0).then(|| words(engine)) })
    }

    /// Begins a transaction: an exclusive one, since nobody else uses the files.
    pub(super) fn begin(&self) -> Result<()> {
        // SAFETY: the session is open.
        let code = unsafe {
            (self.api.ClientTransactionBegin)(self.raw(), TRANSACTION_EXCLUSIVE, LOCK_NONE)
        };
        check(self.api, code, "begin a transaction")
    }

    /// Ends the transaction: it is committed, or else aborted.
    pub(super) fn end(&self) -> Result<()> {
        // SAFETY: the session is open.
        let code = unsafe { (self.api.ClientTransactionEnd)(self.raw()) };
        check(self.api, code, "commit").inspect_err(|_| {
            // What the engine left of it must not hold files; the first error is the one to tell.
            let _ = self.abort();
        })
    }

    /// Undoes the transaction.
    pub(super) fn abort(&self) -> Result<()> {
        // SAFETY: the session is open.
        check(
            self.api,
            unsafe { (self.api.ClientTransactionAbort)(self.raw()) },
            "abort a transaction",
        )
    }

    /// Ends the session; the engine lets go of all that belongs to it.
    pub(super) fn close(&self) -> Result<()> {
        let raw = self.raw.replace(ptr::null_mut());
        if raw.is_null() {
            return Ok(());
        }
        // SAFETY: open until here, and forgotten whatever this returns.
        let (reset, freed) = unsafe { ((self.api.ClientReset)(raw), (self.api.ClientFree)(raw)) };
        check(self.api, reset, "end a session").and(check(self.api, freed, "free a session"))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // The error that led here is the one to tell.
        let _ = self.close();
    }
}
