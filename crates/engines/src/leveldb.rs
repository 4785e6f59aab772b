//! LevelDB, a log-structured merge tree, from a library that is opened at run time.
//!
//! It has no tables: all of them lie in one database, the keys of each behind a byte of its own, so
//! that a batch over several is one. Nor has it transactions that read what they wrote: a scope's
//! changes are a batch, and once it reads, a sorted map as well, which its reads look into first.

mod api;
mod batch;
mod cursor;
mod db;
mod scope;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use embermark_model::Durability;

use crate::kv::{KvStore, Pairs, Range, Table, TableDef, Work};
use crate::{
    Availability, ClientOpener, DataModel, Engine, EngineError, Info, Join, Kind, Lifecycle,
    OpenOptions, Opened, Result, Scope, Store, Tier, TierSetting, TierTable, as_set,
};
use api::LIBRARY;
use db::{Db, Options};
use scope::{Alone, Reads, Snapshot, Writes};

const ID: &str = "leveldb";
/// Bits of the bloom filters for each key:
/// <https://github.com/google/leveldb/blob/main/doc/index.md#filters>.
const FILTER_BITS: i32 = 10;

/// What is set is `sync`. The C interface has no getters for options ("Does not support", `c.h`).
static TIERS: TierTable<bool> = TierTable {
    none: WRITTEN,
    process: WRITTEN,
    power: TierSetting::of(
        Durability::Power,
        true,
        "sync=true: a write syncs the log before it returns",
        MANUAL,
    ),
};
const WRITTEN: TierSetting<bool> = TierSetting::of(
    Durability::Process,
    false,
    "sync=false (default): a write hands the log to the operating system before it returns",
    MANUAL,
);
const MANUAL: &str = "https://github.com/google/leveldb/blob/main/doc/index.md#synchronous-writes";

/// The engine.
pub(crate) struct LevelDb;

impl Engine for LevelDb {
    fn info(&self) -> Info {
        let (kind, family) = (Kind::Embedded, DataModel::KeyValue);
        Info { id: ID, name: "LevelDB", kind, family, licence: "BSD-3-Clause" }
    }

    fn availability(&self) -> Availability {
        LIBRARY.availability(api::Api::version)
    }

    fn tier(&self, durability: Durability) -> Tier {
        TIERS.tier(durability)
    }

    /// Of the memory a quarter is for the two write buffers that there may be, the rest for blocks.
    fn open(&self, options: &OpenOptions) -> Result<Opened> {
        let api = LIBRARY.get()?;
        let memory = usize::try_from(options.memory).unwrap_or(usize::MAX);
        let (write_buffer, sync) = (memory / 8, TIERS.of(options.durability).set);
        let cache = memory - 2 * write_buffer;
        let with = Options { write_buffer, cache, filter_bits: FILTER_BITS, sync };
        let db = Db::open(api, &options.dir, with).map_err(failed("open the database"))?;
        let settings = [
            ("sync", as_set(sync)),
            ("write_buffer_size", as_set(format_args!("{write_buffer} bytes"))),
            ("block_cache", as_set(format_args!("{cache} bytes"))),
            ("filter_policy", as_set(format_args!("bloom, {FILTER_BITS} bits a key"))),
        ];
        Ok(Opened::embedded(Tables::of(Arc::new(db))?, api.version(), settings))
    }
}

/// Turns an error of the library into ours.
fn failed(doing: &'static str) -> impl FnOnce(String) -> EngineError {
    move |error| EngineError::failed(ID, doing, error)
}

/// The names of the tables, each with its number.
const NAMES: Table = Table(0);
/// The last byte that has one behind it, where the last table's keys end.
const MOST: usize = 254;

/// The key of a table's key: in `into`, behind the byte that is the table's number.
fn whole<'a>(into: &'a mut Vec<u8>, Table(number): Table, key: &[u8]) -> &'a [u8] {
    into.clear();
    into.push(number as u8);
    into.extend_from_slice(key);
    into
}

