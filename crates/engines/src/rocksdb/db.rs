//! An open database and its column families, which keep it open.

use std::ffi::{CStr, CString};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{ptr, slice};

use super::api::Api;
use crate::kv::{Direction, Range, Visit};
use crate::lsm::{self, Batch, Destination, Handle, Iter, Lib, ReadOptions, TakeKey, Value};
use crate::owned::{Owned, bytes};
use crate::{EngineError, Result};

/// The library's functions, the options of the database and of each column family, and the folder.
pub(super) struct DbContext {
    pub api: &'static Api,
    options: Owned,
    pub dir: PathBuf,
}

/// An open database, closed when its last user is dropped. Closing does not write the log's content
/// to tables, only what was written without a log
/// (<https://github.com/facebook/rocksdb/blob/main/include/rocksdb/options.h>,
/// `avoid_flush_during_shutdown`).
pub(super) type Db = lsm::Db<DbContext>;

/// An open database with its column families.
pub(super) struct Families {
    pub db: Arc<Db>,
    /// Whether changes go to a log.
    pub logged: bool,
    /// Whether a commit is synced before it returns.
    pub synced: bool,
    all: Mutex<Vec<Arc<Family>>>,
}

impl Families {
    pub(super) fn all(&self) -> MutexGuard<'_, Vec<Arc<Family>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the family with this name, and creates a missing one.
    pub(super) fn named(&self, name: &CStr) -> Result<Arc<Family>> {
        let mut all = self.all();
        if let Some(known) = all.iter().find(|known| *known.name == *name) {
            return Ok(Arc::clone(known));
        }
        let made = Family::make(&self.db, name.to_owned())?;
        all.push(Arc::clone(&made));
        Ok(made)
    }

    /// Drops a family with its content, and creates an empty one with its name.
    pub(super) fn renew(&self, family: &mut Arc<Family>) -> Result<()> {
        let (lib, api, db, raw) = family.parts();
        // SAFETY: both are open, and stay so.
        lib.call("remove a table", |error| unsafe { (api.drop_column_family)(db, raw, error) })?;
        self.all().retain(|known| known.name != family.name);
        *family = self.named(&family.name)?;
        Ok(())
    }
}

fn c_string(lib: Lib, text: impl Into<Vec<u8>>, doing: &str) -> Result<CString> {
    CString::new(text).map_err(|error| EngineError::failed(lib.id, doing, error))
}

/// Opens or creates the database in a folder, with all its column families. The options have the
/// library's syntax (<https://github.com/facebook/rocksdb/wiki/Option-String-and-Option-Map>).
/// Writes are logged or not, and synced or not.
pub(super) fn open(
    lib: Lib,
    api: &'static Api,
    folder: &Path,
    options: &str,
    (logged, synced): (bool, bool),
) -> Result<Families> {
    let doing = format!("open the database in {}", folder.display());
    let (path, text) = (lib.path(folder, &doing)?, c_string(lib, options, &doing)?);
    // SAFETY: ours.
    let make = || unsafe { Owned::new((lib.api.options_create)(), lib.api.options_destroy) };
    let (shipped, options) = (make(), make());
    // SAFETY: both are open; the text lives through the call.
    lib.call(&doing, |error| unsafe {
        (api.get_options_from_string)(shipped.raw, text.as_ptr(), options.raw, error);
    })?;
    let names = match folder.join("CURRENT").exists() {
        true => family_names(lib, api, &options, &path, &doing)?,
        false => vec![c"default".to_owned()],
    };
    let pointers: Vec<_> = names.iter().map(|name| name.as_ptr()).collect();
    let of_each = vec![options.raw; names.len()];
    let mut handles = vec![ptr::null_mut(); names.len()];
    let count = i32::try_from(names.len()).unwrap_or(i32::MAX);
    // SAFETY: the three lists have the given number of members, and live through the call.
    let raw = lib.call(&doing, |error| unsafe {
        let (options, path, names) = (options.raw, path.as_ptr(), pointers.as_ptr());
        let (of_each, handles) = (of_each.as_ptr(), handles.as_mut_ptr());
        (api.open_column_families)(options, path, count, names, of_each, handles, error)
    })?;
    let own = DbContext { api, options, dir: folder.to_owned() };
    // SAFETY: open, and ours; the options are kept alive.
    let db = Arc::new(unsafe { Db::new(lib, raw, synced, own) });
    // SAFETY: open, and nothing was written with it yet.
    unsafe { (api.writeoptions_disable_WAL)(db.writes.raw, i32::from(!logged)) };
    let found = names.into_iter().zip(handles);
    let all = found.map(|(name, raw)| Family::new(&db, name, raw)).collect();
    Ok(Families { db, logged, synced, all: Mutex::new(all) })
}

