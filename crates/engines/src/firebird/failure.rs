//! Errors of Firebird.

use std::ffi::c_char;

use super::api::{self, Util, argument};

/// Error codes `isc_deadlock`, `isc_lock_conflict`, `isc_update_conflict`, and `isc_lock_timeout`:
/// another transaction has changed what this one wants to change, or holds a lock on it. The call
/// can be repeated
/// (<https://www.firebirdsql.org/file/documentation/html/en/refdocs/fblangref50/firebird-50-language-reference.html#fblangref50-appx02-errorcodes>).
pub(super) const CONFLICTS: [isize; 4] = [335_544_336, 335_544_345, 335_544_451, 335_544_510];

/// `isc_obj_in_use`: a prepared statement uses a table that is to be dropped.
pub(super) const IN_USE: [isize; 1] = [335_544_453];

/// `isc_already_opened`: another process has the file open.
pub(super) const STILL_OPEN: [isize; 1] = [335_545_107];

/// Maximum number of bytes of a message.
const MAX_MESSAGE: usize = 4096;

#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(super) struct Failure {
    codes: Vec<isize>,
    message: String,
}

impl Failure {
    /// Creates an error without a code.
    pub fn new(message: &str) -> Self {
        Self { codes: Vec::new(), message: message.to_owned() }
    }

    /// Reads an error from a status.
    ///
    /// # Safety
    /// The status must be alive, and of a failed call.
    pub unsafe fn read(status: api::Status, util: Util) -> Self {
        let mut room = vec![0u8; MAX_MESSAGE];
        // SAFETY: as the caller promises; no more is written than fits.
        let (codes, length) = unsafe {
            let length =
                util.format_status(room.as_mut_ptr().cast::<c_char>(), MAX_MESSAGE as _, status);
            (codes(status.errors()), length as usize)
        };
        let text = String::from_utf8_lossy(&room[..length.min(MAX_MESSAGE)]);
        // One line each, all but the first with a dash before them.
        let lines = text.lines().map(|line| line.trim_start_matches('-').trim());
        let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
        Self { codes, message: lines.join("; ") }
    }

    /// Returns whether it has one of these codes.
    pub fn is_of(&self, codes: &[isize]) -> bool {
        self.codes.iter().any(|code| codes.contains(code))
    }
}

/// Returns the error codes of a status.
///
/// # Safety
/// They must be those of a status: pairs of a kind and a value, or three words for a counted text,
/// up to an end mark.
unsafe fn codes(mut at: *const isize) -> Vec<isize> {
    let mut codes = Vec::new();
    // SAFETY: as the caller promises.
    unsafe {
        while *at != argument::END {
            if *at == argument::CODE {
                codes.push(*at.add(1));
            }
            at = at.add(if *at == argument::COUNTED_TEXT { 3 } else { 2 });
        }
    }
    codes
}
