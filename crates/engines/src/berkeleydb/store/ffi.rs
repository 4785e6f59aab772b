//! Handles of Berkeley DB's environment and transactions, which end when they are dropped. Objects
//! that depend on a handle borrow it or own a reference to it.
//!
//! If the environment has no transactions, a transaction is a null handle, as in the library.

use std::ffi::{CStr, c_int, c_void};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::ptr;

use embermark_model::Durability;

use super::super::PAGE_SIZE;
use super::ID;
use super::raw::{self, Raw};
use crate::{EngineError, Result, as_set, owned};

/// Size of the log buffer. The default of 32 KiB makes a large transaction write its log in many
/// small pieces. At most a quarter of a log file (10 MiB by default) is allowed.
pub(super) const LOG_BUFFER: u32 = 1 << 20;

/// Turns a return code of the library into a result.
#[inline]
pub(super) fn check_code(code: c_int, doing: &str) -> Result<()> {
    if code == 0 { Ok(()) } else { Err(error(code, doing)) }
}

/// Returns whether a call found its key. Fails on any other error code.
#[inline]
pub(super) fn is_found(code: c_int, doing: &str) -> Result<bool> {
    if code == raw::ABSENT { Ok(false) } else { check_code(code, doing).map(|()| true) }
}

/// Returns the library's message for a return code.
#[cold]
fn error(code: c_int, doing: &str) -> EngineError {
    // SAFETY: returns a NUL-terminated string for any code, which is copied at once.
    let message = unsafe { CStr::from_ptr(raw::db_strerror(code)) };
    EngineError::failed(ID, doing, message.to_string_lossy())
}

/// Returns bytes in the library's form, with a 32-bit length.
#[inline]
pub(super) fn val(bytes: &[u8]) -> Result<raw::Bytes> {
    match u32::try_from(bytes.len()) {
        Ok(size) => Ok(raw::Bytes { at: bytes.as_ptr(), size }),
        Err(error) => Err(EngineError::failed(ID, "take a key or value", error)),
    }
}

/// Bytes that the library fills in.
pub(super) const NOTHING: raw::Bytes = raw::Bytes { at: ptr::null(), size: 0 };

/// Returns the library's version, `5.3.28`.
pub(super) fn version() -> String {
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: writes three integers; no other precondition.
    unsafe { raw::db_version(&mut major, &mut minor, &mut patch) };
    format!("{major}.{minor}.{patch}")
}

/// A handle, closed when dropped.
pub(super) type Owned = owned::Owned<c_void, c_int>;

/// An open environment, closed when dropped. Not `Send`, because it is opened for one thread.
pub(super) struct Env {
    pub raw: Owned,
    pub transactions: bool,
    /// Bytes of cache at opening.
    pub cache: u64,
    /// Bytes of a page of new tables.
    pub page: u32,
    /// Whether a new table is synced to the disk.
    pub syncs: bool,
    pub dir: PathBuf,
}

impl Env {
    /// Opens the environment in a folder, and creates a missing one. With transactions it runs
    /// recovery first, as the manual requires of every first opening. Below 500 MB of cache the
    /// library adds a quarter for its own records of the pages.
    pub fn open(
        dir: &Path,
        memory: u64,
        (page, durability): (u32, Durability),
        (transactions, write_nosync): (bool, bool),
    ) -> Result<Self> {
        let doing = format!("open the environment in {}", dir.display());
        let home = owned::c_string(ID, &doing, dir)?;
        let less = memory / 5 * 4;
        let cache = if less < 500 << 20 { less } else { memory };
        let mut env = ptr::null_mut();
        let (log, nosync) = (c_int::from(transactions), c_int::from(write_nosync));
        // SAFETY: `home` lives through the call.
        let code =
            unsafe { raw::ember_env_open(&mut env, home.as_ptr(), cache, LOG_BUFFER, log, nosync) };
        check_code(code, &doing)?;
        // SAFETY: an open handle that this owns; dependent objects keep it alive.
        let raw = unsafe { Owned::new(env, raw::ember_env_close) };
        let syncs = durability >= Durability::Power;
        Ok(Self { raw, transactions, cache, page, syncs, dir: dir.to_owned() })
    }

