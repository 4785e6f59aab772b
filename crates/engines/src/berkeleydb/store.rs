//! The store over the environment's B-trees.

use std::ffi::c_int;
use std::ops::ControlFlow;
use std::ptr;

use embermark_model::Durability;

use super::batch::Batch;
use super::env::{self, check, found, size};
use super::ffi::{self, To};
use super::tree::Tree;
use super::{ID, scan};
use crate::kv::{Direction, KvStore, Pairs, Range, Table, TableDef, Visit};
use crate::{
    Access, ClientOpener, EngineError, Join, Lifecycle, OpenOptions, Opened, Result, ShutdownKind,
    Store,
};

/// Bytes of a batch of a bulk load: beyond this, larger batches gained nothing.
const LOAD_BATCH: usize = 256 << 10;

/// An open environment and its tables. The environment comes first, where the
/// workloads' benchmark `overhead` looks for it to run a bare loop on the same database.
#[repr(C)]
pub(super) struct Trees {
    /// Open until [`Trees::release`] makes it null.
    env: *mut ffi::Env,
    /// The transaction under way, or null: the library then commits each change by itself.
    txn: *mut ffi::Txn,
    access: Option<Access>,
    transactional: bool,
    tables: Vec<Tree>,
    /// A value on its way through [`KvStore::modify`].
    value: Vec<u8>,
    batch: Batch,
    options: OpenOptions,
}

/// Opens a database.
pub(super) fn open(options: &OpenOptions) -> Result<Opened> {
    let transactional = options.durability != Durability::None;
    let env = env::open(options)?;
    let trees = Trees {
        env,
        txn: ptr::null_mut(),
        access: None,
        transactional,
        tables: Vec::new(),
        value: Vec::new(),
        batch: Batch::new(),
        options: options.clone(),
    };
    // SAFETY: just opened, with transactions as told; `trees` closes it when anything fails.
    let (mut settings, page) =
        unsafe { (env::settings(env)?, env::page_size(env, transactional)?) };
    settings.push(("page size".to_owned(), format!("{page} bytes")));
    let version = env::version();
    Ok(Opened { store: Store::Kv(Box::new(trees)), version, settings, server: None })
}

impl Trees {
    /// Refuses inside of a transaction what must stand alone.
    fn exclusive(&self, doing: &str) -> Result<()> {
        if self.access.is_none() {
            self.opened()
        } else {
            Err(EngineError::failed(ID, doing, "a transaction is open"))
        }
    }

    #[inline]
    fn opened(&self) -> Result<()> {
        if self.env.is_null() { Err(closed()) } else { Ok(()) }
    }

    #[inline]
    fn writable(&self) -> Result<()> {
        if self.access == Some(Access::Read) { Err(read_only()) } else { Ok(()) }
    }

    /// Runs work that needs a transaction in the one under way or else in one of its own.
    fn within<T>(&mut self, bulk: bool, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if !self.transactional || !self.txn.is_null() {
            return work(self);
        }
        self.start(bulk)?;
        let worked = work(self);
        let ended = self.end(worked.is_ok());
        worked.and_then(|value| ended.map(|()| value))
    }

    fn start(&mut self, bulk: bool) -> Result<()> {
        self.opened()?;
        // SAFETY: the environment is open, with transactions, and none is under way.
        check(
            unsafe { ffi::ember_begin(self.env, &mut self.txn, c_int::from(bulk)) },
            "begin a transaction",
        )
    }

    /// Ends the transaction under way, if any; its cursors go first, as the manual asks.
    fn end(&mut self, commit: bool) -> Result<()> {
        if self.txn.is_null() {
            return Ok(());
        }
        let cursors = self.tables.iter_mut().map(Tree::drop_cursor).fold(Ok(()), Result::and);
        let txn = std::mem::replace(&mut self.txn, ptr::null_mut());
        // SAFETY: `txn` is under way, has no open cursor, and is forgotten whatever this returns.
        let code = unsafe { if commit { ffi::ember_commit(txn) } else { ffi::ember_abort(txn) } };
        cursors.and(check(code, if commit { "commit" } else { "abort a transaction" }))
    }

    fn load(&mut self, table: Table, pairs: &mut dyn Pairs) -> Result<u64> {
        let mut rows = 0;
        self.batch.reset(LOAD_BATCH);
        while let Some((key, value)) = pairs.next() {
            self.tables[table.0].check(value)?;
            if !self.batch.push(key, value) {
                self.flush(table)?;
                if !self.batch.push(key, value) {
                    self.put(table, key, value)?;
                }
            }
            rows += 1;
        }
        self.flush(table)?;
        Ok(rows)
    }

