//! RocksDB, from a library loaded at run time, with a column family per table.

mod api;
mod background;
mod batch;
mod families;
mod family;
mod library;
mod options;
mod sst_file;

use std::sync::Arc;

use embermark_contract::ReadBack;
use embermark_model::Durability;
use embermark_model::explained::{CostAnomaly, Explained};

use crate::kv::{
    BlindWrites, KvStore, Overlay, Pairs, Range, Table, TableDef, Visit, VisitPut, Work,
};
use crate::log_files::{check_write_buffer, log_files};
use crate::lsm::{Batch, Destination, ReadOptions, Value};
use crate::owned::c_string;
use crate::{
    Background, Candidate, Checked, ClientOpener, ConnectionParameters, Embedded, EngineError,
    Info, Join, Lifecycle, OpenOptions, Opened, Result, Scope, Settings, TierSetting, TierTable,
    as_set,
};
use families::Families;
use family::Family;
use library::LIBRARY;
use options::{Sizes, reported};

const ID: &str = "rocksdb";

/// Whether a write is logged and whether it is synced. These are options of each write, and cannot
/// be read back.
const TIERS: TierTable<(bool, bool)> = TierTable {
    none: TierSetting::new(
        Durability::None,
        (false, false),
        "disableWAL=true: changes stay in the process's memory until it is full, at maintenance \
         and at close",
        WAL,
    ),
    process: TierSetting::new(
        Durability::Process,
        (true, false),
        "sync=false (default): a commit writes the log to the operating system, without a sync",
        MANUAL,
    )
    .reads(WRITTEN_AT_ONCE),
    power: TierSetting::new(
        Durability::Power,
        (true, true),
        "sync=true: a commit writes and syncs the log",
        MANUAL,
    )
    .reads(WRITTEN_AT_ONCE),
};
const MANUAL: &str = "https://github.com/facebook/rocksdb/wiki/Basic-Operations#synchronous-writes";
const WRITTEN_AT_ONCE: &[ReadBack] = &[("manual_wal_flush", &["false"])];

const EXPLAINED: &[Explained] = &[Explained {
    how: CostAnomaly::Lag,
    counts: &[],
    phases: &["insert_count"],
    why: "a bulk load writes, syncs and takes in a file, for one row too",
    evidence: "--show explain of one row: 5 syncs and 1 file taken in, where a commit is one write",
    section: "docs/engines/rocksdb.md#what-measurements-show",
}];

pub(crate) static ENGINE: Embedded<(bool, bool)> = Embedded {
    library: Some(library::VARIABLE),
    origin: || LIBRARY.origin(library::VARIABLE),
    system: Some(library::system),
    settings: SETTINGS,
    explained: EXPLAINED,
    ..Embedded::new(
        Info::key_value(ID, "RocksDB", "Apache-2.0 or GPL-2.0"),
        || TIERS,
        || LIBRARY.availability(|library| library.version.clone()),
        open,
    )
};

/// Every option of a database or a column family by its name in the options file, and these options
/// of block-based tables (<https://github.com/facebook/rocksdb/wiki/Option-String-and-Option-Map>).
const SETTINGS: Settings = Settings {
    known: &options::KNOWN,
    others: Some(
        "options of a database or a column family, as the library's options file has them",
    ),
    reserved: &[
        ("sync", "embermark sets it for each write, by --tier"),
        ("disableWAL", "embermark sets it for each write, by --tier"),
        ("create_if_missing", "every trial creates its database"),
        ("wal_dir", "embermark chooses its folder"),
        ("db_log_dir", "embermark chooses its folder, where its options are read back"),
        ("block_based_table_factory", "name its options one by one, such as block_size"),
    ],
    candidates: CANDIDATES,
    written: |set| {
        vec![
            "# for GetOptionsFromString, in C rocksdb_get_options_from_string; not among them: \
             WriteOptions::sync of each write, true to survive a power cut"
                .to_owned(),
            options::text(set.iter().copied()),
        ]
    },
};

const WAL: &str = "https://github.com/facebook/rocksdb/wiki/WAL-Performance";
const TUNING: &str = "https://github.com/facebook/rocksdb/wiki/Setup-Options-and-Basic-Tuning";
const COMPRESSION: &str = "https://github.com/facebook/rocksdb/wiki/Compression";
const BLOOM: &str = "https://github.com/facebook/rocksdb/wiki/RocksDB-Bloom-Filter";

