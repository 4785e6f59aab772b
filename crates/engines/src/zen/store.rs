//! The store over the engine's files.

use std::ops::ControlFlow;
use std::path::PathBuf;

use super::bulk::Batch;
use super::client::{Client, int};
use super::ffi::{Api, Comparison, MAXIMUM_RECORD_LENGTH};
use super::file::PRIMARY;
use super::scan::{Start, Walk};
use super::table::IsamTable;
use super::tier::Mode;
use super::{NAME, settings};
use crate::kv::{Direction, KvStore, Pairs, Range, Table, TableDef, Visit};
use crate::{
    Access, ClientOpener, EngineError, Join, Lifecycle, OpenOptions, Opened, Result, ShutdownKind,
    Store,
};

/// A session, and the files it has open.
pub(super) struct Isam {
    /// Dropped before the client they were opened with.
    tables: Vec<IsamTable>,
    client: Client,
    dir: PathBuf,
    mode: Mode,
    /// What the caller's transaction does, while there is one.
    access: Option<Access>,
    /// Whether the engine has a transaction under way.
    under_way: bool,
    /// The record on its way in or out.
    record: Box<[u8]>,
    /// A record that is about to be replaced.
    old: Box<[u8]>,
    /// A key as long as the table's.
    key: Vec<u8>,
}

/// Opens a database.
pub(super) fn open(api: &'static Api, mode: Mode, options: &OpenOptions) -> Result<Opened> {
    let client = Client::new(api)?;
    let versions = client.versions()?;
    let settings = settings::read(&client, mode, options, &versions.client)?;
    let version = versions.engine.unwrap_or(versions.client);
    let store = Isam {
        tables: Vec::new(),
        client,
        dir: options.dir.clone(),
        mode,
        access: None,
        under_way: false,
        record: vec![0; MAXIMUM_RECORD_LENGTH].into(),
        old: vec![0; MAXIMUM_RECORD_LENGTH].into(),
        key: Vec::new(),
    };
    Ok(Opened { store: Store::Kv(Box::new(store)), version, settings, server: None })
}

impl Isam {
    /// Refuses inside of a transaction what must stand alone.
    fn exclusive(&self, doing: &str) -> Result<()> {
        match self.access {
            None => self.client.check_open(),
            Some(_) => Err(EngineError::failed(NAME, doing, "a transaction is open")),
        }
    }

    /// Runs a change in the transaction under way or else, where the tier wants one, in one of
    /// its own.
    #[inline]
    fn within<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.access == Some(Access::Read) {
            return Err(read_only());
        }
        if self.mode == Mode::Accelerated || self.under_way {
            return work(self);
        }
        self.client.begin()?;
        match work(self) {
            Ok(value) => self.client.end().map(|()| value),
            Err(error) => {
                // The first error is the one to tell.
                let _ = self.client.abort();
                Err(error)
            }
        }
    }

    /// Reads the record of a key into `self.record`; its length.
    #[inline]
    fn fetch(&mut self, table: Table, key: &[u8]) -> Result<Option<usize>> {
        let table = &self.tables[table.0];
        if key.len() != table.key_length {
            return Ok(None);
        }
        let into = &mut self.record[..table.room()];
        table.file()?.retrieve(Comparison::Equal, PRIMARY, key, into)
    }

    fn replace(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        let table = &mut self.tables[table.0];
        let length = table.compose(key, value, &mut self.record)?;
        let (file, room) = (table.file()?, table.room());
        let record = &mut self.record[..length];
        if file.create(record)? {
            return Ok(());
        }
        match file.retrieve(Comparison::Equal, PRIMARY, key, &mut self.old[..room])? {
            Some(_) => file.update(record),
            None => Err(EngineError::failed(NAME, "put a value", "its key is there and is not")),
        }
    }

    fn load(&mut self, table: Table, pairs: &mut dyn Pairs) -> Result<u64> {
        let table = &mut self.tables[table.0];
        // The batch holds the file, the table goes on laying records out.
        let file = table.take_file()?;
        let mut rows = 0;
        let mut loaded = || -> Result<()> {
            let mut batch = Batch::new(&file);
            while let Some((key, value)) = pairs.next() {
                let length = table.compose(key, value, &mut self.record)?;
                batch.add(&mut self.record[..length])?;
                rows += 1;
            }
            batch.flush()
        };
        let loaded = loaded();
        table.put_back(file);
        loaded.map(|()| rows)
    }

    /// Closes everything: transaction, files, session. All of it is tried; the first error is
    /// returned.
    fn release(&mut self) -> Result<()> {
        let aborted =
            if std::mem::take(&mut self.under_way) { self.client.abort() } else { Ok(()) };
        let closed = self.tables.iter_mut().map(IsamTable::close).fold(aborted, Result::and);
        closed.and(self.client.close())
    }
}

impl Lifecycle for Isam {
    /// Nothing: the interface has no checkpoint, no compaction and no statistics. The engine
    /// writes changed pages out by itself, bundled into system transactions
    /// (<http://docs.actian.com/psql/PSQLv11/prog_gde/fundmnts.04.12.html>).
    fn maintain(&mut self) -> Result<()> {
        Ok(())
    }

