//! The functions of `shim.c`, and the two of `wiredtiger.h` that need no handle.

use std::ffi::{c_char, c_int};

/// A database, `WT_CONNECTION`.
#[repr(C)]
pub(super) struct Connection([u8; 0]);
/// What runs transactions in it, `WT_SESSION`.
#[repr(C)]
pub(super) struct Session([u8; 0]);
/// A place in a table, `WT_CURSOR`.
#[repr(C)]
pub(super) struct Cursor([u8; 0]);

/// No such key; the end of a scan.
pub(super) const ABSENT: c_int = -1;

unsafe extern "C" {
    pub(super) fn wiredtiger_version(
        major: *mut c_int,
        minor: *mut c_int,
        patch: *mut c_int,
    ) -> *const c_char;
    pub(super) fn wiredtiger_strerror(code: c_int) -> *const c_char;

    pub(super) fn ember_wt_open(
        home: *const c_char,
        config: *const c_char,
        connection: *mut *mut Connection,
        session: *mut *mut Session,
    ) -> c_int;
    pub(super) fn ember_wt_session(
        connection: *mut Connection,
        session: *mut *mut Session,
    ) -> c_int;
    pub(super) fn ember_wt_session_close(session: *mut Session) -> c_int;
    pub(super) fn ember_wt_close(connection: *mut Connection) -> c_int;

    pub(super) fn ember_wt_create(
        session: *mut Session,
        uri: *const c_char,
        config: *const c_char,
    ) -> c_int;
    pub(super) fn ember_wt_drop(session: *mut Session, uri: *const c_char) -> c_int;
    pub(super) fn ember_wt_checkpoint(session: *mut Session) -> c_int;
    pub(super) fn ember_wt_begin(session: *mut Session) -> c_int;
    pub(super) fn ember_wt_commit(session: *mut Session) -> c_int;
    pub(super) fn ember_wt_rollback(session: *mut Session) -> c_int;

    pub(super) fn ember_wt_cursor(
        session: *mut Session,
        uri: *const c_char,
        config: *const c_char,
        out: *mut *mut Cursor,
    ) -> c_int;
    pub(super) fn ember_wt_cursor_close(cursor: *mut Cursor) -> c_int;
    pub(super) fn ember_wt_reset(cursor: *mut Cursor) -> c_int;
    pub(super) fn ember_wt_search(cursor: *mut Cursor, key: *const u8, size: usize) -> c_int;
    pub(super) fn ember_wt_search_near(
        cursor: *mut Cursor,
        key: *const u8,
        size: usize,
        beside: *mut c_int,
    ) -> c_int;
    pub(super) fn ember_wt_next(cursor: *mut Cursor) -> c_int;
    pub(super) fn ember_wt_prev(cursor: *mut Cursor) -> c_int;
    pub(super) fn ember_wt_key(cursor: *mut Cursor, key: *mut *const u8, size: *mut usize)
    -> c_int;
    pub(super) fn ember_wt_value(
        cursor: *mut Cursor,
        value: *mut *const u8,
        size: *mut usize,
    ) -> c_int;
    pub(super) fn ember_wt_insert(
        cursor: *mut Cursor,
        key: *const u8,
        key_size: usize,
        value: *const u8,
        value_size: usize,
    ) -> c_int;
    pub(super) fn ember_wt_update(cursor: *mut Cursor, value: *const u8, size: usize) -> c_int;
    pub(super) fn ember_wt_remove(cursor: *mut Cursor, key: *const u8, size: usize) -> c_int;
}
