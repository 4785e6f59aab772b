//! A client of the engine: its session, its transaction, its version and its errors.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU16, Ordering};

use super::NAME;
use super::ffi::{
    Allocate, Api, Free, Handle, LOCK_NONE, Set, Status, TRANSACTION_EXCLUSIVE, status,
};
use crate::{EngineError, Result, owned};

/// The two letters by which the engine knows us, `EM`.
const SERVICE_AGENT: c_int = 0x454d;

/// Turns a status into a result.
#[inline]
pub(super) fn check(api: &Api, code: Status, doing: &str) -> Result<()> {
    if code == status::NO_ERROR { Ok(()) } else { Err(error(api, code, doing)) }
}

/// Makes an error with the library's own words for a status.
#[cold]
pub(super) fn error(api: &Api, code: Status, doing: &str) -> EngineError {
    // SAFETY: the function takes any number.
    let words = text(unsafe { (api.StatusCodeToString)(code) });
    EngineError::failed(NAME, doing, format_args!("{words} (status {code})"))
}

/// Reads a text of the library.
pub(super) fn text(at: *const c_char) -> String {
    if at.is_null() {
        return "no words for it".to_owned();
    }
    // SAFETY: it is not null, so it is a constant text that ends with a zero byte; it is copied at
    // once.
    unsafe { CStr::from_ptr(at) }.to_string_lossy().into_owned()
}

/// Returns a length as the interface takes it.
///
/// All lengths here have already been compared with the limits of keys and records, which are far
/// smaller.
#[inline]
pub(super) const fn int(length: usize) -> c_int {
    length as c_int
}

/// An object of the library that is needed to do something; freed when dropped.
pub(super) struct Owned {
    api: &'static Api,
    object: owned::Owned<c_void, Status>,
    doing: &'static str,
}

impl Owned {
    /// Makes an object. `allocate` and `free` belong together.
    pub(super) fn new(
        api: &'static Api,
        allocate: Allocate,
        free: Free,
        doing: &'static str,
    ) -> Result<Self> {
        let mut raw = ptr::null_mut();
        // SAFETY: the function stores a handle at the given address.
        check(api, unsafe { allocate(&mut raw) }, doing)?;
        // SAFETY: made by the function's counterpart. It is only memory of the library, so nothing
        // can be done about an error when it is freed.
        let object = unsafe { owned::Owned::new(raw, free) };
        Ok(Self { api, object, doing })
    }

    /// Sets a property by the function for it.
    pub(super) fn set(&self, set: Set, to: c_int) -> Result<()> {
        // SAFETY: the handle is open.
        check(self.api, unsafe { set(self.raw(), to) }, self.doing)
    }

    /// Returns a number by the function for it, which returns -1 in case of an error.
    pub(super) fn number<T: TryInto<u64>>(
        &self,
        get: unsafe extern "C" fn(Handle) -> T,
        last_status: unsafe extern "C" fn(Handle) -> Status,
    ) -> Result<u64> {
        // SAFETY: the handle is open.
        self.number_by(|raw| unsafe { get(raw) }, last_status)
    }

    /// Does the same as [`number`](Self::number) by a call with more arguments.
    #[inline]
    pub(super) fn number_by<T: TryInto<u64>>(
        &self,
        get: impl FnOnce(Handle) -> T,
        last_status: unsafe extern "C" fn(Handle) -> Status,
    ) -> Result<u64> {
        // SAFETY: the handle is open.
        let failed = |_| error(self.api, unsafe { last_status(self.raw()) }, self.doing);
        get(self.raw()).try_into().map_err(failed)
    }

    /// Returns the handle, valid as long as this object lives.
    #[inline]
    pub(super) fn raw(&self) -> Handle {
        self.object.raw
    }
}

/// Versions as the library reports them.
pub(super) struct Versions {
    /// The version of the library.
    pub client: String,
    /// The version of the engine on this machine, or of the library if this machine has no engine.
    pub engine: String,
}

/// A session with the engine. Its files are closed before it is.
pub(super) struct Client {
    pub(super) api: &'static Api,
    /// Null once the session is closed.
    raw: Cell<Handle>,
}

impl Client {
    pub(super) fn new(api: &'static Api) -> Result<Self> {
        // Two sessions of one process need two numbers.
        static NUMBERS: AtomicU16 = AtomicU16::new(0);
        let number = c_int::from(NUMBERS.fetch_add(1, Ordering::Relaxed));
        let mut raw = ptr::null_mut();
        // SAFETY: the function stores a handle at the given address.
        let code = unsafe { (api.ClientAllocate)(&mut raw, SERVICE_AGENT, number) };
        check(api, code, "begin a session")?;
        Ok(Self { api, raw: Cell::new(raw) })
    }

    /// Returns the handle, null once the session is closed.
    #[inline]
    pub(super) fn raw(&self) -> Handle {
        self.raw.get()
    }

    /// Reads the versions, for which the engine has to answer.
    pub(super) fn versions(&self) -> Result<Versions> {
        const DOING: &str = "ask for its version";
        let api = self.api;
        let version = Owned::new(api, api.VersionAllocate, api.VersionFree, DOING)?;
        // SAFETY: both handles are open; without a file the call concerns no remote engine.
        let code = unsafe { (api.ClientGetVersion)(self.raw(), version.raw(), ptr::null_mut()) };
        check(api, code, DOING)?;
        let number = |get| version.number(get, api.VersionGetLastStatusCode);
        let words = |version: u64, revision: u64| format!("{version}.{revision:02}");
        let local = number(api.VersionGetLocalVersionNumber)?;
        let engine = words(local, number(api.VersionGetLocalRevisionNumber)?);
        let revision = api.VersionGetClientRevisionNumber;
        let client = words(number(api.VersionGetClientVersionNumber)?, number(revision)?);
        let engine = if local > 0 { engine } else { client.clone() };
        Ok(Versions { client, engine })
    }

    /// Begins an exclusive transaction, because no other client uses the files.
    pub(super) fn begin(&self) -> Result<()> {
        // SAFETY: the session is open.
        let code = unsafe {
            (self.api.ClientTransactionBegin)(self.raw(), TRANSACTION_EXCLUSIVE, LOCK_NONE)
        };
        check(self.api, code, "begin a transaction")
    }

    /// Ends the transaction: commits it, or aborts it if that fails.
    pub(super) fn end(&self) -> Result<()> {
        // SAFETY: the session is open.
        let code = unsafe { (self.api.ClientTransactionEnd)(self.raw()) };
        check(self.api, code, "commit").inspect_err(|_| {
            // Whatever the engine has left of the transaction must not hold files. The first error
            // is the one to report.
            let _ = self.abort();
        })
    }

    pub(super) fn abort(&self) -> Result<()> {
        // SAFETY: the session is open.
        let code = unsafe { (self.api.ClientTransactionAbort)(self.raw()) };
        check(self.api, code, "abort a transaction")
    }

    /// Ends the session; the engine releases everything that belongs to it.
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
        // The error that led here is the one to report.
        let _ = self.close();
    }
}
