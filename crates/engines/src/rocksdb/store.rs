//! The store over the database's column families.

use std::ffi::CString;
use std::ptr;

use embermark_model::Durability;

use super::api::Handle;
use super::batch::Batch;
use super::db::{Db, Value, c_string};
use super::library::RocksLib;
use super::scan::Scan;
use super::{ID, bulk, stored};
use crate::clients::Moved;
use crate::kv::{Direction, KvStore, Pairs, Range, Table, TableDef, Visit};
use crate::{
    Access, ClientOpener, EngineError, Join, Lifecycle, OpenOptions, Opened, Result, ShutdownKind,
    Store,
};

/// What of the database file is reported, by section.
const REPORTED: &[(&str, &[&str])] = &[
    ("DBOptions", &["db_write_buffer_size", "max_background_jobs", "bytes_per_sync"]),
    (
        "CFOptions \"default\"",
        &["write_buffer_size", "compression", "level_compaction_dynamic_level_bytes"],
    ),
    ("TableOptions", &["block_size", "filter_policy", "format_version"]),
];

/// An open database and its tables.
pub(super) struct Families {
    open: OpenOptions,
    tables: Vec<(CString, Handle)>,
    access: Option<Access>,
    /// What the transaction begun to write has changed; empty outside of one.
    batch: Batch<'static>,
    /// What the transaction begun to read sees, or null.
    snapshot: Handle,
    /// What [`KvStore::get`] gave out, held until the next call.
    found: Option<Value<'static>>,
    /// A value on its way through [`KvStore::modify`].
    value: Vec<u8>,
    /// Last, because fields are dropped in order.
    db: Db<'static>,
}

/// Opens a open.
pub(super) fn open(library: &'static RocksLib, open: &OpenOptions) -> Result<Opened> {
    let api = &library.api;
    let db = Db::open(api, open)?;
    let settings = settings(&db, open)?;
    let families = Families::of(open.clone(), Vec::new(), db);
    let version = library.version.clone();
    Ok(Opened { store: Store::Kv(Box::new(families)), version, settings, server: None })
}

fn settings(db: &Db<'_>, open: &OpenOptions) -> Result<Vec<(String, String)>> {
    let stored = stored::Options::read(&open.dir)
        .map_err(|error| EngineError::file(ID, "read the options in", &open.dir, error))?;
    let mut settings: Vec<_> =
        db.options.tier().map(|(name, on)| (name.to_owned(), on.to_string())).into();
    if let Some(cache) = db.property(c"rocksdb.block-cache-capacity") {
        settings.push(("block cache".to_owned(), format!("{cache} bytes")));
    }
    for (section, names) in REPORTED {
        for name in *names {
            if let Some(value) = stored.value(section, name) {
                settings.push(((*name).to_owned(), value.to_owned()));
            }
        }
    }
    Ok(settings)
}

impl Families {
    /// Outside of any transaction.
    fn of(open: OpenOptions, tables: Vec<(CString, Handle)>, db: Db<'static>) -> Self {
        let batch = Batch::new(db.api);
        let (snapshot, value) = (ptr::null_mut(), Vec::new());
        Self { open, tables, access: None, batch, snapshot, found: None, value, db }
    }

    /// Refuses inside of a transaction what must stand alone.
    fn exclusive(&mut self, doing: &str) -> Result<()> {
        self.found = None;
        let why = match self.access {
            Some(_) => "a transaction is open",
            None if self.db.raw.is_null() => "it could not be opened again",
            None => return Ok(()),
        };
        Err(EngineError::failed(ID, doing, why))
    }

    #[inline]
    fn family(&self, table: Table) -> Result<Handle> {
        let family = self.tables[table.0].1;
        if family.is_null() { Err(lost_table()) } else { Ok(family) }
    }

