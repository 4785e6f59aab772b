//! The store over the environment's databases.

use std::ffi::CString;
use std::ops::ControlFlow;
use std::ptr;

use super::env::{self, Env};
use super::scan::Cursor;
use super::{ID, NOTHING, bytes, check, ffi, found, val};
use crate::kv::{Direction, KvStore, Pairs, Range, Table, TableDef, Visit};
use crate::{
    Access, ClientOpener, EngineError, Join, Lifecycle, OpenOptions, Opened, Result, ShutdownKind,
    Store,
};

/// An open environment and its tables. The environment's handle comes first, where the
/// workloads' benchmark `overhead` looks for it to run a bare loop on the same database; `env`,
/// which closes it, comes last, because fields are dropped in order. Both are null only after a
/// [`reopen`](Lifecycle::reopen) that failed.
#[repr(C)]
pub(super) struct Databases {
    raw: *mut ffi::MDB_env,
    tables: Vec<Database>,
    /// The transaction that was begun to write, or null.
    writer: *mut ffi::MDB_txn,
    /// One reading transaction for every read outside of the writer: reset when it ends, renewed
    /// when the next begins, as the manual advises. Null until the first.
    reader: *mut ffi::MDB_txn,
    /// Whether `reader` is renewed; what was read stays valid until it is reset.
    reading: bool,
    access: Option<Access>,
    /// A value on its way through [`KvStore::modify`].
    value: Vec<u8>,
    options: OpenOptions,
    env: Env,
}

struct Database {
    name: CString,
    dbi: ffi::MDB_dbi,
    /// For [`KvStore::modify`], in the transaction that was begun to write.
    cursor: Option<Cursor>,
}

/// Opens a database.
pub(super) fn open(options: &OpenOptions) -> Result<Opened> {
    let env = Env::open(options)?;
    let settings = env.settings()?;
    let store = Store::Kv(Box::new(Databases::of(env, options)));
    Ok(Opened { store, version: env::version(), settings, server: None })
}

/// Opens what another process has open there.
pub(super) fn join(options: &OpenOptions) -> Result<Store> {
    Ok(Store::Kv(Box::new(Databases::of(Env::join(options)?, options))))
}

impl Databases {
    fn of(env: Env, options: &OpenOptions) -> Self {
        Self {
            raw: env.raw(),
            tables: Vec::new(),
            writer: ptr::null_mut(),
            reader: ptr::null_mut(),
            reading: false,
            access: None,
            value: Vec::new(),
            options: options.clone(),
            env,
        }
    }

