//! LMDB, by the raw functions of `lmdb-master-sys`: transactions and cursors are held here.
//!
//! One environment with a named database per table. LMDB has no cache of its own: it works in
//! the memory map of its file, so [`OpenOptions::memory`] does not reach it. The map is written through
//! (`MDB_WRITEMAP`) in every tier: what a commit keeps depends on the sync alone, and commits and
//! large transactions cost less. Locks stay on, because `MDB_NOLOCK` gained nothing measurable.
//! A key has 1 to 511 bytes.

use std::ffi::CStr;

use embermark_model::Durability;
use lmdb_master_sys as ffi;

use crate::{
    Availability, DataModel, Engine, EngineError, Info, Kind, OpenOptions, Opened, Result, Store,
    Tier,
};

mod env;
mod scan;
mod store;

const ID: &str = "lmdb";

/// The engine.
pub(crate) struct Lmdb;

impl Engine for Lmdb {
    fn info(&self) -> Info {
        Info {
            id: ID,
            name: "LMDB",
            kind: Kind::Embedded,
            family: DataModel::KeyValue,
            licence: "OpenLDAP Public License 2.8",
        }
    }

    fn availability(&self) -> Availability {
        Availability::Ready { version: env::version() }
    }

    fn tier(&self, durability: Durability) -> Tier {
        match durability {
            Durability::None | Durability::Process => Tier::Offered {
                keeps: Durability::Process,
                setting: "MDB_NOSYNC | MDB_WRITEMAP: a commit leaves its pages in the operating \
                          system's page cache, which a killed process does not take along",
            },
            Durability::Power => Tier::Offered {
                keeps: Durability::Power,
                setting: "MDB_WRITEMAP, neither MDB_NOSYNC nor MDB_NOMETASYNC: a commit syncs its \
                          pages, then the page that makes them valid",
            },
        }
    }

    fn open(&self, options: &OpenOptions) -> Result<Opened> {
        store::open(options)
    }

    fn join(&self, options: &OpenOptions, _: &str) -> Result<Store> {
        store::join(options)
    }
}

/// Turns a return code of the library into a result.
#[inline]
fn check(code: i32, doing: &str) -> Result<()> {
    if code == ffi::MDB_SUCCESS { Ok(()) } else { Err(error(code, doing)) }
}

/// Whether the key was there.
#[inline]
fn found(code: i32, doing: &str) -> Result<bool> {
    match code {
        ffi::MDB_SUCCESS => Ok(true),
        ffi::MDB_NOTFOUND => Ok(false),
        code => Err(error(code, doing)),
    }
}

/// The library's own words for a return code.
#[cold]
fn error(code: i32, doing: &str) -> EngineError {
    // SAFETY: returns a NUL-terminated string for any code, which is copied at once.
    let message = unsafe { CStr::from_ptr(ffi::mdb_strerror(code)) };
    EngineError::failed(ID, doing, message.to_string_lossy())
}

/// Bytes as the library takes them. It reads through the pointer and does not write, though its
/// type would let it.
#[inline]
const fn val(bytes: &[u8]) -> ffi::MDB_val {
    ffi::MDB_val { mv_size: bytes.len(), mv_data: bytes.as_ptr().cast_mut().cast() }
}

/// What the library is to fill in.
const NOTHING: ffi::MDB_val = ffi::MDB_val { mv_size: 0, mv_data: std::ptr::null_mut() };

/// Bytes the library points to.
///
/// # Safety
/// They stay in place and as they are for the lifetime chosen: until the next change of the
/// database or the end of the transaction.
#[inline]
unsafe fn bytes<'a>(val: ffi::MDB_val) -> &'a [u8] {
    if val.mv_size == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(val.mv_data.cast(), val.mv_size) }
}
