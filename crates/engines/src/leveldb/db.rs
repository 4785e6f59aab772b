//! An open database, and its states to read from. Errors are the library's own words.

use std::ffi::{CString, c_int};
use std::ops::{Deref, DerefMut};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::{ptr, slice};

use super::api::{Api, Bytes, Handle};
use super::batch::Batch;
use super::cursor::Cursor;

/// How a database is opened.
#[derive(Clone, Copy, Debug)]
pub(super) struct Options {
    /// Bytes of changes in memory before they become a sorted table; there may be two such buffers.
    pub write_buffer: usize,
    /// Bytes of blocks that were read.
    pub cache: usize,
    /// Bits of the bloom filters for each key.
    pub filter_bits: c_int,
    /// Whether a write is synced before it returns.
    pub sync: bool,
}

/// An open database with what it was opened with, closed when dropped. Threads may share it.
pub(super) struct Db {
    api: &'static Api,
    /// Null until it is open.
    db: Handle,
    cache: Handle,
    filter: Handle,
    write: Handle,
    read: Handle,
}

// SAFETY: "the same leveldb::DB object may be safely shared by multiple concurrent threads"
// (<https://github.com/google/leveldb/blob/main/doc/index.md#concurrency>); the options are only
// read once they are made.
unsafe impl Send for Db {}
// SAFETY: as above.
unsafe impl Sync for Db {}

impl Db {
    /// Opens the database in a folder, making it where there is none.
    pub(super) fn open(api: &'static Api, folder: &Path, options: Options) -> Result<Self, String> {
        let path =
            CString::new(folder.as_os_str().as_bytes()).map_err(|error| error.to_string())?;
        // SAFETY: each function makes a thing of its own, which `Self` frees when it is dropped: the
        // cache and the policy after the database that uses them. The options are copied by `open`.
        unsafe {
            let mut opened = Self {
                api,
                db: ptr::null_mut(),
                cache: (api.cache_create_lru)(options.cache),
                filter: (api.filterpolicy_create_bloom)(options.filter_bits),
                write: (api.writeoptions_create)(),
                read: (api.readoptions_create)(),
            };
            (api.writeoptions_set_sync)(opened.write, u8::from(options.sync));
            let all = (api.options_create)();
            (api.options_set_create_if_missing)(all, 1);
            (api.options_set_write_buffer_size)(all, options.write_buffer);
            (api.options_set_cache)(all, opened.cache);
            (api.options_set_filter_policy)(all, opened.filter);
            let db = api.checked(|failure| (api.open)(all, path.as_ptr(), failure));
            (api.options_destroy)(all);
            opened.db = db?;
            Ok(opened)
        }
    }

    /// Its present state: each read sees what was written before it.
    pub(super) fn latest(&self) -> View<'_> {
        View { db: self, options: self.read, snapshot: ptr::null_mut() }
    }

    /// Its state as it is now.
    pub(super) fn snapshot(&self) -> View<'_> {
        let Self { api, db, .. } = self;
        // SAFETY: the database is open; the view frees both before it can be closed.
        unsafe {
            let (options, snapshot) = ((api.readoptions_create)(), (api.create_snapshot)(*db));
            (api.readoptions_set_snapshot)(options, snapshot);
            View { db: self, options, snapshot }
        }
    }

    /// A batch with nothing in it.
    pub(super) fn batch(&self) -> Batch<'_> {
        Batch::new(self.api)
    }

    /// Sets the value of a key.
    #[inline]
    pub(super) fn put(&self, key: &[u8], value: &[u8]) -> Result<(), String> {
        let (Self { api, db, write, .. }, size) = (self, value.len());
        // SAFETY: the database is open, and the bytes are read before the call returns.
        api.checked(|failure| unsafe {
            (api.put)(*db, *write, key.as_ptr(), key.len(), value.as_ptr(), size, failure);
        })
    }

    /// Removes a key, whether it is there or not.
    #[inline]
    pub(super) fn delete(&self, key: &[u8]) -> Result<(), String> {
        let Self { api, db, write, .. } = self;
        // SAFETY: as above.
        api.checked(|failure| unsafe {
            (api.delete)(*db, *write, key.as_ptr(), key.len(), failure)
        })
    }

    /// Writes all that is in a batch, or none of it.
    pub(super) fn write(&self, batch: &Batch<'_>) -> Result<(), String> {
        let Self { api, db, write, .. } = self;
        let Some(batch) = batch.handle() else { return Ok(()) };
        // SAFETY: the database is open and the batch there.
        api.checked(|failure| unsafe { (api.write)(*db, *write, batch, failure) })
    }

    /// Compacts the keys between two, or all of them.
    pub(super) fn compact(&self, between: Option<[&[u8]; 2]>) {
        let [from, to] = between.map_or([(ptr::null(), 0); 2], |ends| ends.map(parts));
        // SAFETY: the database is open; null stands for a key before, or after, all others.
        unsafe { (self.api.compact_range)(self.db, from.0, from.1, to.0, to.1) }
    }
}

fn parts(bytes: &[u8]) -> (Bytes, usize) {
    (bytes.as_ptr(), bytes.len())
}

impl Drop for Db {
    fn drop(&mut self) {
        let Self { api, db, .. } = *self;
        // SAFETY: each was made once and is not used again; views and batches borrow the database, so
        // none is left.
        unsafe {
            if !db.is_null() {
                (api.close)(db);
            }
            (api.readoptions_destroy)(self.read);
            (api.writeoptions_destroy)(self.write);
            (api.filterpolicy_destroy)(self.filter);
            (api.cache_destroy)(self.cache);
        }
    }
}

/// A state of a database to read from.
pub(super) struct View<'a> {
    pub db: &'a Db,
    options: Handle,
    /// Null for the present state.
    snapshot: Handle,
}

impl<'a> View<'a> {
    /// The value of a key.
    #[inline]
    pub(super) fn get(&self, key: &[u8]) -> Result<Option<Value<'a>>, String> {
        let (Db { api, db, .. }, mut size) = (self.db, 0);
        // SAFETY: the database is open and the options are there.
        let at = api.checked(|failure| unsafe {
            (api.get)(*db, self.options, key.as_ptr(), key.len(), &mut size, failure)
        })?;
        Ok((!at.is_null()).then_some(Value { api, at, size }))
    }

    /// A cursor at no pair.
    pub(super) fn cursor(&self) -> Cursor<'_> {
        let Db { api, db, .. } = self.db;
        // SAFETY: the database is open and the options are there; the cursor is gone before both.
        unsafe { Cursor::of(api, (api.create_iterator)(*db, self.options)) }
    }
}

impl Drop for View<'_> {
    fn drop(&mut self) {
        if self.snapshot.is_null() {
            return;
        }
        let Db { api, db, .. } = self.db;
        // SAFETY: both are this view's own, and no cursor of it is left.
        unsafe {
            (api.release_snapshot)(*db, self.snapshot);
            (api.readoptions_destroy)(self.options);
        }
    }
}

/// A value that was found: a copy of the library's, freed when dropped.
pub(super) struct Value<'a> {
    api: &'a Api,
    at: *mut u8,
    size: usize,
}

impl Deref for Value<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the library gave so many bytes, and they are this value's alone.
        unsafe { slice::from_raw_parts(self.at, self.size) }
    }
}

impl DerefMut for Value<'_> {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above.
        unsafe { slice::from_raw_parts_mut(self.at, self.size) }
    }
}

impl Drop for Value<'_> {
    fn drop(&mut self) {
        // SAFETY: the library made it to be freed so, once.
        unsafe { (self.api.free)(self.at.cast()) }
    }
}
