//! Berkeley DB, by Debian's library and a thin shim of our own.
//!
//! One environment, private to the process and without locking, because one thread uses it; a
//! B-tree file per table, keys compared as bytes (the default). A secondary index is a B-tree file
//! of its own with duplicates, which the library keeps up to date
//! (<https://docs.oracle.com/cd/E17276_01/html/programmer_reference/am_second.html>).

use embermark_model::Durability;

use crate::{Availability, DataModel, Engine, Info, Kind, OpenOptions, Opened, Result, Tier};

#[cfg(berkeleydb_linked)]
mod batch;
#[cfg(berkeleydb_linked)]
mod env;
#[cfg(berkeleydb_linked)]
mod ffi;
#[cfg(berkeleydb_linked)]
mod scan;
#[cfg(berkeleydb_linked)]
mod store;
#[cfg(berkeleydb_linked)]
mod tree;

const ID: &str = "berkeleydb";

/// The engine.
pub(crate) struct BerkeleyDb;

impl Engine for BerkeleyDb {
    fn info(&self) -> Info {
        Info {
            id: ID,
            name: "Berkeley DB",
            kind: Kind::Embedded,
            family: DataModel::KeyValue,
            licence: "Sleepycat (AGPL from release 6 on)",
        }
    }

    #[cfg(berkeleydb_linked)]
    fn availability(&self) -> Availability {
        Availability::Ready { version: env::version() }
    }

    #[cfg(not(berkeleydb_linked))]
    fn availability(&self) -> Availability {
        Availability::Missing { why: WHY.to_owned(), remedy: REMEDY.to_owned() }
    }

    fn tier(&self, durability: Durability) -> Tier {
        let setting = match durability {
            Durability::None => {
                "no transactions, no log: changes stay in the process's cache until it is full \
                 or the database is closed"
            }
            Durability::Process => {
                "DB_TXN_WRITE_NOSYNC: a commit writes the log to the operating system, without \
                 a sync"
            }
            Durability::Power => "DB_TXN_SYNC (default): a commit writes and syncs the log",
        };
        Tier::Offered { keeps: durability, setting }
    }

    #[cfg(berkeleydb_linked)]
    fn open(&self, options: &OpenOptions) -> Result<Opened> {
        store::open(options)
    }

    #[cfg(not(berkeleydb_linked))]
    fn open(&self, _: &OpenOptions) -> Result<Opened> {
        Err(crate::EngineError::unavailable(ID, WHY, REMEDY))
    }
}

#[cfg(not(berkeleydb_linked))]
const WHY: &str = "built without Berkeley DB's headers";
#[cfg(not(berkeleydb_linked))]
const REMEDY: &str = "apt-get install libdb5.3-dev, then build again";
