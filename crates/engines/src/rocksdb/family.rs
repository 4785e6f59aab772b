//! A column family: its operations by key, and its maintenance.

use std::ffi::{CStr, CString};
use std::marker::PhantomData;
use std::ptr;
use std::sync::Arc;

use super::api::Api;
use super::families::Db;
use crate::kv::{Direction, Range, Visit};
use crate::lsm::{Batch, Destination, Handle, Iter, Lib, ReadOptions, TakeKey, Value};
use crate::owned::{Owned, bytes};
use crate::{EngineError, Result};

/// A column family. Threads share its handle as they share the database, because it only names the
/// family.
pub(super) struct Family {
    pub name: CString,
    /// Its number in the records of a batch.
    pub id: u32,
    raw: Owned,
    pub db: Arc<Db>,
}

// SAFETY: as for the database.
unsafe impl Send for Family {}
// SAFETY: as above.
unsafe impl Sync for Family {}

impl Family {
    pub fn new(db: &Arc<Db>, name: CString, raw: Handle) -> Arc<Self> {
        let (api, db) = (db.own.api, Arc::clone(db));
        // SAFETY: it belongs to that database, is ours, and is dropped before the database.
        unsafe {
            let id = (api.column_family_handle_get_id)(raw);
            let raw = Owned::new(raw, api.column_family_handle_destroy);
            Arc::new(Self { name, id, raw, db })
        }
    }

    pub fn make(db: &Arc<Db>, name: CString) -> Result<Arc<Self>> {
        // SAFETY: open; the name lives through the call.
        let raw = db.lib.call("make a table", |error| unsafe {
            (db.own.api.create_column_family)(db.raw.raw, db.own.options.raw, name.as_ptr(), error)
        })?;
        Ok(Self::new(db, name, raw))
    }

    /// Returns the library, its functions, and the handles of the database and the family.
    #[inline]
    pub fn parts(&self) -> (Lib, &'static Api, Handle, Handle) {
        (self.db.lib, self.db.own.api, self.db.raw.raw, self.raw.raw)
    }

