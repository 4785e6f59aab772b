//! redb, a B-tree of copied-on-write pages in pure Rust: a whole engine in one file.

use std::ops::Bound::{self, Excluded, Included, Unbounded};
use std::path::PathBuf;
use std::sync::Arc;

use ::redb::{
    AccessGuard, Database, Durability as Commit, ReadOnlyTable, ReadTransaction, ReadableDatabase,
    ReadableTable, ReadableTableMetadata, TableDefinition, WriteTransaction,
};
use embermark_model::Durability;

use crate::kv::{Direction, KvStore, Pairs, Range, Table, TableDef, Visit};
use crate::{
    Access, ClientOpener, EngineError, Join, Lifecycle, OpenOptions, Opened, Result, ShutdownKind,
    Store,
};
use crate::{Availability, DataModel, Engine, Info, Kind, Tier};

const ID: &str = "redb";
/// Of the crate that is compiled in; the build script takes it from the lock file.
const VERSION: &str = env!("REDB_VERSION");

/// The engine.
pub(crate) struct Redb;

impl Engine for Redb {
    fn info(&self) -> Info {
        let (kind, family) = (Kind::Embedded, DataModel::KeyValue);
        Info { id: ID, name: "redb", kind, family, licence: "MIT or Apache-2.0" }
    }

    fn availability(&self) -> Availability {
        Availability::Ready { version: VERSION.to_owned() }
    }

    /// <https://docs.rs/redb/4/redb/enum.Durability.html> has two levels and none between them.
    fn tier(&self, durability: Durability) -> Tier {
        match durability {
            Durability::None => Tier::Offered {
                keeps: Durability::None,
                setting: "Durability::None: a commit is kept by the next Durability::Immediate, \
                          at rest and at close",
            },
            Durability::Process | Durability::Power => Tier::Offered {
                keeps: Durability::Power,
                setting: "Durability::Immediate (default): a commit is synced",
            },
        }
    }

    fn open(&self, options: &OpenOptions) -> Result<Opened> {
        let cache = usize::try_from(options.memory).unwrap_or(usize::MAX);
        let file = options.dir.join("embermark.redb");
        let commit = match options.durability {
            Durability::None => Commit::None,
            Durability::Process | Durability::Power => Commit::Immediate,
        };
        let (names, value) = (Vec::new(), Vec::new());
        let mut store = Trees {
            db: None,
            further: false,
            file,
            cache,
            commit,
            names,
            txn: Txn::None,
            found: None,
            value,
        };
        store.open()?;
        // It tells its page size alone; the others are what it was given.
        let page =
            start(store.db()?, commit)?.stats().map_err(failed("tell its state"))?.page_size();
        let settings = [
            ("page size", format!("{page} bytes")),
            ("durability", format!("{commit:?}")),
            ("cache size", format!("{cache} bytes")),
        ];
        Ok(Opened {
            store: Store::Kv(Box::new(store)),
            version: VERSION.to_owned(),
            settings: settings.map(|(name, value)| (name.to_owned(), value)).into(),
            server: None,
        })
    }
}

/// Turns an error of the crate into ours.
fn failed<E: ToString>(doing: &'static str) -> impl FnOnce(E) -> EngineError {
    move |error| EngineError::failed(ID, doing, error)
}

type Bytes = &'static [u8];
type Tree<'txn> = ::redb::Table<'txn, Bytes, Bytes>;
type Snapshot = ReadOnlyTable<Bytes, Bytes>;

fn tree(name: &str) -> TableDefinition<'_, Bytes, Bytes> {
    TableDefinition::new(name)
}

/// An open database and its tables.
struct Trees {
    /// None only after a [`reopen`](Lifecycle::reopen) that failed.
    db: Option<Arc<Database>>,
    /// Whether it is a further client of somebody's database.
    further: bool,
    file: PathBuf,
    /// Of its cache, in bytes.
    cache: usize,
    commit: Commit,
    names: Vec<String>,
    txn: Txn,
    /// What [`KvStore::get`] gave out, held until the next call.
    found: Option<AccessGuard<'static, Bytes>>,
    /// A value on its way through [`KvStore::modify`], or given out by a transaction that writes.
    value: Vec<u8>,
}

