//! RocksDB, from a library that is opened at run time: a column family per table.

mod api;
mod batch;
mod binding;
mod library;
mod view;

use std::ffi::CString;
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

use embermark_contract::ReadBack;
use embermark_model::Durability;

use crate::kv::{Change, KvStore, Operations, Pairs, Range, Table, TableDef, Visit, Work};
use crate::{
    Availability, ClientOpener, DataModel, Engine, EngineError, Info, Join, Kind, Lifecycle,
    OpenOptions, Opened, Result, Scope, Store, Tier, TierSetting, TierTable, as_set,
};
use batch::Batch;
use binding::{Db, Families, Family};
use library::{LIBRARY, written_options};
use view::{Alone, Value, View};

const ID: &str = "rocksdb";
/// Bytes of pairs in a file of a load: what the library itself makes its files' size by default.
const FILE: usize = 64 << 20;
/// What is reported of a database's options.
const REPORTED: &str = "manual_wal_flush db_write_buffer_size max_background_jobs bytes_per_sync \
                        write_buffer_size compression level_compaction_dynamic_level_bytes \
                        block_size filter_policy format_version";

/// With a log or without, and whether it is synced, goes with each write and is not given back.
static TIERS: TierTable<(bool, bool)> = TierTable {
    none: TierSetting::of(
        Durability::None,
        (false, false),
        "disableWAL=true: changes stay in the process's memory until it is full, at maintenance \
         and at close",
        "https://github.com/facebook/rocksdb/wiki/WAL-Performance",
    ),
    process: TierSetting::of(
        Durability::Process,
        (true, false),
        "sync=false (default): a commit writes the log to the operating system, without a sync",
        MANUAL,
    )
    .reads(WRITTEN_AT_ONCE),
    power: TierSetting::of(
        Durability::Power,
        (true, true),
        "sync=true: a commit writes and syncs the log",
        MANUAL,
    )
    .reads(WRITTEN_AT_ONCE),
};
const MANUAL: &str = "https://github.com/facebook/rocksdb/wiki/Basic-Operations#synchronous-writes";
const WRITTEN_AT_ONCE: &[ReadBack] = &[("manual_wal_flush", &["false"])];

/// The options of <https://github.com/facebook/rocksdb/wiki/Setup-Options-and-Basic-Tuning>. A
/// quarter of the memory is for what was not yet written to tables, in all column families
/// together; the rest is the cache of their blocks, indexes and filters.
fn tuned(memory: u64) -> String {
    let (buffers, cache) = (memory / 4, memory - memory / 4);
    let cpus = std::thread::available_parallelism().map_or(1, NonZero::get);
    format!(
        "create_if_missing=true;max_background_jobs={cpus};bytes_per_sync=1048576;\
         db_write_buffer_size={buffers};write_buffer_size={buffers};\
         level_compaction_dynamic_level_bytes=true;block_based_table_factory={{block_size=16384;\
         block_cache={cache};filter_policy=bloomfilter:10:false;\
         cache_index_and_filter_blocks=true;pin_l0_filter_and_index_blocks_in_cache=true}}"
    )
}

/// The engine.
pub(crate) struct RocksDb;

impl Engine for RocksDb {
    fn info(&self) -> Info {
        let (kind, family) = (Kind::Embedded, DataModel::KeyValue);
        Info { id: ID, name: "RocksDB", kind, family, licence: "Apache-2.0 or GPL-2.0" }
    }

    fn availability(&self) -> Availability {
        LIBRARY.availability(|library| library.version.clone())
    }

    fn tier(&self, durability: Durability) -> Tier {
        TIERS.tier(durability)
    }

    fn open(&self, options: &OpenOptions) -> Result<Opened> {
        let library = LIBRARY.get()?;
        let (row, dir) = (TIERS.of(options.durability), &options.dir);
        let (logged, synced) = row.set;
        let (db, families) = Db::open(library.api, dir, &tuned(options.memory))?;
        let written = written_options(dir)
            .map_err(|error| EngineError::file(ID, "read the options in", dir, error))?;
        row.check(ID, options.durability, &written)?;
        let cache = db.property(c"rocksdb.block-cache-capacity").unwrap_or_default();
        let mut settings = vec![("disableWAL", as_set(!logged)), ("sync", as_set(synced))];
        settings.push(("block cache", format!("{cache} bytes")));
        settings.extend(REPORTED.split(' ').filter_map(|name| {
            let (_, value) = written.iter().find(|(written, _)| written == name)?;
            Some((name, value.clone()))
        }));
        let client = Client::new(db, families, dir.clone(), row.set);
        Ok(Opened::embedded(client, &*library.version, settings))
    }
}

/// A client of an open database: its tables, and what reads and writes them.
struct Client {
    db: Arc<Db>,
    families: Families,
    dir: PathBuf,
    set: (bool, bool),
    tables: Vec<Arc<Family>>,
    alone: Alone,
    batch: Batch,
    /// A value on its way through a change.
    value: Vec<u8>,
}

impl Client {
    fn new(db: Arc<Db>, families: Families, dir: PathBuf, set: (bool, bool)) -> Self {
        let alone = Alone::new(&db, !set.0, set.1);
        let batch = Batch::new(&db, Arc::clone(&families));
        Self { db, families, dir, set, tables: Vec::new(), alone, batch, value: Vec::new() }
    }
}

impl Lifecycle for Client {
    /// Writes what is in memory to tables, and merges them.
    fn maintain(&mut self) -> Result<()> {
        self.tables.iter().try_for_each(|table| table.flush())?;
        self.tables.iter().for_each(|table| table.compact());
        Ok(())
    }

