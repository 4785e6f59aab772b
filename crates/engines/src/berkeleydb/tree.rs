//! A table: a B-tree, and one more for each secondary index.

use std::ffi::{CString, c_int};
use std::ptr;

use super::env::{c_string, check};
use super::{ID, ffi};
use crate::kv::TableDef;
use crate::{EngineError, Result};

/// A table of the environment.
pub(super) struct Tree {
    file: CString,
    /// Open, or null after it could not be opened again.
    db: *mut ffi::Db,
    /// For a change in place, in the transaction under way; null until needed.
    pub cursor: *mut ffi::Cursor,
    secondaries: Vec<Secondary>,
    /// The least length of a value, which its indexes need.
    least: usize,
}

/// A secondary index.
struct Secondary {
    file: CString,
    db: *mut ffi::Db,
    /// In a place of its own, which the library is given.
    field: Box<ffi::Field>,
}

impl Tree {
    /// A table that is not open yet.
    pub(super) fn new(def: &TableDef<'_>) -> Result<Self> {
        const DOING: &str = "open a table";
        let mut secondaries = Vec::with_capacity(def.indexes.len());
        let mut least = 0;
        for index in def.indexes {
            let bytes =
                |n: usize| u32::try_from(n).map_err(|error| EngineError::failed(ID, DOING, error));
            let field = Box::new(ffi::Field { at: bytes(index.at)?, length: bytes(index.length)? });
            let file = c_string(format!("{}.{}.db", def.name, index.name), DOING)?;
            secondaries.push(Secondary { file, db: ptr::null_mut(), field });
            least = least.max(index.at + index.length);
        }
        let file = c_string(file_name(def.name), DOING)?;
        let (db, cursor) = (ptr::null_mut(), ptr::null_mut());
        Ok(Self { file, db, cursor, secondaries, least })
    }

    /// Whether it is the table of that name.
    pub(super) fn is_named(&self, name: &str) -> bool {
        self.file.as_bytes() == file_name(name).as_bytes()
    }

    /// Its open handle.
    #[inline]
    pub(super) fn db(&self) -> Result<*mut ffi::Db> {
        if self.db.is_null() { Err(lost_table()) } else { Ok(self.db) }
    }

    /// The open handle of an index of at least that length.
    pub(super) fn index(&self, number: usize, length: usize) -> Result<*mut ffi::Db> {
        self.db()?;
        let known = self.secondaries.get(number);
        match known.filter(|known| known.field.length as usize >= length) {
            Some(known) => Ok(known.db),
            None => {
                let file = self.file.to_string_lossy();
                let what = format!("index {number} over {length} bytes, which {file} has not");
                Err(EngineError::unsupported(ID, what))
            }
        }
    }

    /// Refuses a value too short for its indexes.
    #[inline]
    pub(super) fn check(&self, value: &[u8]) -> Result<()> {
        if value.len() >= self.least { Ok(()) } else { Err(too_short(value.len(), self.least)) }
    }

    /// Closes the cursor, if it is open.
    pub(super) fn drop_cursor(&mut self) -> Result<()> {
        let cursor = std::mem::replace(&mut self.cursor, ptr::null_mut());
        if cursor.is_null() {
            return Ok(());
        }
        // SAFETY: open, and forgotten whatever this returns.
        check(unsafe { ffi::ember_cursor_close(cursor) }, "close a cursor")
    }

    /// Closes it, its indexes first; all of it is tried, the first error returned.
    pub(super) fn close(&mut self, sync: bool) -> Result<()> {
        let indexes = self.secondaries.iter_mut().map(|secondary| &mut secondary.db);
        let mut result = Ok(());
        for db in indexes.chain([&mut self.db]) {
            let db = std::mem::replace(db, ptr::null_mut());
            if !db.is_null() {
                // SAFETY: open, without cursors, and forgotten whatever this returns.
                let code = unsafe { ffi::ember_close(db, c_int::from(sync)) };
                result = result.and(check(code, "close a table"));
            }
        }
        result
    }

    /// Opens it, making its files if need be, and ties its indexes to it.
    ///
    /// # Safety
    /// The environment is open, with or without transactions as said, and outlives the table.
    pub(super) unsafe fn open(&mut self, env: *mut ffi::Env, transactional: bool) -> Result<()> {
        const DOING: &str = "open a table";
        let transactions = c_int::from(transactional);
        // SAFETY: the caller's promise; the name lives through the call.
        let code = unsafe { ffi::ember_open(&mut self.db, env, self.file.as_ptr(), transactions) };
        check(code, DOING)?;
        for Secondary { file, db, field } in &mut self.secondaries {
            // SAFETY: as above.
            check(unsafe { ffi::ember_open_index(db, env, file.as_ptr(), transactions) }, DOING)?;
            // SAFETY: both handles are open; the field stays where it is until after the close.
            let code = unsafe { ffi::ember_associate(self.db, *db, &raw const **field) };
            check(code, "tie an index to its table")?;
        }
        Ok(())
    }

    /// Removes its files.
    ///
    /// # Safety
    /// The environment is open, with or without transactions as said, and no handle of the files.
    pub(super) unsafe fn remove(&self, env: *mut ffi::Env, transactional: bool) -> Result<()> {
        let mut result = Ok(());
        let files = self.secondaries.iter().map(|secondary| &secondary.file);
        for file in files.chain([&self.file]) {
            // SAFETY: the caller's promise; the name lives through the call.
            let code =
                unsafe { ffi::ember_env_remove(env, file.as_ptr(), c_int::from(transactional)) };
            result = result.and(check(code, "remove a table"));
        }
        result
    }
}

/// Names of tables have no dot, so that an index is no other table.
fn file_name(table: &str) -> String {
    format!("{table}.db")
}

#[cold]
fn too_short(value: usize, least: usize) -> EngineError {
    let why =
        format!("a value of {value} bytes is too short for its indexes: {least} are the least");
    EngineError::failed(ID, "put a value", why)
}

#[cold]
fn lost_table() -> EngineError {
    EngineError::failed(ID, "use a table", "it could not be opened again")
}