    /// The value of a key as the transaction under way sees it.
    #[inline]
    fn look(&mut self, family: Handle, key: &[u8]) -> Result<Option<Value<'static>>> {
        match self.access {
            Some(Access::Write) => {
                let batch = self.indexed()?;
                self.db.get_through(batch, family, key)
            }
            _ => self.db.get(family, key),
        }
    }

    /// The batch of the transaction begun to write, which is read or is more than pairs put.
    #[inline]
    fn indexed(&mut self) -> Result<Handle> {
        let families = self.tables.iter().map(|(_, family)| *family).filter(|f| !f.is_null());
        self.batch.indexed(families)
    }

    #[inline]
    fn write(&mut self, family: Handle, key: &[u8], value: &[u8]) -> Result<()> {
        match self.access {
            Some(Access::Write) => {
                self.batch.put(family, key, value);
                Ok(())
            }
            Some(Access::Read) => Err(read_only()),
            None => self.db.put(family, key, value),
        }
    }

    /// Ends the snapshot of a transaction begun to read.
    fn forget_snapshot(&mut self) {
        let snapshot = std::mem::replace(&mut self.snapshot, ptr::null_mut());
        if !snapshot.is_null() {
            // SAFETY: taken from this database; the options forget it first.
            unsafe {
                (self.db.api.readoptions_set_snapshot)(self.db.options.read, ptr::null_mut());
                (self.db.api.release_snapshot)(self.db.raw, snapshot);
            }
        }
    }

    /// Gives the tables' handles back, before the database is closed.
    fn forget_families(&mut self) {
        if self.db.guard.is_some() || self.db.handles.is_lending() {
            // Another's, or in another's use.
            self.tables.iter_mut().for_each(|(_, family)| *family = ptr::null_mut());
        }
        for (_, family) in self.tables.iter_mut().filter(|(_, family)| !family.is_null()) {
            // SAFETY: ours, in an open database, and forgotten.
            unsafe { (self.db.api.column_family_handle_destroy)(*family) };
            *family = ptr::null_mut();
        }
    }

    fn flush(&self) -> Result<()> {
        (0..self.tables.len()).try_for_each(|table| self.db.flush(self.family(Table(table))?))
    }
}

#[cold]
fn lost_table() -> EngineError {
    EngineError::failed(ID, "use a table", "it could not be opened or made again")
}

#[cold]
fn read_only() -> EngineError {
    EngineError::failed(ID, "write", "the transaction was begun to read")
}

impl Drop for Families {
    fn drop(&mut self) {
        self.found = None;
        self.forget_snapshot();
        self.forget_families();
    }
}

impl Lifecycle for Families {
    /// Writes what is in memory to tables, and merges them.
    fn maintain(&mut self) -> Result<()> {
        self.flush()?;
        self.tables.iter().for_each(|(_, family)| self.db.compact(*family));
        Ok(())
    }

    /// After [`ShutdownKind::Crash`] nothing is flushed, and the log is replayed when it is opened.
    fn reopen(&mut self, after: ShutdownKind) -> Result<()> {
        self.exclusive("open the database again")?;
        self.db.handles.refuse(ID, "open the database again")?;
        match after {
            ShutdownKind::Clean => self.flush()?,
            ShutdownKind::Crash if self.open.durability == Durability::None => {
                let what = "recovery in the tier `none`: without a log, what is in memory would \
                            be lost";
                return Err(EngineError::unsupported(ID, what));
            }
            ShutdownKind::Crash => {}
        }
        self.forget_families();
        let mut names = self.db.close();
        names.extend(self.tables.iter().map(|(name, _)| name.clone()));
        self.db = Db::open_known(self.db.api, &self.open, names)?;
        for (name, family) in &mut self.tables {
            *family = self.db.family(name)?;
        }
        Ok(())
    }

    fn join(&self) -> Join {
        Join::Exclusive(
            "one process opens a database to write; a secondary instance is a read-only copy that catches \
             up when it is told to (https://github.com/facebook/rocksdb/wiki/Read-only-and-Secondary-instances)",
        )
    }

    /// The same database and column families, with reads and writes of its own: threads share a
    /// database without more ado (<https://github.com/facebook/rocksdb/wiki/Basic-Operations#concurrency>).
    fn open_client(&mut self) -> Result<ClientOpener> {
        self.exclusive("let a further client in")?;
        // SAFETY: threads share a database, as the page above has it.
        let shared =
            unsafe { Moved::new((self.db.raw, self.tables.clone(), self.db.handles.guard())) };
        let (api, open) = (self.db.api, self.open.clone());
        Ok(ClientOpener::new(move || {
            let (raw, tables, guard) = shared.take();
            let db = Db::of(api, &open, raw, guard);
            Ok(Store::Kv(Box::new(Self::of(open, tables, db))))
        }))
    }

    fn close(self: Box<Self>) -> Result<()> {
        if self.db.guard.is_some() {
            return Ok(());
        }
        self.db.handles.refuse(ID, "close the database")?;
        self.flush()
    }
}