    /// A new session, and the files opened in it. The engine runs on, so there is nothing to
    /// recover.
    fn reopen(&mut self, after: ShutdownKind) -> Result<()> {
        self.exclusive("open the database again")?;
        if after == ShutdownKind::Crash {
            let what = "recovery with a session: the engine recovers when the engine starts";
            return Err(EngineError::unsupported(NAME, what));
        }
        self.release()?;
        self.client = Client::new(self.client.api)?;
        for table in &mut self.tables {
            // SAFETY: as in `table`.
            unsafe { table.reopen(&self.client, self.mode.open_mode()) }?;
        }
        Ok(())
    }

    fn join(&self) -> Join {
        Join::Exclusive(
            "this adapter opens one client: a second one was never tried against the engine",
        )
    }

    fn open_client(&mut self) -> Result<ClientOpener> {
        let what = "more than one client at a time: this adapter opens one, and a second one was never \
                    tried against the engine";
        Err(EngineError::unsupported(NAME, what))
    }

    fn close(mut self: Box<Self>) -> Result<()> {
        self.release()
    }
}

impl Drop for Isam {
    fn drop(&mut self) {
        // The error that led here is the one to tell.
        let _ = self.release();
    }
}

impl KvStore for Isam {
    fn table(&mut self, def: &TableDef<'_>) -> Result<Table> {
        if let Some(known) = self.tables.iter().position(|table| table.name == def.name) {
            return Ok(Table(known));
        }
        self.exclusive("open a table")?;
        // SAFETY: the client is closed and dropped after the tables.
        let table =
            unsafe { IsamTable::open(&self.client, &self.dir, self.mode.open_mode(), def) }?;
        self.tables.push(table);
        Ok(Table(self.tables.len() - 1))
    }

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
        let table = &self.tables[table.0];
        let from = range.from.unwrap_or_default();
        let field = table.indexes.get(index).copied().filter(|f| f.length >= from.len());
        let Some(field) = field else { return Err(no_index(table, index, from.len())) };
        // The lowest bytes that begin so.
        let mut lowest = from.to_vec();
        lowest.resize(field.length, 0);
        let key_length = table.key_length;
        let mut walk = Walk {
            file: table.file()?,
            index: int(index + 1),
            direction: Direction::Forward,
            record: &mut self.record[..table.room()],
            uniform: table.uniform(),
        };
        walk.go(Start::At(Comparison::GreaterThanOrEqual, &lowest), &mut |record| {
            if range.to.is_some_and(|to| record[field.at..field.end()] >= *to) {
                return ControlFlow::Break(());
            }
            let (key, value) = record.split_at(key_length);
            visit(key, value)
        })
    }

    fn clear(&mut self, table: Table) -> Result<()> {
        self.exclusive("clear a table")?;
        // SAFETY: as in `table`.
        unsafe { self.tables[table.0].clear(&self.client, self.mode.open_mode()) }
    }

    /// A reading transaction needs none of the engine's: nobody else changes the files.
    fn begin(&mut self, access: Access) -> Result<()> {
        self.exclusive("begin a transaction")?;
        if self.mode == Mode::Durable && access == Access::Write {
            self.client.begin()?;
            self.under_way = true;
        }
        self.access = Some(access);
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        if self.access.take().is_none() {
            return Err(EngineError::failed(NAME, "commit", "no transaction is open"));
        }
        if std::mem::take(&mut self.under_way) { self.client.end() } else { Ok(()) }
    }

    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        let length = self.fetch(table, key)?;
        Ok(length.map(|length| &self.record[key.len()..length]))
    }

    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        self.within(|store| store.replace(table, key, value))
    }

    fn modify(
        &mut self,
        table: Table,
        key: &[u8],
        change: &mut dyn FnMut(&mut [u8]),
    ) -> Result<bool> {
        self.within(|store| {
            let Some(length) = store.fetch(table, key)? else { return Ok(false) };
            change(&mut store.record[key.len()..length]);
            store.tables[table.0].file()?.update(&store.record[..length])?;
            Ok(true)
        })
    }

    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        self.within(|store| {
            let found = store.fetch(table, key)?.is_some();
            if found {
                store.tables[table.0].file()?.delete()?;
            }
            Ok(found)
        })
    }

    fn bulk(&mut self, table: Table, pairs: &mut dyn Pairs) -> Result<u64> {
        self.within(|store| store.load(table, pairs))
    }

    fn scan(
        &mut self,
        table: Table,
        range: Range<'_>,
        direction: Direction,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let table = &self.tables[table.0];
        let key_length = table.key_length;
        self.key.resize(key_length, 0);
        let start = Start::of(range, direction, &mut self.key);
        let mut walk = Walk {
            file: table.file()?,
            index: PRIMARY,
            direction,
            record: &mut self.record[..table.room()],
            uniform: table.uniform(),
        };
        walk.go(start, &mut |record| {
            let (key, value) = record.split_at(key_length);
            let beyond = match direction {
                Direction::Forward => range.to.is_some_and(|to| key >= to),
                Direction::Backward => range.from.is_some_and(|from| key < from),
            };
            if beyond { ControlFlow::Break(()) } else { visit(key, value) }
        })
    }
}

#[cold]
fn read_only() -> EngineError {
    EngineError::failed(NAME, "change a table", "the transaction is one that only reads")
}

#[cold]
fn no_index(table: &IsamTable, index: usize, length: usize) -> EngineError {
    let what = format!("index {index} over {length} bytes, which table {} has not", table.name);
    EngineError::unsupported(NAME, what)
}
