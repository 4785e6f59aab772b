//! Wrappers for the functions of a key-value engine.

use std::ffi::{CString, c_void};

use embermark_abi as abi;

use super::Handle;
use crate::engine_library::api::KeyValue;
use crate::kv::{Change, Direction, Pairs, Range, Visit};
use crate::{EngineError, Result, retry_if};

impl Handle<KeyValue> {
    /// Calls a function that looks for a key. Returns whether it exists.
    #[inline]
    fn find(
        &mut self,
        retries: bool,
        doing: &str,
        call: impl Fn(*mut abi::Client) -> i32,
    ) -> Result<bool> {
        let raw = self.raw;
        let call = || match call(raw) {
            abi::OK => Ok(true),
            abi::NOT_FOUND => Ok(false),
            status => Err(status),
        };
        let done = retry_if(|status| retries && *status == abi::CONFLICT, call);
        done.map_err(|status| self.failed(status, doing))
    }

    #[inline]
    pub fn get(&mut self, retries: bool, table: u32, key: &[u8]) -> Result<Option<&[u8]>> {
        let (get, mut value) = (self.functions.get, abi::Bytes::NONE);
        let into = &raw mut value;
        // SAFETY: open; the key and the place for the value live through the call.
        let found = self.find(retries, "get a value", |raw| unsafe {
            get(raw, table, abi::Bytes::of(key), into)
        })?;
        if found && value.at.is_null() && value.size > 0 {
            return Err(EngineError::failed(self.id, "get a value", "its bytes are NULL"));
        }
        // SAFETY: as the header promises: they exist until the next call with this client, which is
        // borrowed until then.
        Ok(found.then(|| unsafe { value.as_slice() }))
    }

    /// Sets the value of a key.
    #[inline]
    pub fn put(&mut self, retries: bool, table: u32, key: &[u8], value: &[u8]) -> Result<()> {
        let put = self.functions.put;
        let (key, value) = (abi::Bytes::of(key), abi::Bytes::of(value));
        // SAFETY: open; key and value live through the call.
        self.call(retries, "put a value", |raw| unsafe { put(raw, table, key, value) })
    }

    /// Removes a key. Returns whether it existed, if the library reports it.
    #[inline]
    pub fn delete(&mut self, retries: bool, table: u32, key: &[u8]) -> Result<bool> {
        let (del, key) = (self.functions.del, abi::Bytes::of(key));
        // SAFETY: open; the key lives through the call.
        self.find(retries, "delete a key", |raw| unsafe { del(raw, table, key) })
    }

    /// Changes the value of a key, if the library can. Returns whether the key existed.
    #[inline]
    pub fn modify(
        &mut self,
        retries: bool,
        table: u32,
        key: &[u8],
        change: &mut Change<'_>,
    ) -> Option<Result<bool>> {
        let (modify, key) = (self.functions.raw.modify?, abi::Bytes::of(key));
        let mut change: &mut Change<'_> = change;
        let context = (&raw mut change).cast();
        // SAFETY: open; the key and what `change` captures live through the call, and the callback
        // gets the context that it was made for.
        Some(self.find(retries, "change a value", |raw| unsafe {
            modify(raw, table, key, change_value, context)
        }))
    }

    /// Returns the number of keys of a table, if the library knows it.
    pub fn count(&mut self, table: u32) -> Result<Option<u64>> {
        let Some(count) = self.functions.raw.count else { return Ok(None) };
        let mut keys = 0;
        let into = &raw mut keys;
        // SAFETY: open; the place for the number lives through the call.
        self.call(true, "count the keys", |raw| unsafe { count(raw, table, into) })?;
        Ok(Some(keys))
    }

