//! Rust declarations of `embermark_engine.h`, the C interface of an engine in a shared library.
//!
//! The header defines the meaning and duties of each part. Names here are those of the header
//! without `embermark_`. A library in Rust is a crate of the type `cdylib` that exports
//! [`embermark_engine`](Entry) (`examples/engine-rust`).

use std::ffi::{c_char, c_void};

mod number;
mod sql;

pub use number::*;
pub use sql::*;

/// Name of the function that a library exports: an [`Entry`].
pub const ENTRY: &str = "embermark_engine";

/// The function that a library exports. It returns its engine, or null if it does not know this
/// version of the interface.
pub type Entry = unsafe extern "C" fn(abi: u32) -> *const Engine;

/// `struct embermark_client`: opaque, defined by the library.
#[derive(Debug)]
#[repr(C)]
pub struct Client {
    _own: [u8; 0],
}

/// `struct embermark_bytes`: a pointer and a length.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Bytes {
    /// The pointer. Arbitrary if the length is 0.
    pub at: *const u8,
    /// Length in bytes.
    pub size: usize,
}

impl Bytes {
    /// No bytes.
    pub const NONE: Self = Self { at: std::ptr::null(), size: 0 };

    /// Refers to the bytes of a slice, valid as long as the slice lives.
    #[inline]
    pub const fn of(bytes: &[u8]) -> Self {
        Self { at: bytes.as_ptr(), size: bytes.len() }
    }

    /// Returns the bytes.
    ///
    /// # Safety
    /// They exist and do not change for the chosen lifetime, or there are none.
    #[inline]
    pub const unsafe fn as_slice<'a>(self) -> &'a [u8] {
        if self.size == 0 {
            return &[];
        }
        // SAFETY: guaranteed by the caller.
        unsafe { std::slice::from_raw_parts(self.at, self.size) }
    }
}

/// `struct embermark_pair`: a name and a value. A null name ends a list.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Pair {
    /// Name.
    pub name: *const c_char,
    /// Value.
    pub value: *const c_char,
}

/// `struct embermark_tier`: the setting of a durability tier.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Tier {
    /// What an acknowledged commit survives: [`NONE`], [`PROCESS`] or [`POWER`].
    pub survives: u32,
    /// Zero.
    pub reserved: u32,
    /// The setting. Null if the tier is not offered.
    pub setting: *const c_char,
    /// Page of the manual.
    pub manual: *const c_char,
    /// Why it is not offered. Null if it is.
    pub unsupported: *const c_char,
    /// Values that the engine reports if the tier is kept. May be null.
    pub read_back: *const Pair,
}

/// `struct embermark_setting`: a setting that a user may change. A null name ends a list.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Setting {
    /// Name.
    pub name: *const c_char,
    /// [`ANY`], [`NUMBER`] or [`WORD`].
    pub takes: u32,
    /// Zero.
    pub reserved: u32,
    /// The words, ended by null.
    pub words: *const *const c_char,
    /// The engine's own default, if the library sets another value.
    pub by_default: *const c_char,
}

/// `struct embermark_options`: how to open a database.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Options {
    /// Size of this struct in bytes.
    pub size: u32,
    /// The requested tier.
    pub tier: u32,
    /// Folder of the database.
    pub dir: *const c_char,
    /// Cache size in bytes.
    pub memory: u64,
    /// Number of clients at the same time.
    pub clients: u32,
    /// 1 if only one client will use the database.
    pub alone: u32,
    /// Settings of a configuration, ended by a null name.
    pub settings: *const Pair,
}

/// `embermark_take_setting`.
pub type TakeSetting = unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char);
/// `embermark_take_finding`.
pub type TakeFinding = unsafe extern "C" fn(*mut c_void, *const c_char);
/// `embermark_visit`: a value other than 0 ends the scan.
pub type Visit = unsafe extern "C" fn(*mut c_void, Bytes, Bytes) -> i32;
/// `embermark_change`.
pub type Change = unsafe extern "C" fn(*mut c_void, *mut c_void, usize);
/// `embermark_next_pair`: returns 0 if there are no more pairs.
pub type NextPair = unsafe extern "C" fn(*mut c_void, *mut Bytes, *mut Bytes) -> i32;

