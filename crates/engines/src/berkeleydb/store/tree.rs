//! Tables, and their operations by key.

use std::ffi::{CStr, CString, OsStr, c_int};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::ptr;
use std::rc::Rc;

use super::ID;
use super::cursor::Cursor;
use super::ffi::{Env, Owned, Txn, check_code, handle, is_found, val};
use super::multiple::Multiple;
use super::raw::{self, Field, Raw};
use crate::kv::{IndexDef, Pairs, Range, TableDef};
use crate::owned::c_string;
use crate::{EngineError, Result};

/// Bytes of a batch of a bulk load. Larger batches gained nothing.
const LOAD: usize = 256 << 10;

/// A table: a B-tree, and one for each secondary index, each in its own file. Closed when dropped.
pub(super) struct Tree {
    /// The open files. `None` while it is closed.
    open: Option<Open>,
    file: CString,
    /// Files of its indexes, with what they index at an address that the library keeps.
    indexes: Vec<(CString, Box<Field>)>,
    /// Minimum length of a value, in bytes, which its indexes need.
    least: usize,
    env: Rc<Env>,
}

/// Its open files. The indexes are closed first.
struct Open {
    indexes: Vec<Owned>,
    db: Owned,
}

impl Tree {
    /// Opens a table, and creates missing files. (Names of tables have no dot, so no table has the
    /// name of an index.)
    pub fn open(env: &Rc<Env>, def: &TableDef<'_>) -> Result<Self> {
        const DOING: &str = "open a table";
        let number =
            |n: usize| u32::try_from(n).map_err(|error| EngineError::failed(ID, DOING, error));
        let index = |index: &IndexDef<'_>| {
            let file = c_string(ID, DOING, format!("{}.{}.db", def.name, index.name))?;
            Ok((file, Box::new(Field { at: number(index.at)?, length: number(index.length)? })))
        };
        let mut tree = Self {
            open: None,
            file: c_string(ID, DOING, format!("{}.db", def.name))?,
            indexes: def.indexes.iter().map(index).collect::<Result<_>>()?,
            least: def.indexes.iter().map(|index| index.at + index.length).max().unwrap_or(0),
            env: Rc::clone(env),
        };
        tree.open_files().map(|()| tree)
    }

    /// Opens its files and associates its indexes. The library creates a file under another name,
    /// renames it, and leaves syncing the folder to the file system. A power cut can remove the
    /// file, and recovery from a later checkpoint does not miss it.
    pub fn open_files(&mut self) -> Result<()> {
        let file = self.env.dir.join(OsStr::from_bytes(self.file.as_bytes()));
        let is_new = self.env.syncs && !file.exists();
        self.open_handles()?;
        if is_new {
            let synced = File::open(&self.env.dir).and_then(|folder| folder.sync_all());
            synced.map_err(|error| EngineError::file(ID, "sync", &self.env.dir, error))?;
        }
        Ok(())
    }

    fn open_handles(&mut self) -> Result<()> {
        let open = |file: &CStr, duplicates| -> Result<Owned> {
            let (mut db, env, page) = (ptr::null_mut(), self.env.raw.raw, self.env.page);
            // SAFETY: the environment is open; the name lives through the call.
            let code = unsafe { raw::ember_open(&mut db, env, file.as_ptr(), page, duplicates) };
            check_code(code, "open a table")?;
            // SAFETY: owned here; the environment is kept alive.
            Ok(unsafe { Owned::new(db, raw::ember_drop) })
        };
        let mut opened = Open { indexes: Vec::new(), db: open(&self.file, 0)? };
        for (file, field) in &self.indexes {
            let index = open(file, 1)?;
            // SAFETY: both handles are open; the field stays where it is until after the close.
            let code =
                unsafe { raw::ember_associate(opened.db.raw, index.raw, &raw const **field) };
            opened.indexes.push(index);
            check_code(code, "associate an index with its table")?;
        }
        self.open = Some(opened);
        Ok(())
    }

    /// Closes its files, its indexes first. Closes all of them and returns the first error. With
    /// `sync`, changes are written to the files.
    pub fn close(&mut self, sync: bool) -> Result<()> {
        let Some(Open { indexes, db }) = self.open.take() else { return Ok(()) };
        let mut result = Ok(());
        for db in indexes.into_iter().chain([db]) {
            // SAFETY: open and without cursors, which would borrow it; it is forgotten whatever
            // this returns.
            let code = unsafe { raw::ember_close(db.take(), c_int::from(sync)) };
            result = result.and(check_code(code, "close a table"));
        }
        result
    }

    #[inline]
    fn opened(&self) -> Result<&Open> {
        self.open.as_ref().ok_or_else(|| not_open(&self.file))
    }

    #[inline]
    fn db(&self) -> Result<Raw> {
        Ok(self.opened()?.db.raw)
    }

    /// Replaces its files with empty ones. If this fails, the table is unusable.
    pub fn clear(&mut self) -> Result<()> {
        self.close(false)?;
        for file in self.indexes.iter().map(|(file, _)| file).chain([&self.file]) {
            self.env.remove(file)?;
        }
        self.open_files()
    }

    /// Returns whether it is the table with this name.
    pub fn is_named(&self, name: &str) -> bool {
        self.file.as_bytes().strip_suffix(b".db") == Some(name.as_bytes())
    }

    /// Refuses a value that is too short for its indexes.
    #[inline]
    fn check_length(&self, value: &[u8]) -> Result<()> {
        if value.len() >= self.least { Ok(()) } else { Err(too_short(value.len(), self.least)) }
    }

    /// Returns the value of a key, in `value`, which grows as needed.
    #[inline]
    pub fn get<'v>(
        &self,
        txn: Option<&Txn<'_>>,
        key: &[u8],
        value: &'v mut Vec<u8>,
    ) -> Result<Option<&'v [u8]>> {
        let (db, key, txn) = (self.db()?, val(key)?, handle(txn));
        // SAFETY: open; the key lives through the call, and there is room for `size` bytes.
        let get = |room: &mut [u8], size| unsafe {
            raw::ember_get(db, txn, key, room.as_mut_ptr().cast(), size)
        };
        let mut size = u32::try_from(value.len()).unwrap_or(u32::MAX);
        let mut code = get(value, &mut size);
        if code == raw::TOO_SMALL {
            value.resize(size as usize, 0);
            code = get(value, &mut size);
        }
        Ok(is_found(code, "get a value")?.then(|| &value[..size as usize]))
    }

    /// Sets the value of a key.
    #[inline]
    pub fn put(&self, txn: Option<&Txn<'_>>, key: &[u8], value: &[u8]) -> Result<()> {
        self.check_length(value)?;
        let (db, key, value) = (self.db()?, val(key)?, val(value)?);
        // SAFETY: open; both live through the call.
        check_code(unsafe { raw::ember_put(db, handle(txn), key, value) }, "put a value")
    }

    /// Inserts pairs in batches. Returns their number.
    pub fn load(&self, txn: &Txn<'_>, batch: &mut Multiple, pairs: &mut dyn Pairs) -> Result<u64> {
        let mut rows = 0;
        batch.reset(LOAD);
        while let Some((key, value)) = pairs.next() {
            self.check_length(value)?;
            if !batch.push(key, value) {
                self.put_batch(txn, batch)?;
                if !batch.push(key, value) {
                    self.put(Some(txn), key, value)?;
                }
            }
            rows += 1;
        }
        if batch.is_empty() { Ok(rows) } else { self.put_batch(txn, batch).map(|()| rows) }
    }

    /// Inserts the pairs of a batch, and empties it.
    fn put_batch(&self, txn: &Txn<'_>, batch: &mut Multiple) -> Result<()> {
        let (db, (at, size)) = (self.db()?, batch.raw());
        // SAFETY: open; a whole buffer in the library's format.
        let code = unsafe { raw::ember_put_batch(db, handle(Some(txn)), at, size) };
        batch.reset(LOAD);
        check_code(code, "put a batch")
    }

    /// Removes a key. Returns whether it existed.
    #[inline]
    pub fn delete(&self, txn: Option<&Txn<'_>>, key: &[u8]) -> Result<bool> {
        let (db, key) = (self.db()?, val(key)?);
        // SAFETY: open; the key lives through the call.
        is_found(unsafe { raw::ember_del(db, handle(txn), key) }, "delete a key")
    }

    #[inline]
    pub fn cursor<'a>(&'a self, txn: Option<&'a Txn<'_>>) -> Result<Cursor<'a>> {
        Cursor::open(&self.opened()?.db, txn)
    }

    /// Opens a cursor of an index. Fails if the index has fewer bytes than the bounds of `range`.
    pub fn index<'a>(
        &'a self,
        txn: Option<&'a Txn<'_>>,
        number: usize,
        range: Range<'_>,
    ) -> Result<Cursor<'a>> {
        let length = [range.from, range.to].into_iter().flatten().map(<[u8]>::len).max();
        let length = length.unwrap_or_default();
        let known = self.indexes.get(number).zip(self.opened()?.indexes.get(number));
        let Some((_, index)) = known.filter(|((_, field), _)| field.length as usize >= length)
        else {
            let file = self.file.to_string_lossy();
            let what = format!("index {number} over {length} bytes, which {file} does not have");
            return Err(EngineError::unsupported(ID, what));
        };
        Cursor::open(index, txn)
    }
}

#[cold]
fn not_open(file: &CStr) -> EngineError {
    let file = file.to_string_lossy();
    EngineError::failed(ID, format!("use {file}"), "it could not be reopened after it was closed")
}

#[cold]
fn too_short(value: usize, least: usize) -> EngineError {
    let why =
        format!("a value of {value} bytes is too short: its indexes need at least {least} bytes");
    EngineError::failed(ID, "put a value", why)
}
