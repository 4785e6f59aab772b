//! An open database, and its operations by key.

use std::ffi::{c_int, c_void};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{ptr, slice};

use super::ID;
use super::api::{self, Api};
use crate::lsm::{self, Batch, Bytes, Destination, Iter, ReadOptions, Value, record_damage};
use crate::owned::{Owned, c_string};
use crate::{Checked, EngineError, Result};

#[derive(Clone, Copy, Debug)]
pub(super) struct Options {
    /// Bytes of changes in memory before they become a sorted table. There can be two such buffers.
    pub write_buffer: usize,
    pub cache: usize,
    /// Bits per key of the bloom filters.
    pub filter_bits: c_int,
    /// Bytes of a block. `None`: the default.
    pub block_size: Option<usize>,
    /// Number of keys between two that are stored completely.
    pub block_restart_interval: Option<c_int>,
    /// Bytes of a file of sorted pairs.
    pub max_file_size: Option<usize>,
    pub max_open_files: Option<c_int>,
    /// Whether blocks are compressed, with Snappy.
    pub compresses: Option<bool>,
    /// Whether a write is synced before it returns.
    pub sync: bool,
    /// Whether any damage is an error at once, wherever it is.
    pub paranoid: bool,
}

/// The library's functions, and what a database uses while it is open.
pub(super) struct Own {
    pub api: &'static Api,
    pub folder: PathBuf,
    pub options: Options,
    _cache: Owned,
    _filter: Owned,
}

pub(super) type Db = lsm::Db<Own>;

/// Opens the database in a folder, and creates a missing one.
pub(super) fn open(folder: &Path, options: Options) -> Result<Db> {
    let ((lib, api), doing) =
        (api::library()?, format!("open the database in {}", folder.display()));
    let path = c_string(lib.id, &doing, folder)?;
    // SAFETY: all objects are owned here; `open` copies the options, and the cache and the policy
    // live as long as the database.
    unsafe {
        let all = Owned::new((lib.api.options_create)(), lib.api.options_destroy);
        let cache = Owned::new((api.cache_create_lru)(options.cache), api.cache_destroy);
        let filter = (api.filterpolicy_create_bloom)(options.filter_bits);
        let filter = Owned::new(filter, api.filterpolicy_destroy);
        (api.options_set_create_if_missing)(all.raw, 1);
        (api.options_set_paranoid_checks)(all.raw, u8::from(options.paranoid));
        (api.options_set_write_buffer_size)(all.raw, options.write_buffer);
        (api.options_set_cache)(all.raw, cache.raw);
        if options.filter_bits > 0 {
            (api.options_set_filter_policy)(all.raw, filter.raw);
        }
        let set = |of: Option<usize>, set: unsafe extern "C" fn(_, usize)| {
            of.into_iter().for_each(|bytes| set(all.raw, bytes));
        };
        set(options.block_size, api.options_set_block_size);
        set(options.max_file_size, api.options_set_max_file_size);
        let set = |of: Option<c_int>, set: unsafe extern "C" fn(_, c_int)| {
            of.into_iter().for_each(|number| set(all.raw, number));
        };
        set(options.block_restart_interval, api.options_set_block_restart_interval);
        set(options.max_open_files, api.options_set_max_open_files);
        set(options.compresses.map(c_int::from), api.options_set_compression);
        let db = lib.call(&doing, |error| (api.open)(all.raw, path.as_ptr(), error))?;
        let folder = folder.to_owned();
        let own = Own { api, folder, options, _cache: cache, _filter: filter };
        Ok(Db::new(lib, db, options.sync, own))
    }
}

/// Reads every pair with its checksum, from a database opened with `paranoid_checks`
/// (<https://github.com/google/leveldb/blob/main/doc/index.md#checksums>). The database is closed
/// and reopened for that, because its cache was by default read without checksums.
pub(super) fn verify(opened: &mut Option<Arc<Db>>) -> Result<Checked> {
    const DOING: &str = "check the database";
    let is_sole_client = opened.as_mut().is_some_and(|db| Arc::get_mut(db).is_some());
    let Some(db) = opened.take_if(|_| is_sole_client) else {
        return Err(EngineError::failed(ID, DOING, "another client has it open, or it is closed"));
    };
    let (folder, options) = (db.own.folder.clone(), db.own.options);
    drop(db);
    let mut checked = Checked::new("a scan with verify_checksums and paranoid_checks");
    let read = open(&folder, Options { paranoid: true, ..options })
        .and_then(|db| db.iter(&db.verifying_read_options()).verify(&mut checked));
    let read = record_damage(read, &mut checked);
    *opened = Some(open(&folder, options)?.into());
    read.map(|()| checked)
}