    /// Visits the pairs of a range. The first `PREFIX` bytes of each key are left out.
    pub fn scan<const PREFIX: usize>(
        &mut self,
        table: u32,
        range: Range<'_>,
        mut visit: &mut Visit<'_>,
    ) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        let abi_range = abi::Range {
            from: range.from.map_or(abi::Bytes::NONE, abi::Bytes::of),
            to: range.to.map_or(abi::Bytes::NONE, abi::Bytes::of),
            has_to: range.to.is_some().into(),
            backward: (range.direction == Direction::Backward).into(),
        };
        let scan = self.functions.scan;
        let (context, callback) = ((&raw mut visit).cast(), visit_pair::<PREFIX>);
        // SAFETY: open; the range and what `visit` captures live through the call, and the callback
        // gets the context that it was made for. The call is not repeated, because some pairs may
        // have been visited.
        self.call(false, "scan", |raw| unsafe { scan(raw, table, &abi_range, callback, context) })
    }

    /// Returns the number of a table, if the library has tables.
    pub fn table(&mut self, name: &str, key_length: Option<usize>) -> Option<Result<u32>> {
        const DOING: &str = "open a table";
        let table = self.functions.raw.table?;
        let Ok(name) = CString::new(name) else {
            return Some(Err(EngineError::failed(self.id, DOING, "its name has a NUL")));
        };
        let length = key_length.map_or(0, |length| length as u32);
        let mut number = 0;
        let into = &raw mut number;
        // SAFETY: open; the name and the place for the number live through the call.
        let done = self.call(true, DOING, |raw| unsafe { table(raw, name.as_ptr(), length, into) });
        Some(done.and_then(|()| match number {
            0..=0xffff => Ok(number),
            _ => Err(EngineError::failed(self.id, DOING, format!("its number is {number}"))),
        }))
    }

    /// Removes every pair of a table, if the library has a function for it.
    pub fn clear(&mut self, table: u32) -> Option<Result<()>> {
        let clear = self.functions.raw.clear?;
        // SAFETY: open, and in no scope.
        Some(self.call(true, "clear a table", |raw| unsafe { clear(raw, table) }))
    }

    /// Loads pairs, if the library has a function for it. Returns the number of pairs that it took.
    pub fn bulk(&mut self, table: u32, pairs: &mut dyn Pairs) -> Option<Result<u64>> {
        let bulk = self.functions.raw.bulk?;
        let mut source = PairSource { pairs, count: 0 };
        let context = (&raw mut source).cast();
        // SAFETY: open, and in no scope; the pairs live through the call, and the callback gets the
        // context that it was made for. The call is not repeated, because some pairs may have been
        // taken.
        let done =
            self.call(false, "load pairs", |raw| unsafe { bulk(raw, table, next_pair, context) });
        Some(done.map(|()| source.count))
    }
}

/// # Safety
/// As the header requires. `context` must be a `&mut Visit`.
unsafe extern "C" fn visit_pair<const PREFIX: usize>(
    context: *mut c_void,
    key: abi::Bytes,
    value: abi::Bytes,
) -> i32 {
    // SAFETY: the caller's promise.
    let (visit, key, value) =
        unsafe { (&mut *context.cast::<&mut Visit<'_>>(), key.as_slice(), value.as_slice()) };
    visit(key.get(PREFIX..).unwrap_or_default(), value).is_break().into()
}

/// # Safety
/// As the header requires. `context` must be a `&mut Change`.
unsafe extern "C" fn change_value(context: *mut c_void, value: *mut c_void, size: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        let change = &mut *context.cast::<&mut Change<'_>>();
        match size {
            0 => change(&mut []),
            size => change(std::slice::from_raw_parts_mut(value.cast(), size)),
        }
    }
}

/// Pairs for a library, and the number of pairs that it has taken.
struct PairSource<'a> {
    pairs: &'a mut dyn Pairs,
    count: u64,
}

/// # Safety
/// As the header requires. `context` must be a `PairSource`.
unsafe extern "C" fn next_pair(
    context: *mut c_void,
    key: *mut abi::Bytes,
    value: *mut abi::Bytes,
) -> i32 {
    // SAFETY: the caller's promise.
    unsafe {
        let source = &mut *context.cast::<PairSource<'_>>();
        let Some((next, its)) = source.pairs.next() else { return 0 };
        (*key, *value) = (abi::Bytes::of(next), abi::Bytes::of(its));
        source.count += 1;
        1
    }
}
