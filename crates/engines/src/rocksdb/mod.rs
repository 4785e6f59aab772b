//! RocksDB, by its C interface, from a library that is opened at run time.
//!
//! One database with a column family per table. A transaction that writes is a batch, in
//! which its reads look first; it is written at commit.

use embermark_model::Durability;

use crate::{
    Availability, DataModel, Engine, EngineError, Info, Kind, OpenOptions, Opened, Result, Tier,
};
use library::{REMEDY, library};

mod api;
mod batch;
mod bulk;
mod db;
mod library;
mod options;
mod scan;
mod store;
mod stored;

/// Its name in errors.
const ID: &str = "rocksdb";

/// The engine.
pub(crate) struct RocksDb;

impl Engine for RocksDb {
    fn info(&self) -> Info {
        Info {
            id: ID,
            name: "RocksDB",
            kind: Kind::Embedded,
            family: DataModel::KeyValue,
            licence: "Apache-2.0 or GPL-2.0",
        }
    }

    fn availability(&self) -> Availability {
        match library() {
            Ok(library) => Availability::Ready { version: library.version.clone() },
            Err(why) => Availability::Missing { why: why.to_owned(), remedy: REMEDY.to_owned() },
        }
    }

    /// <https://github.com/facebook/rocksdb/wiki/Basic-Operations#synchronous-writes> and
    /// <https://github.com/facebook/rocksdb/wiki/WAL-Performance>.
    fn tier(&self, durability: Durability) -> Tier {
        let setting = match durability {
            Durability::None => {
                "disableWAL=true: changes stay in the process's memory until it is full, at rest \
                 and at close"
            }
            Durability::Process => {
                "sync=false (default): a commit writes the log to the operating system, without \
                 a sync"
            }
            Durability::Power => "sync=true: a commit writes and syncs the log",
        };
        Tier::Offered { keeps: durability, setting }
    }

    fn open(&self, open: &OpenOptions) -> Result<Opened> {
        let library = library().map_err(|why| EngineError::unavailable(ID, why, REMEDY))?;
        store::open(library, open)
    }
}
