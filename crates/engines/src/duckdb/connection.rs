//! An open database with its one connection.

use std::ffi::{CStr, CString, c_char};
use std::path::Path;
use std::ptr;

use super::NAME;
use super::api::{Api, Handle, RawResult, SUCCESS};
use crate::{EngineError, Result};

/// A database and a connection to it. Closed when dropped.
pub(super) struct Connection {
    pub(super) api: &'static Api,
    database: Handle,
    pub(super) raw: Handle,
}

/// A result that is destroyed when dropped.
pub(super) struct Answer {
    api: &'static Api,
    pub(super) raw: RawResult,
}

/// A configuration that is destroyed when dropped.
struct Config {
    api: &'static Api,
    raw: Handle,
}

impl Connection {
    /// Opens the database in `file`, or one in memory, with settings given by name and value.
    pub(super) fn open(
        api: &'static Api,
        file: Option<&Path>,
        settings: &[(&str, String)],
    ) -> Result<Self> {
        let place = file.map_or("a database in memory".into(), |file| file.display().to_string());
        let doing = format!("open {place}");
        let config = Config::new(api, settings)?;
        let path = file.map(|file| terminated(&doing, &file.to_string_lossy())).transpose()?;
        let path = path.as_ref().map_or(ptr::null(), |path| path.as_ptr());
        let (mut database, mut error) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: path and configuration live beyond the call, both out-pointers are valid, and
        // the error is freed after its text was copied.
        unsafe {
            let code = (api.open_ext)(path, &raw mut database, config.raw, &raw mut error);
            if code != SUCCESS {
                let message = text(error);
                (api.free)(error.cast());
                return Err(EngineError::failed(NAME, doing, message));
            }
        }
        // From here on a return closes what is open; DuckDB takes a null for nothing.
        let mut opened = Self { api, database, raw: ptr::null_mut() };
        // SAFETY: the database was opened just now.
        if unsafe { (api.connect)(database, &raw mut opened.raw) } != SUCCESS {
            return Err(EngineError::failed(
                NAME,
                format!("connect to {place}"),
                "no reason given",
            ));
        }
        Ok(opened)
    }

    /// Another connection to the same database, which lives as long as one of them does. Connections
    /// may be used each on a thread of its own
    /// (<https://duckdb.org/docs/stable/connect/concurrency>).
    pub(super) fn another(&self) -> Result<Self> {
        let mut opened = Self { api: self.api, database: ptr::null_mut(), raw: ptr::null_mut() };
        // SAFETY: the database is open; DuckDB takes a null for nothing when this is dropped.
        if unsafe { (self.api.connect)(self.database, &raw mut opened.raw) } != SUCCESS {
            return Err(EngineError::failed(NAME, "connect once more", "no reason given"));
        }
        Ok(opened)
    }

    /// Runs statements without parameters; their last result.
    pub(super) fn batch(&self, sql: &str) -> Result<Answer> {
        let doing = format!("run `{sql}`");
        let terminated = terminated(&doing, sql)?;
        let mut answer = Answer { api: self.api, raw: RawResult::EMPTY };
        // SAFETY: the connection is open and the text terminated; the result is destroyed by its
        // drop, also after an error.
        let code = unsafe { (self.api.query)(self.raw, terminated.as_ptr(), &raw mut answer.raw) };
        if code == SUCCESS { Ok(answer) } else { Err(answer.error(doing)) }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // SAFETY: each is closed once, the connection first. Statements hold a reference to the
        // connection, so none is left.
        unsafe {
            (self.api.disconnect)(&raw mut self.raw);
            (self.api.close)(&raw mut self.database);
        }
    }
}

impl Answer {
    pub(super) fn new(api: &'static Api) -> Self {
        Self { api, raw: RawResult::EMPTY }
    }

    #[cold]
    pub(super) fn error(&mut self, doing: impl Into<String>) -> EngineError {
        // SAFETY: a call filled the result; its message lives as long.
        let message = unsafe { text((self.api.result_error)(&raw mut self.raw)) };
        EngineError::failed(NAME, doing, message)
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        // SAFETY: it is destroyed once; one that was never filled is allowed.
        unsafe { (self.api.destroy_result)(&raw mut self.raw) };
    }
}

impl Config {
    fn new(api: &'static Api, settings: &[(&str, String)]) -> Result<Self> {
        let mut config = Self { api, raw: ptr::null_mut() };
        // SAFETY: the out-pointer is valid.
        if unsafe { (api.create_config)(&raw mut config.raw) } != SUCCESS {
            return Err(EngineError::failed(NAME, "create a configuration", "no reason given"));
        }
        for (name, value) in settings {
            let doing = format!("set {name} to {value}");
            let (key, text) = (terminated(&doing, name)?, terminated(&doing, value)?);
            // SAFETY: the configuration is alive, both texts are terminated.
            if unsafe { (api.set_config)(config.raw, key.as_ptr(), text.as_ptr()) } != SUCCESS {
                return Err(EngineError::failed(NAME, doing, "it does not know it"));
            }
        }
        Ok(config)
    }
}

impl Drop for Config {
    fn drop(&mut self) {
        // SAFETY: it is destroyed once.
        unsafe { (self.api.destroy_config)(&raw mut self.raw) };
    }
}

/// A text as C wants it.
pub(super) fn terminated(doing: &str, text: &str) -> Result<CString> {
    CString::new(text).map_err(|e| EngineError::failed(NAME, doing, e))
}

/// A message of DuckDB's, copied.
///
/// # Safety
/// It must be null or a terminated text.
pub(super) unsafe fn text(message: *const c_char) -> String {
    if message.is_null() {
        return "no reason given".to_owned();
    }
    // SAFETY: it is a terminated text, says the caller.
    unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned()
}