    /// Opens handles in one reading transaction, whose end makes them the environment's.
    fn handles<'a>(
        &mut self,
        wanted: impl Iterator<Item = (&'a CString, &'a mut ffi::MDB_dbi)>,
    ) -> Result<()> {
        self.rest();
        self.renew()?;
        self.reading = false;
        let txn = std::mem::replace(&mut self.reader, ptr::null_mut());
        let mut opened = Ok(());
        for (name, dbi) in wanted {
            // SAFETY: `txn` is under way and the only one; the name lives through the call.
            let code = unsafe { ffi::mdb_dbi_open(txn, name.as_ptr(), 0, dbi) };
            opened = opened.and(check(code, "open a table"));
        }
        // SAFETY: under way, without cursors, and not used again whatever this returns.
        let ended = check(unsafe { ffi::mdb_txn_commit(txn) }, "open a table");
        opened.and(ended)
    }

    /// Refuses inside of a transaction what must stand alone.
    fn exclusive(&self, doing: &str) -> Result<()> {
        if self.access.is_none() {
            Ok(())
        } else {
            Err(EngineError::failed(ID, doing, "a transaction is open"))
        }
    }

    /// The environment's handle.
    #[inline]
    fn environment(&self) -> Result<*mut ffi::MDB_env> {
        if self.raw.is_null() { Err(closed()) } else { Ok(self.raw) }
    }

    /// The transaction to read in: the one under way, or a new one that lasts until the next call.
    #[inline]
    fn snapshot(&mut self) -> Result<*mut ffi::MDB_txn> {
        match self.access {
            Some(Access::Write) => return Ok(self.writer),
            Some(Access::Read) => {}
            None => {
                self.rest();
                self.renew()?;
            }
        }
        Ok(self.reader)
    }

    #[inline]
    fn renew(&mut self) -> Result<()> {
        let code = if self.reader.is_null() {
            let env = self.environment()?;
            // SAFETY: the environment is open.
            unsafe { ffi::mdb_txn_begin(env, ptr::null_mut(), ffi::MDB_RDONLY, &mut self.reader) }
        } else {
            // SAFETY: a reading transaction that was reset.
            unsafe { ffi::mdb_txn_renew(self.reader) }
        };
        check(code, "begin to read")?;
        self.reading = true;
        Ok(())
    }

    /// Ends the last read outside of a transaction, if it still lasts.
    #[inline]
    fn rest(&mut self) {
        if self.reading {
            // SAFETY: a reading transaction under way, without cursors.
            unsafe { ffi::mdb_txn_reset(self.reader) };
            self.reading = false;
        }
    }

    /// Runs work in the transaction begun to write, or else in one of its own.
    #[inline]
    fn within<T>(
        &mut self,
        work: impl FnOnce(&mut Self, *mut ffi::MDB_txn) -> Result<T>,
    ) -> Result<T> {
        match self.access {
            Some(Access::Write) => return work(self, self.writer),
            Some(Access::Read) => return Err(read_only()),
            None => {}
        }
        let txn = self.start()?;
        match work(self, txn) {
            Ok(value) => {
                // SAFETY: under way, its cursors closed, and not used again whatever this returns.
                check(unsafe { ffi::mdb_txn_commit(txn) }, "commit")?;
                Ok(value)
            }
            Err(error) => {
                // SAFETY: as above.
                unsafe { ffi::mdb_txn_abort(txn) };
                Err(error)
            }
        }
    }

    fn start(&mut self) -> Result<*mut ffi::MDB_txn> {
        self.rest();
        let (env, mut txn) = (self.environment()?, ptr::null_mut());
        // SAFETY: the environment is open, and no other transaction writes.
        let code = unsafe { ffi::mdb_txn_begin(env, ptr::null_mut(), 0, &mut txn) };
        check(code, "begin to write")?;
        Ok(txn)
    }

    /// Ends every transaction, keeping nothing of one that was not committed.
    fn release(&mut self) {
        self.access = None;
        self.reading = false;
        let writer = self.take_writer();
        for txn in [writer, std::mem::replace(&mut self.reader, ptr::null_mut())] {
            if !txn.is_null() {
                // SAFETY: under way or reset, without cursors, and not used again.
                unsafe { ffi::mdb_txn_abort(txn) };
            }
        }
    }

    /// Takes the transaction begun to write, closing the cursors in it.
    fn take_writer(&mut self) -> *mut ffi::MDB_txn {
        for table in &mut self.tables {
            table.cursor = None;
        }
        std::mem::replace(&mut self.writer, ptr::null_mut())
    }
}

/// Changes the value a cursor finds, by a buffer: a page of the map may not be written before
/// the library has made a copy of it.
fn change(
    cursor: &mut Cursor,
    buffer: &mut Vec<u8>,
    key: &[u8],
    change: &mut dyn FnMut(&mut [u8]),
) -> Result<bool> {
    let Some((_, value)) = cursor.step(ffi::MDB_SET_KEY, key)? else { return Ok(false) };
    buffer.clear();
    buffer.extend_from_slice(value);
    change(buffer);
    cursor.put(key, buffer, ffi::MDB_CURRENT)?;
    Ok(true)
}

#[cold]
fn closed() -> EngineError {
    EngineError::failed(ID, "use the database", "it could not be opened again")
}

#[cold]
fn read_only() -> EngineError {
    EngineError::failed(ID, "write", "the transaction was begun to read")
}

impl Drop for Databases {
    fn drop(&mut self) {
        self.release();
    }
}

impl Lifecycle for Databases {
    /// LMDB has neither a log to checkpoint nor pages to compact in place; what remains is to
    /// bring the pages to the disk.
    fn maintain(&mut self) -> Result<()> {
        self.environment()?;
        self.env.sync()
    }

