//! The common part of the C interfaces of LevelDB and of RocksDB, which is derived from LevelDB:
//! functions of the same form, and handles that are freed when dropped.

use std::ffi::{CStr, c_char, c_void};
use std::marker::PhantomData;
use std::ops::{ControlFlow, Deref};
use std::ptr;

use crate::kv::{Direction, Range, Visit};
use crate::library::functions;
use crate::owned::{Owned, bytes};
use crate::{Checked, EngineError, Result};

/// A `leveldb_t`, `rocksdb_iterator_t`, and so on: pointers to the library's objects.
pub(crate) type Handle = *mut c_void;
/// Address to which a function writes its error: a text to free, or null.
pub(crate) type Failure = *mut *mut c_char;
/// Bytes that are passed with their length.
pub(crate) type Bytes = *const u8;

/// Prefix of both libraries' messages about damage (`Status::Corruption`,
/// <https://github.com/google/leveldb/blob/main/doc/index.md#status>).
const DAMAGE: &str = "Corruption: ";

functions! {
    /// The functions, without the `leveldb_` or `rocksdb_` of their names, as both `c.h` declare
    /// them.
    pub(crate) struct Api;

    free(pointer: *mut c_void);
    options_create() -> Handle;
    options_destroy(options: Handle);
    writeoptions_create() -> Handle;
    writeoptions_destroy(options: Handle);
    writeoptions_set_sync(options: Handle, on: u8);
    readoptions_create() -> Handle;
    readoptions_destroy(options: Handle);
    readoptions_set_snapshot(options: Handle, snapshot: Handle);
    readoptions_set_verify_checksums(options: Handle, on: u8);
    readoptions_set_fill_cache(options: Handle, on: u8);
    close(db: Handle);
    create_snapshot(db: Handle) -> Handle;
    release_snapshot(db: Handle, snapshot: Handle);
    write(db: Handle, options: Handle, batch: Handle, error: Failure);
    writebatch_create() -> Handle;
    writebatch_destroy(batch: Handle);
    writebatch_clear(batch: Handle);
    iter_destroy(iterator: Handle);
    iter_valid(iterator: Handle) -> u8;
    iter_seek_to_first(iterator: Handle);
    iter_seek_to_last(iterator: Handle);
    iter_seek(iterator: Handle, key: Bytes, size: usize);
    iter_next(iterator: Handle);
    iter_prev(iterator: Handle);
    iter_key(iterator: Handle, size: *mut usize) -> Bytes;
    iter_value(iterator: Handle, size: *mut usize) -> Bytes;
    iter_get_error(iterator: Handle, error: Failure);
}

/// A function that gives a key to an object: it moves an iterator there, or sets an option.
pub(crate) type TakeKey = unsafe extern "C" fn(Handle, Bytes, usize);

#[derive(Clone, Copy)]
pub(crate) struct Lib {
    /// The engine's name in errors.
    pub id: &'static str,
    pub api: &'static Api,
}

impl Lib {
    /// Calls a function that can leave an error.
    #[inline]
    pub fn call<T>(self, doing: &str, work: impl FnOnce(Failure) -> T) -> Result<T> {
        let mut error = ptr::null_mut();
        let value = work(&mut error);
        if error.is_null() { Ok(value) } else { Err(self.error(doing, error)) }
    }

    #[cold]
    fn error(self, doing: &str, error: *mut c_char) -> EngineError {
        // SAFETY: the caller owns the library's text.
        EngineError::failed(self.id, doing, unsafe { self.take_text(error) })
    }

    /// Copies a text and frees it.
    ///
    /// # Safety
    /// It must be NUL-terminated, and the caller's to free.
    pub unsafe fn take_text(self, text: *mut c_char) -> String {
        // SAFETY: the caller's promise; it is copied before it is freed, and not used again.
        unsafe {
            let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
            (self.api.free)(text.cast());
            copy
        }
    }
}

/// An open database, closed when dropped, with its options for writing.
pub(crate) struct Db<X> {
    pub lib: Lib,
    pub raw: Owned,
    pub writes: Owned,
    /// Further objects of one of the libraries. They are dropped after the database is closed.
    pub own: X,
}

// SAFETY: "the same leveldb::DB object may be safely shared by multiple concurrent threads"
// (<https://github.com/google/leveldb/blob/main/doc/index.md#concurrency>, and RocksDB's
// <https://github.com/facebook/rocksdb/wiki/Basic-Operations#concurrency>) without further locks;
// options are only read once the database is open.
unsafe impl<X> Send for Db<X> {}
// SAFETY: as above.
unsafe impl<X> Sync for Db<X> {}

