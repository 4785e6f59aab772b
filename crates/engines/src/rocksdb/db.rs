//! An open database: its calls with their errors, and what they return.

use std::ffi::{CStr, CString, c_char};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::{ptr, slice};

use super::ID;
use super::api::{Api, Failure, Handle};
use super::options::Options;
use crate::clients::{HandleCount, HandleGuard};
use crate::{EngineError, OpenOptions, Result};

/// The column family that is always there.
const DEFAULT: &CStr = c"default";
/// The file that says there is a database.
const CURRENT: &str = "CURRENT";

/// An open database, closed when dropped.
pub(super) struct Db<'a> {
    pub api: &'a Api,
    /// Null once it is closed.
    pub raw: Handle,
    pub options: Options<'a>,
    /// The column families that were there when it was opened and were not taken.
    found: Vec<(CString, Handle)>,
    /// What further clients in this process hold.
    pub handles: HandleCount,
    /// Of a further client, whose handles are another's to close.
    pub guard: Option<HandleGuard>,
}

/// Runs a call that may leave an error.
#[inline]
pub(super) fn call<T>(api: &Api, doing: &str, work: impl FnOnce(Failure) -> T) -> Result<T> {
    let mut error = ptr::null_mut();
    let value = work(&mut error);
    if error.is_null() { Ok(value) } else { Err(told(api, doing, error)) }
}

/// An error of the library, whose text is freed.
#[cold]
fn told(api: &Api, doing: &str, error: *mut c_char) -> EngineError {
    // SAFETY: a NUL-terminated text that is ours to free, which is copied before.
    let message = unsafe { CStr::from_ptr(error) }.to_string_lossy().into_owned();
    // SAFETY: as above, and not used again.
    unsafe { (api.free)(error.cast()) };
    EngineError::failed(ID, doing, message)
}

/// A name without a zero byte, as C wants it.
pub(super) fn c_string(bytes: impl Into<Vec<u8>>, doing: &str) -> Result<CString> {
    CString::new(bytes).map_err(|error| EngineError::failed(ID, doing, error))
}

impl<'a> Db<'a> {
    /// Opens or makes the database of a open.
    pub(super) fn open(api: &'a Api, open: &OpenOptions) -> Result<Self> {
        Self::open_with(api, &open.dir, Options::of(api, open), Vec::new())
    }

    /// Opens the database of a open of which it is known that it has these column families and no
    /// others.
    pub(super) fn open_known(
        api: &'a Api,
        open: &OpenOptions,
        families: Vec<CString>,
    ) -> Result<Self> {
        Self::open_with(api, &open.dir, Options::of(api, open), families)
    }

    /// Opens or makes a database with the library's own options.
    pub(super) fn open_plain(api: &'a Api, folder: &Path) -> Result<Self> {
        Self::open_with(api, folder, Options::plain(api), Vec::new())
    }

    /// Without `names` it looks for them.
    fn open_with(
        api: &'a Api,
        folder: &Path,
        options: Options<'a>,
        names: Vec<CString>,
    ) -> Result<Self> {
        let doing = format!("open the database in {}", folder.display());
        let path = c_string(folder.as_os_str().as_bytes(), &doing)?;
        let names = if !names.is_empty() {
            names
        } else if folder.join(CURRENT).exists() {
            families(api, &options, &path, &doing)?
        } else {
            vec![DEFAULT.to_owned()]
        };
        let pointers: Vec<_> = names.iter().map(|name| name.as_ptr()).collect();
        let of_each = vec![options.db; names.len()];
        let mut handles = vec![ptr::null_mut(); names.len()];
        let count = i32::try_from(names.len()).unwrap_or(i32::MAX);
        // SAFETY: the three lists have as many members as is said, and live through the call.
        let raw = call(api, &doing, |error| unsafe {
            let (names, of_each) = (pointers.as_ptr(), of_each.as_ptr());
            let handles = handles.as_mut_ptr();
            (api.open_column_families)(
                options.db,
                path.as_ptr(),
                count,
                names,
                of_each,
                handles,
                error,
            )
        })?;
        let found = names.into_iter().zip(handles).collect();
        Ok(Self { api, raw, options, found, handles: HandleCount::default(), guard: None })
    }

    /// An open database for a further client in this process: threads may share it without locks of
    /// their own (<https://github.com/facebook/rocksdb/wiki/Basic-Operations#concurrency>).
    pub(super) fn of(api: &'a Api, open: &OpenOptions, raw: Handle, guard: HandleGuard) -> Self {
        let (options, found) = (Options::of_client(api, open), Vec::new());
        Self { api, raw, options, found, handles: HandleCount::default(), guard: Some(guard) }
    }

    /// Closes it, when every handle that was taken is destroyed; the names of the column families
    /// that were not taken. What a log holds is not written to tables
    /// (<https://github.com/facebook/rocksdb/blob/main/include/rocksdb/options.h>,
    /// `avoid_flush_during_shutdown`: only what was written without a log is flushed).
    pub(super) fn close(&mut self) -> Vec<CString> {
        let raw = std::mem::replace(&mut self.raw, ptr::null_mut());
        let found = std::mem::take(&mut self.found);
        // SAFETY: ours, and not used again.
        let names = found.into_iter().map(|(name, family)| unsafe {
            (self.api.column_family_handle_destroy)(family);
            name
        });
        let names = names.collect();
        // Of somebody else, or left open where clients would be left without.
        if !raw.is_null() && self.guard.is_none() && !self.handles.is_lending() {
            // SAFETY: open, without a handle left, and forgotten.
            unsafe { (self.api.close)(raw) };
        }
        names
    }

