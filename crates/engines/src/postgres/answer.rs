//! Results of statements.

use std::ffi::{CStr, c_char, c_int};

use super::api::{Api, COPY, DONE, Handle, Oid, SOME_ROWS};
use super::{NAME, tidy};
use crate::EngineError;

/// A libpq result, freed when dropped.
pub(super) struct Answer {
    pub(super) api: &'static Api,
    /// A `PGresult`, never null.
    pub(super) raw: Handle,
}

/// An error of the server, or of the connection to it.
#[derive(Debug)]
pub(super) struct ServerError {
    /// SQLSTATE (<https://www.postgresql.org/docs/18/errcodes-appendix.html>). `None` if the server
    /// did not answer.
    pub state: Option<String>,
    /// State, message, detail, and hint, for a person.
    pub message: String,
}

impl ServerError {
    /// Creates an error that did not come from the server.
    pub fn without_state(message: impl Into<String>) -> Self {
        Self { state: None, message: message.into() }
    }

    /// Returns whether its state is one of these, or is in one of these classes.
    pub fn is_of(&self, classes: &[&str]) -> bool {
        let state = self.state.as_deref().unwrap_or_default();
        classes.iter().any(|class| state.starts_with(class))
    }

    /// Returns the engine's error for an operation.
    #[cold]
    pub fn while_doing(self, doing: impl Into<String>) -> EngineError {
        EngineError::failed(NAME, doing, self.message)
    }
}

impl Answer {
    /// Returns whether it is the last result of a statement, without an error.
    pub fn is_last(&self) -> Result<bool, ServerError> {
        match self.status() {
            status if DONE.contains(&status) => Ok(true),
            status if SOME_ROWS.contains(&status) => Ok(false),
            _ => Err(self.error()),
        }
    }

    /// Returns whether a COPY is under way.
    pub fn is_copy(&self) -> bool {
        COPY.contains(&self.status())
    }

    /// `PQresultStatus`.
    pub fn status(&self) -> c_int {
        // SAFETY: the result is alive.
        unsafe { (self.api.resultStatus)(self.raw) }
    }

    #[cold]
    fn error(&self) -> ServerError {
        let (Some(severity), Some(state)) = (self.field(b'S'), self.field(b'C')) else {
            // SAFETY: the result is alive; its message is a terminated text.
            let message = unsafe { text((self.api.resultErrorMessage)(self.raw)) };
            return ServerError::without_state(match tidy(&message) {
                none if none.is_empty() => "the server gave an answer of another kind".to_owned(),
                message => message,
            });
        };
        let (message, detail, hint) = (self.field(b'M'), self.field(b'D'), self.field(b'H'));
        let all = [Some(message.unwrap_or_default()), detail, hint];
        let message = all.into_iter().flatten().collect::<Vec<_>>().join("; ");
        ServerError { message: format!("{severity} {state}: {message}"), state: Some(state) }
    }

    /// Returns a part of the error by its letter
    /// (<https://www.postgresql.org/docs/18/protocol-error-fields.html>).
    fn field(&self, letter: u8) -> Option<String> {
        // SAFETY: the result is alive; a field of a message is null or a terminated text.
        unsafe {
            let part = (self.api.resultErrorField)(self.raw, letter.into());
            (!part.is_null()).then(|| text(part))
        }
    }

    /// Returns how many rows the statement changed or returned, as the server counted.
    pub fn count(&self) -> u64 {
        // SAFETY: the result is alive; the text is terminated, and empty if nothing is counted.
        let count = unsafe { CStr::from_ptr((self.api.cmdTuples)(self.raw)) };
        let digits = count.to_bytes().iter();
        digits.fold(0, |sum, digit| sum * 10 + u64::from(digit.wrapping_sub(b'0')))
    }

    /// Returns the types of a statement's parameters, if it describes a statement.
    pub fn parameters(&self) -> Vec<Oid> {
        // SAFETY: the result is alive, and the numbers are below the count.
        unsafe {
            let count = (self.api.nparams)(self.raw);
            (0..count).map(|number| (self.api.paramtype)(self.raw, number)).collect()
        }
    }

    pub fn rows(&self) -> c_int {
        // SAFETY: the result is alive.
        unsafe { (self.api.ntuples)(self.raw) }
    }

    pub fn columns(&self) -> c_int {
        // SAFETY: the result is alive.
        unsafe { (self.api.nfields)(self.raw) }
    }

    /// Returns the bytes of a value, or `None` for NULL. Row and column must exist: libpq checks
    /// them, warns, and returns NULL.
    pub fn value(&self, row: c_int, column: c_int) -> Option<&[u8]> {
        let Self { api, raw } = *self;
        // SAFETY: the result is alive; the value has that many bytes, and lives as long.
        unsafe {
            let length = (api.getlength)(raw, row, column);
            if length == 0 && (api.getisnull)(raw, row, column) != 0 {
                return None;
            }
            let bytes = (api.getvalue)(raw, row, column).cast();
            Some(std::slice::from_raw_parts(bytes, usize::try_from(length).unwrap_or_default()))
        }
    }

    /// Returns the first value of a result whose values are texts.
    pub fn first(&self) -> Option<String> {
        self.texts().into_iter().flatten().next().flatten()
    }

    /// Returns the values of a result whose values are texts, row by row and without NULLs.
    pub fn values(&self) -> impl Iterator<Item = String> {
        self.texts().into_iter().flatten().flatten()
    }

    /// Returns all rows of a result whose values are texts.
    pub fn texts(&self) -> Vec<Vec<Option<String>>> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let row = |row| (0..self.columns()).map(move |column| self.value(row, column).map(text));
        (0..self.rows()).map(|number| row(number).collect()).collect()
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        // SAFETY: it is freed once.
        unsafe { (self.api.clear)(self.raw) };
    }
}

/// Copies a text of libpq.
///
/// # Safety
/// It must be NUL-terminated.
pub(super) unsafe fn text(text: *const c_char) -> String {
    // SAFETY: the caller promises that it is one.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
