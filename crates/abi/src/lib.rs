//! `embermark_engine.h` for Rust: the C interface of an engine in a shared library.
//!
//! What each part means and owes stands in the header, whose names these are without `embermark_`. A
//! library in Rust is a crate of the type `cdylib` that exports [`embermark_engine`](Entry)
//! (`examples/engine-rust`).

use std::ffi::{c_char, c_void};

mod number;
mod sql;

pub use number::*;
pub use sql::*;

/// The name of the function that a library exports: an [`Entry`].
pub const ENTRY: &str = "embermark_engine";

/// The function that a library exports: its engine, or null where it does not know this version of the
/// interface.
pub type Entry = unsafe extern "C" fn(abi: u32) -> *const Engine;

/// `struct embermark_client`: the library's own.
#[derive(Debug)]
#[repr(C)]
pub struct Client {
    _own: [u8; 0],
}

/// `struct embermark_bytes`: so many bytes at a place.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Bytes {
    /// Where; anything where there are none.
    pub at: *const u8,
    /// How many.
    pub size: usize,
}

impl Bytes {
    /// No bytes.
    pub const NONE: Self = Self { at: std::ptr::null(), size: 0 };

    /// Those of a slice, for as long as it lives.
    #[inline]
    pub const fn of(bytes: &[u8]) -> Self {
        Self { at: bytes.as_ptr(), size: bytes.len() }
    }

    /// The bytes.
    ///
    /// # Safety
    /// They are there and stay as they are for the lifetime chosen, or there are none.
    #[inline]
    pub const unsafe fn as_slice<'a>(self) -> &'a [u8] {
        if self.size == 0 {
            return &[];
        }
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts(self.at, self.size) }
    }
}

/// `struct embermark_pair`: a name and a value; the name null ends several.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Pair {
    /// The name.
    pub name: *const c_char,
    /// The value.
    pub value: *const c_char,
}

/// `struct embermark_tier`: how a durability tier is made.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Tier {
    /// What an acknowledged commit survives: [`NONE`], [`PROCESS`] or [`POWER`].
    pub survives: u32,
    /// Zero.
    pub reserved: u32,
    /// What is set; null where it is not offered.
    pub setting: *const c_char,
    /// The page of the manual.
    pub manual: *const c_char,
    /// Why it is not offered; null where it is.
    pub unsupported: *const c_char,
    /// What the engine gives back where it is kept; may be null.
    pub read_back: *const Pair,
}

/// `struct embermark_setting`: what a user may set; the name null ends several.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Setting {
    /// Its name.
    pub name: *const c_char,
    /// [`ANY`], [`NUMBER`] or [`WORD`].
    pub takes: u32,
    /// Zero.
    pub reserved: u32,
    /// The words, the last one null.
    pub words: *const *const c_char,
    /// The engine's own value, where the library sets another.
    pub by_default: *const c_char,
}

/// `struct embermark_options`: how a database is to be opened.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Options {
    /// Bytes of this struct.
    pub size: u32,
    /// The tier to make.
    pub tier: u32,
    /// The folder of the database.
    pub dir: *const c_char,
    /// Bytes of cache.
    pub memory: u64,
    /// Clients at the same time.
    pub clients: u32,
    /// 1 where the client that opens it has it alone.
    pub alone: u32,
    /// Settings of a configuration, ended by the name null.
    pub settings: *const Pair,
}

/// `embermark_take_setting`.
pub type TakeSetting = unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char);
/// `embermark_take_finding`.
pub type TakeFinding = unsafe extern "C" fn(*mut c_void, *const c_char);
/// `embermark_visit`: not 0 ends the scan.
pub type Visit = unsafe extern "C" fn(*mut c_void, Bytes, Bytes) -> i32;
/// `embermark_change`.
pub type Change = unsafe extern "C" fn(*mut c_void, *mut c_void, usize);
/// `embermark_next_pair`: 0 when there is none left.
pub type NextPair = unsafe extern "C" fn(*mut c_void, *mut Bytes, *mut Bytes) -> i32;

/// `struct embermark_range`: what a scan visits.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Range {
    /// The lowest key that belongs to it.
    pub from: Bytes,
    /// The lowest key above it that does not.
    pub to: Bytes,
    /// Whether it has one.
    pub has_to: u32,
    /// Whether it is visited in descending order.
    pub backward: u32,
}

/// A function of a client's.
pub type OfClient = unsafe extern "C" fn(*mut Client) -> i32;

/// `struct embermark_key_value`: the functions of a key-value engine. Those up to `scan` have to be there.
#[allow(missing_docs, reason = "the header says what each of them does")]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct KeyValue {
    pub size: u32,
    pub reserved: u32,
    pub begin: Option<unsafe extern "C" fn(*mut Client, u32) -> i32>,
    pub commit: Option<OfClient>,
    pub undo: Option<OfClient>,
    pub get: Option<unsafe extern "C" fn(*mut Client, u32, Bytes, *mut Bytes) -> i32>,
    pub put: Option<unsafe extern "C" fn(*mut Client, u32, Bytes, Bytes) -> i32>,
    pub del: Option<unsafe extern "C" fn(*mut Client, u32, Bytes) -> i32>,
    pub scan:
        Option<unsafe extern "C" fn(*mut Client, u32, *const Range, Visit, *mut c_void) -> i32>,
    pub table: Option<unsafe extern "C" fn(*mut Client, *const c_char, u32, *mut u32) -> i32>,
    pub clear: Option<unsafe extern "C" fn(*mut Client, u32) -> i32>,
    pub bulk: Option<unsafe extern "C" fn(*mut Client, u32, NextPair, *mut c_void) -> i32>,
    pub modify: Option<unsafe extern "C" fn(*mut Client, u32, Bytes, Change, *mut c_void) -> i32>,
    pub count: Option<unsafe extern "C" fn(*mut Client, u32, *mut u64) -> i32>,
}

/// `struct embermark_engine`: an engine. Those up to `close` have to be there, but for `settings` and the
/// functions of another family.
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
        // SAFETY: it is addresses and numbers, which nobody changes; whoever goes to one of the addresses
        // says on their own why they may.
        unsafe impl Sync for $of {}
    )* };
}
addresses! { Pair Tier Setting KeyValue Dialect Sql Engine }
