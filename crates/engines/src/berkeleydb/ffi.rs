//! Berkeley DB's environment, tables, transactions and cursors as handles that end what they began:
//! cursors and transactions borrow what they are of, and tables hold their environment open.
//!
//! Outside of an environment with transactions a transaction is a null handle, as it is to the
//! library.

use std::ffi::{CStr, CString, c_int};
use std::marker::PhantomData;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::rc::Rc;

mod cursor;
mod multiple;
mod raw;

pub(super) use cursor::Cursor;
pub(super) use multiple::Multiple;

use super::{Commits, ID};
use crate::kv::{IndexDef, TableDef};
use crate::{EngineError, Result, as_set};

/// Log buffer. The default, 32 KiB, makes a large transaction write its log in many small pieces;
/// at most a quarter of a log file (10 MiB by default) is allowed.
const LOG_BUFFER: u32 = 1 << 20;

/// Turns a return code of the library into a result.
#[inline]
fn check(code: c_int, doing: &str) -> Result<()> {
    if code == 0 { Ok(()) } else { Err(error(code, doing)) }
}

/// Whether the key was there.
#[inline]
fn found(code: c_int, doing: &str) -> Result<bool> {
    if code == raw::ABSENT { Ok(false) } else { check(code, doing).map(|()| true) }
}

/// The library's own words for a return code.
#[cold]
fn error(code: c_int, doing: &str) -> EngineError {
    // SAFETY: returns a NUL-terminated string for any code, which is copied at once.
    let message = unsafe { CStr::from_ptr(raw::db_strerror(code)) };
    EngineError::failed(ID, doing, message.to_string_lossy())
}

/// A name without a zero byte, as C wants it.
fn c_string(bytes: impl Into<Vec<u8>>, doing: &str) -> Result<CString> {
    CString::new(bytes).map_err(|error| EngineError::failed(ID, doing, error))
}

/// Bytes as the library takes them, with 32 bits for their length.
#[inline]
fn val(bytes: &[u8]) -> Result<raw::Bytes> {
    match u32::try_from(bytes.len()) {
        Ok(size) => Ok(raw::Bytes { at: bytes.as_ptr(), size }),
        Err(error) => Err(EngineError::failed(ID, "take a key or value", error)),
    }
}

/// What the library is to fill in.
const NOTHING: raw::Bytes = raw::Bytes { at: ptr::null(), size: 0 };

/// Bytes the library points to.
///
/// # Safety
/// They stay in place and as they are for the lifetime chosen.
#[inline]
const unsafe fn bytes<'a>(val: raw::Bytes) -> &'a [u8] {
    if val.size == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(val.at, val.size as usize) }
}

/// The library's version, `5.3.28`.
pub(super) fn version() -> String {
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: writes three integers; no other precondition.
    unsafe { raw::db_version(&mut major, &mut minor, &mut patch) };
    format!("{major}.{minor}.{patch}")
}

/// An open environment, closed when dropped. Not `Send`: it is opened for one thread.
pub(super) struct Env {
    raw: *mut raw::Env,
    transactions: bool,
}

impl Env {
    /// Opens the environment in a directory, making it where there is none. With transactions
    /// recovery runs first, as the manual asks of every first opening. Below 500 MB of cache the
    /// library adds a quarter to what it is asked for, to hold its own records of the pages.
    pub fn open(dir: &Path, memory: u64, commits: Commits) -> Result<Self> {
        let Commits { transactions, write_nosync } = commits;
        let doing = format!("open the environment in {}", dir.display());
        let home = c_string(dir.as_os_str().as_bytes(), &doing)?;
        let less = memory / 5 * 4;
        let cache = if less < 500 << 20 { less } else { memory };
        let mut env = ptr::null_mut();
        let (log, nosync) = (c_int::from(transactions), c_int::from(write_nosync));
        // SAFETY: `home` lives through the call; on success `env` is an open handle that is ours.
        let code =
            unsafe { raw::ember_env_open(&mut env, home.as_ptr(), cache, LOG_BUFFER, log, nosync) };
        check(code, &doing).map(|()| Self { raw: env, transactions })
    }