/// Returns the names of a database's column families.
fn family_names(
    lib: Lib,
    api: &Api,
    options: &Owned,
    path: &CStr,
    doing: &str,
) -> Result<Vec<CString>> {
    let mut count = 0;
    // SAFETY: the path lives through the call.
    let list = lib.call(doing, |error| unsafe {
        (api.list_column_families)(options.raw, path.as_ptr(), &mut count, error)
    })?;
    // SAFETY: a list of that many NUL-terminated texts, copied before it is freed.
    unsafe {
        let names = slice::from_raw_parts(list, count).iter();
        let names = names.map(|&name| CStr::from_ptr(name).to_owned()).collect();
        (api.list_column_families_destroy)(list, count);
        Ok(names)
    }
}

/// Returns a property as the library reports it.
pub(super) fn property(db: &Db, name: &CStr) -> Option<String> {
    // SAFETY: open; the name lives through the call.
    let text = unsafe { (db.own.api.property_value)(db.raw.raw, name.as_ptr()) };
    // SAFETY: a text that is ours.
    (!text.is_null()).then(|| unsafe { db.lib.take_text(text) })
}

/// A column family. Threads share its handle as they share the database, because it only names the
/// family.
pub(super) struct Family {
    pub name: CString,
    /// Its number in the records of a batch.
    pub id: u32,
    raw: Owned,
    db: Arc<Db>,
}

// SAFETY: as for the database.
unsafe impl Send for Family {}
// SAFETY: as above.
unsafe impl Sync for Family {}

impl Family {
    fn new(db: &Arc<Db>, name: CString, raw: Handle) -> Arc<Self> {
        let (api, db) = (db.own.api, Arc::clone(db));
        // SAFETY: it belongs to that database, is ours, and is dropped before the database.
        unsafe {
            let id = (api.column_family_handle_get_id)(raw);
            let raw = Owned::new(raw, api.column_family_handle_destroy);
            Arc::new(Self { name, id, raw, db })
        }
    }

    fn make(db: &Arc<Db>, name: CString) -> Result<Arc<Self>> {
        // SAFETY: open; the name lives through the call.
        let raw = db.lib.call("make a table", |error| unsafe {
            (db.own.api.create_column_family)(db.raw.raw, db.own.options.raw, name.as_ptr(), error)
        })?;
        Ok(Self::new(db, name, raw))
    }

    /// Returns the library, its functions, and the handles of the database and the family.
    #[inline]
    fn parts(&self) -> (Lib, &'static Api, Handle, Handle) {
        (self.db.lib, self.db.own.api, self.db.raw.raw, self.raw.raw)
    }

