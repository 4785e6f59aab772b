//! A scan's cursor.

use std::slice;

use super::api::{Api, Failure, Handle};

/// A place among the pairs of a view.
pub(super) struct Cursor<'a> {
    api: &'a Api,
    iterator: Handle,
    /// Whether it is at a pair: asked for after each move.
    valid: bool,
}

impl<'a> Cursor<'a> {
    /// Over an iterator at no pair.
    ///
    /// # Safety
    /// The iterator must be new and nobody else's, and its database and snapshot outlive `'a`.
    pub(super) unsafe fn of(api: &'a Api, iterator: Handle) -> Self {
        Self { api, iterator, valid: false }
    }

    /// Goes to the first pair of that key or a higher one.
    pub(super) fn seek(&mut self, key: &[u8]) {
        // SAFETY: the iterator is ours, and reads the key before it returns.
        unsafe { (self.api.iter_seek)(self.iterator, key.as_ptr(), key.len()) }
        self.moved();
    }

    /// Goes to the last pair of a lower key.
    pub(super) fn seek_below(&mut self, key: &[u8]) {
        self.seek(key);
        if self.valid {
            return self.step(true);
        }
        // SAFETY: the iterator is ours.
        unsafe { (self.api.iter_seek_to_last)(self.iterator) }
        self.moved();
    }

    /// Goes on to the next pair, or to the one before; nowhere from no pair.
    #[inline]
    pub(super) fn step(&mut self, back: bool) {
        let Self { api, iterator, valid } = self;
        if *valid {
            // SAFETY: the iterator is ours and at a pair, as it must be to be moved on.
            unsafe { if back { (api.iter_prev)(*iterator) } else { (api.iter_next)(*iterator) } }
            self.moved();
        }
    }

    #[inline]
    fn moved(&mut self) {
        // SAFETY: the iterator is ours.
        self.valid = unsafe { (self.api.iter_valid)(self.iterator) != 0 };
    }

    /// The pair it is at; none before the first, behind the last and after an error.
    #[inline]
    pub(super) fn pair(&self) -> Option<(&[u8], &[u8])> {
        let (Self { api, iterator, .. }, mut key, mut value) = (self, 0, 0);
        // SAFETY: an iterator at a pair lends both until it is moved, for which it is borrowed anew.
        self.valid.then(|| unsafe {
            let at = ((api.iter_key)(*iterator, &mut key), (api.iter_value)(*iterator, &mut value));
            (slice::from_raw_parts(at.0, key), slice::from_raw_parts(at.1, value))
        })
    }

    /// Whether it ended at an error.
    pub(super) fn check(&self) -> Result<(), String> {
        // SAFETY: the iterator is ours.
        let error = |failure: Failure| unsafe { (self.api.iter_get_error)(self.iterator, failure) };
        self.api.checked(error)
    }
}

impl Drop for Cursor<'_> {
    fn drop(&mut self) {
        // SAFETY: the iterator is ours and not used again.
        unsafe { (self.api.iter_destroy)(self.iterator) }
    }
}
