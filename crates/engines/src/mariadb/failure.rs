//! What went wrong, in the words of the server or of its client library.

use std::ffi::{CStr, c_char};
use std::fmt;

/// An error of the server, or of the library.
#[derive(Debug)]
pub(super) struct Failure {
    /// MariaDB's number of it (<https://mariadb.com/kb/en/mariadb-error-code-reference/>); 0 where
    /// there is none.
    pub code: u32,
    words: String,
}

impl Failure {
    /// One that has no number.
    pub fn own(words: &str) -> Self {
        Self { code: 0, words: words.to_owned() }
    }

    /// Reads one that the library tells.
    ///
    /// # Safety
    /// Both texts must be terminated.
    pub unsafe fn read(code: u32, state: *const c_char, message: *const c_char) -> Self {
        // SAFETY: as the caller promises.
        let [state, message] =
            [state, message].map(|text| unsafe { CStr::from_ptr(text) }.to_string_lossy());
        Self { code, words: format!("ERROR {code} ({state}): {message}") }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}
