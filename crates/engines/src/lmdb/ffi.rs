//! LMDB's functions, from the crate `lmdb-master-sys`.

#![allow(
    unsafe_op_in_unsafe_fn,
    reason = "each function is one of the library's, and asks of its caller what that asks"
)]

use std::ffi::{CStr, c_char, c_int};
use std::fs::OpenOptions;
use std::os::fd::AsRawFd;
use std::ptr;

use lmdb_master_sys as ffi;
pub(super) use lmdb_master_sys::{
    MDB_MAPASYNC, MDB_NOLOCK, MDB_NOMEMINIT, MDB_NOMETASYNC, MDB_NORDAHEAD, MDB_NOSYNC, MDB_NOTLS,
    MDB_WRITEMAP,
};

use super::{ID, MANUAL};
use crate::mapped::library::{
    CursorMove, Env, Facts, Library, MODE, MoveCursor, OpenCursor, Pair, TABLES, Write, check,
};
use crate::{Checked, EngineError, Result, owned};

pub(super) enum Lmdb {}

const _: () = assert!(
    CursorMove::First as u32 == ffi::MDB_FIRST
        && CursorMove::Last as u32 == ffi::MDB_LAST
        && CursorMove::Next as u32 == ffi::MDB_NEXT
        && CursorMove::Previous as u32 == ffi::MDB_PREV
        && CursorMove::At as u32 == ffi::MDB_SET
        && CursorMove::From as u32 == ffi::MDB_SET_RANGE
        && Write::Append as u32 == ffi::MDB_APPEND
        && Write::Replace as u32 == ffi::MDB_CURRENT
);

/// Codes for damage: a page of the wrong kind or missing, a file of another format, and, from a
/// copy, a page that is neither in a tree nor free.
const DAMAGE: [c_int; 4] =
    [ffi::MDB_CORRUPTED, ffi::MDB_PAGE_NOTFOUND, ffi::MDB_INVALID, ffi::MDB_INCOMPATIBLE];

