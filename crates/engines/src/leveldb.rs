//! LevelDB, a log-structured merge tree, from a library loaded at run time.
//!
//! It has no tables: all are in one database, with a prefix byte per table, so a batch over several
//! tables is one batch. Its batches cannot be read, so [`Overlay`] answers reads of a batch.

mod api;
mod db;
mod settings;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use embermark_model::Durability;

use crate::kv::{
    BlindWrites, KvStore, Overlay, Pairs, Range, Table, TableDef, Visit, VisitPut, Work,
};
use crate::log_files::{check_write_buffer, log_files};
use crate::lsm::{Batch, Destination, LateSnapshot, ReadOptions, Value};
use crate::prefixed::{MAX_TABLES, NAMES, prefixed_key, prefixed_range};
use crate::{
    Checked, ClientOpener, ConnectionParameters, Embedded, EngineError, Info, Join, Lifecycle,
    OpenOptions, Opened, Result, Scope, TierSetting, TierTable, as_set,
};
use api::{LIBRARY, VARIABLE};
use db::{Db, Options};
use settings::{SETTINGS, compresses};

const ID: &str = "leveldb";
/// Bits per key of the bloom filters:
/// <https://github.com/google/leveldb/blob/main/doc/index.md#filters>.
const FILTER_BITS: i32 = 10;

/// Sets `sync`. The C interface has no getters for options ("Does not support", `c.h`).
const TIERS: TierTable<bool> = TierTable {
    none: WRITTEN,
    process: WRITTEN,
    power: TierSetting::new(
        Durability::Power,
        true,
        "sync=true: a write syncs the log before it returns",
        MANUAL,
    ),
};
const WRITTEN: TierSetting<bool> = TierSetting::new(
    Durability::Process,
    false,
    "sync=false (default): a write hands the log to the operating system before it returns",
    MANUAL,
);
const MANUAL: &str = "https://github.com/google/leveldb/blob/main/doc/index.md#synchronous-writes";

pub(crate) static ENGINE: Embedded<bool> = Embedded {
    library: Some(VARIABLE),
    origin: || LIBRARY.origin(VARIABLE),
    settings: SETTINGS,
    ..Embedded::new(
        Info::key_value(ID, "LevelDB", "BSD-3-Clause"),
        || TIERS,
        || LIBRARY.availability(|(_, own)| own.version()),
        open,
    )
};

/// A quarter of the memory is for up to two write buffers, the rest for blocks.
fn open(options: &OpenOptions, &sync: &bool) -> Result<Opened> {
    let memory = usize::try_from(options.memory).unwrap_or(usize::MAX);
    let write_buffer = options.number(ID, "write_buffer_size")?.unwrap_or(memory / 8);
    let cache = options.number(ID, "block_cache")?.unwrap_or(memory - 2 * (memory / 8));
    let filter_bits = options.number(ID, "filter_policy_bits")?.unwrap_or(FILTER_BITS);
    let with = Options {
        write_buffer,
        cache,
        filter_bits,
        block_size: options.number(ID, "block_size")?,
        block_restart_interval: options.number(ID, "block_restart_interval")?,
        max_file_size: options.number(ID, "max_file_size")?,
        max_open_files: options.number(ID, "max_open_files")?,
        compresses: options.setting("compression").map(compresses),
        sync,
        paranoid: options.switch("paranoid_checks").unwrap_or(false),
    };
    let db = db::open(&options.dir, with)?;
    let version = db.own.api.version();
    let client = Client::new(db.into())?;
    let settings = [
        ("sync", as_set(sync)),
        ("write_buffer_size", as_set(format_args!("{write_buffer} bytes"))),
        ("block_cache", as_set(format_args!("{cache} bytes"))),
        ("filter_policy_bits", as_set(filter_bits)),
    ];
    Ok(Opened::embedded(client, version, settings))
}