const CANDIDATES: &[Candidate] = &[
    Candidate::new(&[("recycle_log_file_num", "4")], "logs keep their size on disk", WAL),
    Candidate::new(
        &[
            ("recycle_log_file_num", "4"),
            ("write_buffer_size", "262144"),
            ("db_write_buffer_size", "1048576"),
        ],
        "smaller files, merged more often",
        WAL,
    ),
    Candidate::new(
        &[("wal_bytes_per_sync", "1048576")],
        "a log that no commit syncs is written back earlier",
        "https://github.com/facebook/rocksdb/wiki/IO",
    ),
    Candidate::new(&[("write_buffer_size", "1048576")], "smaller files, merged more often", TUNING),
    Candidate::new(&[("compression", "kNoCompression")], "more bytes on disk", COMPRESSION),
    Candidate::new(
        &[("compression", "kLZ4Compression")],
        "processor time for fewer bytes",
        COMPRESSION,
    ),
    Candidate::new(&[("block_size", "4096")], "a larger index in memory", TUNING),
    Candidate::new(&[("block_size", "32768")], "a point read takes more bytes", TUNING),
    Candidate::new(&[("filter_policy", "bloomfilter:16:false")], "more memory for filters", BLOOM),
    Candidate::new(
        &[("filter_policy", "ribbonfilter:10")],
        "processor time when a file is written",
        BLOOM,
    ),
    Candidate::new(
        &[("data_block_index_type", "kDataBlockBinaryAndHash")],
        "more bytes in each block",
        "https://github.com/facebook/rocksdb/wiki/Data-Block-Hash-Index",
    ),
    Candidate::new(
        &[("compaction_style", "kCompactionStyleUniversal")],
        "a merge can take as much disk again as the rows; a read looks into more files",
        "https://github.com/facebook/rocksdb/wiki/Universal-Compaction",
    ),
    Candidate::new(
        &[("enable_pipelined_write", "true")],
        "none that the manual states",
        "https://github.com/facebook/rocksdb/wiki/Pipelined-Write",
    ),
    Candidate::new(
        &[("wal_compression", "kZSTD")],
        "processor time for fewer bytes of log",
        "https://github.com/facebook/rocksdb/wiki/WAL-Compression",
    ),
    Candidate::new(&[("max_background_jobs", "1")], "merging falls behind sooner", TUNING),
    Candidate::new(
        &[("manual_wal_flush", "true")],
        "a killed program loses what it had not flushed",
        WAL,
    )
    .keeping(Durability::None),
];

fn open(options: &OpenOptions, &set: &(bool, bool)) -> Result<Opened> {
    let (library, dir) = (LIBRARY.get()?, &options.dir);
    let sizes = Sizes::for_memory(options.memory);
    let families = families::open(library.lib, library.api, dir, &sizes.options(options), set)?;
    let told = reported(dir, options)
        .map_err(|error| EngineError::file(ID, "read the options in", dir, error))?;
    let told: Vec<_> = told.collect();
    let number = |of: &str| told.iter().find(|(name, _)| *name == of)?.1.parse().ok();
    // 0 means no limit for all families together.
    let both = ["write_buffer_size", "db_write_buffer_size"].map(number);
    let buffer = both.into_iter().flatten().filter(|bytes| *bytes > 0).min().unwrap_or(0);
    let cache =
        families::property(&families.db, c"rocksdb.block-cache-capacity").unwrap_or_default();
    let cache = ("block cache", format!("{cache} bytes"));
    let ours = options.not_configured([("block_cache", sizes.block_cache())]);
    let ours = ours.map(|(name, value)| (name, as_set(value)));
    let set = [("disableWAL", as_set(!set.0)), ("sync", as_set(set.1)), cache];
    let client = Client::new(families.into(), (sizes.file, buffer));
    Ok(Opened::embedded(client, &*library.version, set.into_iter().chain(ours).chain(told)))
}

/// A client of an open database: its tables, and how it reads them.
struct Client {
    families: Arc<Families>,
    tables: Vec<Arc<Family>>,
    /// Bytes of pairs per file of a load.
    file: u64,
    /// Bytes of changes that stay in memory and in the log.
    buffer: u64,
    reads: ReadOptions,
    /// Empty outside of a scope, and kept, because creating one costs 3 % of a small commit.
    batch: Batch,
}

impl Client {
    fn new(families: Arc<Families>, (file, buffer): (u64, u64)) -> Self {
        let (reads, batch) = (families.db.read_options(), families.db.batch());
        Self { families, tables: Vec::new(), file, buffer, reads, batch }
    }
}

impl Lifecycle for Client {
    /// Flushes the memtables and compacts the tables.
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

    fn connection(&mut self) -> Result<ConnectionParameters> {
        let db = &self.families.db;
        let dir = db.own.dir.display().to_string();
        let (sync, wal) = (self.families.synced.to_string(), self.families.logged.to_string());
        Ok(vec![("dir", dir), ("sync", sync), ("wal", wal)])
    }

    /// Opens another client of the same database, with its own reads and writes. Threads can share
    /// it freely (<https://github.com/facebook/rocksdb/wiki/Basic-Operations#concurrency>).
    fn open_client(&mut self) -> Result<ClientOpener> {
        let (families, sizes) = (Arc::clone(&self.families), (self.file, self.buffer));
        Ok(ClientOpener::kv(move || Ok(Self::new(families, sizes))))
    }

    /// Does nothing, because closing does not flush what has a log.
    fn crash_on_close(&mut self) -> Result<()> {
        let what = "recovery in the tier `none`: without a log, what is in memory would be lost";
        if self.families.logged { Ok(()) } else { Err(EngineError::unsupported(ID, what)) }
    }

    fn suspend_checkpoints(&mut self, bytes: u64) -> Result<()> {
        self.crash_on_close()?;
        check_write_buffer(ID, self.buffer, bytes, "write_buffer_size and db_write_buffer_size")
    }