    #[inline]
    pub fn get<'a>(&'a self, reads: &ReadOptions, key: &[u8]) -> Result<Option<Value<'a>>> {
        let (lib, api, db, family) = self.parts();
        // SAFETY: all are open; the key lives through the call.
        let slice = lib.call("get a value", |error| unsafe {
            (api.get_pinned_cf)(db, reads.0.raw, family, key.as_ptr(), key.len(), error)
        })?;
        if slice.is_null() {
            return Ok(None);
        }
        let mut size = 0;
        // SAFETY: ours; the bytes are pinned until it is dropped.
        unsafe {
            let at = (api.pinnableslice_value)(slice, &mut size);
            Ok(Some(Value::new(at, size, Owned::new(slice, api.pinnableslice_destroy))))
        }
    }

    /// Returns an iterator over the pairs.
    pub fn iter<'a>(&'a self, reads: &'a ReadOptions) -> Iter<'a> {
        let (lib, api, db, family) = self.parts();
        // SAFETY: all are open, and borrowed by the iterator.
        unsafe {
            let raw = (api.create_iterator_cf)(db, reads.0.raw, family);
            Iter::new(lib, raw, Some(api.iter_seek_for_prev))
        }
    }

    /// Visits the pairs of a range. The iterator gets its end, so that it neither reads a block nor
    /// passes a removed key beyond it
    /// (<https://github.com/facebook/rocksdb/wiki/Iterator#iterating-upper-bound-and-lower-bound>).
    pub fn scan(&self, reads: &ReadOptions, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        let Range { from, to, direction } = range;
        let api = self.db.own.api;
        let end = match direction {
            Direction::Forward => to.map(|to| (api.readoptions_set_iterate_upper_bound, to)),
            Direction::Backward => from.map(|from| (api.readoptions_set_iterate_lower_bound, from)),
        };
        let _end = end.map(|(set, end)| ScanEnd::new(set, reads, end));
        // Dropped before its end is.
        let iter = self.iter(reads);
        iter.walk(range, visit)
    }

    /// Sets the value of a key, or removes the key.
    #[inline]
    pub fn set(&self, to: &mut Destination<'_>, key: &[u8], value: Option<&[u8]>) -> Result<()> {
        let ((lib, api, db, family), writes) = (self.parts(), self.db.writes.raw);
        let (at, size) = (key.as_ptr(), key.len());
        // SAFETY: all are open; key and value live through the call, which copies them.
        unsafe {
            match (to, value) {
                (Destination::ReadOnly, _) => Err(EngineError::read_only(lib.id)),
                (Destination::Database, Some(value)) => lib.call("put a value", |error| {
                    let (value, of) = (value.as_ptr(), value.len());
                    (api.put_cf)(db, writes, family, at, size, value, of, error);
                }),
                (Destination::Database, None) => lib.call("delete a key", |error| {
                    (api.delete_cf)(db, writes, family, at, size, error);
                }),
                (Destination::Batch(batch), Some(value)) => {
                    let (value, of) = (value.as_ptr(), value.len());
                    (api.writebatch_put_cf)(batch.raw_mut(), family, at, size, value, of);
                    Ok(())
                }
                (Destination::Batch(batch), None) => {
                    (api.writebatch_delete_cf)(batch.raw_mut(), family, at, size);
                    Ok(())
                }
            }
        }
    }

    /// Removes a range of keys with one commit.
    pub fn delete_range(&self, from: &[u8], to: &[u8]) -> Result<()> {
        let ((lib, api, db, family), writes) = (self.parts(), self.db.writes.raw);
        // SAFETY: all are open; the keys live through the call, which copies them.
        lib.call("delete a range", |error| unsafe {
            let (from, from_size) = (from.as_ptr(), from.len());
            let (to, to_size) = (to.as_ptr(), to.len());
            (api.delete_range_cf)(db, writes, family, from, from_size, to, to_size, error);
        })
    }

    /// Returns a numeric property, or 0 where the library does not have it.
    pub fn number(&self, name: &CStr) -> u64 {
        let ((_, api, db, family), mut value) = (self.parts(), 0);
        // SAFETY: both are open; name and value live through the call.
        match unsafe { (api.property_int_cf)(db, family, name.as_ptr(), &mut value) } {
            0 => value,
            _ => 0,
        }
    }

    /// Returns the content of a batch in the library's format.
    pub fn content<'a>(&self, batch: &'a Batch) -> &'a [u8] {
        let mut size = 0;
        // SAFETY: open; nothing changes it while it is borrowed.
        unsafe { bytes((self.db.own.api.writebatch_data)(batch.raw(), &mut size), size) }
    }

    pub fn flush(&self) -> Result<()> {
        let (lib, api, db, family) = self.parts();
        // SAFETY: all are open; by default, the options wait.
        lib.call("flush", |error| unsafe {
            let options = Owned::new((api.flushoptions_create)(), api.flushoptions_destroy);
            (api.flush_cf)(db, options.raw, family, error);
        })
    }

    pub fn compact(&self) {
        let (_, api, db, family) = self.parts();
        // SAFETY: both are open; null means no bound.
        unsafe { (api.compact_range_cf)(db, family, ptr::null(), 0, ptr::null(), 0) };
    }
}

/// The end of a scan in the options of its iterator. The options forget it when it is dropped.
struct ScanEnd<'a> {
    set: TakeKey,
    reads: &'a ReadOptions,
    /// The library keeps a pointer to the key.
    _key: PhantomData<&'a [u8]>,
}

impl<'a> ScanEnd<'a> {
    fn new(set: TakeKey, reads: &'a ReadOptions, key: &'a [u8]) -> Self {
        // SAFETY: open; the key outlives this.
        unsafe { set(reads.0.raw, key.as_ptr(), key.len()) };
        Self { set, reads, _key: PhantomData }
    }
}

impl Drop for ScanEnd<'_> {
    fn drop(&mut self) {
        // SAFETY: open, and no iterator that was made with it is left; null is no end.
        unsafe { (self.set)(self.reads.0.raw, ptr::null(), 0) };
    }
}