    /// By the library's own close, which syncs nothing: a commit has, where the tier says so.
    fn reopen(&mut self, after: ShutdownKind) -> Result<()> {
        const DOING: &str = "open the database again";
        self.exclusive(DOING)?;
        if after == ShutdownKind::Crash {
            let what =
                "recovery: it has no log to recover, and opens the same whatever came before";
            return Err(EngineError::unsupported(ID, what));
        }
        self.env.handles.refuse(ID, DOING)?;
        self.release();
        self.raw = ptr::null_mut();
        self.env.release();
        self.env = self.env.again(&self.options)?;
        self.raw = self.env.raw();
        if self.tables.is_empty() {
            return Ok(());
        }
        let mut tables = std::mem::take(&mut self.tables);
        let opened = self.handles(tables.iter_mut().map(|table| (&table.name, &mut table.dbi)));
        self.tables = tables;
        opened.inspect_err(|_| {
            // Tables without handles are of no use.
            self.raw = ptr::null_mut();
            self.env.release();
        })
    }

    /// Locks are on, so processes may share it
    /// (<http://www.lmdb.tech/doc/starting.html>). A lone read's snapshot lasts until the next call,
    /// and keeps other processes from using pages again that it sees: [`KvStore::begin`] to read
    /// ends it at [`KvStore::commit`].
    fn join(&self) -> Join {
        Join::At(self.options.dir.display().to_string())
    }

    /// The same environment and tables, with transactions of its own: readers wait for nobody, and
    /// a writer waits until the writer before it has ended.
    fn open_client(&mut self) -> Result<ClientOpener> {
        self.exclusive("let a further client in")?;
        self.environment()?;
        let (lent, options) = (self.env.guard(), self.options.clone());
        let tables: Vec<(CString, ffi::MDB_dbi)> =
            self.tables.iter().map(|table| (table.name.clone(), table.dbi)).collect();
        Ok(ClientOpener::new(move || {
            let (raw, guard) = lent.take();
            let mut client = Self::of(Env::of(raw, guard), &options);
            let known = tables.into_iter().map(|(name, dbi)| Database { name, dbi, cursor: None });
            client.tables.extend(known);
            Ok(Store::Kv(Box::new(client)))
        }))
    }

    fn close(mut self: Box<Self>) -> Result<()> {
        self.release();
        if self.raw.is_null() { Ok(()) } else { self.env.close() }
    }
}

impl KvStore for Databases {
    fn table(&mut self, def: &TableDef<'_>) -> Result<Table> {
        const DOING: &str = "open a table";
        self.exclusive(DOING)?;
        let name = CString::new(def.name).map_err(|error| EngineError::failed(ID, DOING, error))?;
        if let Some(known) = self.tables.iter().position(|table| table.name == name) {
            return Ok(Table(known));
        }
        let mut dbi = 0;
        if self.env.is_ours() {
            self.within(|_, txn| {
                let flags = ffi::MDB_CREATE;
                // SAFETY: `txn` is under way and the only one; the name lives through the call.
                let code = unsafe { ffi::mdb_dbi_open(txn, name.as_ptr(), flags, &mut dbi) };
                check(code, DOING)
            })?;
        } else {
            self.handles(std::iter::once((&name, &mut dbi)))?;
        }
        self.tables.push(Database { name, dbi, cursor: None });
        Ok(Table(self.tables.len() - 1))
    }

    fn clear(&mut self, table: Table) -> Result<()> {
        self.exclusive("clear a table")?;
        let dbi = self.tables[table.0].dbi;
        // SAFETY: `txn` is under way; 0 empties the database and keeps it.
        self.within(|_, txn| check(unsafe { ffi::mdb_drop(txn, dbi, 0) }, "clear a table"))
    }

