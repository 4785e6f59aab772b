//! Changes that are written together.

use std::ffi::c_void;
use std::slice;

use super::api::{Api, Bytes, Handle};

/// A batch, freed when dropped.
pub(super) struct Batch<'a> {
    api: &'a Api,
    batch: Handle,
    is_empty: bool,
}

/// Sees the changes of a batch: a key, and the value it was given, or none where it was removed.
type See<'a> = &'a mut dyn FnMut(&[u8], Option<&[u8]>);

impl<'a> Batch<'a> {
    /// With nothing in it.
    pub(super) fn new(api: &'a Api) -> Self {
        // SAFETY: it makes a thing of its own, freed when `Self` is dropped.
        Self { api, batch: unsafe { (api.writebatch_create)() }, is_empty: true }
    }

    /// What the library knows it by; none where there is nothing to write.
    pub(super) fn handle(&self) -> Option<Handle> {
        (!self.is_empty).then_some(self.batch)
    }

    /// Adds a put.
    #[inline]
    pub(super) fn put(&mut self, key: &[u8], value: &[u8]) {
        self.is_empty = false;
        let (Self { api, batch, .. }, size) = (self, value.len());
        // SAFETY: the batch is ours, and takes copies.
        unsafe { (api.writebatch_put)(*batch, key.as_ptr(), key.len(), value.as_ptr(), size) }
    }

    /// Adds a removal.
    #[inline]
    pub(super) fn delete(&mut self, key: &[u8]) {
        self.is_empty = false;
        // SAFETY: as above.
        unsafe { (self.api.writebatch_delete)(self.batch, key.as_ptr(), key.len()) }
    }

    /// Shows its changes in the order in which they were added.
    pub(super) fn changes(&self, mut see: See<'_>) {
        extern "C" fn put(see: *mut c_void, key: Bytes, size: usize, value: Bytes, of: usize) {
            // SAFETY: `see` is the pointer given below; the library lends so many bytes.
            unsafe {
                let value = slice::from_raw_parts(value, of);
                (*see.cast::<See<'_>>())(slice::from_raw_parts(key, size), Some(value));
            }
        }
        extern "C" fn delete(see: *mut c_void, key: Bytes, size: usize) {
            // SAFETY: as above.
            unsafe { (*see.cast::<See<'_>>())(slice::from_raw_parts(key, size), None) }
        }
        let see: *mut See<'_> = &mut see;
        // SAFETY: the batch is ours, and `see` outlives the call; a panic in it ends the process.
        unsafe { (self.api.writebatch_iterate)(self.batch, see.cast(), put, delete) }
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        // SAFETY: the batch is ours and not used again.
        unsafe { (self.api.writebatch_destroy)(self.batch) }
    }
}
