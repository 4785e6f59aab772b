//! libmdbx's functions, from the crate `signet-mdbx-sys`.

#![allow(
    unsafe_op_in_unsafe_fn,
    reason = "each function is one of the library's, and asks of its caller what that asks"
)]

use std::ffi::{CStr, c_char, c_int};
use std::ptr;

use signet_mdbx_sys as ffi;
pub(super) use signet_mdbx_sys::{
    MDBX_LIFORECLAIM, MDBX_NOMEMINIT, MDBX_NOMETASYNC, MDBX_NORDAHEAD, MDBX_NOSTICKYTHREADS,
    MDBX_SAFE_NOSYNC, MDBX_UTTERLY_NOSYNC, MDBX_WRITEMAP,
};

use super::{ID, MANUAL};
use crate::mapped::library::{
    CursorMove, Env, Facts, Library, MODE, MoveCursor, OpenCursor, Pair, TABLES, Write, check,
};
use crate::{Checked, Result, owned};

/// Internal tables: of free pages, and of table names.
const OWN_TABLES: u32 = 2;

pub(super) enum Mdbx {}

const _: () = assert!(
    CursorMove::First as u32 == ffi::MDBX_FIRST
        && CursorMove::Last as u32 == ffi::MDBX_LAST
        && CursorMove::Next as u32 == ffi::MDBX_NEXT
        && CursorMove::Previous as u32 == ffi::MDBX_PREV
        && CursorMove::At as u32 == ffi::MDBX_SET
        && CursorMove::From as u32 == ffi::MDBX_SET_RANGE
        && Write::Append as u32 == ffi::MDBX_APPEND
        && Write::Replace as u32 == ffi::MDBX_CURRENT
);