/// A client of an open database, and its tables.
struct Client {
    /// `None` if it could not be reopened after a check.
    db: Option<Arc<Db>>,
    reads: ReadOptions,
    /// Empty outside of a scope, and kept, because creating one costs an allocation per commit.
    batch: Batch,
    /// Names by table number. The entry of `NAMES` is unused.
    names: Vec<Vec<u8>>,
    /// Memory for a key, or for the ends of a scan.
    keys: [Vec<u8>; 2],
}

impl Client {
    fn new(db: Arc<Db>) -> Result<Self> {
        let (mut keys, mut numbered, reads) =
            (Default::default(), BTreeMap::new(), db.read_options());
        let mut stored = Tables::read_only(&db, &reads, &mut keys);
        stored.scan(NAMES, Range::default(), &mut |name, number| {
            numbered.insert(number.to_vec(), name.to_vec());
            ControlFlow::Continue(())
        })?;
        drop(stored);
        let names = [Vec::new()].into_iter().chain(numbered.into_values()).collect();
        let batch = db.batch();
        Ok(Self { db: Some(db), reads, batch, names, keys })
    }
}

/// Returns the database. Fails if it is not open.
#[inline]
fn opened(db: &Option<Arc<Db>>) -> Result<&Arc<Db>> {
    let lost =
        || EngineError::failed(ID, "use the database", "it could not be reopened after its check");
    db.as_ref().ok_or_else(lost)
}

impl Lifecycle for Client {
    fn maintain(&mut self) -> Result<()> {
        opened(&self.db)?.compact(None);
        Ok(())
    }

    fn connection(&mut self) -> Result<ConnectionParameters> {
        let own = &opened(&self.db)?.own;
        let with = &own.options;
        let sizes = [
            ("write_buffer_size", Some(with.write_buffer.to_string())),
            ("lru_cache_size", Some(with.cache.to_string())),
            ("bloom_filter_bits", Some(with.filter_bits.to_string())),
            ("block_size", with.block_size.map(|bytes| bytes.to_string())),
            ("block_restart_interval", with.block_restart_interval.map(|keys| keys.to_string())),
            ("max_file_size", with.max_file_size.map(|bytes| bytes.to_string())),
            ("max_open_files", with.max_open_files.map(|files| files.to_string())),
        ];
        let dir = own.folder.display().to_string();
        let sizes = sizes.into_iter().filter_map(|(name, value)| Some((name, value?)));
        Ok([("dir", dir), ("sync", with.sync.to_string())].into_iter().chain(sizes).collect())
    }

    fn join(&self) -> Join {
        Join::Exclusive(
            "a database may only be opened by one process at a time: it is locked \
             (https://github.com/google/leveldb/blob/main/doc/index.md#concurrency)",
        )
    }

    /// Opens another client of the same database, which threads share. They can write at the same
    /// time. An update is a get and a put, and another thread's update can come in between.
    fn open_client(&mut self) -> Result<ClientOpener> {
        let db = Arc::clone(opened(&self.db)?);
        Ok(ClientOpener::kv(move || Self::new(db)))
    }

    /// Does nothing, because every close leaves the log as it is. No changes are written from
    /// memory to tables, and opening recovers the log.
    fn crash_on_close(&mut self) -> Result<()> {
        Ok(())
    }

    fn suspend_checkpoints(&mut self, bytes: u64) -> Result<()> {
        let buffer = opened(&self.db)?.own.options.write_buffer;
        check_write_buffer(ID, buffer as u64, bytes, "write_buffer_size")
    }

    fn log_bytes(&mut self) -> Result<u64> {
        log_files(ID, &opened(&self.db)?.own.folder, |name| name.ends_with(".log"))
    }

