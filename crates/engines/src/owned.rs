//! Owning pointers to objects of C libraries, and texts for them.

use std::ffi::{CStr, CString, OsStr, c_char, c_void};
use std::mem::ManuallyDrop;
use std::os::unix::ffi::OsStrExt;

use crate::{EngineError, Result};

/// An owning pointer to a C object, freed by the library's destructor when dropped. Null frees
/// nothing.
pub(crate) struct Owned<T = c_void, R = ()> {
    pub raw: *mut T,
    free: unsafe extern "C" fn(*mut T) -> R,
}

impl<T, R> Owned<T, R> {
    /// # Safety
    /// `raw` must be null or the caller's to free with `free`, and what it needs must outlive it.
    pub const unsafe fn new(raw: *mut T, free: unsafe extern "C" fn(*mut T) -> R) -> Self {
        Self { raw, free }
    }

    /// Returns the pointer, which the caller must free.
    pub fn take(self) -> *mut T {
        ManuallyDrop::new(self).raw
    }

    /// Frees the object, and returns the destructor's result.
    pub fn end(self) -> R {
        let owned = ManuallyDrop::new(self);
        // SAFETY: as promised to `new`, and not used again. (It is not null, since it was made.)
        unsafe { (owned.free)(owned.raw) }
    }
}

impl<T, R> Drop for Owned<T, R> {
    /// Ignores the destructor's result, because a drop cannot report it.
    #[inline]
    fn drop(&mut self) {
        if !self.raw.is_null() {
            // SAFETY: as promised to `new`, and not used again.
            unsafe { (self.free)(self.raw) };
        }
    }
}

/// Returns a text or a path for C. `doing` is the operation of the engine `id`, for the error.
pub(crate) fn c_string(id: &'static str, doing: &str, text: impl AsRef<OsStr>) -> Result<CString> {
    let text = CString::new(text.as_ref().as_bytes());
    text.map_err(|error| EngineError::failed(id, doing, error))
}

/// Adds a library's message to a list. It is passed as a callback, with the list.
///
/// # Safety
/// `list` must point to a `Vec<String>` that no other code uses meanwhile, and the message must end
/// with a NUL.
pub(crate) unsafe extern "C" fn listen(list: *mut c_void, message: *const c_char) {
    // SAFETY: the caller's promise.
    unsafe {
        let said = CStr::from_ptr(message).to_string_lossy().into_owned();
        (*list.cast::<Vec<String>>()).push(said);
    }
}

/// Returns bytes that a library points to.
///
/// # Safety
/// `at` must point to `size` bytes that do not change for the chosen lifetime, or `size` must be
/// zero.
#[inline]
pub(crate) const unsafe fn bytes<'a>(at: *const u8, size: usize) -> &'a [u8] {
    if size == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(at, size) }
}
