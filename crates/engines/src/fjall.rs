//! fjall, a log-structured merge tree in pure Rust.
//!
//! A table is a keyspace. Its batches cannot be read, so [`Overlay`] answers reads of a batch.

mod settings;

use std::path::PathBuf;

use ::fjall::{
    Database, Keyspace, KeyspaceCreateOptions, OwnedWriteBatch, PersistMode, Readable, Snapshot,
    UserKey, UserValue,
};
use embermark_model::Durability;

use crate::kv::{
    BlindWrites, Direction, KvStore, Overlay, Pairs, Range, Table, TableDef, Visit, VisitPut, Work,
};
use crate::log_files::{check_write_buffer, log_files};
use crate::{
    Availability, Checked, ClientOpener, Embedded, EngineError, Info, Join, Lifecycle, OpenOptions,
    Opened, Result, Scope, TierSetting, TierTable, as_set,
};
use settings::{MEMTABLE, SETTINGS};

const ID: &str = "fjall";
/// Version of the compiled crate. The build script reads it from the lock file.
const VERSION: &str = env!("FJALL_VERSION");

/// How each change is persisted before it is acknowledged, if at all. It cannot be read back.
type Persist = Option<PersistMode>;

const TIERS: TierTable<Persist> = TierTable {
    none: TierSetting::new(
        Durability::None,
        None,
        "manual_journal_persist=true: the journal goes to the operating system 8 KiB at a time",
        "https://docs.rs/fjall/3/fjall/struct.KeyspaceCreateOptions.html",
    ),
    process: TierSetting::new(
        Durability::Process,
        Some(PersistMode::Buffer),
        "PersistMode::Buffer: a change hands the journal to the operating system before it returns",
        MANUAL,
    ),
    power: TierSetting::new(
        Durability::Power,
        Some(PersistMode::SyncData),
        "PersistMode::SyncData: the journal is synced by fdatasync before a change returns",
        MANUAL,
    ),
};
const MANUAL: &str = "https://docs.rs/fjall/3/fjall/enum.PersistMode.html";

pub(crate) static ENGINE: Embedded<Persist> = Embedded {
    settings: SETTINGS,
    ..Embedded::new(
        Info::key_value(ID, "fjall", "MIT or Apache-2.0"),
        || TIERS,
        || Availability::Ready { version: VERSION.to_owned() },
        open,
    )
};

/// A quarter of the memory is for two memtables, one being filled and one being written, and the
/// rest for blocks.
fn open(options: &OpenOptions, &persist: &Persist) -> Result<Opened> {
    let memtable = options.number(ID, MEMTABLE)?.unwrap_or(options.memory / 8);
    let blocks = options.memory - options.memory / 8 * 2;
    let cache = options.number(ID, "cache_size")?.unwrap_or(blocks);
    let db = settings::open(options, cache)?;
    let tables = settings::table_options(options)?.manual_journal_persist(true);
    let tables = tables.max_memtable_size(memtable);
    let settings = [
        ("persist", as_set(persist.map_or("none".to_owned(), |mode| format!("{mode:?}")))),
        ("cache_size", as_set(format_args!("{cache} bytes"))),
        (MEMTABLE, as_set(format_args!("{memtable} bytes"))),
    ];
    let shared = Shared { db, persist, options: tables, memtable, folder: options.dir.clone() };
    Ok(Opened::embedded(Client::new(shared), VERSION, settings))
}

/// Turns an error of the crate into an engine error.
fn failed<E: ToString>(doing: &'static str) -> impl FnOnce(E) -> EngineError {
    move |error| EngineError::failed(ID, doing, error)
}

/// The common state of all clients of an open database.
#[derive(Clone)]
struct Shared {
    db: Database,
    persist: Persist,
    options: KeyspaceCreateOptions,
    memtable: u64,
    folder: PathBuf,
}