    fn begin(&mut self, access: Access) -> Result<()> {
        self.exclusive("begin a transaction")?;
        match access {
            Access::Read => {
                self.rest();
                self.renew()?;
            }
            Access::Write => self.writer = self.start()?,
        }
        self.access = Some(access);
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        match self.access.take() {
            None => Err(EngineError::failed(ID, "commit", "no transaction was begun")),
            Some(Access::Read) => {
                self.rest();
                Ok(())
            }
            Some(Access::Write) => {
                let txn = self.take_writer();
                // SAFETY: under way, without cursors, and not used again whatever this returns.
                check(unsafe { ffi::mdb_txn_commit(txn) }, "commit")
            }
        }
    }

    #[inline]
    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        let txn = self.snapshot()?;
        let (mut key, mut value) = (val(key), NOTHING);
        // SAFETY: `txn` is under way; the key is only read.
        let code = unsafe { ffi::mdb_get(txn, self.tables[table.0].dbi, &mut key, &mut value) };
        if !found(code, "get a value")? {
            return Ok(None);
        }
        // SAFETY: in the map until the transaction ends or changes something, which needs `self`.
        Ok(Some(unsafe { bytes(value) }))
    }

    /// As the root of the table's tree has it: `md_entries`, kept by every change.
    fn count(&mut self, table: Table) -> Result<Option<u64>> {
        let txn = self.snapshot()?;
        // SAFETY: a plain C struct of integers, for which zeros are valid.
        let mut stat = unsafe { std::mem::zeroed::<ffi::MDB_stat>() };
        // SAFETY: `txn` is under way; fills the struct.
        let code = unsafe { ffi::mdb_stat(txn, self.tables[table.0].dbi, &mut stat) };
        check(code, "count the keys")?;
        Ok(Some(stat.ms_entries as u64))
    }

    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        let dbi = self.tables[table.0].dbi;
        self.within(|_, txn| {
            let (mut key, mut value) = (val(key), val(value));
            // SAFETY: `txn` is under way; both are only read.
            check(unsafe { ffi::mdb_put(txn, dbi, &mut key, &mut value, 0) }, "put a value")
        })
    }

    fn modify(&mut self, table: Table, key: &[u8], new: &mut dyn FnMut(&mut [u8])) -> Result<bool> {
        self.within(|store, txn| {
            let table = &mut store.tables[table.0];
            if store.access.is_none() {
                // SAFETY: `txn` outlives this block, at whose end the cursor is closed.
                let mut cursor = unsafe { Cursor::open(txn, table.dbi) }?;
                return change(&mut cursor, &mut store.value, key, new);
            }
            let cursor = match &mut table.cursor {
                Some(cursor) => cursor,
                // SAFETY: `txn` is the writer, which is taken by `take_writer` alone, and that
                // closes the cursor.
                none => none.insert(unsafe { Cursor::open(txn, table.dbi) }?),
            };
            change(cursor, &mut store.value, key, new)
        })
    }

    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        let dbi = self.tables[table.0].dbi;
        self.within(|_, txn| {
            let mut key = val(key);
            // SAFETY: `txn` is under way; the key is only read.
            let code = unsafe { ffi::mdb_del(txn, dbi, &mut key, ptr::null_mut()) };
            found(code, "delete a key")
        })
    }

    /// By `MDB_APPEND`, which fills page after page without a search.
    fn bulk(&mut self, table: Table, pairs: &mut dyn Pairs) -> Result<u64> {
        let dbi = self.tables[table.0].dbi;
        self.within(|_, txn| {
            // SAFETY: `txn` outlives this block, at whose end the cursor is closed.
            let mut cursor = unsafe { Cursor::open(txn, dbi) }?;
            let mut rows = 0;
            while let Some((key, value)) = pairs.next() {
                cursor.put(key, value, ffi::MDB_APPEND)?;
                rows += 1;
            }
            Ok(rows)
        })
    }

    fn scan(
        &mut self,
        table: Table,
        range: Range<'_>,
        direction: Direction,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let txn = self.snapshot()?;
        // SAFETY: `txn` lasts until the next call at least, and the cursor is closed before.
        let mut cursor = unsafe { Cursor::open(txn, self.tables[table.0].dbi) }?;
        let _: ControlFlow<()> = match direction {
            Direction::Forward => cursor.forward(range, visit)?,
            Direction::Backward => cursor.backward(range, visit)?,
        };
        Ok(())
    }
}