    /// Its settings as it tells them.
    pub fn settings(&self) -> Result<Vec<(&'static str, String)>> {
        let mut facts = raw::Facts::default();
        // SAFETY: open; `facts` has the layout of the shim's struct.
        check(unsafe { raw::ember_env_facts(self.raw, &mut facts) }, "read its settings back")?;
        let on = |flag: u32| if flag != 0 { "on" } else { "off" }.to_owned();
        let mut settings = vec![
            ("cache", format!("{} bytes in {}", facts.cache_bytes, facts.caches)),
            ("page size", as_set("4096 bytes")),
            ("DB_PRIVATE", on(facts.private)),
            ("DB_INIT_LOCK", on(facts.locking)),
            ("DB_INIT_LOG", on(facts.logging)),
            ("DB_INIT_TXN", on(facts.transactions)),
        ];
        if self.transactions {
            settings.extend([
                ("DB_TXN_WRITE_NOSYNC", on(facts.write_nosync)),
                ("DB_TXN_NOSYNC", on(facts.nosync)),
                ("DB_LOG_AUTO_REMOVE", on(facts.auto_remove)),
                ("log buffer", format!("{} bytes", facts.log_buffer)),
                ("log file", format!("{} bytes", facts.log_file)),
            ]);
        }
        Ok(settings)
    }

    /// Writes what is changed to the tables' files: by a checkpoint where there is a log.
    pub fn checkpoint(&self) -> Result<()> {
        // SAFETY: open, with transactions in the first case.
        let code = unsafe {
            match self.transactions {
                true => raw::ember_env_checkpoint(self.raw),
                false => raw::ember_env_sync(self.raw),
            }
        };
        check(code, "write its cache to the files")
    }

    /// Begins a transaction, with `DB_TXN_BULK` if it is to be.
    pub fn begin(&self, bulk: bool) -> Result<Txn<'_>> {
        let mut raw = ptr::null_mut();
        if self.transactions {
            // SAFETY: open, with transactions.
            let code = unsafe { raw::ember_begin(self.raw, &mut raw, c_int::from(bulk)) };
            check(code, "begin a transaction")?;
        }
        Ok(Txn { raw, env: PhantomData })
    }

    /// Closes it.
    pub fn close(mut self) -> Result<()> {
        self.release()
    }

    fn release(&mut self) -> Result<()> {
        let env = std::mem::replace(&mut self.raw, ptr::null_mut());
        if env.is_null() {
            return Ok(());
        }
        // SAFETY: open, and forgotten whatever this returns; no table holds it any more.
        check(unsafe { raw::ember_env_close(env) }, "close the environment")
    }
}

impl Drop for Env {
    fn drop(&mut self) {
        // Nobody is left to tell of an error; with transactions the log has what was committed.
        let _ = self.release();
    }
}

/// A transaction, undone when dropped.
pub(super) struct Txn<'env> {
    raw: *mut raw::Txn,
    env: PhantomData<&'env Env>,
}

impl Txn<'_> {
    /// Commits.
    pub fn commit(mut self) -> Result<()> {
        let txn = std::mem::replace(&mut self.raw, ptr::null_mut());
        if txn.is_null() {
            return Ok(());
        }
        // SAFETY: under way, without cursors, which borrow it; forgotten whatever this returns.
        check(unsafe { raw::ember_commit(txn) }, "commit")
    }
}

impl Drop for Txn<'_> {
    fn drop(&mut self) {
        if !self.raw.is_null() {
            // SAFETY: as above. The error that led here is the one to tell.
            let _ = unsafe { raw::ember_abort(self.raw) };
        }
    }
}

