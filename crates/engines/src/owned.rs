//! Things of a C library's, each freed by the function that is for it.

#![allow(
    dead_code,
    reason = "used by engines of C libraries; a build may have none that is linked"
)]

use std::ffi::{CStr, c_char, c_void};
use std::mem::ManuallyDrop;

/// A thing of a C library's, freed when dropped; null is nothing to free.
pub(crate) struct Owned<T = c_void, R = ()> {
    pub raw: *mut T,
    free: unsafe extern "C" fn(*mut T) -> R,
}

impl<T, R> Owned<T, R> {
    /// # Safety
    /// `raw` is the caller's to free, by `free`, or null; what it needs outlives it.
    pub const unsafe fn new(raw: *mut T, free: unsafe extern "C" fn(*mut T) -> R) -> Self {
        Self { raw, free }
    }

    /// The thing, which whoever takes it frees.
    pub fn take(self) -> *mut T {
        ManuallyDrop::new(self).raw
    }

    /// Frees it; what the function returns.
    pub fn end(self) -> R {
        let owned = ManuallyDrop::new(self);
        // SAFETY: as promised to `new`, and not used again. (Not null: it was made.)
        unsafe { (owned.free)(owned.raw) }
    }
}

impl<T, R> Drop for Owned<T, R> {
    /// Nobody is left to tell of what the function returns.
    #[inline]
    fn drop(&mut self) {
        if !self.raw.is_null() {
            // SAFETY: as promised to `new`, and not used again.
            unsafe { (self.free)(self.raw) };
        }
    }
}

/// Adds a message of a library's to a list: what it is given to be told by, with the list.
///
/// # Safety
/// `list` points to a `Vec<String>` that nobody else uses meanwhile; the message ends with a NUL.
pub(crate) unsafe extern "C" fn listen(list: *mut c_void, message: *const c_char) {
    // SAFETY: the caller's promise.
    unsafe {
        let said = CStr::from_ptr(message).to_string_lossy().into_owned();
        (*list.cast::<Vec<String>>()).push(said);
    }
}

/// Bytes a library points to.
///
/// # Safety
/// `at` points to `size` bytes that stay as they are for the lifetime chosen, or `size` is zero.
#[inline]
pub(crate) const unsafe fn bytes<'a>(at: *const u8, size: usize) -> &'a [u8] {
    if size == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(at, size) }
}
