//! RocksDB's database and column families as safe types, freed when dropped, and its errors.

use std::ffi::{CStr, CString, c_char};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::{ptr, slice};

use super::ID;
use super::api::{Api, Failure, Handle};
use crate::{EngineError, Result};

/// A thing of the library's, freed when dropped.
pub(super) struct Owned {
    pub raw: Handle,
    free: unsafe extern "C" fn(Handle),
}

impl Owned {
    /// # Safety
    /// `raw` is the caller's to free, by `free`, or null; what it needs outlives it.
    pub(super) const unsafe fn new(raw: Handle, free: unsafe extern "C" fn(Handle)) -> Self {
        Self { raw, free }
    }
}

impl Drop for Owned {
    #[inline]
    fn drop(&mut self) {
        if !self.raw.is_null() {
            // SAFETY: as promised to `new`, and not used again.
            unsafe { (self.free)(self.raw) };
        }
    }
}

/// Runs a call that may leave an error.
#[inline]
pub(super) fn call<T>(api: &Api, doing: &str, work: impl FnOnce(Failure) -> T) -> Result<T> {
    let mut error = ptr::null_mut();
    let value = work(&mut error);
    if error.is_null() { Ok(value) } else { Err(told(api, doing, error)) }
}

#[cold]
fn told(api: &Api, doing: &str, error: *mut c_char) -> EngineError {
    // SAFETY: a text of the library's that is ours.
    let message = unsafe { taken(api, error) };
    EngineError::failed(ID, doing, message)
}

/// Copies a text and frees it.
///
/// # Safety
/// It is NUL-terminated and the caller's to free.
unsafe fn taken(api: &Api, text: *mut c_char) -> String {
    // SAFETY: the caller's promise; it is copied before it is freed, and not used again.
    unsafe {
        let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
        (api.free)(text.cast());
        copy
    }
}

fn c_string(bytes: impl Into<Vec<u8>>, doing: &str) -> Result<CString> {
    CString::new(bytes).map_err(|error| EngineError::failed(ID, doing, error))
}

/// An open database, closed when the last of what holds it is dropped. What a log holds is then not
/// written to tables: only what was written without one is
/// (<https://github.com/facebook/rocksdb/blob/main/include/rocksdb/options.h>,
/// `avoid_flush_during_shutdown`).
pub(super) struct Db {
    pub api: &'static Api,
    pub raw: Owned,
    /// Of the database and of each of its column families.
    options: Owned,
}

// SAFETY: "the same rocksdb::DB object may be safely shared by multiple concurrent threads",
// without locks of theirs; the options are only read:
// <https://github.com/facebook/rocksdb/wiki/Basic-Operations#concurrency>.
unsafe impl Send for Db {}
// SAFETY: as above.
unsafe impl Sync for Db {}

/// Every column family of a database.
pub(super) type Families = Arc<Mutex<Vec<Arc<Family>>>>;

impl Db {
    /// Opens or makes the database in a folder, with every column family that it has. The options
    /// are in the library's words
    /// (<https://github.com/facebook/rocksdb/wiki/Option-String-and-Option-Map>).
    pub(super) fn open(
        api: &'static Api,
        folder: &Path,
        options: &str,
    ) -> Result<(Arc<Self>, Families)> {
        let doing = format!("open the database in {}", folder.display());
        let path = c_string(folder.as_os_str().as_bytes(), &doing)?;
        let text = c_string(options, &doing)?;
        // SAFETY: ours.
        let make = || unsafe { Owned::new((api.options_create)(), api.options_destroy) };
        let (shipped, options) = (make(), make());
        // SAFETY: both are open; the text lives through the call.
        call(api, &doing, |error| unsafe {
            (api.get_options_from_string)(shipped.raw, text.as_ptr(), options.raw, error);
        })?;
        let names = match folder.join("CURRENT").exists() {
            true => families(api, &options, &path, &doing)?,
            false => vec![c"default".to_owned()],
        };
        let pointers: Vec<_> = names.iter().map(|name| name.as_ptr()).collect();
        let of_each = vec![options.raw; names.len()];
        let mut handles = vec![ptr::null_mut(); names.len()];
        let count = i32::try_from(names.len()).unwrap_or(i32::MAX);
        // SAFETY: the three lists have as many members as is said, and live through the call.
        let raw = call(api, &doing, |error| unsafe {
            let (options, path, names) = (options.raw, path.as_ptr(), pointers.as_ptr());
            let (of_each, handles) = (of_each.as_ptr(), handles.as_mut_ptr());
            (api.open_column_families)(options, path, count, names, of_each, handles, error)
        })?;
        // SAFETY: open, and ours; what is made of it holds it.
        let db = Arc::new(Self { api, raw: unsafe { Owned::new(raw, api.close) }, options });
        let found = names.into_iter().zip(handles);
        let families = found.map(|(name, raw)| Family::of(&db, name, raw)).collect();
        Ok((db, Arc::new(Mutex::new(families))))
    }

    /// Makes a column family.
    pub(super) fn family(self: &Arc<Self>, name: CString) -> Result<Arc<Family>> {
        // SAFETY: open; the name lives through the call.
        let raw = call(self.api, "make a table", |error| unsafe {
            (self.api.create_column_family)(self.raw.raw, self.options.raw, name.as_ptr(), error)
        })?;
        Ok(Family::of(self, name, raw))
    }