/// The transaction under way.
enum Txn {
    None,
    /// With its tables, by number, once they were used.
    Read(ReadTransaction, Vec<Option<Snapshot>>),
    Write(Writer),
}

/// A transaction that writes, which its open tables borrow: to open one for each operation costs
/// as much as the operation.
struct Writer {
    tables: Vec<Option<Tree<'static>>>,
    /// From a box, and null once it was taken.
    txn: *mut WriteTransaction,
}

impl Writer {
    fn new(txn: WriteTransaction, tables: usize) -> Self {
        let tables = std::iter::repeat_with(|| None).take(tables).collect();
        Self { tables, txn: Box::into_raw(Box::new(txn)) }
    }

    fn tree(&mut self, table: Table, name: &str) -> Result<&mut Tree<'static>> {
        match &mut self.tables[table.0] {
            Some(known) => Ok(known),
            unknown => {
                // SAFETY: the box is freed by `take` alone, which drops the tables before.
                let txn: &'static WriteTransaction = unsafe { &*self.txn };
                let open = txn.open_table(tree(name)).map_err(failed("open a table"))?;
                Ok(unknown.insert(open))
            }
        }
    }

    fn take(&mut self) -> Option<Box<WriteTransaction>> {
        self.tables.clear();
        let txn = std::mem::replace(&mut self.txn, std::ptr::null_mut());
        // SAFETY: from a box, taken once, and nothing borrows it any more.
        (!txn.is_null()).then(|| unsafe { Box::from_raw(txn) })
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.take();
    }
}

fn start(db: &Database, commit: Commit) -> Result<WriteTransaction> {
    let mut txn = db.begin_write().map_err(failed("begin to write"))?;
    txn.set_durability(commit).map_err(failed("set the durability"))?;
    Ok(txn)
}

#[cold]
fn closed() -> EngineError {
    failed("use the database")("it could not be opened again")
}

impl Trees {
    /// Opens the database, new or there already.
    fn open(&mut self) -> Result<()> {
        let db = Database::builder().set_cache_size(self.cache).create(&self.file);
        self.db = Some(Arc::new(db.map_err(failed("open the database"))?));
        Ok(())
    }

    #[inline]
    fn db(&self) -> Result<&Database> {
        self.db.as_deref().ok_or_else(closed)
    }

    /// Forgets what was given out, and refuses inside of a transaction what must stand alone.
    fn exclusive(&mut self, doing: &'static str) -> Result<()> {
        self.found = None;
        if let Txn::None = self.txn { Ok(()) } else { Err(failed(doing)("a transaction is open")) }
    }

    /// Makes a commit that keeps all those before it.
    fn keep(&self) -> Result<()> {
        start(self.db()?, Commit::Immediate)?.commit().map_err(failed("commit"))
    }