impl KvStore for Families {
    fn table(&mut self, def: &TableDef<'_>) -> Result<Table> {
        self.exclusive("open a table")?;
        // Apart from the family `default`, which cannot be removed.
        let name = c_string(format!("table {}", def.name), "open a table")?;
        if let Some(known) = self.tables.iter().position(|(known, _)| *known == name) {
            return Ok(Table(known));
        }
        let family = self.db.family(&name)?;
        self.tables.push((name, family));
        Ok(Table(self.tables.len() - 1))
    }

    /// By a new column family: its files go as a whole.
    fn clear(&mut self, table: Table) -> Result<()> {
        self.exclusive("clear a table")?;
        self.db.handles.refuse(ID, "clear a table")?;
        let family = self.family(table)?;
        self.db.remove(family)?;
        let (name, family) = &mut self.tables[table.0];
        // SAFETY: open, and forgotten.
        unsafe { (self.db.api.column_family_handle_destroy)(*family) };
        *family = ptr::null_mut();
        *family = self.db.family(name)?;
        Ok(())
    }

    fn begin(&mut self, access: Access) -> Result<()> {
        self.exclusive("begin a transaction")?;
        if access == Access::Read {
            // SAFETY: open; the options keep the snapshot until it is forgotten.
            unsafe {
                self.snapshot = (self.db.api.create_snapshot)(self.db.raw);
                (self.db.api.readoptions_set_snapshot)(self.db.options.read, self.snapshot);
            }
        }
        self.access = Some(access);
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        self.found = None;
        match self.access.take() {
            None => Err(EngineError::failed(ID, "commit", "no transaction was begun")),
            Some(Access::Read) => {
                self.forget_snapshot();
                Ok(())
            }
            Some(Access::Write) => self.batch.commit(self.db.raw, &self.db.options),
        }
    }

    #[inline]
    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        self.found = None;
        let family = self.family(table)?;
        self.found = self.look(family, key)?;
        Ok(self.found.as_ref().map(Value::bytes))
    }

    #[inline]
    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        self.found = None;
        let family = self.family(table)?;
        self.write(family, key, value)
    }

    /// By a read and a write: the library has no change in place.
    fn modify(
        &mut self,
        table: Table,
        key: &[u8],
        change: &mut dyn FnMut(&mut [u8]),
    ) -> Result<bool> {
        self.found = None;
        let family = self.family(table)?;
        let Some(value) = self.look(family, key)? else { return Ok(false) };
        let mut buffer = std::mem::take(&mut self.value);
        buffer.clear();
        buffer.extend_from_slice(value.bytes());
        change(&mut buffer);
        let written = self.write(family, key, &buffer);
        self.value = buffer;
        written.map(|()| true)
    }

    /// Looks first: the library does not tell whether a key was there.
    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        self.found = None;
        let family = self.family(table)?;
        if self.look(family, key)?.is_none() {
            return Ok(false);
        }
        match self.access {
            Some(Access::Write) => {
                let (api, batch) = (self.db.api, self.indexed()?);
                // SAFETY: open; the key lives through the call, which copies it.
                unsafe { (api.writebatch_wi_delete_cf)(batch, family, key.as_ptr(), key.len()) };
            }
            Some(Access::Read) => return Err(read_only()),
            None => self.db.delete(family, key)?,
        }
        Ok(true)
    }

    fn bulk(&mut self, table: Table, pairs: &mut dyn Pairs) -> Result<u64> {
        self.exclusive("load a table")?;
        bulk::load(&self.db, &self.open.dir, self.family(table)?, pairs)
    }

    fn scan(
        &mut self,
        table: Table,
        range: Range<'_>,
        direction: Direction,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        self.found = None;
        let (api, family) = (self.db.api, self.family(table)?);
        let batch = match self.access {
            Some(Access::Write) => Some(self.indexed()?),
            _ => None,
        };
        // SAFETY: all are open, and nothing changes before the scan ends with this call. The
        // second iterator takes the first over.
        let mut scan = unsafe {
            let tables = (api.create_iterator_cf)(self.db.raw, self.db.options.read, family);
            let through = api.writebatch_wi_create_iterator_with_base_cf;
            Scan::new(api, batch.map_or(tables, |batch| through(batch, tables, family)))
        };
        let _ = match direction {
            Direction::Forward => scan.forward(range, visit)?,
            Direction::Backward => scan.backward(range, visit)?,
        };
        Ok(())
    }
}