    fn log_bytes(&mut self) -> Result<u64> {
        log_files(ID, &self.families.db.own.dir, |name| name.ends_with(".log"))
    }

    /// Reads every pair of every column family and compares the checksum of each block
    /// (<https://github.com/facebook/rocksdb/wiki/Basic-Operations#checksums>). The C interface has
    /// no `DB::VerifyChecksum`. A cached block was compared when it was read, which is the default
    /// for all reads.
    fn check(&mut self) -> Result<Checked> {
        let mut checked = Checked::new("a scan with verify_checksums");
        let (reads, all) = (self.families.db.verifying_read_options(), self.families.all());
        all.iter().try_for_each(|family| family.iter(&reads).verify(&mut checked))?;
        Ok(checked)
    }

    fn background(&mut self, into: &mut Vec<Background>) -> Result<()> {
        background::read(&self.tables, into);
        Ok(())
    }

    /// Flushes data without a log first.
    fn close(self: Box<Self>) -> Result<()> {
        if self.families.logged {
            Ok(())
        } else {
            self.tables.iter().try_for_each(|table| table.flush())
        }
    }
}

impl KvStore for Client {
    fn table(&mut self, def: &TableDef<'_>) -> Result<Table> {
        // Names differ from the family `default`, which cannot be removed.
        let name = c_string(ID, "open a table", format!("table {}", def.name))?;
        if let Some(known) = self.tables.iter().position(|family| family.name == name) {
            return Ok(Table(known));
        }
        self.tables.push(self.families.named(&name)?);
        Ok(Table(self.tables.len() - 1))
    }

    /// Creates a new column family. The files of the old one are deleted as a whole.
    fn clear(&mut self, table: Table) -> Result<()> {
        self.families.renew(&mut self.tables[table.0])
    }

    /// Writes files beside the database and ingests them with one change
    /// (<https://github.com/facebook/rocksdb/wiki/Creating-and-Ingesting-SST-files>). The library
    /// syncs them in every tier.
    fn bulk(&mut self, table: Table, pairs: &mut dyn Pairs) -> Result<u64> {
        let (family, mut files, mut rows) = (&self.tables[table.0], Vec::new(), 0);
        let mut next = pairs.next();
        while next.is_some() {
            let mut file = family.file(files.len())?;
            let mut bytes = 0;
            while let Some((key, value)) = next.filter(|_| bytes < self.file) {
                file.put(key, value)?;
                bytes += (key.len() + value.len()) as u64;
                rows += 1;
                next = pairs.next();
            }
            files.push(file.finish()?);
        }
        if rows > 0 { family.ingest(&files).map(|()| rows) } else { Ok(0) }
    }

    /// Writes one range tombstone (<https://github.com/facebook/rocksdb/wiki/DeleteRange>).
    fn delete_range(&mut self, table: Table, from: &[u8], to: &[u8]) -> Result<()> {
        // The library refuses a range that ends before it begins. It has no keys.
        if from < to { self.tables[table.0].delete_range(from, to) } else { Ok(()) }
    }

    fn deletes_range(&self, _: Table) -> &'static str {
        "DeleteRange, one tombstone for all keys of a range"
    }

    fn transact(&mut self, scope: Scope, work: &mut Work<'_>) -> Result<()> {
        let Self { families, tables, reads, batch, .. } = self;
        let db = &families.db;
        let mut on = |reads: &ReadOptions, to: Destination<'_>| {
            work(&mut Overlay::new(scope, Tables { tables, reads, to, found: None }))
        };
        match scope {
            Scope::Snapshot => db.snapshot(reads, |reads| on(reads, Destination::ReadOnly)),
            Scope::PerOperation => on(reads, Destination::Database),
            Scope::Batch => {
                let done = on(reads, Destination::Batch(batch)).and_then(|()| db.write(batch));
                db.clear(batch);
                done
            }
        }
    }
}

/// The tables in a scope.
struct Tables<'a> {
    tables: &'a [Arc<Family>],
    reads: &'a ReadOptions,
    to: Destination<'a>,
    /// The value returned last, held until the next one.
    found: Option<Value<'a>>,
}

impl BlindWrites for Tables<'_> {
    fn get(&mut self, Table(table): Table, key: &[u8]) -> Result<Option<&[u8]>> {
        self.found = self.tables[table].get(self.reads, key)?;
        Ok(self.found.as_deref())
    }

    fn scan(&mut self, Table(table): Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        self.tables[table].scan(self.reads, range, visit)
    }

    fn set(&mut self, Table(table): Table, key: &[u8], value: Option<&[u8]>) -> Result<()> {
        self.tables[table].set(&mut self.to, key, value)
    }

    fn puts(&self, see: &mut VisitPut<'_>) -> Result<()> {
        let (Destination::Batch(batch), [first, ..]) = (&self.to, self.tables) else {
            return Ok(());
        };
        batch::puts(first.content(batch), |id, key, value| {
            let table = self.tables.iter().position(|family| family.id == id);
            table.into_iter().for_each(|table| see(Table(table), key, value));
        })
    }
}
