//! The common functions of LMDB and of MDBX, which began as a copy of it.

use std::ffi::{CStr, c_char, c_int};
use std::path::Path;
use std::ptr;
use std::sync::Arc;

use crate::owned::{Owned, c_string};
use crate::{Checked, EngineError, Result};

/// Address space for the map. It takes neither memory nor disk before it is used. 64 GiB, or less
/// down to 1 GiB where a process cannot have that: on 32 bits, under `ulimit -v`, or in an
/// emulator.
const MAPS: [u64; 4] = [1 << 36, 1 << 34, 1 << 32, 1 << 30];
/// Most tables.
pub(crate) const TABLES: u32 = 40;
/// Permissions of new files, before the umask.
pub(crate) const MODE: u16 = 0o664;

/// A move of a cursor, by its number in both libraries.
#[derive(Clone, Copy)]
pub(crate) enum CursorMove {
    First = 0,
    Last = 6,
    Next = 8,
    Previous = 12,
    At = 15,
    /// To the key or the first one above it.
    From = 17,
}

/// How a cursor writes, by its flag in both libraries.
#[derive(Clone, Copy)]
pub(crate) enum Write {
    /// At its key.
    Replace = 0x40,
    /// Above all keys.
    Append = 0x2_0000,
}

/// Opens a cursor of a table and stores its handle.
pub(crate) type OpenCursor<T, C> = unsafe extern "C" fn(*mut T, u32, *mut *mut C) -> c_int;

/// Moves a cursor by the number of a [`CursorMove`], and fills in the key and the value.
pub(crate) type MoveCursor<C, V> = unsafe extern "C" fn(*mut C, *mut V, *mut V, u32) -> c_int;

/// A key and its value. The library fills in what it finds.
pub(crate) struct Pair<L: Library> {
    pub key: L::Val,
    pub value: L::Val,
}

impl<L: Library> Pair<L> {
    #[inline]
    pub fn new(key: &[u8], value: &[u8]) -> Self {
        Self { key: L::val(key), value: L::val(value) }
    }

    /// Moves a cursor. Only moves by key use the key, which is only read.
    ///
    /// # Safety
    /// The cursor must be open.
    #[inline]
    pub unsafe fn find(&mut self, cursor: *mut L::Cursor, to: CursorMove) -> c_int {
        // SAFETY: the caller's promise.
        unsafe { (L::MOVE_CURSOR)(cursor, &mut self.key, &mut self.value, to as u32) }
    }
}

/// A library with LMDB's functions. They return the library's codes, which [`check`] turns into
/// results.
///
/// # Safety
/// Handles must be open when they are passed. Transactions of different threads can run at the same
/// time, and any thread can use a transaction that reads. The functions `ABORT`, `CLOSE`, and
/// `CLOSE_CURSOR` free what `begin`, `CREATE_ENV`, and `OPEN_CURSOR` made.
pub(crate) unsafe trait Library: Sized + 'static {
    const ID: &'static str;
    /// The manual's page of limits.
    const MANUAL: &'static str;
    /// Name of the file with the pages.
    const FILE: &'static str;
    /// Flags of an environment by name, in the order in which a configuration sets them.
    const FLAGS: &'static [(&'static str, u32)];
    /// Flags that no configuration sets, to read back.
    const FIXED: &'static [(&'static str, u32)];
    /// Flag that turns off the system's read-ahead.
    const NO_READ_AHEAD: u32;
    /// Flag that creates a missing table.
    const CREATE: u32;
    /// Code for a missing key.
    const NOT_FOUND: c_int;

    type Env;
    type Txn;
    type Cursor;
    /// Bytes as the library passes them.
    type Val: Copy;
    /// Return type of functions that end a transaction.
    type Ended;

    const CREATE_ENV: unsafe extern "C" fn(*mut *mut Self::Env) -> c_int;
    const CLOSE: unsafe extern "C" fn(*mut Self::Env);
    const ABORT: unsafe extern "C" fn(*mut Self::Txn) -> Self::Ended;
    /// Ends the snapshot of a transaction that reads.
    const RESET: unsafe extern "C" fn(*mut Self::Txn) -> Self::Ended;
    const RENEW: unsafe extern "C" fn(*mut Self::Txn) -> c_int;
    const OPEN_TABLE: unsafe extern "C" fn(*mut Self::Txn, *const c_char, u32, *mut u32) -> c_int;
    const OPEN_CURSOR: OpenCursor<Self::Txn, Self::Cursor>;
    /// Moves a cursor of a snapshot that ended to the current snapshot of its transaction.
    const RENEW_CURSOR: unsafe extern "C" fn(*mut Self::Txn, *mut Self::Cursor) -> c_int;
    const MOVE_CURSOR: MoveCursor<Self::Cursor, Self::Val>;
    const CLOSE_CURSOR: unsafe extern "C" fn(*mut Self::Cursor);

    /// Returns the library's message for a code.
    fn error_message(code: c_int) -> String;
    fn version() -> String;
    fn val(bytes: &[u8]) -> Self::Val;
    /// # Safety
    /// The same as for [`crate::owned::bytes`].
    unsafe fn bytes<'a>(val: Self::Val) -> &'a [u8];

    /// Opens an environment from `CREATE_ENV`, for [`TABLES`] and with a map of this size. Missing
    /// files are created.
    unsafe fn open(env: *mut Self::Env, dir: &CStr, flags: u32, map: usize) -> c_int;
    unsafe fn sync(env: *mut Self::Env) -> c_int;
    unsafe fn longest_key(env: *mut Self::Env) -> c_int;
    unsafe fn facts(env: *mut Self::Env, facts: &mut Facts) -> c_int;
    /// Runs the library's own check of all pages.
    fn walk(env: &Env<Self>) -> Result<Checked>;

    unsafe fn begin(env: *mut Self::Env, reads: bool, txn: &mut *mut Self::Txn) -> c_int;
    unsafe fn commit(txn: *mut Self::Txn) -> c_int;
    unsafe fn clear(txn: *mut Self::Txn, table: u32) -> c_int;
    unsafe fn count(txn: *mut Self::Txn, table: u32, keys: &mut u64) -> c_int;
    unsafe fn get(txn: *mut Self::Txn, table: u32, pair: &mut Pair<Self>) -> c_int;
    unsafe fn put(txn: *mut Self::Txn, table: u32, pair: &mut Pair<Self>) -> c_int;
    unsafe fn delete(txn: *mut Self::Txn, table: u32, key: &mut Self::Val) -> c_int;
    unsafe fn write(cursor: *mut Self::Cursor, pair: &mut Pair<Self>, how: Write) -> c_int;
    /// Deletes the pair at a cursor. [`CursorMove::Next`] then finds the pair after it.
    unsafe fn delete_at(cursor: *mut Self::Cursor) -> c_int;
}

