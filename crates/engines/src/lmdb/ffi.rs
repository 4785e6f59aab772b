//! LMDB's environment, transactions and cursors as handles that end what they began.
//!
//! What a transaction gives out lies in the map, and stays as it is until that transaction changes
//! something or ends: it is borrowed from the transaction, whose changes need it whole.

use std::ffi::{CStr, CString, c_int};
use std::marker::PhantomData;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::sync::Arc;

pub(super) use lmdb_master_sys::*;
use smallvec::SmallVec;

use super::ID;
use crate::kv::Change;
use crate::{EngineError, Result};

/// Address space for the map, and with a write map the file's apparent size. Neither takes memory
/// or disk before it is used. 64 GiB, or 1 GiB on 32 bits.
const MAP: usize = 1 << if usize::BITS == 64 { 36 } else { 30 };
/// Named databases at most.
const TABLES: u32 = 32;
/// Files for their owner and whom the umask leaves.
const MODE: u32 = 0o664;

/// Turns a return code of the library into a result.
#[inline]
fn check(code: c_int, doing: &str) -> Result<()> {
    if code == MDB_SUCCESS { Ok(()) } else { Err(error(code, doing)) }
}

/// Whether the key was there.
#[inline]
fn found(code: c_int, doing: &str) -> Result<bool> {
    if code == MDB_NOTFOUND { Ok(false) } else { check(code, doing).map(|()| true) }
}

/// The library's own words for a return code.
#[cold]
fn error(code: c_int, doing: &str) -> EngineError {
    // SAFETY: returns a NUL-terminated string for any code, which is copied at once.
    let message = unsafe { CStr::from_ptr(mdb_strerror(code)) };
    EngineError::failed(ID, doing, message.to_string_lossy())
}

/// The library's version, `0.9.70`.
pub(super) fn version() -> String {
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: writes three integers; no other precondition.
    unsafe { mdb_version(&mut major, &mut minor, &mut patch) };
    format!("{major}.{minor}.{patch}")
}

/// Bytes as the library takes them. It reads through the pointer and does not write, though its
/// type would let it.
#[inline]
const fn val(bytes: &[u8]) -> MDB_val {
    MDB_val { mv_size: bytes.len(), mv_data: bytes.as_ptr().cast_mut().cast() }
}

/// What the library is to fill in.
const NOTHING: MDB_val = MDB_val { mv_size: 0, mv_data: ptr::null_mut() };

/// Bytes the library points to.
///
/// # Safety
/// They stay in place and as they are for the lifetime chosen.
#[inline]
unsafe fn bytes<'a>(val: MDB_val) -> &'a [u8] {
    if val.mv_size == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(val.mv_data.cast(), val.mv_size) }
}

/// An open environment, closed when dropped.
pub(super) struct Env(*mut MDB_env);

// SAFETY: threads may share an environment, each with transactions of its own
// (<http://www.lmdb.tech/doc/starting.html>).
unsafe impl Send for Env {}
// SAFETY: as above.
unsafe impl Sync for Env {}

impl Env {
    /// Opens the environment in a directory, making it where there is none. A transaction that reads
    /// is bound to no thread (`MDB_NOTLS`).
    pub fn open(dir: &Path, flags: u32) -> Result<Self> {
        let doing = format!("open the environment in {}", dir.display());
        let path = CString::new(dir.as_os_str().as_bytes())
            .map_err(|error| EngineError::failed(ID, &*doing, error))?;
        let mut raw = ptr::null_mut();
        // SAFETY: on success `raw` is a handle, which `Env` closes, as the manual asks even if
        // opening then fails.
        check(unsafe { mdb_env_create(&mut raw) }, &doing)?;
        let env = Self(raw);
        // SAFETY: created and not yet open, as the first two ask; the path lives through the call.
        unsafe {
            check(mdb_env_set_mapsize(raw, MAP), "set the map's size")?;
            check(mdb_env_set_maxdbs(raw, TABLES), "set the number of tables")?;
            check(mdb_env_open(raw, path.as_ptr(), flags | MDB_NOTLS, MODE), &doing)?;
        }
        Ok(env)
    }

    /// Syncs to the disk whatever is not yet there.
    pub fn sync(&self) -> Result<()> {
        // SAFETY: open.
        check(unsafe { mdb_env_sync(self.0, 1) }, "sync")
    }

    /// Its flags, the size of its map and that of its pages.
    pub fn facts(&self) -> Result<(u32, usize, u32)> {
        // SAFETY: plain C structs of integers and a pointer, for which zeros are valid.
        let (mut info, mut stat) = unsafe { std::mem::zeroed::<(MDB_envinfo, MDB_stat)>() };
        let mut flags = 0;
        // SAFETY: open; each fills what it is given.
        unsafe {
            check(mdb_env_get_flags(self.0, &mut flags), "tell its flags")?;
            check(mdb_env_info(self.0, &mut info), "tell its state")?;
            check(mdb_env_stat(self.0, &mut stat), "tell its state")?;
        }
        Ok((flags, info.me_mapsize, stat.ms_psize))
    }
}

