//! The part of RocksDB's C interface that is used here, as its header `rocksdb/c.h` declares it:
//! <https://github.com/facebook/rocksdb/blob/main/include/rocksdb/c.h>.

use std::ffi::{c_char, c_int, c_void};

use crate::library::functions;

/// A `rocksdb_t`, `rocksdb_options_t`, `rocksdb_iterator_t` and so on: pointers to things of
/// RocksDB's own.
pub(super) type Handle = *mut c_void;

/// Where a function leaves its error, a text to be freed, or null.
pub(super) type Failure = *mut *mut c_char;

functions! {
    /// The functions, each without the `rocksdb_` of its name.
    pub(super) struct Api of "rocksdb_";

    free(pointer: *mut c_void);

    options_create() -> Handle;
    options_destroy(options: Handle);
    get_options_from_string(
        base: Handle, text: *const c_char, options: Handle, error: Failure
    );

    writeoptions_create() -> Handle;
    writeoptions_destroy(options: Handle);
    writeoptions_set_sync(options: Handle, on: u8);
    writeoptions_disable_WAL(options: Handle, on: c_int);
    readoptions_create() -> Handle;
    readoptions_destroy(options: Handle);
    readoptions_set_snapshot(options: Handle, snapshot: Handle);
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
    close(db: Handle);
    create_column_family(
        db: Handle, options: Handle, name: *const c_char, error: Failure
    ) -> Handle;
    drop_column_family(db: Handle, family: Handle, error: Failure);
    column_family_handle_destroy(family: Handle);
    column_family_handle_get_id(family: Handle) -> u32;
    property_value(db: Handle, name: *const c_char) -> *mut c_char;

    put_cf(
        db: Handle, options: Handle, family: Handle, key: *const u8, key_size: usize,
        value: *const u8, value_size: usize, error: Failure
    );
    delete_cf(
        db: Handle, options: Handle, family: Handle, key: *const u8, size: usize, error: Failure
    );
    get_pinned_cf(
        db: Handle, options: Handle, family: Handle, key: *const u8, size: usize, error: Failure
    ) -> Handle;
    pinnableslice_value(slice: Handle, size: *mut usize) -> *const u8;
    pinnableslice_destroy(slice: Handle);
    create_snapshot(db: Handle) -> Handle;
    release_snapshot(db: Handle, snapshot: Handle);
    flush_cf(db: Handle, options: Handle, family: Handle, error: Failure);
    compact_range_cf(
        db: Handle, family: Handle, from: *const u8, from_size: usize, to: *const u8,
        to_size: usize
    );

    writebatch_create() -> Handle;
    writebatch_destroy(batch: Handle);
    writebatch_clear(batch: Handle);
    writebatch_put_cf(
        batch: Handle, family: Handle, key: *const u8, key_size: usize, value: *const u8,
        value_size: usize
    );
    writebatch_data(batch: Handle, size: *mut usize) -> *const u8;
    write(db: Handle, options: Handle, batch: Handle, error: Failure);
    writebatch_wi_create(reserved: usize, overwrite: u8) -> Handle;
    writebatch_wi_destroy(batch: Handle);
    writebatch_wi_clear(batch: Handle);
    writebatch_wi_put_cf(
        batch: Handle, family: Handle, key: *const u8, key_size: usize, value: *const u8,
        value_size: usize
    );
    writebatch_wi_delete_cf(batch: Handle, family: Handle, key: *const u8, size: usize);
    writebatch_wi_get_from_batch_and_db_cf(
        batch: Handle, db: Handle, options: Handle, family: Handle, key: *const u8, size: usize,
        value_size: *mut usize, error: Failure
    ) -> *mut u8;
    writebatch_wi_create_iterator_with_base_cf(
        batch: Handle, base: Handle, family: Handle
    ) -> Handle;
    write_writebatch_wi(db: Handle, options: Handle, batch: Handle, error: Failure);

    create_iterator_cf(db: Handle, options: Handle, family: Handle) -> Handle;
    iter_destroy(iterator: Handle);
    iter_valid(iterator: Handle) -> u8;
    iter_seek_to_first(iterator: Handle);
    iter_seek_to_last(iterator: Handle);
    iter_seek(iterator: Handle, key: *const u8, size: usize);
    iter_seek_for_prev(iterator: Handle, key: *const u8, size: usize);
    iter_next(iterator: Handle);
    iter_prev(iterator: Handle);
    iter_key(iterator: Handle, size: *mut usize) -> *const u8;
    iter_value(iterator: Handle, size: *mut usize) -> *const u8;
    iter_get_error(iterator: Handle, error: Failure);

    envoptions_create() -> Handle;
    envoptions_destroy(options: Handle);
    sstfilewriter_create(env: Handle, options: Handle) -> Handle;
    sstfilewriter_open(writer: Handle, path: *const c_char, error: Failure);
    sstfilewriter_put(
        writer: Handle, key: *const u8, key_size: usize, value: *const u8, value_size: usize,
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
