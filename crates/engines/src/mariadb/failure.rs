//! Errors of the server or of its client library.

use std::ffi::{CStr, c_char};

/// An error of the server or of the library.
#[derive(Debug, thiserror::Error)]
#[error("{words}")]
pub(super) struct Failure {
    /// MariaDB's error code (<https://mariadb.com/kb/en/mariadb-error-code-reference/>). 0 if there
    /// is none.
    pub code: u32,
    words: String,
}

impl Failure {
    /// Creates an error without a code.
    pub fn own(words: &str) -> Self {
        Self { code: 0, words: words.to_owned() }
    }

    /// Creates an error from the library's parts.
    ///
    /// # Safety
    /// Both texts must be NUL-terminated.
    pub unsafe fn read(code: u32, state: *const c_char, message: *const c_char) -> Self {
        // SAFETY: as the caller promises.
        let [state, message] =
            [state, message].map(|text| unsafe { CStr::from_ptr(text) }.to_string_lossy());
        Self { code, words: format!("ERROR {code} ({state}): {message}") }
    }
}
