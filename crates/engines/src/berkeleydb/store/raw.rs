//! Functions of `shim.c`, and the two of `db.h` that need no handle.

use std::ffi::{c_char, c_int, c_void};

/// A `DB_ENV`, `DB`, `DB_TXN` or `DBC`.
pub type Raw = *mut c_void;
type Text = *const c_char;

/// The key was not found, or the scan has ended.
pub const ABSENT: c_int = -1;
/// The result does not fit into its buffer.
pub const TOO_SMALL: c_int = -2;
pub const DAMAGED: c_int = -3;

/// Target of [`ember_move`], in the order of the shim's `positions`.
#[derive(Clone, Copy)]
#[repr(i32)]
pub enum Position {
    First,
    Last,
    Next,
    Prev,
    /// Exactly this key.
    Key,
    /// The first key that is not below this one.
    AtLeast,
}

/// Bytes that the receiver only reads: the shim's `struct bytes`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Bytes {
    pub at: *const u8,
    pub size: u32,
}

/// Bytes of every value that a secondary index uses: the shim's `struct field`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Field {
    pub at: u32,
    pub length: u32,
}

/// An environment's settings as it reports them: the shim's `struct facts`.
#[derive(Default)]
#[repr(C)]
pub struct Facts {
    pub cache_bytes: u64,
    pub caches: u32,
    pub log_buffer: u32,
    pub log_file: u32,
    pub private: u32,
    pub locking: u32,
    pub logging: u32,
    pub transactions: u32,
    pub write_nosync: u32,
    pub nosync: u32,
    pub auto_remove: u32,
}

unsafe extern "C" {
    pub fn db_version(major: *mut c_int, minor: *mut c_int, patch: *mut c_int) -> Text;
    pub fn db_strerror(code: c_int) -> Text;

    pub fn ember_env_open(
        out: *mut Raw,
        home: Text,
        cache: u64,
        log_buffer: u32,
        transactions: c_int,
        write_nosync: c_int,
    ) -> c_int;
    pub fn ember_env_facts(env: Raw, facts: *mut Facts) -> c_int;
    pub fn ember_env_checkpoint(env: Raw, kib: u32) -> c_int;
    pub fn ember_env_close(env: Raw) -> c_int;
    pub fn ember_env_remove(env: Raw, file: Text) -> c_int;
    pub fn ember_verify(
        env: Raw,
        file: Text,
        report: unsafe extern "C" fn(*mut c_void, Text),
        to: *mut c_void,
    ) -> c_int;

    pub fn ember_begin(env: Raw, out: *mut Raw, bulk: c_int) -> c_int;
    pub fn ember_commit(txn: Raw) -> c_int;
    pub fn ember_abort(txn: Raw) -> c_int;

    pub fn ember_open(out: *mut Raw, env: Raw, file: Text, page: u32, duplicates: c_int) -> c_int;
    pub fn ember_associate(primary: Raw, secondary: Raw, field: *const Field) -> c_int;
    pub fn ember_close(db: Raw, sync: c_int) -> c_int;
    pub fn ember_drop(db: Raw) -> c_int;
    pub fn ember_get(db: Raw, txn: Raw, key: Bytes, value: *mut c_void, size: *mut u32) -> c_int;
    pub fn ember_put(db: Raw, txn: Raw, key: Bytes, value: Bytes) -> c_int;
    pub fn ember_put_batch(db: Raw, txn: Raw, batch: *mut c_void, size: u32) -> c_int;
    pub fn ember_del(db: Raw, txn: Raw, key: Bytes) -> c_int;

    pub fn ember_cursor(db: Raw, txn: Raw, out: *mut Raw) -> c_int;
    pub fn ember_cursor_close(cursor: Raw) -> c_int;
    pub fn ember_move(cursor: Raw, to: Position, key: *mut Bytes, value: *mut Bytes) -> c_int;
    pub fn ember_find(
        cursor: Raw,
        seek: c_int,
        index: *mut Bytes,
        key: *mut Bytes,
        value: *mut Bytes,
    ) -> c_int;
    pub fn ember_next_batch(cursor: Raw, batch: *mut c_void, size: *mut u32) -> c_int;
    pub fn ember_replace(cursor: Raw, value: Bytes) -> c_int;
}