    fn flush(&mut self, table: Table) -> Result<()> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let (at, bytes) = self.batch.raw();
        let db = self.tables[table.0].db()?;
        // SAFETY: open handles; `at` and `bytes` are a whole buffer in the library's format. The
        // buffer is as large as its largest batch, far below 4 GiB.
        let code = unsafe { ffi::ember_put_batch(db, self.txn, at, bytes as u32) };
        self.batch.reset(LOAD_BATCH);
        check(code, "put a batch")
    }

    fn change(
        &mut self,
        table: Table,
        key: &[u8],
        change: &mut dyn FnMut(&mut [u8]),
    ) -> Result<bool> {
        let tree = &mut self.tables[table.0];
        if tree.cursor.is_null() {
            let db = tree.db()?;
            // SAFETY: open handles; the cursor is closed before its transaction and table.
            let code = unsafe { ffi::ember_cursor(db, self.txn, &mut tree.cursor) };
            check(code, "open a cursor")?;
        }
        // SAFETY: the cursor is open, and nothing else uses it before the pair is copied.
        let at = unsafe { scan::step(tree.cursor, To::Key, key) }?;
        let Some((_, value)) = at else { return Ok(false) };
        self.value.clear();
        self.value.extend_from_slice(value);
        change(&mut self.value);
        let bytes = size(&self.value)?;
        // SAFETY: the cursor is open and stands on the pair.
        let code = unsafe { ffi::ember_replace(tree.cursor, self.value.as_ptr(), bytes) };
        check(code, "replace a value")?;
        Ok(true)
    }

    /// Closes everything in the order the manual asks for: cursors, transaction, tables,
    /// environment. All of it is tried; the first error is returned.
    fn release(&mut self, sync: bool) -> Result<()> {
        if self.env.is_null() {
            return Ok(());
        }
        let mut result = self.end(false);
        for tree in &mut self.tables {
            result = result.and(tree.drop_cursor()).and(tree.close(sync));
        }
        let env = std::mem::replace(&mut self.env, ptr::null_mut());
        // SAFETY: open, every handle in it is closed, and it is forgotten whatever this returns.
        result.and(check(unsafe { ffi::ember_env_close(env) }, "close the environment"))
    }
}

#[cold]
fn closed() -> EngineError {
    EngineError::failed(ID, "use the database", "it could not be opened again")
}

#[cold]
fn read_only() -> EngineError {
    EngineError::failed(ID, "write", "the transaction was begun to read")
}

impl Drop for Trees {
    fn drop(&mut self) {
        // Nobody is left to tell of an error; with transactions the log has what was committed.
        let _ = self.release(false);
    }
}

impl Lifecycle for Trees {
    fn maintain(&mut self) -> Result<()> {
        self.opened()?;
        if self.transactional {
            // SAFETY: the environment is open, with transactions.
            check(unsafe { ffi::ember_env_checkpoint(self.env) }, "checkpoint")
        } else {
            // SAFETY: the environment is open.
            check(unsafe { ffi::ember_env_sync(self.env) }, "write its cache to the files")
        }
    }

    /// After [`ShutdownKind::Crash`] there was no checkpoint, and tables were closed by `DB_NOSYNC`, which
    /// leaves what is in the cache there: meant for tables whose changes are in the log
    /// (<https://docs.oracle.com/cd/E17276_01/html/api_reference/C/dbclose.html>). Opening runs
    /// recovery, as it always does.
    fn reopen(&mut self, after: ShutdownKind) -> Result<()> {
        self.exclusive("open the database again")?;
        match after {
            ShutdownKind::Clean => self.maintain()?,
            ShutdownKind::Crash if !self.transactional => {
                let what = "recovery in the tier `none`: without a log, what is in the cache \
                            would be lost";
                return Err(EngineError::unsupported(ID, what));
            }
            ShutdownKind::Crash => {}
        }
        self.release(!self.transactional)?;
        self.env = env::open(&self.options)?;
        let (env, transactional) = (self.env, self.transactional);
        // SAFETY: the environment is open.
        self.tables.iter_mut().try_for_each(|tree| unsafe { tree.open(env, transactional) })
    }

    fn join(&self) -> Join {
        Join::Exclusive(
            "its environment is opened with DB_PRIVATE and without locking: one process alone may use it \
             (https://docs.oracle.com/cd/E17276_01/html/api_reference/C/envopen.html)",
        )
    }

    fn open_client(&mut self) -> Result<ClientOpener> {
        let what = "more than one client at a time: its environment is opened without DB_INIT_LOCK and \
                    DB_THREAD, for one thread \
                    (https://docs.oracle.com/cd/E17276_01/html/api_reference/C/envopen.html)";
        Err(EngineError::unsupported(ID, what))
    }