    /// Returns the value of a key.
    #[inline]
    pub(super) fn get<'a>(&'a self, reads: &ReadOptions, key: &[u8]) -> Result<Option<Value<'a>>> {
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
    pub(super) fn iter<'a>(&'a self, reads: &'a ReadOptions) -> Iter<'a> {
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
    pub(super) fn scan(
        &self,
        reads: &ReadOptions,
        range: Range<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let Range { from, to, direction } = range;
        if matches!((from, to), (Some(from), Some(to)) if from >= to) {
            return Ok(());
        }
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
    pub(super) fn set(
        &self,
        to: &mut Destination<'_>,
        key: &[u8],
        value: Option<&[u8]>,
    ) -> Result<()> {
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
    pub(super) fn delete_range(&self, from: &[u8], to: &[u8]) -> Result<()> {
        let ((lib, api, db, family), writes) = (self.parts(), self.db.writes.raw);
        // SAFETY: all are open; the keys live through the call, which copies them.
        lib.call("delete a range", |error| unsafe {
            let (from, from_size) = (from.as_ptr(), from.len());
            (api.delete_range_cf)(
                db,
                writes,
                family,
                from,
                from_size,
                to.as_ptr(),
                to.len(),
                error,
            );
        })
    }

    /// Returns a numeric property, or 0 where the library does not have it.
    pub(super) fn number(&self, name: &CStr) -> u64 {
        let ((_, api, db, family), mut value) = (self.parts(), 0);
        // SAFETY: both are open; name and value live through the call.
        match unsafe { (api.property_int_cf)(db, family, name.as_ptr(), &mut value) } {
            0 => value,
            _ => 0,
        }
    }

    /// Returns the content of a batch in the library's format.
    pub(super) fn content<'a>(&self, batch: &'a Batch) -> &'a [u8] {
        let mut size = 0;
        // SAFETY: open; nothing changes it while it is borrowed.
        unsafe { bytes((self.db.own.api.writebatch_data)(batch.raw(), &mut size), size) }
    }

    /// Writes the memtables to files.
    pub(super) fn flush(&self) -> Result<()> {
        let (lib, api, db, family) = self.parts();
        // SAFETY: all are open; by default, the options wait.
        lib.call("flush", |error| unsafe {
            let options = Owned::new((api.flushoptions_create)(), api.flushoptions_destroy);
            (api.flush_cf)(db, options.raw, family, error);
        })
    }

    /// Merges its files.
    pub(super) fn compact(&self) {
        let (_, api, db, family) = self.parts();
        // SAFETY: both are open; null means no bound.
        unsafe { (api.compact_range_cf)(db, family, ptr::null(), 0, ptr::null(), 0) };
    }

    /// Begins a file of ascending pairs in the database's folder, to ingest later.
    pub(super) fn file(&self, number: usize) -> Result<SstFile> {
        const DOING: &str = "make a file";
        let (lib, api, ..) = self.parts();
        let path = lib.path(&self.db.own.dir.join(format!("load-{number}.sst")), DOING)?;
        // SAFETY: the options are open; both objects made are ours, and the file is dropped first.
        let file = unsafe {
            let env = Owned::new((api.envoptions_create)(), api.envoptions_destroy);
            let raw = (api.sstfilewriter_create)(env.raw, self.db.own.options.raw);
            let (raw, db) = (Owned::new(raw, api.sstfilewriter_destroy), Arc::clone(&self.db));
            SstFile { path, raw, _env: env, db }
        };
        // SAFETY: the path lives through the call.
        lib.call(DOING, |error| unsafe {
            (api.sstfilewriter_open)(file.raw.raw, file.path.as_ptr(), error);
        })?;
        Ok(file)
    }

    /// Ingests finished files with one change. They are moved.
    pub(super) fn ingest(&self, files: &[CString]) -> Result<()> {
        let (lib, api, db, family) = self.parts();
        let paths: Vec<_> = files.iter().map(|file| file.as_ptr()).collect();
        // SAFETY: everything lives through the call.
        lib.call("take files in", |error| unsafe {
            let options = (api.ingestexternalfileoptions_create)();
            let options = Owned::new(options, api.ingestexternalfileoptions_destroy);
            (api.ingestexternalfileoptions_set_move_files)(options.raw, 1);
            let (paths, count) = (paths.as_ptr(), paths.len());
            (api.ingest_external_file_cf)(db, family, paths, count, options.raw, error);
        })
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

/// A file of pairs that is being written.
pub(super) struct SstFile {
    path: CString,
    raw: Owned,
    _env: Owned,
    db: Arc<Db>,
}

impl SstFile {
    /// Appends a pair.
    #[inline]
    pub(super) fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let (api, raw) = (self.db.own.api, self.raw.raw);
        // SAFETY: open; key and value live through the call.
        self.db.lib.call("append a pair", |error| unsafe {
            let (at, size) = (value.as_ptr(), value.len());
            (api.sstfilewriter_put)(raw, key.as_ptr(), key.len(), at, size, error);
        })
    }

    /// Syncs the file, which has at least one pair. Returns its path.
    pub(super) fn finish(self) -> Result<CString> {
        // SAFETY: open.
        self.db.lib.call("finish a file", |error| unsafe {
            (self.db.own.api.sstfilewriter_finish)(self.raw.raw, error);
        })?;
        Ok(self.path)
    }
}