    /// A property as the library tells it.
    pub(super) fn property(&self, name: &CStr) -> Option<String> {
        // SAFETY: open; the name lives through the call.
        let text = unsafe { (self.api.property_value)(self.raw.raw, name.as_ptr()) };
        // SAFETY: a text that is ours.
        (!text.is_null()).then(|| unsafe { taken(self.api, text) })
    }
}

/// The names of the column families that a database has.
fn families(api: &Api, options: &Owned, path: &CStr, doing: &str) -> Result<Vec<CString>> {
    let mut count = 0;
    // SAFETY: the path lives through the call.
    let list = call(api, doing, |error| unsafe {
        (api.list_column_families)(options.raw, path.as_ptr(), &mut count, error)
    })?;
    // SAFETY: a list of as many NUL-terminated texts, copied before it is freed.
    unsafe {
        let names = slice::from_raw_parts(list, count).iter();
        let names = names.map(|&name| CStr::from_ptr(name).to_owned()).collect();
        (api.list_column_families_destroy)(list, count);
        Ok(names)
    }
}

/// A column family, which holds its database open.
pub(super) struct Family {
    pub name: CString,
    pub raw: Owned,
    pub db: Arc<Db>,
}

// SAFETY: threads share its handle as they do the database: it only names the family.
unsafe impl Send for Family {}
// SAFETY: as above.
unsafe impl Sync for Family {}

impl Family {
    fn of(db: &Arc<Db>, name: CString, raw: Handle) -> Arc<Self> {
        // SAFETY: of that database, and ours; dropped before the database is.
        let raw = unsafe { Owned::new(raw, db.api.column_family_handle_destroy) };
        Arc::new(Self { name, raw, db: Arc::clone(db) })
    }

    /// Writes what is in memory to its files.
    pub(super) fn flush(&self) -> Result<()> {
        let (api, db) = (self.db.api, self.db.raw.raw);
        // SAFETY: all are open; as shipped, the options wait.
        call(api, "flush", |error| unsafe {
            let options = Owned::new((api.flushoptions_create)(), api.flushoptions_destroy);
            (api.flush_cf)(db, options.raw, self.raw.raw, error);
        })
    }

    /// Merges its files.
    pub(super) fn compact(&self) {
        let (db, family) = (self.db.raw.raw, self.raw.raw);
        // SAFETY: both are open; null is without a bound.
        unsafe { (self.db.api.compact_range_cf)(db, family, ptr::null(), 0, ptr::null(), 0) };
    }

    /// Removes it with its content; changes are refused from now on.
    pub(super) fn remove(&self) -> Result<()> {
        // SAFETY: both are open, and stay so.
        call(self.db.api, "remove a table", |error| unsafe {
            (self.db.api.drop_column_family)(self.db.raw.raw, self.raw.raw, error);
        })
    }

    /// Begins a file of ascending pairs, to be taken in.
    pub(super) fn file(&self, path: &Path) -> Result<SstFile> {
        const DOING: &str = "make a file";
        let (api, path) = (self.db.api, c_string(path.as_os_str().as_bytes(), DOING)?);
        // SAFETY: the options are open; both things made are ours, and the file is dropped first.
        let file = unsafe {
            let env = Owned::new((api.envoptions_create)(), api.envoptions_destroy);
            let raw = (api.sstfilewriter_create)(env.raw, self.db.options.raw);
            let (raw, db) = (Owned::new(raw, api.sstfilewriter_destroy), Arc::clone(&self.db));
            SstFile { path, raw, _env: env, db }
        };
        // SAFETY: the path lives through the call.
        call(api, DOING, |error| unsafe {
            (api.sstfilewriter_open)(file.raw.raw, file.path.as_ptr(), error);
        })?;
        Ok(file)
    }

    /// Takes finished files in, as one change; they are moved.
    pub(super) fn ingest(&self, files: &[CString]) -> Result<()> {
        let (api, db) = (self.db.api, self.db.raw.raw);
        let paths: Vec<_> = files.iter().map(|file| file.as_ptr()).collect();
        // SAFETY: everything lives through the call.
        call(api, "take files in", |error| unsafe {
            let options = (api.ingestexternalfileoptions_create)();
            let options = Owned::new(options, api.ingestexternalfileoptions_destroy);
            (api.ingestexternalfileoptions_set_move_files)(options.raw, 1);
            let (paths, count) = (paths.as_ptr(), paths.len());
            (api.ingest_external_file_cf)(db, self.raw.raw, paths, count, options.raw, error);
        })
    }
}

/// A file of pairs that is written.
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
        let (api, raw) = (self.db.api, self.raw.raw);
        // SAFETY: open; key and value live through the call.
        call(api, "append a pair", |error| unsafe {
            let (at, size) = (value.as_ptr(), value.len());
            (api.sstfilewriter_put)(raw, key.as_ptr(), key.len(), at, size, error);
        })
    }

    /// Syncs it, with a pair in it at least; its path.
    pub(super) fn finish(self) -> Result<CString> {
        // SAFETY: open.
        call(self.db.api, "finish a file", |error| unsafe {
            (self.db.api.sstfilewriter_finish)(self.raw.raw, error);
        })?;
        Ok(self.path)
    }
}