    /// The column family of that name, made if it is not there.
    pub(super) fn family(&mut self, name: &CStr) -> Result<Handle> {
        match self.found.iter().position(|(known, _)| **known == *name) {
            Some(known) => Ok(self.found.swap_remove(known).1),
            // SAFETY: open; the name lives through the call.
            None => call(self.api, "make a table", |error| unsafe {
                (self.api.create_column_family)(self.raw, self.options.db, name.as_ptr(), error)
            }),
        }
    }

    /// Removes a column family with its content. Its handle stays to be destroyed.
    pub(super) fn remove(&self, family: Handle) -> Result<()> {
        // SAFETY: both are open.
        call(self.api, "remove a table", |error| unsafe {
            (self.api.drop_column_family)(self.raw, family, error)
        })
    }

    /// A property as the library tells it.
    pub(super) fn property(&self, name: &CStr) -> Option<String> {
        // SAFETY: open; the name lives through the call.
        let text = unsafe { (self.api.property_value)(self.raw, name.as_ptr()) };
        if text.is_null() {
            return None;
        }
        // SAFETY: a NUL-terminated text that is ours, copied before it is freed.
        let value = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
        // SAFETY: as above, and not used again.
        unsafe { (self.api.free)(text.cast()) };
        Some(value)
    }

    /// The value of a key in the tables, held in place.
    #[inline]
    pub(super) fn get(&self, family: Handle, key: &[u8]) -> Result<Option<Value<'a>>> {
        // SAFETY: all are open; the key lives through the call.
        let slice = call(self.api, "get a value", |error| unsafe {
            let read = self.options.read;
            (self.api.get_pinned_cf)(self.raw, read, family, key.as_ptr(), key.len(), error)
        })?;
        Ok((!slice.is_null()).then_some(Value::Pinned(self.api, slice)))
    }

    /// The value of a key in a batch or else in the tables, copied.
    #[inline]
    pub(super) fn get_through(
        &self,
        batch: Handle,
        family: Handle,
        key: &[u8],
    ) -> Result<Option<Value<'a>>> {
        let mut size = 0;
        // SAFETY: all are open; the key lives through the call.
        let at = call(self.api, "get a value", |error| unsafe {
            let (read, key, key_size) = (self.options.read, key.as_ptr(), key.len());
            (self.api.writebatch_wi_get_from_batch_and_db_cf)(
                batch, self.raw, read, family, key, key_size, &mut size, error,
            )
        })?;
        Ok((!at.is_null()).then_some(Value::Copied(self.api, at, size)))
    }

    /// Puts a pair, a commit of its own.
    #[inline]
    pub(super) fn put(&self, family: Handle, key: &[u8], value: &[u8]) -> Result<()> {
        // SAFETY: all are open; key and value live through the call.
        call(self.api, "put a value", |error| unsafe {
            let (write, at, size) = (self.options.write, value.as_ptr(), value.len());
            (self.api.put_cf)(self.raw, write, family, key.as_ptr(), key.len(), at, size, error);
        })
    }

    /// Removes a key, a commit of its own.
    #[inline]
    pub(super) fn delete(&self, family: Handle, key: &[u8]) -> Result<()> {
        // SAFETY: all are open; the key lives through the call.
        call(self.api, "delete a key", |error| unsafe {
            let write = self.options.write;
            (self.api.delete_cf)(self.raw, write, family, key.as_ptr(), key.len(), error);
        })
    }

    /// Writes what is in memory of a column family to its files.
    pub(super) fn flush(&self, family: Handle) -> Result<()> {
        // SAFETY: both are open.
        call(self.api, "flush", |error| unsafe {
            (self.api.flush_cf)(self.raw, self.options.flush, family, error)
        })
    }

    /// Merges the files of a column family.
    pub(super) fn compact(&self, family: Handle) {
        // SAFETY: both are open; null is without a bound.
        unsafe {
            (self.api.compact_range_cf)(self.raw, family, ptr::null(), 0, ptr::null(), 0);
        }
    }
}

/// The names of the column families that a database has.
fn families(api: &Api, options: &Options<'_>, path: &CStr, doing: &str) -> Result<Vec<CString>> {
    let mut count = 0;
    // SAFETY: the path lives through the call.
    let list = call(api, doing, |error| unsafe {
        (api.list_column_families)(options.db, path.as_ptr(), &mut count, error)
    })?;
    // SAFETY: a list of as many NUL-terminated texts, copied before it is freed.
    let names = unsafe {
        slice::from_raw_parts(list, count).iter().map(|&name| CStr::from_ptr(name).to_owned())
    };
    let names = names.collect();
    // SAFETY: the list that was given, not used again.
    unsafe { (api.list_column_families_destroy)(list, count) };
    Ok(names)
}

impl Drop for Db<'_> {
    fn drop(&mut self) {
        // The store has ended what it has open in it.
        self.close();
    }
}

/// A value that was found, let go when dropped.
pub(super) enum Value<'a> {
    /// In the library's memory.
    Pinned(&'a Api, Handle),
    /// In memory of ours, with its size.
    Copied(&'a Api, *mut u8, usize),
}

impl Value<'_> {
    /// Its bytes.
    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        match *self {
            Self::Pinned(api, value) => {
                let mut size = 0;
                // SAFETY: pinned until it is dropped.
                unsafe {
                    let at = (api.pinnableslice_value)(value, &mut size);
                    bytes(at, size)
                }
            }
            // SAFETY: ours until it is dropped.
            Self::Copied(_, at, size) => unsafe { bytes(at, size) },
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

impl Drop for Value<'_> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: given to us once, and not used again.
        unsafe {
            match *self {
                Self::Pinned(api, value) => (api.pinnableslice_destroy)(value),
                Self::Copied(api, at, _) => (api.free)(at.cast()),
            }
        }
    }
}