impl<X> Db<X> {
    /// Creates it from an open database, whose writes are synced or not.
    ///
    /// # Safety
    /// `raw` must be open and the caller's to close. It must need nothing except what `own` holds.
    pub unsafe fn new(lib: Lib, raw: Handle, sync: bool, own: X) -> Self {
        let Api { close, writeoptions_create, writeoptions_destroy, .. } = *lib.api;
        // SAFETY: it is owned here, and the database is what the caller promises.
        unsafe {
            let writes = Owned::new(writeoptions_create(), writeoptions_destroy);
            (lib.api.writeoptions_set_sync)(writes.raw, u8::from(sync));
            Self { lib, raw: Owned::new(raw, close), writes, own }
        }
    }

    pub fn read_options(&self) -> ReadOptions {
        let Api { readoptions_create, readoptions_destroy, .. } = *self.lib.api;
        // SAFETY: owned here.
        ReadOptions(unsafe { Owned::new(readoptions_create(), readoptions_destroy) })
    }

    /// Returns options to read with that compare the checksum of each block, and do not fill the
    /// cache.
    pub fn verifying_read_options(&self) -> ReadOptions {
        let (api, reads) = (self.lib.api, self.read_options());
        // SAFETY: owned here.
        unsafe {
            (api.readoptions_set_verify_checksums)(reads.0.raw, 1);
            (api.readoptions_set_fill_cache)(reads.0.raw, 0);
        }
        reads
    }

    pub fn batch(&self) -> Batch {
        let Api { writebatch_create, writebatch_destroy, .. } = *self.lib.api;
        // SAFETY: owned here.
        let raw = unsafe { Owned::new(writebatch_create(), writebatch_destroy) };
        Batch { raw, is_empty: true }
    }

    /// Runs `work` with `reads` set to a snapshot of the database.
    pub fn snapshot<T>(&self, reads: &mut ReadOptions, work: impl FnOnce(&ReadOptions) -> T) -> T {
        let reads = &*reads;
        let mut snapshot = self.late_snapshot(reads);
        snapshot.begin();
        work(reads)
    }

    /// Returns a snapshot for `reads` that has not begun.
    pub const fn late_snapshot<'a>(&'a self, reads: &'a ReadOptions) -> LateSnapshot<'a> {
        LateSnapshot { lib: self.lib, db: self.raw.raw, reads, raw: None }
    }

    /// Writes a batch atomically, unless it is empty.
    pub fn write(&self, batch: &Batch) -> Result<()> {
        if batch.is_empty {
            return Ok(());
        }
        // SAFETY: all are open.
        self.lib.call("write a batch", |error| unsafe {
            (self.lib.api.write)(self.raw.raw, self.writes.raw, batch.raw.raw, error);
        })
    }

    pub fn clear(&self, batch: &mut Batch) {
        batch.is_empty = true;
        // SAFETY: open.
        unsafe { (self.lib.api.writebatch_clear)(batch.raw.raw) };
    }
}

pub(crate) struct ReadOptions(pub Owned);

pub(crate) struct Batch {
    raw: Owned,
    is_empty: bool,
}

impl Batch {
    pub const fn raw(&self) -> Handle {
        self.raw.raw
    }

    /// Returns the library's handle, to add a change.
    #[inline]
    pub const fn raw_mut(&mut self) -> Handle {
        self.is_empty = false;
        self.raw.raw
    }
}

/// Destination of the changes of a scope.
pub(crate) enum Destination<'a> {
    /// None: the scope is a snapshot, and changes are errors.
    ReadOnly,
    /// The database: each change is written on its own.
    Database,
    Batch(&'a mut Batch),
}

/// A value that was found, released when dropped.
pub(crate) struct Value<'a> {
    at: Bytes,
    size: usize,
    _owner: Owned,
    /// Borrows what keeps the database open.
    _of: PhantomData<&'a Owned>,
}

impl Value<'_> {
    /// # Safety
    /// `owner` must hold that many bytes there until it is dropped.
    #[inline]
    pub const unsafe fn new(at: Bytes, size: usize, owner: Owned) -> Self {
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

/// A snapshot for the reads of a scope. It begins with the first of them, because many scopes only
/// write.
pub(crate) struct LateSnapshot<'a> {
    lib: Lib,
    /// The database, open for `'a`.
    db: Handle,
    reads: &'a ReadOptions,
    raw: Option<Handle>,
}