    fn join(&self) -> Join {
        Join::Exclusive(
            "one process opens a database to write; a secondary instance is a read-only copy that \
             catches up when it is told to \
             (https://github.com/facebook/rocksdb/wiki/Read-only-and-Secondary-instances)",
        )
    }

    /// The same database, with reads and writes of its own: threads share it without more ado
    /// (<https://github.com/facebook/rocksdb/wiki/Basic-Operations#concurrency>).
    fn open_client(&mut self) -> Result<ClientOpener> {
        let (db, families) = (Arc::clone(&self.db), Arc::clone(&self.families));
        let (dir, set) = (self.dir.clone(), self.set);
        let open = move || Ok(Store::Kv(Box::new(Self::new(db, families, dir, set))));
        Ok(ClientOpener::new(open))
    }

    /// Nothing to do: closing does not flush what has a log.
    fn crash_on_close(&mut self) -> Result<()> {
        let what = "recovery in the tier `none`: without a log, what is in memory would be lost";
        if self.set.0 { Ok(()) } else { Err(EngineError::unsupported(ID, what)) }
    }

    /// What has no log is flushed before.
    fn close(self: Box<Self>) -> Result<()> {
        if self.set.0 { Ok(()) } else { self.tables.iter().try_for_each(|table| table.flush()) }
    }
}

impl KvStore for Client {
    fn table(&mut self, def: &TableDef<'_>) -> Result<Table> {
        // Apart from the family `default`, which cannot be removed.
        let name = CString::new(format!("table {}", def.name))
            .map_err(|error| EngineError::failed(ID, "open a table", error))?;
        let named = |family: &Arc<Family>| family.name == name;
        if let Some(known) = self.tables.iter().position(named) {
            return Ok(Table(known));
        }
        let mut families = self.families.lock().unwrap_or_else(PoisonError::into_inner);
        if !families.iter().any(named) {
            families.push(self.db.family(name.clone())?);
        }
        self.tables.extend(families.iter().find(|family| named(family)).cloned());
        Ok(Table(self.tables.len() - 1))
    }

    /// By a new column family: its files go as a whole.
    fn clear(&mut self, table: Table) -> Result<()> {
        let family = &mut self.tables[table.0];
        family.remove()?;
        *family = self.db.family(family.name.clone())?;
        let mut families = self.families.lock().unwrap_or_else(PoisonError::into_inner);
        families.retain(|known| known.name != family.name);
        families.push(Arc::clone(family));
        Ok(())
    }

    /// By files that are written beside the database and then taken in as one change
    /// (<https://github.com/facebook/rocksdb/wiki/Creating-and-Ingesting-SST-files>). The library
    /// syncs them, in every tier.
    fn bulk(&mut self, table: Table, pairs: &mut dyn Pairs) -> Result<u64> {
        let (family, mut files, mut rows) = (&self.tables[table.0], Vec::new(), 0);
        let mut next = pairs.next();
        while next.is_some() {
            let mut file = family.file(&self.dir.join(format!("load-{}.sst", files.len())))?;
            let mut bytes = 0;
            while let Some((key, value)) = next.filter(|_| bytes < FILE) {
                file.put(key, value)?;
                bytes += key.len() + value.len();
                rows += 1;
                next = pairs.next();
            }
            files.push(file.finish()?);
        }
        if rows > 0 { family.ingest(&files).map(|()| rows) } else { Ok(0) }
    }

    fn transact(&mut self, scope: Scope, work: &mut Work<'_>) -> Result<()> {
        let Self { db, tables, alone, batch, value, .. } = self;
        match scope {
            Scope::Snapshot => work(&mut Tables::new(tables, &mut alone.reads.snapshot(), value)),
            Scope::PerOperation => work(&mut Tables::new(tables, alone, value)),
            Scope::Batch => match work(&mut Tables::new(tables, batch, value)) {
                Ok(()) => batch.commit(db, &alone.writes),
                failed => {
                    batch.clear();
                    failed
                }
            },
        }
    }
}

/// The tables as a scope sees them.
struct Tables<'a, V> {
    tables: &'a [Arc<Family>],
    view: &'a mut V,
    value: &'a mut Vec<u8>,
    /// What was given out, held until the next value is.
    found: Option<Value<'a>>,
}

impl<'a, V: View> Tables<'a, V> {
    fn new(tables: &'a [Arc<Family>], view: &'a mut V, value: &'a mut Vec<u8>) -> Self {
        Self { tables, view, value, found: None }
    }
}

impl<V: View> Operations for Tables<'_, V> {
    fn get(&mut self, Table(table): Table, key: &[u8]) -> Result<Option<&[u8]>> {
        self.found = self.view.get(&self.tables[table], key)?;
        Ok(self.found.as_deref())
    }

    fn scan(&mut self, Table(table): Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        self.view.pairs(&self.tables[table])?.walk(range, visit)
    }

    fn put(&mut self, Table(table): Table, key: &[u8], value: &[u8]) -> Result<()> {
        self.view.put(&self.tables[table], key, value)
    }

    /// By a read and a write: the library has no change in place.
    fn modify(&mut self, Table(table): Table, key: &[u8], change: &mut Change<'_>) -> Result<bool> {
        let family = &self.tables[table];
        let Some(found) = self.view.get(family, key)? else { return Ok(false) };
        self.value.clear();
        self.value.extend_from_slice(&found);
        change(self.value);
        self.view.put(family, key, self.value).map(|()| true)
    }

    /// Looks first: the library does not tell whether a key was there.
    fn delete(&mut self, Table(table): Table, key: &[u8]) -> Result<bool> {
        let family = &self.tables[table];
        let there = self.view.get(family, key)?.is_some();
        if there { self.view.delete(family, key).map(|()| true) } else { Ok(false) }
    }
}