/// `struct embermark_range`: what a scan visits.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Range {
    /// Lowest key that is included.
    pub from: Bytes,
    /// Lowest key above the range.
    pub to: Bytes,
    /// Whether `to` is set.
    pub has_to: u32,
    /// Whether the order is descending.
    pub backward: u32,
}

/// A function on a client.
pub type OfClient = unsafe extern "C" fn(*mut Client) -> i32;
/// `begin`.
pub type Begin = unsafe extern "C" fn(*mut Client, u32) -> i32;
/// `scan`.
pub type Scan = unsafe extern "C" fn(*mut Client, u32, *const Range, Visit, *mut c_void) -> i32;

/// `struct embermark_key_value`: the functions of a key-value engine. Those up to `scan` are
/// required.
#[allow(missing_docs, reason = "the header says what each of them does")]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct KeyValue {
    pub size: u32,
    pub reserved: u32,
    pub begin: Option<Begin>,
    pub commit: Option<OfClient>,
    pub undo: Option<OfClient>,
    pub get: Option<unsafe extern "C" fn(*mut Client, u32, Bytes, *mut Bytes) -> i32>,
    pub put: Option<unsafe extern "C" fn(*mut Client, u32, Bytes, Bytes) -> i32>,
    pub del: Option<unsafe extern "C" fn(*mut Client, u32, Bytes) -> i32>,
    pub scan: Option<Scan>,
    pub table: Option<unsafe extern "C" fn(*mut Client, *const c_char, u32, *mut u32) -> i32>,
    pub clear: Option<unsafe extern "C" fn(*mut Client, u32) -> i32>,
    pub bulk: Option<unsafe extern "C" fn(*mut Client, u32, NextPair, *mut c_void) -> i32>,
    pub modify: Option<unsafe extern "C" fn(*mut Client, u32, Bytes, Change, *mut c_void) -> i32>,
    pub count: Option<unsafe extern "C" fn(*mut Client, u32, *mut u64) -> i32>,
}

/// `struct embermark_engine`: an engine. Those up to `close` are required, except `settings` and
/// the functions of another family.
#[allow(missing_docs, reason = "the header says what each of them is")]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Engine {
    pub size: u32,
    pub abi: u32,
    pub id: *const c_char,
    pub name: *const c_char,
    pub version: *const c_char,
    pub licence: *const c_char,
    pub family: u32,
    pub flags: u32,
    pub tiers: *const Tier,
    pub settings: *const Setting,
    pub key_value: *const KeyValue,
    pub open: Option<unsafe extern "C" fn(*const Options, *mut *mut Client) -> i32>,
    pub close: Option<OfClient>,
    pub error: Option<unsafe extern "C" fn(*mut Client) -> *const c_char>,
    pub open_client: Option<unsafe extern "C" fn(*mut Client, *mut *mut Client) -> i32>,
    pub settings_of: Option<unsafe extern "C" fn(*mut Client, TakeSetting, *mut c_void) -> i32>,
    pub maintain: Option<OfClient>,
    pub log_bytes: Option<unsafe extern "C" fn(*mut Client, *mut u64) -> i32>,
    pub crash_on_close: Option<OfClient>,
    pub suspend_checkpoints: Option<unsafe extern "C" fn(*mut Client, u64) -> i32>,
    pub check: Option<unsafe extern "C" fn(*mut Client, TakeFinding, *mut c_void) -> i32>,
    pub check_name: *const c_char,
    pub exclusive: *const c_char,
    pub sql: *const Sql,
}

/// Implements `Sync` for structs of addresses, so that a library may have them in statics.
macro_rules! addresses {
    ($($of:ident)*) => { $(
        // SAFETY: it consists of addresses and numbers, which nothing changes. Code that
        // dereferences an address justifies that itself.
        unsafe impl Sync for $of {}
    )* };
}
addresses! { Pair Tier Setting KeyValue Dialect Sql Engine }
