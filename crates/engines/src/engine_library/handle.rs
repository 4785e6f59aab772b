//! A client of a library: safe wrappers for the functions of the C interface that every family has.

mod pairs;
mod statements;

use std::ffi::{CStr, CString, c_char, c_void};
use std::mem::{ManuallyDrop, size_of};
use std::ptr;

use embermark_abi as abi;

use super::api::Api;
use crate::owned::c_string;
use crate::{Checked, EngineError, OpenOptions, Result, retry_if};
pub(super) use statements::Prepared;

/// A client with the functions of its family, closed when dropped.
pub(super) struct Handle<F: 'static> {
    api: &'static Api,
    pub functions: &'static F,
    /// The engine's id, for errors.
    pub id: &'static str,
    raw: *mut abi::Client,
}

// SAFETY: as the header requires: a client is used by one thread at a time, and `open_client`
// passes one to another thread; `&mut` makes its use exclusive.
unsafe impl<F> Send for Handle<F> {}

impl<F> Handle<F> {
    pub fn open(
        api: &'static Api,
        functions: &'static F,
        id: &'static str,
        options: &OpenOptions,
    ) -> Result<Self> {
        const DOING: &str = "open the database";
        let dir = c_string(id, DOING, &options.dir)?;
        let text = |text: &str| c_string(id, DOING, text);
        let configured = options.configured().map(|(name, value)| Ok((text(name)?, text(value)?)));
        let configured = configured.collect::<Result<Vec<_>>>()?;
        let pair = |(name, value): &(CString, CString)| abi::Pair {
            name: name.as_ptr(),
            value: value.as_ptr(),
        };
        let end = abi::Pair { name: ptr::null(), value: ptr::null() };
        let settings: Vec<abi::Pair> = configured.iter().map(pair).chain([end]).collect();
        let options = abi::Options {
            size: size_of::<abi::Options>() as u32,
            tier: options.durability as u32,
            dir: dir.as_ptr(),
            memory: options.memory,
            clients: options.clients,
            alone: options.is_alone().into(),
            settings: settings.as_ptr(),
        };
        let mut raw = ptr::null_mut();
        // SAFETY: everything that the options point to lives through the call.
        let status = unsafe { (api.open)(&options, &mut raw) };
        let raw = opened(api, id, ptr::null_mut(), (status, raw), DOING)?;
        Ok(Self { api, functions, id, raw })
    }

    /// Opens another client, for another thread.
    pub fn open_client(&mut self) -> Result<Self> {
        let open = self.optional(self.api.raw.open_client, "more than one client at a time")?;
        let mut raw = ptr::null_mut();
        // SAFETY: open, and this thread's.
        let status = unsafe { open(self.raw, &mut raw) };
        let raw = opened(self.api, self.id, self.raw, (status, raw), "open another client")?;
        Ok(Self { raw, ..*self })
    }

    /// Returns whether the library has set a flag of its engine.
    #[inline]
    pub fn has(&self, flag: u32) -> bool {
        self.api.raw.flags & flag != 0
    }

    /// Returns a function, or that the library does not support `what` without it.
    fn optional<T>(&self, function: Option<T>, what: &str) -> Result<T> {
        function.ok_or_else(|| EngineError::unsupported(self.id, what))
    }

    /// Returns the error of a failed call.
    #[cold]
    fn failed(&self, status: i32, doing: &str) -> EngineError {
        failure(self.api, self.id, self.raw, status, doing)
    }

    /// Calls a function of a client. With `retries`, a refused call is repeated.
    #[inline]
    fn call(
        &mut self,
        retries: bool,
        doing: &str,
        call: impl Fn(*mut abi::Client) -> i32,
    ) -> Result<()> {
        let raw = self.raw;
        let call = || match call(raw) {
            abi::OK => Ok(()),
            status => Err(status),
        };
        let done = retry_if(|status| retries && *status == abi::CONFLICT, call);
        done.map_err(|status| self.failed(status, doing))
    }

    /// Begins a transaction, or another scope of a key-value engine.
    #[inline]
    pub fn begin(&mut self, scope: u32) -> Result<()> {
        let begin = self.api.begin;
        // SAFETY: open, and in no scope.
        self.call(true, "begin a transaction", |raw| unsafe { begin(raw, scope) })
    }

    #[inline]
    pub fn commit(&mut self) -> Result<()> {
        let commit = self.api.commit;
        // SAFETY: open, and in a scope.
        self.call(false, "commit", |raw| unsafe { commit(raw) })
    }

    pub fn undo(&mut self) -> Result<()> {
        let undo = self.api.undo;
        // SAFETY: open, and in a scope that embermark has not ended.
        self.call(false, "undo a transaction", |raw| unsafe { undo(raw) })
    }

    pub fn settings(&mut self) -> Result<Vec<(String, String)>> {
        let mut settings: Vec<(String, String)> = Vec::new();
        let Some(settings_of) = self.api.raw.settings_of else { return Ok(settings) };
        let context = (&raw mut settings).cast();
        // SAFETY: open; the list lives through the call, and the callback gets the context that it
        // was made for.
        let call = |raw| unsafe { settings_of(raw, take_setting, context) };
        self.call(false, "report its settings", call)?;
        Ok(settings)
    }