impl Drop for Env {
    fn drop(&mut self) {
        // SAFETY: created, and not used again; transactions hold the environment open.
        unsafe { mdb_env_close(self.0) };
    }
}

/// A transaction: what both kinds have. Undone when dropped.
pub(super) struct Txn {
    /// Null once it was committed.
    raw: *mut MDB_txn,
    /// Stays open as long as the transaction.
    _env: Arc<Env>,
}

impl Txn {
    fn begin(env: &Arc<Env>, flags: u32) -> Result<Self> {
        let mut raw = ptr::null_mut();
        // SAFETY: the environment is open.
        check(unsafe { mdb_txn_begin(env.0, ptr::null_mut(), flags, &mut raw) }, "begin")?;
        Ok(Self { raw, _env: Arc::clone(env) })
    }

    /// The value of a key.
    #[inline]
    pub fn get(&self, dbi: MDB_dbi, key: &[u8]) -> Result<Option<&[u8]>> {
        let (mut key, mut value) = (val(key), NOTHING);
        // SAFETY: under way; the key is only read.
        let code = unsafe { mdb_get(self.raw, dbi, &mut key, &mut value) };
        // SAFETY: found, so it is in the map until the transaction changes something or ends.
        Ok(found(code, "get a value")?.then(|| unsafe { bytes(value) }))
    }

    /// The number of keys, as the root of the table's tree has it.
    pub fn count(&self, dbi: MDB_dbi) -> Result<u64> {
        // SAFETY: a plain C struct of integers, for which zeros are valid.
        let mut stat = unsafe { std::mem::zeroed::<MDB_stat>() };
        // SAFETY: under way; fills the struct.
        check(unsafe { mdb_stat(self.raw, dbi, &mut stat) }, "count the keys")?;
        Ok(stat.ms_entries as u64)
    }

    /// Opens a cursor that reads.
    #[inline]
    pub fn cursor(&self, dbi: MDB_dbi) -> Result<Cursor<'_>> {
        self.open_cursor(dbi).map(|raw| Cursor(raw, PhantomData))
    }

    fn open_cursor(&self, dbi: MDB_dbi) -> Result<*mut MDB_cursor> {
        let mut raw = ptr::null_mut();
        // SAFETY: under way.
        check(unsafe { mdb_cursor_open(self.raw, dbi, &mut raw) }, "open a cursor")?;
        Ok(raw)
    }
}

impl Drop for Txn {
    fn drop(&mut self) {
        if !self.raw.is_null() {
            // SAFETY: under way or reset, and not used again.
            unsafe { mdb_txn_abort(self.raw) };
        }
    }
}

/// A transaction that reads, between two snapshots: reset when one ends and renewed when the next
/// begins, as the manual advises.
pub(super) struct Reader(Txn);

impl Reader {
    /// Of an environment.
    pub fn of(env: &Arc<Env>) -> Result<Self> {
        let txn = Txn::begin(env, MDB_RDONLY)?;
        // SAFETY: under way.
        unsafe { mdb_txn_reset(txn.raw) };
        Ok(Self(txn))
    }

    /// Begins a snapshot.
    #[inline]
    pub fn snapshot(&mut self) -> Result<Snapshot<'_>> {
        // SAFETY: reset, for a snapshot that lasts borrows it.
        check(unsafe { mdb_txn_renew(self.0.raw) }, "begin to read")?;
        Ok(Snapshot(&self.0))
    }
}

/// A snapshot, which ends when it is dropped.
pub(super) struct Snapshot<'reader>(&'reader Txn);

impl Snapshot<'_> {
    /// Its transaction.
    #[inline]
    pub const fn txn(&self) -> &Txn {
        self.0
    }
}

impl Drop for Snapshot<'_> {
    fn drop(&mut self) {
        // SAFETY: under way; nothing is borrowed from it any more.
        unsafe { mdb_txn_reset(self.0.raw) };
    }
}

/// A transaction that reads and writes.
pub(super) struct Writer {
    txn: Txn,
    /// Those that change values, by the number of their table: null until needed, and closed by the
    /// end of the transaction.
    cursors: SmallVec<[*mut MDB_cursor; 8]>,
    /// A value on its way through a change.
    copy: SmallVec<[u8; 64]>,
}

impl Writer {
    /// Begins once no other writes.
    pub fn begin(env: &Arc<Env>) -> Result<Self> {
        Ok(Self { txn: Txn::begin(env, 0)?, cursors: SmallVec::new(), copy: SmallVec::new() })
    }

    /// Its transaction.
    #[inline]
    pub const fn txn(&self) -> &Txn {
        &self.txn
    }