/// Many changes, written in batches.
pub(super) struct Changes<'a> {
    db: &'a Db,
    batch: Batch,
    bytes: usize,
}

impl Changes<'_> {
    /// Sets the value of a key, or removes the key. Writes the batch once it has the size of four
    /// write buffers, because all of it is in memory.
    pub fn set(&mut self, key: &[u8], value: Option<&[u8]>) -> Result<()> {
        self.db.set(&mut Destination::Batch(&mut self.batch), key, value)?;
        self.bytes += key.len() + value.map_or(0, <[u8]>::len);
        if self.bytes >= 4 * self.db.own.options.write_buffer {
            self.db.write(&self.batch)?;
            (self.batch, self.bytes) = (self.db.batch(), 0);
        }
        Ok(())
    }

    /// Writes the rest.
    pub fn finish(self) -> Result<()> {
        self.db.write(&self.batch)
    }
}

impl Db {
    #[inline]
    pub fn get<'a>(&'a self, reads: &ReadOptions, key: &[u8]) -> Result<Option<Value<'a>>> {
        let mut size = 0;
        // SAFETY: all are open; the key lives through the call.
        let at = self.lib.call("get a value", |error| unsafe {
            let (db, reads, at) = (self.raw.raw, reads.0.raw, key.as_ptr());
            (self.own.api.get)(db, reads, at, key.len(), &mut size, error)
        })?;
        // SAFETY: a copy of that many bytes, owned here.
        let found = || unsafe { Value::new(at.cast(), size, Owned::new(at, self.lib.api.free)) };
        Ok((!at.is_null()).then(found))
    }

    /// Returns an iterator over all pairs.
    pub fn iter<'a>(&'a self, reads: &'a ReadOptions) -> Iter<'a> {
        // SAFETY: all are open, and borrowed by the iterator.
        unsafe {
            let raw = (self.own.api.create_iterator)(self.raw.raw, reads.0.raw);
            Iter::new(self.lib, raw, None)
        }
    }

    /// Sets the value of a key, or removes the key.
    #[inline]
    pub fn set(&self, to: &mut Destination<'_>, key: &[u8], value: Option<&[u8]>) -> Result<()> {
        let (lib, api, db, writes) = (self.lib, self.own.api, self.raw.raw, self.writes.raw);
        let (at, size) = (key.as_ptr(), key.len());
        // SAFETY: all are open; key and value live through the call, which copies them.
        unsafe {
            match (to, value) {
                (Destination::ReadOnly, _) => return Err(EngineError::read_only(lib.id)),
                (Destination::Database, Some(value)) => lib.call("put a value", |error| {
                    (api.put)(db, writes, at, size, value.as_ptr(), value.len(), error);
                })?,
                (Destination::Database, None) => lib.call("delete a key", |error| {
                    (api.delete)(db, writes, at, size, error);
                })?,
                (Destination::Batch(batch), Some(value)) => {
                    (api.writebatch_put)(batch.raw_mut(), at, size, value.as_ptr(), value.len());
                }
                (Destination::Batch(batch), None) => {
                    (api.writebatch_delete)(batch.raw_mut(), at, size)
                }
            }
        }
        Ok(())
    }

    pub fn changes(&self) -> Changes<'_> {
        Changes { db: self, batch: self.batch(), bytes: 0 }
    }

    /// Calls `see` with what a batch inserts.
    pub fn puts(&self, batch: &Batch, mut see: &mut dyn FnMut(&[u8], &[u8])) {
        type See<'a> = &'a mut dyn FnMut(&[u8], &[u8]);
        extern "C" fn put(see: *mut c_void, key: Bytes, size: usize, value: Bytes, of: usize) {
            // SAFETY: `see` is the pointer given below; the library lends that many bytes.
            unsafe {
                let pair = (slice::from_raw_parts(key, size), slice::from_raw_parts(value, of));
                (*see.cast::<See<'_>>())(pair.0, pair.1);
            }
        }
        extern "C" fn delete(_: *mut c_void, _: Bytes, _: usize) {}
        let see: *mut See<'_> = &mut see;
        // SAFETY: the batch is owned here, and `see` outlives the call; a panic in it ends the process.
        unsafe { (self.own.api.writebatch_iterate)(batch.raw(), see.cast(), put, delete) }
    }

    /// Compacts the keys between two, or all of them.
    pub fn compact(&self, between: Option<[&[u8]; 2]>) {
        let ends = between.map(|ends| ends.map(|key| (key.as_ptr(), key.len())));
        let [from, to] = ends.unwrap_or([(ptr::null(), 0); 2]);
        // SAFETY: the database is open; null stands for a key before, or after, all others.
        unsafe { (self.own.api.compact_range)(self.raw.raw, from.0, from.1, to.0, to.1) }
    }
}