    fn check(&mut self) -> Result<Checked> {
        db::verify(&mut self.db)
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

impl KvStore for Client {
    fn table(&mut self, def: &TableDef<'_>) -> Result<Table> {
        let (name, number) = (def.name.as_bytes(), self.names.len());
        if let Some(known) = self.names.iter().position(|known| known == name) {
            return Ok(Table(known));
        }
        if number > MAX_TABLES {
            return Err(EngineError::unsupported(ID, "more than 254 tables, a byte for each"));
        }
        let key = prefixed_key(&mut self.keys[0], NAMES, name);
        opened(&self.db)?.set(&mut Destination::Database, key, Some(&[number as u8]))?;
        self.names.push(name.to_vec());
        Ok(Table(number))
    }

    /// Deletes the keys, and compacts to free the space.
    fn clear(&mut self, table: Table) -> Result<()> {
        let (Self { db, reads, keys, .. }, mut removed) = (self, Vec::new());
        let db = opened(db)?;
        let (mut changes, mut done) = (db.changes(), Ok(()));
        Tables::read_only(db, reads, keys).scan(table, Range::default(), &mut |key, _| {
            done = changes.set(prefixed_key(&mut removed, table, key), None);
            if done.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        done.and_then(|()| changes.finish())?;
        let [from, to] = keys;
        db.compact(Some([
            prefixed_key(from, table, &[]),
            prefixed_key(to, Table(table.0 + 1), &[]),
        ]));
        Ok(())
    }

    /// Writes one batch, or several of half the memory each.
    fn bulk(&mut self, table: Table, pairs: &mut dyn Pairs) -> Result<u64> {
        let (mut changes, mut rows) = (opened(&self.db)?.changes(), 0);
        while let Some((key, value)) = pairs.next() {
            changes.set(prefixed_key(&mut self.keys[0], table, key), Some(value))?;
            rows += 1;
        }
        changes.finish().map(|()| rows)
    }

    fn transact(&mut self, scope: Scope, work: &mut Work<'_>) -> Result<()> {
        let Self { db, reads, batch, keys, .. } = self;
        let db = opened(db)?;
        let mut on = |reads: &ReadOptions, to: Destination<'_>, late: Option<LateSnapshot<'_>>| {
            work(&mut Overlay::new(scope, Tables { db, reads, keys, to, found: None, late }))
        };
        match scope {
            Scope::Snapshot => db.snapshot(reads, |reads| on(reads, Destination::ReadOnly, None)),
            Scope::PerOperation => on(reads, Destination::Database, None),
            Scope::Batch => {
                let late = db.late_snapshot(reads);
                let done = on(reads, Destination::Batch(batch), Some(late));
                let done = done.and_then(|()| db.write(batch));
                db.clear(batch);
                done
            }
        }
    }
}

/// The tables in a scope.
struct Tables<'a> {
    db: &'a Db,
    reads: &'a ReadOptions,
    keys: &'a mut [Vec<u8>; 2],
    to: Destination<'a>,
    /// The value returned last, held until the next one.
    found: Option<Value<'a>>,
    /// The snapshot of a batch. In other scopes `reads` has one already, or needs none.
    late: Option<LateSnapshot<'a>>,
}

impl<'a> Tables<'a> {
    fn read_only(db: &'a Db, reads: &'a ReadOptions, keys: &'a mut [Vec<u8>; 2]) -> Self {
        Self { db, reads, keys, to: Destination::ReadOnly, found: None, late: None }
    }

    #[inline]
    fn begin_to_read(&mut self) {
        if let Some(snapshot) = &mut self.late {
            snapshot.begin();
        }
    }
}

impl BlindWrites for Tables<'_> {
    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        self.begin_to_read();
        self.found = self.db.get(self.reads, prefixed_key(&mut self.keys[0], table, key))?;
        Ok(self.found.as_deref())
    }

    fn scan(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        self.begin_to_read();
        let range = prefixed_range(self.keys, table, range);
        let visit = &mut |key: &[u8], value: &[u8]| visit(&key[1..], value);
        self.db.iter(self.reads).walk(range, visit)
    }

    fn set(&mut self, table: Table, key: &[u8], value: Option<&[u8]>) -> Result<()> {
        self.db.set(&mut self.to, prefixed_key(&mut self.keys[0], table, key), value)
    }

    fn puts(&self, see: &mut VisitPut<'_>) -> Result<()> {
        if let Destination::Batch(batch) = &self.to {
            self.db.puts(batch, &mut |key, value| see(Table(key[0].into()), &key[1..], value));
        }
        Ok(())
    }
}