    /// Returns the settings that it reports. Settings of transactions are included if the
    /// environment or its `tier` has transactions.
    pub fn settings(&self, tier: bool) -> Result<Vec<(&'static str, String)>> {
        let mut facts = raw::Facts::default();
        // SAFETY: open; `facts` has the layout of the shim's struct.
        let code = unsafe { raw::ember_env_facts(self.raw.raw, &mut facts) };
        check_code(code, "read its settings back")?;
        let on = |flag: u32| if flag != 0 { "on" } else { "off" }.to_owned();
        let mut settings = vec![
            ("cache", format!("{} bytes in {}", facts.cache_bytes, facts.caches)),
            (PAGE_SIZE, as_set(format!("{} bytes", self.page))),
            ("DB_PRIVATE", on(facts.private)),
            ("DB_INIT_LOCK", on(facts.locking)),
            ("DB_INIT_LOG", on(facts.logging)),
            ("DB_INIT_TXN", on(facts.transactions)),
        ];
        if self.transactions || tier {
            settings.extend([
                ("DB_TXN_WRITE_NOSYNC", on(facts.write_nosync)),
                ("DB_TXN_NOSYNC", on(facts.nosync)),
            ]);
        }
        if self.transactions {
            settings.extend([
                ("DB_LOG_AUTO_REMOVE", on(facts.auto_remove)),
                ("set_lg_bsize", facts.log_buffer.to_string()),
                ("set_lg_max", facts.log_file.to_string()),
            ]);
        }
        Ok(settings)
    }

    /// Writes changes to the tables' files: by a checkpoint if there is a log, once it has grown by
    /// more than this many KiB since the last one
    /// (<https://docs.oracle.com/cd/E17276_01/html/api_reference/C/txncheckpoint.html>).
    pub fn checkpoint(&self, beyond_kib: u32) -> Result<()> {
        // SAFETY: open.
        let code = unsafe { raw::ember_env_checkpoint(self.raw.raw, beyond_kib) };
        check_code(code, "write its cache to the files")
    }

    /// Begins a transaction, with `DB_TXN_BULK` if asked for.
    pub fn begin(&self, bulk: bool) -> Result<Txn<'_>> {
        let mut raw = ptr::null_mut();
        if self.transactions {
            // SAFETY: open, with transactions.
            let code = unsafe { raw::ember_begin(self.raw.raw, &mut raw, c_int::from(bulk)) };
            check_code(code, "begin a transaction")?;
        }
        // SAFETY: owned here; the environment is borrowed.
        Ok(Txn(unsafe { Owned::new(raw, raw::ember_abort) }, PhantomData))
    }

    /// Removes a file, which must not be open.
    pub fn remove(&self, file: &CStr) -> Result<()> {
        // SAFETY: open; the name lives through the call.
        check_code(unsafe { raw::ember_env_remove(self.raw.raw, file.as_ptr()) }, "remove a table")
    }

    pub fn close(self) -> Result<()> {
        check_code(self.raw.end(), "close the environment")
    }
}

/// A transaction, rolled back when dropped.
pub(super) struct Txn<'env>(Owned, PhantomData<&'env Env>);

impl Txn<'_> {
    pub fn commit(self) -> Result<()> {
        let txn = self.0.take();
        if txn.is_null() {
            return Ok(());
        }
        // SAFETY: the transaction is open and has no cursors, which would borrow it; it is
        // forgotten whatever this returns.
        check_code(unsafe { raw::ember_commit(txn) }, "commit")
    }
}

/// Returns the library's handle. Without a transaction it makes each change commit on its own.
#[inline]
pub(super) fn handle(txn: Option<&Txn<'_>>) -> Raw {
    txn.map_or(ptr::null_mut(), |txn| txn.0.raw)
}