    fn close(mut self: Box<Self>) -> Result<()> {
        if self.env.is_null() {
            return Ok(());
        }
        let settled = self.end(false).and_then(|()| self.maintain());
        settled.and(self.release(!self.transactional))
    }
}

impl KvStore for Trees {
    fn table(&mut self, def: &TableDef<'_>) -> Result<Table> {
        self.exclusive("open a table")?;
        if let Some(known) = self.tables.iter().position(|tree| tree.is_named(def.name)) {
            return Ok(Table(known));
        }
        let mut tree = Tree::new(def)?;
        // SAFETY: the environment is open.
        let opened = unsafe { tree.open(self.env, self.transactional) };
        if let Err(error) = opened {
            // The error that led here is the one to tell.
            let _ = tree.close(false);
            return Err(error);
        }
        self.tables.push(tree);
        Ok(Table(self.tables.len() - 1))
    }

    /// By a new file: emptying the old one would log every page of it and keep its size.
    fn keeps_indexes(&self) -> bool {
        true
    }

    fn find(
        &mut self,
        table: Table,
        index: usize,
        range: Range<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let longest = [range.from, range.to].into_iter().flatten().map(<[u8]>::len).max();
        let index = self.tables[table.0].index(index, longest.unwrap_or_default())?;
        // SAFETY: open handles, which outlive the scan: it ends before this call does.
        let mut scan = unsafe { scan::Scan::open(index, self.txn) }?;
        scan.find(range, visit)?;
        scan.close()
    }

    fn clear(&mut self, table: Table) -> Result<()> {
        self.exclusive("clear a table")?;
        let tree = &mut self.tables[table.0];
        tree.drop_cursor()?;
        tree.close(false)?;
        // SAFETY: the environment is open and no handle of the files is. Opened again in any case,
        // so that the table stays usable.
        unsafe {
            let removed = tree.remove(self.env, self.transactional);
            removed.and(tree.open(self.env, self.transactional))
        }
    }

    /// A reading transaction is the environment as it stands: nobody else can change it.
    fn begin(&mut self, access: Access) -> Result<()> {
        self.exclusive("begin a transaction")?;
        if self.transactional && access == Access::Write {
            self.start(false)?;
        }
        self.access = Some(access);
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        if self.access.take().is_none() {
            return Err(EngineError::failed(ID, "commit", "no transaction was begun"));
        }
        self.end(true)
    }

    #[inline]
    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        let (mut value, mut bytes) = (ptr::null(), 0);
        let db = self.tables[table.0].db()?;
        // SAFETY: open handles; the key lives through the call.
        let code = unsafe {
            ffi::ember_get(db, self.txn, key.as_ptr(), size(key)?, &mut value, &mut bytes)
        };
        if !found(code, "get a value")? {
            return Ok(None);
        }
        // SAFETY: the value is in memory of the table's handle, valid until the handle is used
        // again, which needs `self`.
        Ok(Some(unsafe { scan::bytes(value, bytes) }))
    }

    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        self.writable()?;
        let tree = &self.tables[table.0];
        tree.check(value)?;
        let db = tree.db()?;
        let (key_size, value_size) = (size(key)?, size(value)?);
        // SAFETY: open handles; key and value live through the call.
        let code = unsafe {
            ffi::ember_put(db, self.txn, key.as_ptr(), key_size, value.as_ptr(), value_size)
        };
        check(code, "put a value")
    }

    fn modify(
        &mut self,
        table: Table,
        key: &[u8],
        change: &mut dyn FnMut(&mut [u8]),
    ) -> Result<bool> {
        self.writable()?;
        self.within(false, |trees| trees.change(table, key, change))
    }

    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        self.writable()?;
        let db = self.tables[table.0].db()?;
        // SAFETY: open handles; the key lives through the call.
        let code = unsafe { ffi::ember_del(db, self.txn, key.as_ptr(), size(key)?) };
        found(code, "delete a key")
    }

    /// In batches, in one transaction with `DB_TXN_BULK`: pages that are new to the file are not
    /// logged but written when it commits.
    fn bulk(&mut self, table: Table, pairs: &mut dyn Pairs) -> Result<u64> {
        self.writable()?;
        self.within(true, |trees| trees.load(table, pairs))
    }

    fn scan(
        &mut self,
        table: Table,
        range: Range<'_>,
        direction: Direction,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let db = self.tables[table.0].db()?;
        // SAFETY: open handles, which outlive the scan: it ends before this call does.
        let mut scan = unsafe { scan::Scan::open(db, self.txn) }?;
        let visited = match direction {
            Direction::Forward => scan.forward(range, &mut self.batch, visit),
            Direction::Backward => scan.backward(range, visit),
        };
        let _: ControlFlow<()> = visited?;
        scan.close()
    }
}