/// The library's handle; without a transaction it commits a change by itself.
#[inline]
fn handle(txn: Option<&Txn<'_>>) -> *mut raw::Txn {
    txn.map_or(ptr::null_mut(), |txn| txn.raw)
}

/// A table: a B-tree, and one more for each secondary index, each in a file. Closed when dropped.
pub(super) struct Tree {
    file: CString,
    /// Null while it is not open.
    db: *mut raw::Db,
    indexes: Vec<Index>,
    /// The least length of a value, which its indexes need.
    least: usize,
    env: Rc<Env>,
}

/// A secondary index.
struct Index {
    file: CString,
    db: *mut raw::Db,
    /// In a place of its own, which the library is given.
    field: Box<raw::Field>,
}

impl Tree {
    /// Opens a table, making its files if need be. (Names of tables have no dot, so that an index
    /// is no other table.)
    pub fn open(env: &Rc<Env>, def: &TableDef<'_>) -> Result<Self> {
        const DOING: &str = "open a table";
        let number =
            |n: usize| u32::try_from(n).map_err(|error| EngineError::failed(ID, DOING, error));
        let index = |index: &IndexDef<'_>| {
            let file = c_string(format!("{}.{}.db", def.name, index.name), DOING)?;
            let field = raw::Field { at: number(index.at)?, length: number(index.length)? };
            Ok(Index { file, db: ptr::null_mut(), field: Box::new(field) })
        };
        let mut tree = Self {
            file: c_string(format!("{}.db", def.name), DOING)?,
            db: ptr::null_mut(),
            indexes: def.indexes.iter().map(index).collect::<Result<_>>()?,
            least: def.indexes.iter().map(|index| index.at + index.length).max().unwrap_or(0),
            env: Rc::clone(env),
        };
        tree.connect().map(|()| tree)
    }

    /// Opens its files and ties its indexes to it.
    fn connect(&mut self) -> Result<()> {
        let Self { file, db, indexes, env, .. } = self;
        let open = |db: &mut *mut raw::Db, file: &CStr, duplicates| {
            // SAFETY: the environment is open; the name lives through the call.
            let code = unsafe { raw::ember_open(db, env.raw, file.as_ptr(), duplicates) };
            check(code, "open a table")
        };
        open(db, file, 0)?;
        for index in indexes {
            open(&mut index.db, &index.file, 1)?;
            // SAFETY: both handles are open; the field stays where it is until after the close.
            let code = unsafe { raw::ember_associate(*db, index.db, &raw const *index.field) };
            check(code, "tie an index to its table")?;
        }
        Ok(())
    }

    /// Closes its files, its indexes first; all of it is tried, the first error returned.
    fn disconnect(&mut self, sync: bool) -> Result<()> {
        let mut result = Ok(());
        for db in self.indexes.iter_mut().map(|index| &mut index.db).chain([&mut self.db]) {
            let db = std::mem::replace(db, ptr::null_mut());
            if !db.is_null() {
                // SAFETY: open, without cursors, which borrow it; forgotten whatever this returns.
                let code = unsafe { raw::ember_close(db, c_int::from(sync)) };
                result = result.and(check(code, "close a table"));
            }
        }
        result
    }

    /// Its handle.
    #[inline]
    fn db(&self) -> Result<*mut raw::Db> {
        if self.db.is_null() { Err(lost(&self.file)) } else { Ok(self.db) }
    }

    /// Closes it; with `sync` what is changed is written to its files.
    pub fn close(mut self, sync: bool) -> Result<()> {
        self.disconnect(sync)
    }

    /// Empties it by new files. Where that fails it cannot be used any more.
    pub fn clear(&mut self) -> Result<()> {
        self.disconnect(false)?;
        for file in self.indexes.iter().map(|index| &index.file).chain([&self.file]) {
            // SAFETY: the environment is open, and no handle of the file is.
            let code = unsafe { raw::ember_env_remove(self.env.raw, file.as_ptr()) };
            check(code, "remove a table")?;
        }
        self.connect()
    }

    /// Whether it is the table of that name.
    pub fn is_named(&self, name: &str) -> bool {
        self.file.as_bytes().strip_suffix(b".db") == Some(name.as_bytes())
    }

    /// Refuses a value too short for its indexes.
    #[inline]
    pub fn check(&self, value: &[u8]) -> Result<()> {
        if value.len() >= self.least { Ok(()) } else { Err(too_short(value.len(), self.least)) }
    }

    /// The value of a key, in `value`, which grows as it has to.
    #[inline]
    pub fn get<'v>(
        &self,
        txn: Option<&Txn<'_>>,
        key: &[u8],
        value: &'v mut Vec<u8>,
    ) -> Result<Option<&'v [u8]>> {
        let (db, key, txn) = (self.db()?, val(key)?, handle(txn));
        loop {
            let mut size = u32::try_from(value.len()).unwrap_or(u32::MAX);
            let room = value.as_mut_ptr().cast();
            // SAFETY: open; the key lives through the call, and there is so much room.
            let code = unsafe { raw::ember_get(db, txn, key, room, &mut size) };
            match code {
                raw::TOO_SMALL => value.resize(size as usize, 0),
                code if !found(code, "get a value")? => return Ok(None),
                _ => return Ok(Some(&value[..size as usize])),
            }
        }
    }

    /// Sets the value of a key.
    #[inline]
    pub fn put(&self, txn: Option<&Txn<'_>>, key: &[u8], value: &[u8]) -> Result<()> {
        self.check(value)?;
        let (db, key, value) = (self.db()?, val(key)?, val(value)?);
        // SAFETY: open; both live through the call.
        check(unsafe { raw::ember_put(db, handle(txn), key, value) }, "put a value")
    }

    /// Puts the pairs of a batch.
    pub fn put_batch(&self, txn: &Txn<'_>, batch: &mut Multiple) -> Result<()> {
        let (db, (at, size)) = (self.db()?, batch.raw());
        // SAFETY: open; a whole buffer in the library's format.
        check(unsafe { raw::ember_put_batch(db, txn.raw, at, size) }, "put a batch")
    }

    /// Removes a key; whether it was there.
    #[inline]
    pub fn delete(&self, txn: Option<&Txn<'_>>, key: &[u8]) -> Result<bool> {
        let (db, key) = (self.db()?, val(key)?);
        // SAFETY: open; the key lives through the call.
        found(unsafe { raw::ember_del(db, handle(txn), key) }, "delete a key")
    }

    /// Opens a cursor.
    #[inline]
    pub fn cursor<'a>(&'a self, txn: Option<&'a Txn<'_>>) -> Result<Cursor<'a>> {
        Cursor::open(self.db()?, handle(txn))
    }

    /// Opens a cursor of an index of at least that length.
    pub fn index<'a>(
        &'a self,
        txn: Option<&'a Txn<'_>>,
        number: usize,
        length: usize,
    ) -> Result<Cursor<'a>> {
        self.db()?;
        let known = self.indexes.get(number);
        let Some(index) = known.filter(|index| index.field.length as usize >= length) else {
            let file = self.file.to_string_lossy();
            let what = format!("index {number} over {length} bytes, which {file} has not");
            return Err(EngineError::unsupported(ID, what));
        };
        Cursor::open(index.db, handle(txn))
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        // As above.
        let _ = self.disconnect(false);
    }
}

#[cold]
fn lost(file: &CStr) -> EngineError {
    let file = file.to_string_lossy();
    EngineError::failed(ID, format!("use {file}"), "it could not be made again when it was cleared")
}

#[cold]
fn too_short(value: usize, least: usize) -> EngineError {
    let why =
        format!("a value of {value} bytes is too short for its indexes: {least} are the least");
    EngineError::failed(ID, "put a value", why)
}
