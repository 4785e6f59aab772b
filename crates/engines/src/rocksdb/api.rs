//! RocksDB's C interface, from a library loaded at run time: the functions that differ from
//! LevelDB's.

use std::ffi::{c_char, c_int};

use crate::library::functions;
use crate::lsm::{Bytes, Failure, Handle};

functions! {
    /// The functions, without the `rocksdb_` of their names, as `rocksdb/c.h` declares them:
    /// <https://github.com/facebook/rocksdb/blob/main/include/rocksdb/c.h>.
    pub(super) struct Api of "rocksdb_";

    get_options_from_string(base: Handle, text: *const c_char, options: Handle, error: Failure);
    writeoptions_disable_WAL(options: Handle, on: c_int);
    flushoptions_create() -> Handle;
    flushoptions_destroy(options: Handle);

    list_column_families(
        options: Handle, path: *const c_char, count: *mut usize, error: Failure
    ) -> *mut *mut c_char;
    list_column_families_destroy(names: *mut *mut c_char, count: usize);
    open_column_families(
        options: Handle, path: *const c_char, count: c_int, names: *const *const c_char,
        of_each: *const Handle, families: *mut Handle, error: Failure
    ) -> Handle;
    create_column_family(
        db: Handle, options: Handle, name: *const c_char, error: Failure
    ) -> Handle;
    drop_column_family(db: Handle, family: Handle, error: Failure);
    column_family_handle_destroy(family: Handle);
    column_family_handle_get_id(family: Handle) -> u32;
    property_value(db: Handle, name: *const c_char) -> *mut c_char;
    property_int_cf(
        db: Handle, family: Handle, name: *const c_char, value: *mut u64
    ) -> c_int;

    put_cf(
        db: Handle, options: Handle, family: Handle, key: Bytes, key_size: usize, value: Bytes,
        value_size: usize, error: Failure
    );
    delete_cf(
        db: Handle, options: Handle, family: Handle, key: Bytes, size: usize, error: Failure
    );
    delete_range_cf(
        db: Handle, options: Handle, family: Handle, from: Bytes, from_size: usize, to: Bytes,
        to_size: usize, error: Failure
    );
    get_pinned_cf(
        db: Handle, options: Handle, family: Handle, key: Bytes, size: usize, error: Failure
    ) -> Handle;
    pinnableslice_value(slice: Handle, size: *mut usize) -> Bytes;
    pinnableslice_destroy(slice: Handle);
    readoptions_set_iterate_upper_bound(options: Handle, key: Bytes, size: usize);
    readoptions_set_iterate_lower_bound(options: Handle, key: Bytes, size: usize);
    create_iterator_cf(db: Handle, options: Handle, family: Handle) -> Handle;
    iter_seek_for_prev(iterator: Handle, key: Bytes, size: usize);
    flush_cf(db: Handle, options: Handle, family: Handle, error: Failure);
    compact_range_cf(
        db: Handle, family: Handle, from: Bytes, from_size: usize, to: Bytes, to_size: usize
    );
    writebatch_put_cf(
        batch: Handle, family: Handle, key: Bytes, key_size: usize, value: Bytes,
        value_size: usize
    );
    writebatch_delete_cf(batch: Handle, family: Handle, key: Bytes, size: usize);
    writebatch_data(batch: Handle, size: *mut usize) -> Bytes;

    envoptions_create() -> Handle;
    envoptions_destroy(options: Handle);
    sstfilewriter_create(env: Handle, options: Handle) -> Handle;
    sstfilewriter_open(writer: Handle, path: *const c_char, error: Failure);
    sstfilewriter_put(
        writer: Handle, key: Bytes, key_size: usize, value: Bytes, value_size: usize,
        error: Failure
    );
    sstfilewriter_finish(writer: Handle, error: Failure);
    sstfilewriter_destroy(writer: Handle);
    ingestexternalfileoptions_create() -> Handle;
    ingestexternalfileoptions_set_move_files(options: Handle, on: u8);
    ingestexternalfileoptions_destroy(options: Handle);
    ingest_external_file_cf(
        db: Handle, family: Handle, paths: *const *const c_char, count: usize, options: Handle,
        error: Failure
    );
}
