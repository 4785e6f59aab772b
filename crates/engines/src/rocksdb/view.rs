//! Reading and changing column families: one state of them, each call by itself, or in a batch.

use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;
use std::{ptr, slice};

use super::ID;
use super::api::{Api, Handle};
use super::binding::{Db, Family, Owned, call};
use crate::kv::{Direction, Range, Visit};
use crate::{EngineError, Result};

/// Where values are found and changes go.
pub(super) trait View {
    /// What the database itself is read with.
    fn reads(&self) -> &Reads;

    /// The value of a key.
    #[inline]
    fn get<'a>(&mut self, family: &'a Family, key: &[u8]) -> Result<Option<Value<'a>>> {
        let (api, db) = (family.db.api, family.db.raw.raw);
        // SAFETY: all are open; the key lives through the call.
        let slice = call(api, "get a value", |error| unsafe {
            let (reads, family) = (self.reads().raw.raw, family.raw.raw);
            (api.get_pinned_cf)(db, reads, family, key.as_ptr(), key.len(), error)
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

    /// A way through the pairs of a column family.
    fn pairs<'a>(&'a mut self, family: &'a Family) -> Result<Pairs<'a>> {
        let (api, db, reads) = (family.db.api, family.db.raw.raw, self.reads().raw.raw);
        // SAFETY: all are open, and lent to the iterator.
        Ok(unsafe { Pairs::new(api, (api.create_iterator_cf)(db, reads, family.raw.raw)) })
    }

    /// Puts a pair.
    fn put(&mut self, _: &Family, _key: &[u8], _value: &[u8]) -> Result<()> {
        Err(read_only())
    }

    /// Removes a key.
    fn delete(&mut self, _: &Family, _key: &[u8]) -> Result<()> {
        Err(read_only())
    }
}

#[cold]
fn read_only() -> EngineError {
    EngineError::failed(ID, "change a table", "this scope is a snapshot, which only reads")
}

/// Options to read with.
pub(super) struct Reads {
    db: Arc<Db>,
    pub raw: Owned,
}

impl Reads {
    pub(super) fn new(db: &Arc<Db>) -> Self {
        let (create, destroy) = (db.api.readoptions_create, db.api.readoptions_destroy);
        // SAFETY: ours.
        Self { db: Arc::clone(db), raw: unsafe { Owned::new(create(), destroy) } }
    }

    /// Has them read one state of the database.
    pub(super) fn snapshot(&mut self) -> Snapshot<'_> {
        let api = self.db.api;
        // SAFETY: open; the options forget the snapshot before it is released.
        let raw = unsafe { (api.create_snapshot)(self.db.raw.raw) };
        // SAFETY: as above.
        unsafe { (api.readoptions_set_snapshot)(self.raw.raw, raw) };
        Snapshot { reads: self, raw }
    }
}

/// One state of the database, until it is dropped.
pub(super) struct Snapshot<'a> {
    reads: &'a Reads,
    raw: Handle,
}

impl View for Snapshot<'_> {
    fn reads(&self) -> &Reads {
        self.reads
    }
}

impl Drop for Snapshot<'_> {
    fn drop(&mut self) {
        let Reads { db, raw } = self.reads;
        // SAFETY: taken from this database; the options forget it first.
        unsafe {
            (db.api.readoptions_set_snapshot)(raw.raw, ptr::null_mut());
            (db.api.release_snapshot)(db.raw.raw, self.raw);
        }
    }
}

/// Each change a commit of its own.
pub(super) struct Alone {
    pub reads: Reads,
    /// Options to write with.
    pub writes: Owned,
}

impl Alone {
    /// With a log or without, synced or not.
    pub(super) fn new(db: &Arc<Db>, disable_wal: bool, sync: bool) -> Self {
        let api = db.api;
        // SAFETY: ours.
        let writes = unsafe { Owned::new((api.writeoptions_create)(), api.writeoptions_destroy) };
        // SAFETY: open.
        unsafe {
            (api.writeoptions_disable_WAL)(writes.raw, i32::from(disable_wal));
            (api.writeoptions_set_sync)(writes.raw, u8::from(sync));
        }
        Self { reads: Reads::new(db), writes }
    }
}