    /// Works on a table in the transaction begun to write, or else in one of its own.
    fn within<T>(
        &mut self,
        table: Table,
        work: impl FnOnce(&mut Tree<'_>, &mut Vec<u8>) -> Result<T>,
    ) -> Result<T> {
        self.found = None;
        let name = &self.names[table.0];
        match &mut self.txn {
            Txn::Write(writer) => work(writer.tree(table, name)?, &mut self.value),
            Txn::Read(..) => Err(failed("write")("the transaction was begun to read")),
            Txn::None => {
                let txn = start(self.db.as_deref().ok_or_else(closed)?, self.commit)?;
                let mut tree = txn.open_table(tree(name)).map_err(failed("open a table"))?;
                let done = work(&mut tree, &mut self.value)?;
                drop(tree);
                txn.commit().map_err(failed("commit"))?;
                Ok(done)
            }
        }
    }

    /// Reads a table in the transaction begun to read, or else in one of its own.
    fn read<T>(&mut self, table: Table, work: impl FnOnce(&Snapshot) -> Result<T>) -> Result<T> {
        self.found = None;
        let name = &self.names[table.0];
        let open =
            |txn: &ReadTransaction| txn.open_table(tree(name)).map_err(failed("open a table"));
        match &mut self.txn {
            Txn::Read(txn, tables) => match &mut tables[table.0] {
                Some(known) => work(known),
                unknown => work(unknown.insert(open(txn)?)),
            },
            _ => {
                let db = self.db.as_ref().ok_or_else(closed)?;
                work(&open(&db.begin_read().map_err(failed("begin to read"))?)?)
            }
        }
    }
}

fn visit_range(
    tree: &impl ReadableTable<Bytes, Bytes>,
    range: Range<'_>,
    direction: Direction,
    visit: &mut Visit<'_>,
) -> Result<()> {
    let bounds = (range.from.map_or(Unbounded, Included), range.to.map_or(Unbounded, Excluded));
    let mut pairs = tree.range::<&[u8]>(bounds).map_err(failed("scan"))?;
    let mut next = || match direction {
        Direction::Forward => pairs.next(),
        Direction::Backward => pairs.next_back(),
    };
    while let Some(pair) = next() {
        let (key, value) = pair.map_err(failed("scan"))?;
        if visit(key.value(), value.value()).is_break() {
            break;
        }
    }
    Ok(())
}

impl Lifecycle for Trees {
    /// By a commit that keeps all those before it, and by compaction.
    fn maintain(&mut self) -> Result<()> {
        self.found = None;
        if let Txn::None = self.txn {
            self.keep()?;
            let db = Arc::get_mut(self.db.as_mut().ok_or_else(closed)?);
            let db = db.ok_or_else(|| failed("compact")("another client has it open"))?;
            db.compact().map_err(failed("compact"))?;
        }
        Ok(())
    }

    fn reopen(&mut self, after: ShutdownKind) -> Result<()> {
        self.exclusive("open the database again")?;
        if after == ShutdownKind::Crash {
            let what = "recovery: it has no log to recover; after a crash it looks through the \
                        whole file for its free pages instead";
            return Err(EngineError::unsupported(ID, what));
        }
        if matches!(self.commit, Commit::None) {
            self.keep()?;
        }
        if self.db.as_ref().is_some_and(|db| Arc::strong_count(db) > 1) {
            return Err(failed("open the database again")("another client has it open"));
        }
        // Dropped first: it holds a lock on the file.
        self.db = None;
        self.open()
    }

    fn join(&self) -> Join {
        Join::Exclusive(
            "a database that is open is locked: opening it again is DatabaseAlreadyOpen \
             (https://docs.rs/redb/4/redb/enum.DatabaseError.html)",
        )
    }

    /// The same database, which threads share by its handle, with transactions of its own: readers
    /// wait for nobody, and a writer waits until the writer before it has ended
    /// (<https://docs.rs/redb/4/redb/struct.Database.html#method.begin_write>).
    fn open_client(&mut self) -> Result<ClientOpener> {
        self.exclusive("let a further client in")?;
        let db = Some(Arc::clone(self.db.as_ref().ok_or_else(closed)?));
        let (file, names) = (self.file.clone(), self.names.clone());
        let (cache, commit) = (self.cache, self.commit);
        Ok(ClientOpener::new(move || {
            let (txn, found, value) = (Txn::None, None, Vec::new());
            let client = Self { db, further: true, file, cache, commit, names, txn, found, value };
            Ok(Store::Kv(Box::new(client)))
        }))
    }

    fn close(mut self: Box<Self>) -> Result<()> {
        (self.found, self.txn) = (None, Txn::None);
        if self.db.is_some() && !self.further { self.keep() } else { Ok(()) }
    }
}

impl KvStore for Trees {
    fn table(&mut self, def: &TableDef<'_>) -> Result<Table> {
        self.exclusive("open a table")?;
        if let Some(known) = self.names.iter().position(|name| name == def.name) {
            return Ok(Table(known));
        }
        self.names.push(def.name.to_owned());
        let table = Table(self.names.len() - 1);
        self.within(table, |_, _| Ok(table))
    }