impl Shared {
    fn keyspace(&self, name: &str) -> Result<Keyspace> {
        self.db.keyspace(name, || self.options.clone()).map_err(failed("open a table"))
    }

    /// Persists changes as the tier requires.
    #[inline]
    fn persist(&self) -> Result<()> {
        let Some(mode) = self.persist else { return Ok(()) };
        self.db.persist(mode).map_err(failed("persist the journal"))
    }
}

/// A change of a batch: the table's number, a key, and its new value unless it is removed.
type Change = (usize, UserKey, Option<UserValue>);

/// A client of an open database, and its tables.
struct Client {
    shared: Shared,
    tables: Vec<Keyspace>,
    changes: Vec<Change>,
}

impl Client {
    const fn new(shared: Shared) -> Self {
        Self { shared, tables: Vec::new(), changes: Vec::new() }
    }

    /// Writes the changes of a batch atomically.
    fn write(&mut self) -> Result<()> {
        let Self { shared: Shared { db, persist, .. }, tables, changes } = self;
        let mut batch =
            OwnedWriteBatch::with_capacity(db.clone(), changes.len()).durability(*persist);
        for (table, key, value) in changes.drain(..) {
            match value {
                Some(value) => batch.insert(&tables[table], key, value),
                None => batch.remove(&tables[table], key),
            }
        }
        batch.commit().map_err(failed("write a batch"))
    }
}

impl Lifecycle for Client {
    /// Flushes the memtables and compacts each keyspace. Both functions are public but hidden from
    /// the documentation, which calls maintenance automatic.
    fn maintain(&mut self) -> Result<()> {
        for name in self.shared.db.list_keyspace_names() {
            let keyspace = self.shared.keyspace(&name)?;
            keyspace.rotate_memtable_and_wait().map_err(failed("flush a table"))?;
            keyspace.major_compact().map_err(failed("compact a table"))?;
        }
        Ok(())
    }

    fn join(&self) -> Join {
        Join::Exclusive("one process at a time: it is locked (https://docs.rs/crate/fjall/3.1.13)")
    }

    /// Opens another client of the same database, which threads share. They write one after
    /// another. An update is a get and an insert, and another thread's update can come in between.
    fn open_client(&mut self) -> Result<ClientOpener> {
        let shared = self.shared.clone();
        Ok(ClientOpener::kv(move || Ok(Self::new(shared))))
    }

    /// Does nothing further, because every close leaves the journal as it is. The journal is
    /// persisted, no memtable is written to a table, and opening reads the journal.
    fn crash_on_close(&mut self) -> Result<()> {
        let what = "a journal to recover in the tier none: it is in memory, and written at close";
        self.shared.persist.map(drop).ok_or_else(|| EngineError::unsupported(ID, what))
    }

    fn suspend_checkpoints(&mut self, bytes: u64) -> Result<()> {
        self.crash_on_close()?;
        check_write_buffer(ID, self.shared.memtable, bytes, MEMTABLE)
    }

    fn log_bytes(&mut self) -> Result<u64> {
        log_files(ID, &self.shared.folder, |name| name.ends_with(".jnl"))
    }