/// An open database and its tables.
struct Tables {
    db: Arc<Db>,
    /// By number: the first is that of `NAMES`, which no table has.
    names: Vec<Vec<u8>>,
    /// Room for a key, or the ends of a scan.
    keys: [Vec<u8>; 2],
}

impl Tables {
    fn of(db: Arc<Db>) -> Result<Self> {
        let (mut keys, mut numbered) = ([Vec::new(), Vec::new()], BTreeMap::new());
        Reads::of(db.latest(), &mut keys).scan_stored(
            NAMES,
            Range::default(),
            &mut |name, number| {
                numbered.insert(number.to_vec(), name.to_vec());
                ControlFlow::Continue(())
            },
        )?;
        let names = [Vec::new()].into_iter().chain(numbered.into_values()).collect();
        Ok(Self { db, names, keys })
    }
}

impl Lifecycle for Tables {
    fn maintain(&mut self) -> Result<()> {
        self.db.compact(None);
        Ok(())
    }

    fn join(&self) -> Join {
        Join::Exclusive(
            "a database may only be opened by one process at a time: it is locked \
             (https://github.com/google/leveldb/blob/main/doc/index.md#concurrency)",
        )
    }

    /// The same database, which threads share: they may write at once, and an update is a get and a
    /// put, between which another's may come.
    fn open_client(&mut self) -> Result<ClientOpener> {
        let db = Arc::clone(&self.db);
        Ok(ClientOpener::new(move || Ok(Store::Kv(Box::new(Self::of(db)?)))))
    }

    /// Every close is one: it writes no changes from memory to tables, and what the log has is
    /// recovered at open.
    fn crash_on_close(&mut self) -> Result<()> {
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

impl KvStore for Tables {
    fn table(&mut self, def: &TableDef<'_>) -> Result<Table> {
        let (name, number) = (def.name.as_bytes(), self.names.len());
        if let Some(known) = self.names.iter().position(|known| known == name) {
            return Ok(Table(known));
        }
        if number > MOST {
            return Err(EngineError::unsupported(ID, "more than 254 tables, a byte for each"));
        }
        let put = self.db.put(whole(&mut self.keys[0], NAMES, name), &[number as u8]);
        put.map_err(failed("make a table"))?;
        self.names.push(name.to_vec());
        Ok(Table(number))
    }

    /// One batch, and a compaction, which gives the space back.
    fn clear(&mut self, table: Table) -> Result<()> {
        let Self { db, keys, .. } = self;
        let (mut batch, mut removed) = (db.batch(), Vec::new());
        Reads::of(db.latest(), keys).scan_stored(table, Range::default(), &mut |key, _| {
            batch.delete(whole(&mut removed, table, key));
            ControlFlow::Continue(())
        })?;
        db.write(&batch).map_err(failed("empty a table"))?;
        let [from, to] = keys;
        db.compact(Some([whole(from, table, &[]), whole(to, Table(table.0 + 1), &[])]));
        Ok(())
    }

    /// One batch.
    fn bulk(&mut self, table: Table, pairs: &mut dyn Pairs) -> Result<u64> {
        let (mut batch, mut rows) = (self.db.batch(), 0);
        while let Some((key, value)) = pairs.next() {
            batch.put(whole(&mut self.keys[0], table, key), value);
            rows += 1;
        }
        self.db.write(&batch).map_err(failed("write a batch")).map(|()| rows)
    }

    fn transact(&mut self, scope: Scope, work: &mut Work<'_>) -> Result<()> {
        let Self { db, keys, .. } = self;
        match scope {
            Scope::Snapshot => work(&mut Snapshot(Reads::of(db.snapshot(), keys))),
            Scope::Batch => {
                let mut writes = Writes::of(Reads::of(db.snapshot(), keys));
                work(&mut writes)?;
                db.write(&writes.batch).map_err(failed("write a batch"))
            }
            Scope::PerOperation => work(&mut Alone(Reads::of(db.latest(), keys))),
        }
    }
}