    fn clear(&mut self, table: Table) -> Result<()> {
        self.exclusive("clear a table")?;
        let (txn, tree) = (start(self.db()?, self.commit)?, tree(&self.names[table.0]));
        txn.delete_table(tree).map_err(failed("remove a table"))?;
        txn.open_table(tree).map_err(failed("make a table"))?;
        txn.commit().map_err(failed("commit"))
    }

    fn begin(&mut self, access: Access) -> Result<()> {
        self.exclusive("begin a transaction")?;
        self.txn = match access {
            Access::Read => {
                let txn = self.db()?.begin_read().map_err(failed("begin to read"))?;
                Txn::Read(txn, self.names.iter().map(|_| None).collect())
            }
            Access::Write => {
                Txn::Write(Writer::new(start(self.db()?, self.commit)?, self.names.len()))
            }
        };
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        self.found = None;
        match std::mem::replace(&mut self.txn, Txn::None) {
            Txn::None => Err(failed("commit")("no transaction was begun")),
            Txn::Read(..) => Ok(()),
            Txn::Write(mut writer) => match writer.take() {
                Some(txn) => txn.commit().map_err(failed("commit")),
                None => Ok(()),
            },
        }
    }

    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        const DOING: &str = "get a value";
        if !matches!(self.txn, Txn::Write(_)) {
            self.found = self.read(table, |tree| tree.get(key).map_err(failed(DOING)))?;
            return Ok(self.found.as_ref().map(AccessGuard::value));
        }
        // A transaction that writes lends no value for longer than its table is borrowed.
        let found = self.within(table, |tree, buffer| {
            let Some(found) = tree.get(key).map_err(failed(DOING))? else { return Ok(false) };
            buffer.clear();
            buffer.extend_from_slice(found.value());
            Ok(true)
        })?;
        Ok(found.then_some(&self.value))
    }

    fn count(&mut self, table: Table) -> Result<Option<u64>> {
        const DOING: &str = "count the keys";
        let count = match self.txn {
            Txn::Write(_) => self.within(table, |tree, _| tree.len().map_err(failed(DOING))),
            _ => self.read(table, |tree| tree.len().map_err(failed(DOING))),
        };
        count.map(Some)
    }

    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        self.within(table, |tree, _| {
            tree.insert(key, value).map_err(failed("put a value")).map(|_| ())
        })
    }

    fn modify(&mut self, table: Table, key: &[u8], new: &mut dyn FnMut(&mut [u8])) -> Result<bool> {
        self.within(table, |tree, buffer| {
            let found = tree.get_mut(key).map_err(failed("get a value"))?;
            let Some(mut found) = found else { return Ok(false) };
            buffer.clear();
            buffer.extend_from_slice(found.value());
            new(buffer);
            found.insert(&**buffer).map_err(failed("replace a value")).map(|()| true)
        })
    }

    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        self.within(table, |tree, _| {
            tree.remove(key).map_err(failed("delete a key")).map(|old| old.is_some())
        })
    }

    /// Through a cursor behind the last key, which fills page after page without a search.
    fn bulk(&mut self, table: Table, pairs: &mut dyn Pairs) -> Result<u64> {
        const DOING: &str = "append a pair";
        self.within(table, |tree, _| {
            let mut end = tree.upper_bound_mut(Bound::<&[u8]>::Unbounded).map_err(failed(DOING))?;
            let mut rows = 0;
            while let Some((key, value)) = pairs.next() {
                end.insert_before(key, value).map_err(failed(DOING))?;
                rows += 1;
            }
            end.close().map_err(failed(DOING)).map(|()| rows)
        })
    }

    fn scan(
        &mut self,
        table: Table,
        range: Range<'_>,
        direction: Direction,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        match self.txn {
            Txn::Write(_) => {
                self.within(table, |tree, _| visit_range(tree, range, direction, visit))
            }
            _ => self.read(table, |tree| visit_range(tree, range, direction, visit)),
        }
    }
}