    fn check(&mut self) -> Result<Checked> {
        let what =
            "a check: it has none; it compares the checksum of a block when it reads the block";
        Err(EngineError::unsupported(ID, what))
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

impl KvStore for Client {
    fn table(&mut self, def: &TableDef<'_>) -> Result<Table> {
        if let Some(known) = self.tables.iter().position(|table| &**table.name() == def.name) {
            return Ok(Table(known));
        }
        self.tables.push(self.shared.keyspace(def.name)?);
        Ok(Table(self.tables.len() - 1))
    }

    /// Drops the keyspace and creates it again. `Keyspace::clear` would write a record that, when
    /// the journal is read at opening, also removes what was bulk-loaded later (seen with 3.1.13).
    fn clear(&mut self, Table(table): Table) -> Result<()> {
        let (db, old) = (&self.shared.db, self.tables[table].clone());
        db.delete_keyspace(old.clone()).map_err(failed("remove a table"))?;
        self.shared.keyspace(old.name()).map(|made| self.tables[table] = made)
    }

    fn bulk(&mut self, Table(table): Table, pairs: &mut dyn Pairs) -> Result<u64> {
        let mut rows = 0;
        let mut ingestion = self.tables[table].start_ingestion().map_err(failed("ingest"))?;
        while let Some((key, value)) = pairs.next() {
            check_key(key)?;
            ingestion.write(key, value).map_err(failed("ingest a pair"))?;
            rows += 1;
        }
        ingestion.finish().map_err(failed("ingest")).map(|()| rows)
    }

    fn transact(&mut self, scope: Scope, work: &mut Work<'_>) -> Result<()> {
        let Self { shared, tables, changes } = self;
        let at = (scope == Scope::Snapshot).then(|| shared.db.snapshot());
        let batch = (scope == Scope::Batch).then_some(&mut *changes);
        let mut tables = Overlay::new(scope, Tables { shared, tables, at, batch, found: None });
        let done = work(&mut tables);
        drop(tables);
        let written = if changes.is_empty() { done } else { done.and_then(|()| self.write()) };
        self.changes.clear();
        // Frees the memory of a large batch.
        self.changes.shrink_to(1 << 14);
        written
    }
}

/// The tables in a scope.
struct Tables<'a> {
    shared: &'a Shared,
    tables: &'a [Keyspace],
    /// The snapshot of a scope that changes nothing.
    at: Option<Snapshot>,
    /// Destination of a batch's changes. Without one, each change is written on its own.
    batch: Option<&'a mut Vec<Change>>,
    /// The value returned last, held until the next one, because it can be in a block of the cache.
    found: Option<UserValue>,
}

/// Checks that the crate accepts a key. It would panic otherwise.
#[inline]
fn check_key(key: &[u8]) -> Result<()> {
    let what = "keys that are empty or above 65,535 bytes";
    if (1..=0xffff).contains(&key.len()) { Ok(()) } else { Err(EngineError::unsupported(ID, what)) }
}

impl BlindWrites for Tables<'_> {
    fn get(&mut self, Table(table): Table, key: &[u8]) -> Result<Option<&[u8]>> {
        let found = match &self.at {
            Some(snapshot) => snapshot.get(&self.tables[table], key),
            None => self.tables[table].get(key),
        };
        self.found = found.map_err(failed("get a value"))?;
        Ok(self.found.as_deref())
    }

    /// Scans a snapshot, a new one if necessary, so that half of another client's batch is never
    /// visible.
    fn scan(&mut self, Table(table): Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        let mut own = None;
        let at = self.at.as_ref().unwrap_or_else(|| own.insert(self.shared.db.snapshot()));
        let mut pairs = at.range::<&[u8], _>(&self.tables[table], range.bounds());
        let is_forward = range.direction == Direction::Forward;
        while let Some(pair) = if is_forward { pairs.next() } else { pairs.next_back() } {
            let (key, value) = pair.into_inner().map_err(failed("scan"))?;
            if visit(&key, &value).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn set(&mut self, Table(table): Table, key: &[u8], value: Option<&[u8]>) -> Result<()> {
        check_key(key)?;
        if self.at.is_some() {
            return Err(EngineError::read_only(ID));
        }
        if let Some(batch) = &mut self.batch {
            batch.push((table, key.into(), value.map(Into::into)));
            return Ok(());
        }
        match value {
            Some(value) => self.tables[table].insert(key, value),
            None => self.tables[table].remove(key),
        }
        .map_err(failed("change a key"))?;
        self.shared.persist()
    }

    fn puts(&self, see: &mut VisitPut<'_>) -> Result<()> {
        for (table, key, value) in self.batch.iter().flat_map(|batch| batch.iter()) {
            value.iter().for_each(|value| see(Table(*table), key, value));
        }
        Ok(())
    }
}
