//! LevelDB's C interface as far as it is used here, from a library that is opened at run time.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

use crate::library::{Loaded, Search, functions};

/// The functions.
pub(super) static LIBRARY: Loaded<Api> = Loaded::new(
    super::ID,
    "apt-get install libleveldb-dev, or set LEVELDB_LIB_DIR to a folder that holds libleveldb.so",
    load,
);

/// A `leveldb_t`, `leveldb_options_t`, `leveldb_iterator_t` and so on: pointers to things of
/// LevelDB's own.
pub(super) type Handle = *mut c_void;

/// Where a function leaves its error, a text to be freed, or null.
pub(super) type Failure = *mut *mut c_char;

/// Bytes that are given with their number.
pub(super) type Bytes = *const u8;

type SeePut = extern "C" fn(*mut c_void, Bytes, usize, Bytes, usize);
type SeeDelete = extern "C" fn(*mut c_void, Bytes, usize);

functions! {
    /// The functions, each without the `leveldb_` of its name, as `leveldb/c.h` declares them:
    /// <https://github.com/google/leveldb/blob/main/include/leveldb/c.h>.
    pub(super) struct Api of "leveldb_";

    major_version() -> c_int;
    minor_version() -> c_int;
    free(pointer: *mut c_void);

    options_create() -> Handle;
    options_destroy(options: Handle);
    options_set_create_if_missing(options: Handle, on: u8);
    options_set_write_buffer_size(options: Handle, bytes: usize);
    options_set_cache(options: Handle, cache: Handle);
    options_set_filter_policy(options: Handle, policy: Handle);
    cache_create_lru(bytes: usize) -> Handle;
    cache_destroy(cache: Handle);
    filterpolicy_create_bloom(bits: c_int) -> Handle;
    filterpolicy_destroy(policy: Handle);
    writeoptions_create() -> Handle;
    writeoptions_destroy(options: Handle);
    writeoptions_set_sync(options: Handle, on: u8);
    readoptions_create() -> Handle;
    readoptions_destroy(options: Handle);
    readoptions_set_snapshot(options: Handle, snapshot: Handle);

    open(options: Handle, path: *const c_char, error: Failure) -> Handle;
    close(db: Handle);
    compact_range(db: Handle, from: Bytes, from_size: usize, to: Bytes, to_size: usize);
    create_snapshot(db: Handle) -> Handle;
    release_snapshot(db: Handle, snapshot: Handle);

    get(
        db: Handle, options: Handle, key: Bytes, size: usize, value_size: *mut usize, error: Failure
    ) -> *mut u8;
    put(
        db: Handle, options: Handle, key: Bytes, size: usize, value: Bytes, value_size: usize,
        error: Failure
    );
    delete(db: Handle, options: Handle, key: Bytes, size: usize, error: Failure);
    write(db: Handle, options: Handle, batch: Handle, error: Failure);

    writebatch_create() -> Handle;
    writebatch_destroy(batch: Handle);
    writebatch_put(batch: Handle, key: Bytes, size: usize, value: Bytes, value_size: usize);
    writebatch_delete(batch: Handle, key: Bytes, size: usize);
    writebatch_iterate(batch: Handle, state: *mut c_void, put: SeePut, delete: SeeDelete);

    create_iterator(db: Handle, options: Handle) -> Handle;
    iter_destroy(iterator: Handle);
    iter_valid(iterator: Handle) -> u8;
    iter_seek_to_last(iterator: Handle);
    iter_seek(iterator: Handle, key: Bytes, size: usize);
    iter_next(iterator: Handle);
    iter_prev(iterator: Handle);
    iter_key(iterator: Handle, size: *mut usize) -> Bytes;
    iter_value(iterator: Handle, size: *mut usize) -> Bytes;
    iter_get_error(iterator: Handle, error: Failure);
}

fn load() -> Result<Api, String> {
    let folders = [crate::deps::folder("leveldb")];
    let search = Search { variable: "LEVELDB_LIB_DIR", file: "libleveldb.so", folders: &folders };
    // SAFETY: it is LevelDB's, by its name; its C interface is kept from release to release.
    unsafe { Api::load(search.open()?) }
}

impl Api {
    /// Its version, as it says itself.
    pub(super) fn version(&self) -> String {
        // SAFETY: they only return a number.
        let (major, minor) = unsafe { ((self.major_version)(), (self.minor_version)()) };
        format!("{major}.{minor}")
    }

    /// Makes a call that may leave an error, and returns it in the library's words.
    #[inline]
    pub(super) fn checked<T>(&self, call: impl FnOnce(Failure) -> T) -> Result<T, String> {
        let mut failure = ptr::null_mut();
        let done = call(&mut failure);
        if failure.is_null() { Ok(done) } else { Err(self.taken(failure)) }
    }

    #[cold]
    fn taken(&self, failure: *mut c_char) -> String {
        // SAFETY: the library left a text that ends with a zero, to be freed once.
        unsafe {
            let text = CStr::from_ptr(failure).to_string_lossy().into_owned();
            (self.free)(failure.cast());
            text
        }
    }
}