    /// Commits.
    pub fn commit(mut self) -> Result<()> {
        let raw = std::mem::replace(&mut self.txn.raw, ptr::null_mut());
        // SAFETY: under way, and not used again whatever this returns.
        check(unsafe { mdb_txn_commit(raw) }, "commit")
    }

    /// Opens a named database; `MDB_CREATE` makes it where there is none. (A transaction that does
    /// so may not run beside another that does; two that write never do.)
    pub fn open(&mut self, name: &CStr, flags: u32) -> Result<MDB_dbi> {
        let (raw, mut dbi) = (self.txn.raw, 0);
        // SAFETY: under way; the name lives through the call.
        check(unsafe { mdb_dbi_open(raw, name.as_ptr(), flags, &mut dbi) }, "open a table")?;
        Ok(dbi)
    }

    /// The cursor that changes a table.
    #[inline]
    fn changing(&mut self, dbi: MDB_dbi) -> Result<*mut MDB_cursor> {
        match self.cursors.get(dbi as usize) {
            Some(open) if !open.is_null() => Ok(*open),
            _ => {
                let opened = self.txn.open_cursor(dbi)?;
                let tables = self.cursors.len().max(dbi as usize + 1);
                self.cursors.resize(tables, ptr::null_mut());
                self.cursors[dbi as usize] = opened;
                Ok(opened)
            }
        }
    }

    /// Sets the value of a key.
    #[inline]
    pub fn set(&mut self, dbi: MDB_dbi, key: &[u8], value: &[u8]) -> Result<()> {
        let (mut key, mut value) = (val(key), val(value));
        // SAFETY: under way; both are only read.
        check(unsafe { mdb_put(self.txn.raw, dbi, &mut key, &mut value, 0) }, "put a value")
    }

    /// Sets the value of a key above all others.
    #[inline]
    pub fn append(&mut self, dbi: MDB_dbi, key: &[u8], value: &[u8]) -> Result<()> {
        let (cursor, mut key, mut value) = (self.changing(dbi)?, val(key), val(value));
        // SAFETY: open; both are only read.
        check(unsafe { mdb_cursor_put(cursor, &mut key, &mut value, MDB_APPEND) }, "append a pair")
    }

    /// Changes a value, by a copy: a page of the map may not be written before the library has made
    /// one that is the transaction's own. Whether the key was there.
    #[inline]
    pub fn replace(&mut self, dbi: MDB_dbi, key: &[u8], change: &mut Change<'_>) -> Result<bool> {
        let (cursor, mut at, mut value) = (self.changing(dbi)?, val(key), NOTHING);
        // SAFETY: open; the key is only read.
        let code = unsafe { mdb_cursor_get(cursor, &mut at, &mut value, MDB_SET) };
        if !found(code, "get a value")? {
            return Ok(false);
        }
        self.copy.clear();
        // SAFETY: found, so it is in the map until the change below.
        self.copy.extend_from_slice(unsafe { bytes(value) });
        change(&mut self.copy);
        value = val(&self.copy);
        // SAFETY: open, at that key; both are only read.
        let code = unsafe { mdb_cursor_put(cursor, &mut at, &mut value, MDB_CURRENT) };
        check(code, "replace a value").map(|()| true)
    }

    /// Removes a key; whether it was there.
    #[inline]
    pub fn remove(&mut self, dbi: MDB_dbi, key: &[u8]) -> Result<bool> {
        // SAFETY: under way; the key is only read.
        let code = unsafe { mdb_del(self.txn.raw, dbi, &mut val(key), ptr::null_mut()) };
        found(code, "delete a key")
    }

    /// Removes every key of a table.
    pub fn clear(&mut self, dbi: MDB_dbi) -> Result<()> {
        // SAFETY: under way; 0 empties the database and keeps it.
        check(unsafe { mdb_drop(self.txn.raw, dbi, 0) }, "clear a table")
    }
}

/// A cursor that reads, within its transaction; closed when dropped.
pub(super) struct Cursor<'txn>(*mut MDB_cursor, PhantomData<&'txn Txn>);

impl<'txn> Cursor<'txn> {
    /// Moves to a pair; `key` matters to moves by key alone.
    #[inline]
    pub fn step(
        &mut self,
        to: MDB_cursor_op,
        key: &[u8],
    ) -> Result<Option<(&'txn [u8], &'txn [u8])>> {
        let (mut key, mut value) = (val(key), NOTHING);
        // SAFETY: open; the key is only read.
        let code = unsafe { mdb_cursor_get(self.0, &mut key, &mut value, to) };
        // SAFETY: found, so both are in the map until the transaction changes something or ends.
        Ok(found(code, "move a cursor")?.then(|| unsafe { (bytes(key), bytes(value)) }))
    }
}

impl Drop for Cursor<'_> {
    fn drop(&mut self) {
        // SAFETY: open, and not used again; its transaction, which is borrowed, is under way.
        unsafe { mdb_cursor_close(self.0) };
    }
}
