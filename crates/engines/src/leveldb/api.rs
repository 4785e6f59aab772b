//! LevelDB's C interface, from a library loaded at run time: the functions that differ from
//! RocksDB's.

use std::ffi::{c_char, c_int, c_void};
use std::path::PathBuf;

use crate::library::{Loaded, Search, functions};
use crate::lsm::{self, Bytes, Failure, Handle, Lib};

pub(super) static LIBRARY: Loaded<(lsm::Api, Api)> = Loaded::new(
    super::ID,
    "apt-get install libleveldb-dev, or set LEVELDB_LIB_DIR to a folder that holds libleveldb.so",
    load,
);

type SeePut = extern "C" fn(*mut c_void, Bytes, usize, Bytes, usize);
type SeeDelete = extern "C" fn(*mut c_void, Bytes, usize);

functions! {
    /// The functions, without the `leveldb_` of their names, as `leveldb/c.h` declares them:
    /// <https://github.com/google/leveldb/blob/main/include/leveldb/c.h>.
    pub(super) struct Api of "leveldb_";

    major_version() -> c_int;
    minor_version() -> c_int;

    options_set_create_if_missing(options: Handle, on: u8);
    options_set_paranoid_checks(options: Handle, on: u8);
    options_set_write_buffer_size(options: Handle, bytes: usize);
    options_set_block_size(options: Handle, bytes: usize);
    options_set_block_restart_interval(options: Handle, keys: c_int);
    options_set_max_file_size(options: Handle, bytes: usize);
    options_set_max_open_files(options: Handle, files: c_int);
    options_set_compression(options: Handle, kind: c_int);
    options_set_cache(options: Handle, cache: Handle);
    options_set_filter_policy(options: Handle, policy: Handle);
    cache_create_lru(bytes: usize) -> Handle;
    cache_destroy(cache: Handle);
    filterpolicy_create_bloom(bits: c_int) -> Handle;
    filterpolicy_destroy(policy: Handle);
    open(options: Handle, path: *const c_char, error: Failure) -> Handle;
    compact_range(db: Handle, from: Bytes, from_size: usize, to: Bytes, to_size: usize);

    get(
        db: Handle, options: Handle, key: Bytes, size: usize, value_size: *mut usize, error: Failure
    ) -> *mut c_void;
    put(
        db: Handle, options: Handle, key: Bytes, size: usize, value: Bytes, value_size: usize,
        error: Failure
    );
    delete(db: Handle, options: Handle, key: Bytes, size: usize, error: Failure);
    writebatch_put(batch: Handle, key: Bytes, size: usize, value: Bytes, value_size: usize);
    writebatch_delete(batch: Handle, key: Bytes, size: usize);
    writebatch_iterate(batch: Handle, state: *mut c_void, put: SeePut, delete: SeeDelete);
    create_iterator(db: Handle, options: Handle) -> Handle;
}

fn load() -> Result<((lsm::Api, Api), PathBuf), String> {
    let folders = [crate::deps::folder("leveldb")];
    let search = Search { variable: VARIABLE, file: "libleveldb.so", folders: &folders };
    let (library, path) = search.open()?;
    // SAFETY: by its name the library is LevelDB, whose C interface stays the same from release to
    // release.
    let apis = unsafe { (lsm::Api::load_as(library, "leveldb_")?, Api::load(library)?) };
    Ok((apis, path))
}

pub(super) const VARIABLE: &str = "LEVELDB_LIB_DIR";

pub(super) fn library() -> crate::Result<(Lib, &'static Api)> {
    let (api, own) = LIBRARY.get()?;
    Ok((Lib { id: super::ID, api }, own))
}

impl Api {
    /// Returns its version, as it reports it.
    pub(super) fn version(&self) -> String {
        // SAFETY: they only return a number.
        let (major, minor) = unsafe { ((self.major_version)(), (self.minor_version)()) };
        format!("{major}.{minor}")
    }
}