// SAFETY: threads may share an environment (<http://www.lmdb.tech/doc/starting.html>), and with
// `MDB_NOTLS` a read transaction is bound to no thread. Each function is the library's own.
unsafe impl Library for Lmdb {
    const ID: &'static str = ID;
    const MANUAL: &'static str = MANUAL;
    const FILE: &'static str = "data.mdb";
    const FLAGS: &'static [(&'static str, u32)] = &[
        ("MDB_NOSYNC", MDB_NOSYNC),
        ("MDB_NOMETASYNC", MDB_NOMETASYNC),
        ("MDB_WRITEMAP", MDB_WRITEMAP),
        ("MDB_MAPASYNC", MDB_MAPASYNC),
        ("MDB_NORDAHEAD", MDB_NORDAHEAD),
        ("MDB_NOMEMINIT", MDB_NOMEMINIT),
    ];
    const FIXED: &'static [(&'static str, u32)] =
        &[("MDB_NOTLS", MDB_NOTLS), ("MDB_NOLOCK", MDB_NOLOCK)];
    const NO_READ_AHEAD: u32 = MDB_NORDAHEAD;
    const CREATE: u32 = ffi::MDB_CREATE;
    const NOT_FOUND: c_int = ffi::MDB_NOTFOUND;

    type Env = ffi::MDB_env;
    type Txn = ffi::MDB_txn;
    type Cursor = ffi::MDB_cursor;
    type Val = ffi::MDB_val;
    type Ended = ();

    const CREATE_ENV: unsafe extern "C" fn(*mut *mut Self::Env) -> c_int = ffi::mdb_env_create;
    const CLOSE: unsafe extern "C" fn(*mut Self::Env) = ffi::mdb_env_close;
    const ABORT: unsafe extern "C" fn(*mut Self::Txn) = ffi::mdb_txn_abort;
    const RESET: unsafe extern "C" fn(*mut Self::Txn) = ffi::mdb_txn_reset;
    const RENEW: unsafe extern "C" fn(*mut Self::Txn) -> c_int = ffi::mdb_txn_renew;
    const OPEN_TABLE: unsafe extern "C" fn(*mut Self::Txn, *const c_char, u32, *mut u32) -> c_int =
        ffi::mdb_dbi_open;
    const OPEN_CURSOR: OpenCursor<Self::Txn, Self::Cursor> = ffi::mdb_cursor_open;
    const RENEW_CURSOR: unsafe extern "C" fn(*mut Self::Txn, *mut Self::Cursor) -> c_int =
        ffi::mdb_cursor_renew;
    const MOVE_CURSOR: MoveCursor<Self::Cursor, Self::Val> = ffi::mdb_cursor_get;
    const CLOSE_CURSOR: unsafe extern "C" fn(*mut Self::Cursor) = ffi::mdb_cursor_close;

    fn error_message(code: c_int) -> String {
        // SAFETY: returns a NUL-terminated string for any code, which is copied at once.
        unsafe { CStr::from_ptr(ffi::mdb_strerror(code)) }.to_string_lossy().into_owned()
    }

    /// `0.9.70`.
    fn version() -> String {
        let (mut major, mut minor, mut patch) = (0, 0, 0);
        // SAFETY: writes three integers; no other precondition.
        unsafe { ffi::mdb_version(&mut major, &mut minor, &mut patch) };
        format!("{major}.{minor}.{patch}")
    }

    /// The library only reads through the pointer, although its type would allow writes.
    #[inline]
    fn val(bytes: &[u8]) -> Self::Val {
        ffi::MDB_val { mv_size: bytes.len(), mv_data: bytes.as_ptr().cast_mut().cast() }
    }

    #[inline]
    unsafe fn bytes<'a>(val: Self::Val) -> &'a [u8] {
        // SAFETY: the caller's promise.
        unsafe { owned::bytes(val.mv_data.cast(), val.mv_size) }
    }

    /// Makes a copy to nowhere without free pages, which walks every tree and "fails if the
    /// environment has suffered a page leak" (<http://www.lmdb.tech/doc/group__mdb.html>,
    /// `mdb_env_copy2`). The library has no other function that reads all pages, and its pages have
    /// no checksums.
    fn walk(env: &Env<Self>) -> Result<Checked> {
        let mut checked = Checked::new("mdb_env_copyfd2 with MDB_CP_COMPACT");
        let nowhere = OpenOptions::new().write(true).open("/dev/null");
        let nowhere = nowhere.map_err(|error| EngineError::file(ID, "open", "/dev/null", error))?;
        // SAFETY: both are open, and neither is closed before the call returns.
        let code =
            unsafe { ffi::mdb_env_copyfd2(env.0.raw, nowhere.as_raw_fd(), ffi::MDB_CP_COMPACT) };
        match check::<Self>(code, "check the environment") {
            Err(_) if DAMAGE.contains(&code) => checked.found(Self::error_message(code)),
            done => done?,
        }
        Ok(checked)
    }

    unsafe fn open(env: *mut Self::Env, dir: &CStr, flags: u32, map: usize) -> c_int {
        let codes = [ffi::mdb_env_set_mapsize(env, map), ffi::mdb_env_set_maxdbs(env, TABLES)];
        match codes.into_iter().find(|code| *code != ffi::MDB_SUCCESS) {
            None => ffi::mdb_env_open(env, dir.as_ptr(), flags | MDB_NOTLS, MODE.into()),
            Some(code) => code,
        }
    }

    unsafe fn sync(env: *mut Self::Env) -> c_int {
        ffi::mdb_env_sync(env, 1)
    }

    unsafe fn longest_key(env: *mut Self::Env) -> c_int {
        ffi::mdb_env_get_maxkeysize(env)
    }

    unsafe fn facts(env: *mut Self::Env, facts: &mut Facts) -> c_int {
        // Plain C structs of integers and a pointer, for which zeros are valid.
        let (mut info, mut stat) = std::mem::zeroed::<(ffi::MDB_envinfo, ffi::MDB_stat)>();
        let code = ffi::mdb_env_get_flags(env, &mut facts.flags);
        // These two only fail without an environment.
        ffi::mdb_env_info(env, &mut info);
        ffi::mdb_env_stat(env, &mut stat);
        (facts.map, facts.page) = (info.me_mapsize as u64, stat.ms_psize);
        code
    }

    unsafe fn begin(env: *mut Self::Env, reads: bool, txn: &mut *mut Self::Txn) -> c_int {
        ffi::mdb_txn_begin(env, ptr::null_mut(), if reads { ffi::MDB_RDONLY } else { 0 }, txn)
    }

    unsafe fn commit(txn: *mut Self::Txn) -> c_int {
        ffi::mdb_txn_commit(txn)
    }

    /// 0 empties the database and keeps it.
    unsafe fn clear(txn: *mut Self::Txn, table: u32) -> c_int {
        ffi::mdb_drop(txn, table, 0)
    }

    unsafe fn count(txn: *mut Self::Txn, table: u32, keys: &mut u64) -> c_int {
        // A plain C struct of integers, for which zeros are valid.
        let mut stat = std::mem::zeroed::<ffi::MDB_stat>();
        let code = ffi::mdb_stat(txn, table, &mut stat);
        *keys = stat.ms_entries as u64;
        code
    }

    #[inline]
    unsafe fn get(txn: *mut Self::Txn, table: u32, pair: &mut Pair<Self>) -> c_int {
        ffi::mdb_get(txn, table, &mut pair.key, &mut pair.value)
    }

    #[inline]
    unsafe fn put(txn: *mut Self::Txn, table: u32, pair: &mut Pair<Self>) -> c_int {
        ffi::mdb_put(txn, table, &mut pair.key, &mut pair.value, 0)
    }

    #[inline]
    unsafe fn delete(txn: *mut Self::Txn, table: u32, key: &mut Self::Val) -> c_int {
        ffi::mdb_del(txn, table, key, ptr::null_mut())
    }

    #[inline]
    unsafe fn write(cursor: *mut Self::Cursor, pair: &mut Pair<Self>, how: Write) -> c_int {
        ffi::mdb_cursor_put(cursor, &mut pair.key, &mut pair.value, how as u32)
    }

    #[inline]
    unsafe fn delete_at(cursor: *mut Self::Cursor) -> c_int {
        ffi::mdb_cursor_del(cursor, 0)
    }
}