// SAFETY: threads may share an environment, and with `MDBX_NOSTICKYTHREADS` a read transaction is
// bound to no thread (`mdbx.h`). Each function is the library's own.
unsafe impl Library for Mdbx {
    const ID: &'static str = ID;
    const MANUAL: &'static str = MANUAL;
    const FILE: &'static str = "mdbx.dat";
    /// The bits of `MDBX_SAFE_NOSYNC` are part of `MDBX_UTTERLY_NOSYNC`, which is set before it.
    const FLAGS: &'static [(&'static str, u32)] = &[
        ("MDBX_UTTERLY_NOSYNC", MDBX_UTTERLY_NOSYNC),
        ("MDBX_SAFE_NOSYNC", MDBX_SAFE_NOSYNC),
        ("MDBX_NOMETASYNC", MDBX_NOMETASYNC),
        ("MDBX_WRITEMAP", MDBX_WRITEMAP),
        ("MDBX_LIFORECLAIM", MDBX_LIFORECLAIM),
        ("MDBX_NORDAHEAD", MDBX_NORDAHEAD),
        ("MDBX_NOMEMINIT", MDBX_NOMEMINIT),
    ];
    const FIXED: &'static [(&'static str, u32)] = &[("MDBX_NOSTICKYTHREADS", MDBX_NOSTICKYTHREADS)];
    const NO_READ_AHEAD: u32 = MDBX_NORDAHEAD;
    const CREATE: u32 = ffi::MDBX_CREATE;
    const NOT_FOUND: c_int = ffi::MDBX_NOTFOUND;

    type Env = ffi::MDBX_env;
    type Txn = ffi::MDBX_txn;
    type Cursor = ffi::MDBX_cursor;
    type Val = ffi::MDBX_val;
    type Ended = c_int;

    const CREATE_ENV: unsafe extern "C" fn(*mut *mut Self::Env) -> c_int = ffi::mdbx_env_create;
    const CLOSE: unsafe extern "C" fn(*mut Self::Env) = close;
    const ABORT: unsafe extern "C" fn(*mut Self::Txn) -> c_int = ffi::mdbx_txn_abort;
    const RESET: unsafe extern "C" fn(*mut Self::Txn) -> c_int = ffi::mdbx_txn_reset;
    const RENEW: unsafe extern "C" fn(*mut Self::Txn) -> c_int = ffi::mdbx_txn_renew;
    const OPEN_TABLE: unsafe extern "C" fn(*mut Self::Txn, *const c_char, u32, *mut u32) -> c_int =
        ffi::mdbx_dbi_open;
    const OPEN_CURSOR: OpenCursor<Self::Txn, Self::Cursor> = ffi::mdbx_cursor_open;
    const RENEW_CURSOR: unsafe extern "C" fn(*mut Self::Txn, *mut Self::Cursor) -> c_int =
        ffi::mdbx_cursor_renew;
    const MOVE_CURSOR: MoveCursor<Self::Cursor, Self::Val> = ffi::mdbx_cursor_get;
    const CLOSE_CURSOR: unsafe extern "C" fn(*mut Self::Cursor) = ffi::mdbx_cursor_close;

    fn error_message(code: c_int) -> String {
        // SAFETY: returns a NUL-terminated string for any code, which is copied at once.
        unsafe { CStr::from_ptr(ffi::mdbx_strerror(code)) }.to_string_lossy().into_owned()
    }

    /// `0.13.7`.
    fn version() -> String {
        // SAFETY: a constant of the library.
        let version = unsafe { ffi::mdbx_version };
        format!("{}.{}.{}", version.major, version.minor, version.patch)
    }

    /// The library only reads through the pointer, although its type would allow writes.
    #[inline]
    fn val(bytes: &[u8]) -> Self::Val {
        ffi::MDBX_val { iov_len: bytes.len(), iov_base: bytes.as_ptr().cast_mut().cast() }
    }

    #[inline]
    unsafe fn bytes<'a>(val: Self::Val) -> &'a [u8] {
        owned::bytes(val.iov_base.cast(), val.iov_len)
    }

    /// Checks what the tool `mdbx_chk` checks: every page of every tree, the order of keys, and the
    /// record of free pages.
    fn walk(env: &Env<Self>) -> Result<Checked> {
        let mut checked = Checked::new("mdbx_env_chk");
        // SAFETY: C structs of integers and pointers, and of functions that may be null; zeros are
        // valid for all of them.
        let (mut callbacks, context) =
            unsafe { std::mem::zeroed::<(ffi::MDBX_chk_callbacks, ffi::MDBX_chk_context)>() };
        callbacks.issue = Some(issue);
        callbacks.stage_begin = Some(fetch);
        let mut walk = Issues { context, found: Vec::new() };
        // SAFETY: open; everything outlives the call.
        let code = unsafe {
            let (how, verbosity) = (ffi::MDBX_CHK_DEFAULTS, ffi::MDBX_chk_result);
            ffi::mdbx_env_chk(env.0.raw, &callbacks, &raw mut walk.context, how, verbosity, 0)
        };
        match walk.context.result.total_problems {
            0 => check::<Self>(code, "check the environment")?,
            _ => walk.found.iter().for_each(|issue| checked.found(issue)),
        }
        Ok(checked)
    }

    unsafe fn open(env: *mut Self::Env, dir: &CStr, flags: u32, map: usize) -> c_int {
        let codes = [
            ffi::mdbx_env_set_geometry(env, -1, -1, map as isize, -1, -1, -1),
            ffi::mdbx_env_set_option(env, ffi::MDBX_opt_max_db, TABLES.into()),
        ];
        match codes.into_iter().find(|code| *code != ffi::MDBX_SUCCESS) {
            None => {
                ffi::mdbx_env_open(env, dir.as_ptr(), flags | MDBX_NOSTICKYTHREADS, MODE.into())
            }
            Some(code) => code,
        }
    }

    unsafe fn sync(env: *mut Self::Env) -> c_int {
        match ffi::mdbx_env_sync_ex(env, true, false) {
            // Nothing was left to sync.
            ffi::MDBX_RESULT_TRUE => ffi::MDBX_SUCCESS,
            code => code,
        }
    }

    unsafe fn longest_key(env: *mut Self::Env) -> c_int {
        ffi::mdbx_env_get_maxkeysize_ex(env, ffi::MDBX_DB_DEFAULTS)
    }

    unsafe fn facts(env: *mut Self::Env, facts: &mut Facts) -> c_int {
        // A plain C struct of integers, for which zeros are valid.
        let mut info = std::mem::zeroed::<ffi::MDBX_envinfo>();
        let size = size_of_val(&info);
        match ffi::mdbx_env_info_ex(env, ptr::null(), &mut info, size) {
            ffi::MDBX_SUCCESS => {
                (facts.map, facts.page) = (info.mi_mapsize, info.mi_dxb_pagesize);
                ffi::mdbx_env_get_flags(env, &mut facts.flags)
            }
            code => code,
        }
    }

    #[inline]
    unsafe fn begin(env: *mut Self::Env, reads: bool, txn: &mut *mut Self::Txn) -> c_int {
        let how = if reads { ffi::MDBX_TXN_RDONLY } else { ffi::MDBX_TXN_READWRITE };
        ffi::mdbx_txn_begin_ex(env, ptr::null_mut(), how, txn, ptr::null_mut())
    }

    unsafe fn commit(txn: *mut Self::Txn) -> c_int {
        ffi::mdbx_txn_commit_ex(txn, ptr::null_mut())
    }

    unsafe fn clear(txn: *mut Self::Txn, table: u32) -> c_int {
        ffi::mdbx_drop(txn, table, false)
    }

    unsafe fn count(txn: *mut Self::Txn, table: u32, keys: &mut u64) -> c_int {
        // A plain C struct of integers, for which zeros are valid.
        let mut stat = std::mem::zeroed::<ffi::MDBX_stat>();
        let size = size_of_val(&stat);
        let code = ffi::mdbx_dbi_stat(txn, table, &mut stat, size);
        *keys = stat.ms_entries;
        code
    }

    #[inline]
    unsafe fn get(txn: *mut Self::Txn, table: u32, pair: &mut Pair<Self>) -> c_int {
        ffi::mdbx_get(txn, table, &pair.key, &mut pair.value)
    }

    #[inline]
    unsafe fn put(txn: *mut Self::Txn, table: u32, pair: &mut Pair<Self>) -> c_int {
        ffi::mdbx_put(txn, table, &pair.key, &mut pair.value, ffi::MDBX_UPSERT)
    }

    #[inline]
    unsafe fn delete(txn: *mut Self::Txn, table: u32, key: &mut Self::Val) -> c_int {
        ffi::mdbx_del(txn, table, key, ptr::null())
    }

    #[inline]
    unsafe fn write(cursor: *mut Self::Cursor, pair: &mut Pair<Self>, how: Write) -> c_int {
        ffi::mdbx_cursor_put(cursor, &pair.key, &mut pair.value, how as u32)
    }

    #[inline]
    unsafe fn delete_at(cursor: *mut Self::Cursor) -> c_int {
        ffi::mdbx_cursor_del(cursor, ffi::MDBX_CURRENT)
    }
}

