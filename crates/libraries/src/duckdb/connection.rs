//! An open database with its connection.

use std::ffi::{CStr, CString, c_char};
use std::path::Path;
use std::ptr;

use super::NAME;
use super::api::{Api, Handle, Owned, RawResult, SUCCESS};
use embermark_contract::{EngineError, Result};

/// A connection and its database. The database is closed after the connection. Statements hold a
/// reference to the connection, so none exists by then.
pub struct Connection {
    /// The library.
    pub api: &'static Api,
    connection: Owned,
    /// Null for [another](Self::open_another) connection.
    database: Owned,
}

/// A result that is destroyed when dropped.
pub struct QueryResult {
    api: &'static Api,
    /// The result.
    pub raw: RawResult,
}

impl Connection {
    /// Opens the database in `file`, or one in memory, with settings by name and value.
    pub fn open(
        api: &'static Api,
        file: Option<&Path>,
        settings: &[(&str, String)],
    ) -> Result<Self> {
        let place = file.map_or("a database in memory".into(), |file| file.display().to_string());
        let doing = format!("open {place}");
        let config = configuration(api, settings)?;
        let path = file.map(|file| terminated(&doing, &file.to_string_lossy())).transpose()?;
        let path = path.as_ref().map_or(ptr::null(), |path| path.as_ptr());
        let (mut database, mut error) = (Owned::null(api.close), ptr::null_mut());
        // SAFETY: path and configuration live beyond the call, both out-pointers are valid, and the
        // error is freed after its text was copied.
        unsafe {
            let code = (api.open_ext)(path, &raw mut database.raw, config.raw, &raw mut error);
            if code != SUCCESS {
                let message = text(error);
                (api.free)(error.cast());
                return Err(EngineError::failed(NAME, doing, message));
            }
        }
        let connection = connect(api, &database, format!("connect to {place}"))?;
        Ok(Self { api, connection, database })
    }

    /// Opens another connection to the same database, which lives until the last of its connections
    /// is closed. Each connection may be used on its own thread
    /// (<https://duckdb.org/docs/stable/connect/concurrency>).
    pub fn open_another(&self) -> Result<Self> {
        let connection = connect(self.api, &self.database, "connect once more")?;
        Ok(Self { api: self.api, connection, database: Owned::null(self.api.close) })
    }

    /// Returns the connection's handle.
    pub fn raw(&self) -> Handle {
        self.connection.raw
    }

    /// Runs statements without parameters, and drops their results.
    pub fn batch(&self, sql: &str) -> Result<()> {
        let doing = format!("run `{sql}`");
        let terminated = terminated(&doing, sql)?;
        let mut answer = QueryResult::new(self.api);
        // SAFETY: the connection is open and the text terminated. Dropping the result destroys it,
        // also after an error.
        let code =
            unsafe { (self.api.query)(self.raw(), terminated.as_ptr(), &raw mut answer.raw) };
        if code == SUCCESS { Ok(()) } else { Err(answer.error(doing)) }
    }
}

impl QueryResult {
    /// Makes an empty result that a call will fill.
    pub fn new(api: &'static Api) -> Self {
        Self { api, raw: RawResult::EMPTY }
    }

    /// Returns the error in the result. `doing` is the failed operation.
    #[cold]
    pub fn error(&mut self, doing: impl Into<String>) -> EngineError {
        // SAFETY: a call filled the result, and its message lives as long.
        let message = unsafe { text((self.api.result_error)(&raw mut self.raw)) };
        EngineError::failed(NAME, doing, message)
    }
}

impl Drop for QueryResult {
    fn drop(&mut self) {
        // SAFETY: it is destroyed once, and one that was never filled is allowed.
        unsafe { (self.api.destroy_result)(&raw mut self.raw) };
    }
}

fn connect(api: &Api, database: &Owned, doing: impl Into<String>) -> Result<Owned> {
    let mut connection = Owned::null(api.disconnect);
    // SAFETY: the database is open and the out-pointer valid.
    match unsafe { (api.connect)(database.raw, &raw mut connection.raw) } {
        SUCCESS => Ok(connection),
        _ => Err(EngineError::failed(NAME, doing, "no reason given")),
    }
}

fn configuration(api: &Api, settings: &[(&str, String)]) -> Result<Owned> {
    let mut config = Owned::null(api.destroy_config);
    // SAFETY: the out-pointer is valid.
    if unsafe { (api.create_config)(&raw mut config.raw) } != SUCCESS {
        return Err(EngineError::failed(NAME, "create a configuration", "no reason given"));
    }
    for (name, value) in settings {
        let doing = format!("set {name} to {value}");
        let (key, text) = (terminated(&doing, name)?, terminated(&doing, value)?);
        // SAFETY: the configuration is alive, and both texts are terminated.
        if unsafe { (api.set_config)(config.raw, key.as_ptr(), text.as_ptr()) } != SUCCESS {
            let why = "the setting is unknown or the value is invalid";
            return Err(EngineError::failed(NAME, doing, why));
        }
    }
    Ok(config)
}

/// Converts a text for C.
pub fn terminated(doing: &str, text: &str) -> Result<CString> {
    CString::new(text).map_err(|e| EngineError::failed(NAME, doing, e))
}

/// Copies a message of DuckDB.
///
/// # Safety
/// It must be null or a terminated text.
pub unsafe fn text(message: *const c_char) -> String {
    if message.is_null() {
        return "no reason given".to_owned();
    }
    // SAFETY: it is a terminated text, as the caller guarantees.
    unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned()
}
