//! Walking a table with an iterator.

use std::ops::ControlFlow::{self, Break, Continue};

use super::api::{Api, Handle};
use super::db::{bytes, call};
use crate::Result;
use crate::kv::{Range, Visit};

/// An iterator, freed when dropped.
pub(super) struct Scan<'a> {
    api: &'a Api,
    raw: Handle,
}

impl<'a> Scan<'a> {
    /// Takes an iterator.
    ///
    /// # Safety
    /// It is the caller's, and what it goes through outlives the scan unchanged.
    pub(super) const unsafe fn new(api: &'a Api, raw: Handle) -> Self {
        Self { api, raw }
    }

    /// The pair it stands on; at the end none, or the error that ended it.
    #[inline]
    fn pair(&self) -> Result<Option<(&[u8], &[u8])>> {
        let (mut key_size, mut value_size) = (0, 0);
        // SAFETY: ours; the pair is in the library's memory until the iterator moves.
        unsafe {
            if (self.api.iter_valid)(self.raw) == 0 {
                return call(self.api, "scan", |e| (self.api.iter_get_error)(self.raw, e))
                    .map(|()| None);
            }
            let key = (self.api.iter_key)(self.raw, &mut key_size);
            let value = (self.api.iter_value)(self.raw, &mut value_size);
            Ok(Some((bytes(key, key_size), bytes(value, value_size))))
        }
    }

    /// Visits a range in ascending order.
    pub(super) fn forward(
        &mut self,
        range: Range<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<ControlFlow<()>> {
        // SAFETY: ours; the key lives through the call.
        unsafe {
            match range.from {
                Some(from) => (self.api.iter_seek)(self.raw, from.as_ptr(), from.len()),
                None => (self.api.iter_seek_to_first)(self.raw),
            }
        }
        while let Some((key, value)) = self.pair()? {
            if range.to.is_some_and(|to| key >= to) || visit(key, value).is_break() {
                return Ok(Break(()));
            }
            // SAFETY: ours, on a pair.
            unsafe { (self.api.iter_next)(self.raw) };
        }
        Ok(Continue(()))
    }

    /// Visits a range in descending order.
    pub(super) fn backward(
        &mut self,
        range: Range<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<ControlFlow<()>> {
        // SAFETY: ours; the key lives through the call.
        unsafe {
            match range.to {
                Some(to) => (self.api.iter_seek_for_prev)(self.raw, to.as_ptr(), to.len()),
                None => (self.api.iter_seek_to_last)(self.raw),
            }
        }
        while let Some((key, value)) = self.pair()? {
            // The first key may be the bound itself.
            let within = range.to.is_none_or(|to| key < to);
            if range.from.is_some_and(|from| key < from) || within && visit(key, value).is_break() {
                return Ok(Break(()));
            }
            // SAFETY: ours, on a pair.
            unsafe { (self.api.iter_prev)(self.raw) };
        }
        Ok(Continue(()))
    }
}

impl Drop for Scan<'_> {
    fn drop(&mut self) {
        // SAFETY: ours, and not used again.
        unsafe { (self.api.iter_destroy)(self.raw) };
    }
}