impl View for Alone {
    #[inline]
    fn reads(&self) -> &Reads {
        &self.reads
    }

    #[inline]
    fn put(&mut self, family: &Family, key: &[u8], value: &[u8]) -> Result<()> {
        let (api, db, writes) = (family.db.api, family.db.raw.raw, self.writes.raw);
        // SAFETY: all are open; key and value live through the call.
        call(api, "put a value", |error| unsafe {
            let (family, at, size) = (family.raw.raw, value.as_ptr(), value.len());
            (api.put_cf)(db, writes, family, key.as_ptr(), key.len(), at, size, error);
        })
    }

    #[inline]
    fn delete(&mut self, family: &Family, key: &[u8]) -> Result<()> {
        let (api, db, writes) = (family.db.api, family.db.raw.raw, self.writes.raw);
        // SAFETY: all are open; the key lives through the call.
        call(api, "delete a key", |error| unsafe {
            (api.delete_cf)(db, writes, family.raw.raw, key.as_ptr(), key.len(), error);
        })
    }
}

/// A value that was found, let go when dropped.
pub(super) struct Value<'a> {
    at: *const u8,
    size: usize,
    _owner: Owned,
    /// What keeps the database open.
    _of: PhantomData<&'a Family>,
}

impl Value<'_> {
    /// # Safety
    /// `owner` has that many bytes there until it is dropped.
    #[inline]
    pub(super) const unsafe fn new(at: *const u8, size: usize, owner: Owned) -> Self {
        Self { at, size, _owner: owner, _of: PhantomData }
    }
}

impl Deref for Value<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: as promised to `new`.
        unsafe { bytes(self.at, self.size) }
    }
}

/// A way through the pairs of a column family.
pub(super) struct Pairs<'a> {
    api: &'a Api,
    raw: Owned,
}

impl<'a> Pairs<'a> {
    /// # Safety
    /// The iterator is the caller's, and what it goes through lives for `'a` and does not change.
    pub(super) const unsafe fn new(api: &'a Api, iterator: Handle) -> Self {
        // SAFETY: the caller's promise.
        Self { api, raw: unsafe { Owned::new(iterator, api.iter_destroy) } }
    }

    /// Visits those of a range.
    pub(super) fn walk(self, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        let (api, raw, Range { from, to, direction }) = (self.api, self.raw.raw, range);
        let (mut key_size, mut value_size) = (0, 0);
        // SAFETY: ours; the bounds live through their calls; a pair is in the library's memory
        // until the iterator moves, which it does from a pair only.
        unsafe {
            match (direction, from, to) {
                (Direction::Forward, Some(from), _) => {
                    (api.iter_seek)(raw, from.as_ptr(), from.len());
                }
                (Direction::Forward, None, _) => (api.iter_seek_to_first)(raw),
                (Direction::Backward, _, Some(to)) => {
                    (api.iter_seek_for_prev)(raw, to.as_ptr(), to.len());
                    if (api.iter_valid)(raw) != 0
                        && bytes((api.iter_key)(raw, &mut key_size), key_size) == to
                    {
                        (api.iter_prev)(raw);
                    }
                }
                (Direction::Backward, _, None) => (api.iter_seek_to_last)(raw),
            }
            while (api.iter_valid)(raw) != 0 {
                let key = bytes((api.iter_key)(raw, &mut key_size), key_size);
                let is_beyond = match direction {
                    Direction::Forward => to.is_some_and(|to| key >= to),
                    Direction::Backward => from.is_some_and(|from| key < from),
                };
                let value = (api.iter_value)(raw, &mut value_size);
                if is_beyond || visit(key, bytes(value, value_size)).is_break() {
                    return Ok(());
                }
                match direction {
                    Direction::Forward => (api.iter_next)(raw),
                    Direction::Backward => (api.iter_prev)(raw),
                }
            }
            call(api, "scan", |error| (api.iter_get_error)(raw, error))
        }
    }
}

/// Bytes the library points to.
///
/// # Safety
/// `at` points to `size` bytes that stay as they are for the lifetime chosen, or `size` is zero.
#[inline]
pub(super) const unsafe fn bytes<'a>(at: *const u8, size: usize) -> &'a [u8] {
    if size == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { slice::from_raw_parts(at, size) }
}