/// Closes an environment, which syncs what no commit has synced.
unsafe extern "C" fn close(env: *mut ffi::MDBX_env) {
    ffi::mdbx_env_close_ex(env, false);
}

/// A running check, and what it has found.
#[repr(C)]
struct Issues {
    /// The first field, because the library passes its address to callbacks.
    context: ffi::MDBX_chk_context,
    found: Vec<String>,
}

/// Lets the check's transaction read the root of each open table. The check compares the pages it
/// has visited with those of a root, which it does not read if the table was open before.
unsafe extern "C" fn fetch(context: *mut ffi::MDBX_chk_context, _: ffi::MDBX_chk_stage) -> c_int {
    let txn = (*context).txn;
    if !txn.is_null() {
        (0..TABLES + OWN_TABLES).for_each(|table| {
            // A number without a table has nothing to read.
            let _ = Mdbx::count(txn, table, &mut 0);
        });
    }
    ffi::MDBX_SUCCESS
}

/// Notes an issue: the message of a page or an entry, or the format string of its numbers.
unsafe extern "C" fn issue(
    context: *mut ffi::MDBX_chk_context,
    object: *const c_char,
    number: u64,
    issue: *const c_char,
    text: *const c_char,
    _: ffi::va_list,
) {
    let words = |text: *const c_char| match text.is_null() {
        true => String::new(),
        false => CStr::from_ptr(text).to_string_lossy().into_owned(),
    };
    let found = match object.is_null() {
        true => words(text),
        false => format!("{} #{number}: {}", words(object), words(issue)),
    };
    (*context.cast::<Issues>()).found.push(found);
}