impl LateSnapshot<'_> {
    /// Begins it, unless it has begun.
    #[inline]
    pub fn begin(&mut self) {
        if self.raw.is_none() {
            let api = self.lib.api;
            // SAFETY: all are open.
            unsafe {
                let raw = (api.create_snapshot)(self.db);
                (api.readoptions_set_snapshot)(self.reads.0.raw, raw);
                self.raw = Some(raw);
            }
        }
    }
}

impl Drop for LateSnapshot<'_> {
    fn drop(&mut self) {
        let Some(raw) = self.raw else { return };
        let api = self.lib.api;
        // SAFETY: all are open; the options forget the snapshot before it is released.
        unsafe {
            (api.readoptions_set_snapshot)(self.reads.0.raw, ptr::null_mut());
            (api.release_snapshot)(self.db, raw);
        }
    }
}

pub(crate) struct Iter<'a> {
    lib: Lib,
    raw: Owned,
    /// The library's `iter_seek_for_prev`, if it has it.
    for_prev: Option<TakeKey>,
    _of: PhantomData<&'a ReadOptions>,
}

impl Iter<'_> {
    /// # Safety
    /// The iterator must be the caller's, and its database must live for `'a`.
    pub const unsafe fn new(lib: Lib, iterator: Handle, for_prev: Option<TakeKey>) -> Self {
        // SAFETY: the caller's promise.
        let raw = unsafe { Owned::new(iterator, lib.api.iter_destroy) };
        Self { lib, raw, for_prev, _of: PhantomData }
    }

    /// Returns the current key, which is in the library's memory until the iterator moves.
    #[inline]
    fn key(&self) -> Option<&[u8]> {
        let (api, mut size) = (self.lib.api, 0);
        // SAFETY: it is owned here, and at a pair.
        unsafe {
            let at = (api.iter_valid)(self.raw.raw) != 0;
            at.then(|| bytes((api.iter_key)(self.raw.raw, &mut size), size))
        }
    }

    /// Moves to the last pair with a lower key.
    fn seek_below(&self, key: &[u8]) {
        let (api, raw, at, size) = (self.lib.api, self.raw.raw, key.as_ptr(), key.len());
        // SAFETY: it is owned here, and is only moved on from a pair; the key lives through the calls.
        unsafe {
            if let Some(seek) = self.for_prev {
                seek(raw, at, size);
                if self.key() == Some(key) {
                    (api.iter_prev)(raw);
                }
                return;
            }
            (api.iter_seek)(raw, at, size);
            match (api.iter_valid)(raw) {
                0 => (api.iter_seek_to_last)(raw),
                _ => (api.iter_prev)(raw),
            }
        }
    }

    /// Reads every pair, and adds damage to the findings.
    pub fn verify(&self, checked: &mut Checked) -> Result<()> {
        record_damage(self.walk(Range::default(), &mut |_, _| ControlFlow::Continue(())), checked)
    }

    /// Visits the pairs of a range.
    pub fn walk(&self, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        let (api, raw, Range { from, to, direction }) = (self.lib.api, self.raw.raw, range);
        let mut size = 0;
        // SAFETY: it is owned here; the bounds live through their calls; a pair is in the library's
        // memory until the iterator moves, which it does only from a pair.
        unsafe {
            match (direction, from, to) {
                (Direction::Forward, Some(from), _) => {
                    (api.iter_seek)(raw, from.as_ptr(), from.len());
                }
                (Direction::Forward, None, _) => (api.iter_seek_to_first)(raw),
                (Direction::Backward, _, Some(to)) => self.seek_below(to),
                (Direction::Backward, _, None) => (api.iter_seek_to_last)(raw),
            }
            while let Some(key) = self.key() {
                let is_beyond = match direction {
                    Direction::Forward => to.is_some_and(|to| key >= to),
                    Direction::Backward => from.is_some_and(|from| key < from),
                };
                let value = (api.iter_value)(raw, &mut size);
                if is_beyond || visit(key, bytes(value, size)).is_break() {
                    return Ok(());
                }
                match direction {
                    Direction::Forward => (api.iter_next)(raw),
                    Direction::Backward => (api.iter_prev)(raw),
                }
            }
            self.lib.call("scan", |error| (api.iter_get_error)(raw, error))
        }
    }
}

/// Adds an error about damage to the findings of a check, and returns other errors.
pub(crate) fn record_damage(done: Result<()>, checked: &mut Checked) -> Result<()> {
    let Err(error) = done else { return Ok(()) };
    let said = error.to_string();
    let Some(at) = said.find(DAMAGE) else { return Err(error) };
    checked.found(&said[at..]);
    Ok(())
}