/// Turns a return code of the library into a result.
#[inline]
pub(crate) fn check<L: Library>(code: c_int, doing: &str) -> Result<()> {
    if code == 0 { Ok(()) } else { Err(error::<L>(code, doing)) }
}

/// Returns whether the key was found.
#[inline]
pub(crate) fn found<L: Library>(code: c_int, doing: &str) -> Result<bool> {
    if code == L::NOT_FOUND { Ok(false) } else { check::<L>(code, doing).map(|()| true) }
}

#[cold]
fn error<L: Library>(code: c_int, doing: &str) -> EngineError {
    EngineError::failed(L::ID, doing, L::error_message(code))
}

/// What an open environment reports about itself.
#[derive(Clone, Copy, Default)]
pub(crate) struct Facts {
    pub flags: u32,
    /// Size of its map, in bytes.
    pub map: u64,
    /// Size of its pages, in bytes.
    pub page: u32,
}

impl Facts {
    /// Returns whether all bits of a flag are set.
    pub const fn has(self, flag: u32) -> bool {
        self.flags & flag == flag
    }
}

/// An open environment, closed when dropped.
pub(crate) struct Env<L: Library>(pub Owned<L::Env>);

// SAFETY: threads may share an environment, each with its own transactions, as the trait promises.
unsafe impl<L: Library> Send for Env<L> {}
// SAFETY: as above.
unsafe impl<L: Library> Sync for Env<L> {}

impl<L: Library> Env<L> {
    /// Opens the environment in a folder. Missing files are created.
    pub fn open(dir: &Path, flags: u32) -> Result<Arc<Self>> {
        let doing = format!("open the environment in {}", dir.display());
        let path = c_string(L::ID, &doing, dir)?;
        for map in MAPS.into_iter().filter_map(|map| usize::try_from(map).ok()) {
            let mut raw = ptr::null_mut();
            // SAFETY: after success `raw` is a handle, which has to be closed even if opening fails
            // later.
            check::<L>(unsafe { (L::CREATE_ENV)(&mut raw) }, "create an environment")?;
            // SAFETY: ours; transactions keep the environment open.
            let env = Self(unsafe { Owned::new(raw, L::CLOSE) });
            // SAFETY: created and not yet open.
            let code = unsafe { L::open(raw, &path, flags, map) };
            if code != libc::ENOMEM {
                return check::<L>(code, &doing).map(|()| Arc::new(env));
            }
        }
        Err(error::<L>(libc::ENOMEM, &doing))
    }

    pub fn sync(&self) -> Result<()> {
        // SAFETY: open.
        check::<L>(unsafe { L::sync(self.0.raw) }, "sync")
    }

    /// Returns the most bytes of a key.
    pub fn longest_key(&self) -> usize {
        // SAFETY: open.
        usize::try_from(unsafe { L::longest_key(self.0.raw) }).unwrap_or_default()
    }

    pub fn facts(&self) -> Result<Facts> {
        let mut facts = Facts::default();
        // SAFETY: open.
        check::<L>(unsafe { L::facts(self.0.raw, &mut facts) }, "tell its state").map(|()| facts)
    }
}
