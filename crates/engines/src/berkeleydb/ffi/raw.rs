//! The functions of `shim.c`, and the two of `db.h` that need no handle.

use std::ffi::{c_char, c_int, c_void};

/// A database environment, `DB_ENV`.
#[repr(C)]
pub struct Env([u8; 0]);
/// A database, `DB`.
#[repr(C)]
pub struct Db([u8; 0]);
/// A transaction, `DB_TXN`.
#[repr(C)]
pub struct Txn([u8; 0]);
/// A cursor, `DBC`.
#[repr(C)]
pub struct Cursor([u8; 0]);

/// No such key; the end of a scan.
pub const ABSENT: c_int = -1;
/// What was asked for does not fit its buffer.
pub const TOO_SMALL: c_int = -2;

/// Where [`ember_move`] goes: the shim's `places`, in its order.
#[derive(Clone, Copy)]
#[repr(i32)]
pub enum To {
    First,
    Last,
    Next,
    Prev,
    /// Exactly the key given.
    Key,
    /// The first key not below the one given.
    AtLeast,
}

/// Some bytes, which whoever gets them only reads: the shim's `struct bytes`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Bytes {
    pub at: *const u8,
    pub size: u32,
}

/// Some bytes of every value, which a secondary index finds: the shim's `struct field`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Field {
    pub at: u32,
    pub length: u32,
}

/// An environment's settings as it tells them: the shim's `struct facts`.
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
    pub fn db_version(major: *mut c_int, minor: *mut c_int, patch: *mut c_int) -> *const c_char;
    pub fn db_strerror(code: c_int) -> *const c_char;

    pub fn ember_env_open(
        out: *mut *mut Env,
        home: *const c_char,
        cache: u64,
        log_buffer: u32,
        transactions: c_int,
        write_nosync: c_int,
    ) -> c_int;
    pub fn ember_env_facts(env: *mut Env, facts: *mut Facts) -> c_int;
    pub fn ember_env_checkpoint(env: *mut Env) -> c_int;
    pub fn ember_env_sync(env: *mut Env) -> c_int;
    pub fn ember_env_close(env: *mut Env) -> c_int;
    pub fn ember_env_remove(env: *mut Env, file: *const c_char) -> c_int;

    pub fn ember_begin(env: *mut Env, out: *mut *mut Txn, bulk: c_int) -> c_int;
    pub fn ember_commit(txn: *mut Txn) -> c_int;
    pub fn ember_abort(txn: *mut Txn) -> c_int;

    pub fn ember_open(
        out: *mut *mut Db,
        env: *mut Env,
        file: *const c_char,
        duplicates: c_int,
    ) -> c_int;
    pub fn ember_associate(primary: *mut Db, secondary: *mut Db, field: *const Field) -> c_int;
    pub fn ember_close(db: *mut Db, sync: c_int) -> c_int;
    pub fn ember_get(
        db: *mut Db,
        txn: *mut Txn,
        key: Bytes,
        value: *mut c_void,
        size: *mut u32,
    ) -> c_int;
    pub fn ember_put(db: *mut Db, txn: *mut Txn, key: Bytes, value: Bytes) -> c_int;
    pub fn ember_put_batch(db: *mut Db, txn: *mut Txn, batch: *mut c_void, size: u32) -> c_int;
    pub fn ember_del(db: *mut Db, txn: *mut Txn, key: Bytes) -> c_int;

    pub fn ember_cursor(db: *mut Db, txn: *mut Txn, out: *mut *mut Cursor) -> c_int;
    pub fn ember_cursor_close(cursor: *mut Cursor) -> c_int;
    pub fn ember_move(cursor: *mut Cursor, to: To, key: *mut Bytes, value: *mut Bytes) -> c_int;
    pub fn ember_find(
        cursor: *mut Cursor,
        seek: c_int,
        index: *mut Bytes,
        key: *mut Bytes,
        value: *mut Bytes,
    ) -> c_int;
    pub fn ember_next_batch(cursor: *mut Cursor, batch: *mut c_void, size: *mut u32) -> c_int;
    pub fn ember_replace(cursor: *mut Cursor, value: Bytes) -> c_int;
}