    /// Runs maintenance, if the engine has it.
    pub fn maintain(&mut self) -> Result<()> {
        let Some(maintain) = self.api.raw.maintain else { return Ok(()) };
        // SAFETY: open, and in no scope.
        self.call(false, "do its maintenance", |raw| unsafe { maintain(raw) })
    }

    pub fn log_bytes(&mut self) -> Result<u64> {
        let lacks = "the size of a log: its library does not report it";
        let log_bytes = self.optional(self.api.raw.log_bytes, lacks)?;
        let mut bytes = 0;
        let into = &raw mut bytes;
        // SAFETY: open; the place for the number lives through the call.
        self.call(false, "report the size of its log", |raw| unsafe { log_bytes(raw, into) })?;
        Ok(bytes)
    }

    /// Makes the next close leave the database as a crash would.
    pub fn crash_on_close(&mut self) -> Result<()> {
        let lacks = "recovery: its library has no function for it";
        let crash = self.optional(self.api.raw.crash_on_close, lacks)?;
        // SAFETY: open.
        self.call(false, "leave a log to recover", |raw| unsafe { crash(raw) })
    }

    pub fn suspend_checkpoints(&mut self, bytes: u64) -> Result<()> {
        let lacks = "keeping every change in a log";
        let suspend = self.optional(self.api.raw.suspend_checkpoints, lacks)?;
        // SAFETY: open.
        self.call(false, "suspend its checkpoints", |raw| unsafe { suspend(raw, bytes) })
    }

    pub fn check(&mut self, name: &'static str) -> Result<Checked> {
        let lacks = "a check: its library has no function for it";
        let check = self.optional(self.api.raw.check, lacks)?;
        let mut checked = Checked::new(name);
        let context = (&raw mut checked).cast();
        // SAFETY: open, and in no scope; the result lives through the call, and the callback gets
        // the context that it was made for.
        self.call(false, "check the database", |raw| unsafe { check(raw, take_finding, context) })?;
        Ok(checked)
    }

    pub fn close(self) -> Result<()> {
        let Self { api, id, raw, .. } = *ManuallyDrop::new(self);
        // SAFETY: open, and not used again.
        match unsafe { (api.close)(raw) } {
            abi::OK => Ok(()),
            status => Err(failure(api, id, ptr::null_mut(), status, "close the database")),
        }
    }
}

impl<F> Drop for Handle<F> {
    /// Ignores the result, because no caller can receive it.
    fn drop(&mut self) {
        // SAFETY: open, and not used again.
        unsafe { (self.api.close)(self.raw) };
    }
}

/// Returns the client that a library has opened. `by` is the client whose message explains a
/// failed status, if there is one.
fn opened(
    api: &Api,
    id: &'static str,
    by: *mut abi::Client,
    (status, raw): (i32, *mut abi::Client),
    doing: &str,
) -> Result<*mut abi::Client> {
    match status {
        abi::OK if raw.is_null() => {
            Err(EngineError::failed(id, doing, "it returned EMBERMARK_OK, and no client"))
        }
        abi::OK => Ok(raw),
        status => Err(failure(api, id, by, status, doing)),
    }
}

/// Returns the error for a failed status, with the message of a client if there is one.
fn failure(
    api: &Api,
    id: &'static str,
    client: *mut abi::Client,
    status: i32,
    doing: &str,
) -> EngineError {
    // SAFETY: an open client, or none; a text ends with a NUL and exists until the next call.
    let said = api.raw.error.and_then(|error| unsafe {
        let text: *const c_char = error(client);
        (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
    });
    let said = said.filter(|text| !text.trim().is_empty());
    let or = |other: &str| said.unwrap_or_else(|| other.to_owned());
    let message = match status {
        abi::UNSUPPORTED => return EngineError::unsupported(id, or(doing)),
        abi::CONFLICT => {
            let why = format!("a conflict with another client: {}", or("it gave no reason"));
            return EngineError::failed(id, doing, why).into_conflict();
        }
        abi::FAILED => or("it gave no reason"),
        abi::NOT_FOUND => {
            "it returned EMBERMARK_NOT_FOUND for a call that does not look for a key".to_owned()
        }
        other => format!("it returned {other}, which is not a status of the interface"),
    };
    EngineError::failed(id, doing, message)
}

/// # Safety
/// As the header requires. `context` must be a `Vec<(String, String)>`.
unsafe extern "C" fn take_setting(context: *mut c_void, name: *const c_char, value: *const c_char) {
    // SAFETY: the caller's promise.
    unsafe {
        let text = |text: *const c_char| match text.is_null() {
            true => String::new(),
            false => CStr::from_ptr(text).to_string_lossy().into_owned(),
        };
        (*context.cast::<Vec<(String, String)>>()).push((text(name), text(value)));
    }
}

/// # Safety
/// As the header requires. `context` must be a `Checked`.
unsafe extern "C" fn take_finding(context: *mut c_void, finding: *const c_char) {
    if finding.is_null() {
        return;
    }
    // SAFETY: the caller's promise.
    unsafe {
        let finding = CStr::from_ptr(finding).to_string_lossy();
        (*context.cast::<Checked>()).found(finding);
    }
}
