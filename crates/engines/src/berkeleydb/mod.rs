//! Berkeley DB, by Debian's library and a thin shim of our own.
//!
//! One environment, private to the process and without locking, because one thread uses it; a
//! B-tree file per table, keys compared as bytes (the default). A secondary index is a B-tree file
//! of its own with duplicates, which the library keeps up to date
//! (<https://docs.oracle.com/cd/E17276_01/html/programmer_reference/am_second.html>).

use embermark_model::Durability;

use crate::{
    Availability, DataModel, Engine, Info, Kind, OpenOptions, Opened, Result, Tier, TierSetting,
    TierTable,
};

#[cfg(berkeleydb_linked)]
mod ffi;
#[cfg(berkeleydb_linked)]
mod store;

const ID: &str = "berkeleydb";

/// How an environment keeps its commits.
#[derive(Clone, Copy, Debug)]
struct Commits {
    transactions: bool,
    write_nosync: bool,
}

static TIERS: TierTable<Commits> = TierTable {
    none: TierSetting::of(
        Durability::None,
        Commits { transactions: false, write_nosync: false },
        "no transactions, no log: changes stay in the process's cache until it is full or the \
         database is closed, and a batch that fails is not undone",
        "https://docs.oracle.com/cd/E17276_01/html/api_reference/C/envopen.html",
    )
    .reads(&[("DB_INIT_TXN", &["off"]), ("DB_INIT_LOG", &["off"])]),
    process: TierSetting::of(
        Durability::Process,
        Commits { transactions: true, write_nosync: true },
        "DB_TXN_WRITE_NOSYNC: a commit writes the log to the operating system, without a sync",
        MANUAL,
    )
    .reads(&[
        ("DB_INIT_TXN", &["on"]),
        ("DB_TXN_WRITE_NOSYNC", &["on"]),
        ("DB_TXN_NOSYNC", &["off"]),
    ]),
    power: TierSetting::of(
        Durability::Power,
        Commits { transactions: true, write_nosync: false },
        "DB_TXN_SYNC (default): a commit writes and syncs the log",
        MANUAL,
    )
    .reads(&[
        ("DB_INIT_TXN", &["on"]),
        ("DB_TXN_WRITE_NOSYNC", &["off"]),
        ("DB_TXN_NOSYNC", &["off"]),
    ]),
};
const MANUAL: &str = "https://docs.oracle.com/cd/E17276_01/html/api_reference/C/envset_flags.html";

/// The engine.
pub(crate) struct BerkeleyDb;

impl Engine for BerkeleyDb {
    fn info(&self) -> Info {
        let (kind, family) = (Kind::Embedded, DataModel::KeyValue);
        let licence = "Sleepycat (AGPL from release 6 on)";
        Info { id: ID, name: "Berkeley DB", kind, family, licence }
    }

    #[cfg(berkeleydb_linked)]
    fn availability(&self) -> Availability {
        Availability::Ready { version: ffi::version() }
    }

    #[cfg(not(berkeleydb_linked))]
    fn availability(&self) -> Availability {
        Availability::Missing { why: WHY.to_owned(), remedy: REMEDY.to_owned() }
    }

    fn tier(&self, durability: Durability) -> Tier {
        TIERS.tier(durability)
    }

    #[cfg(berkeleydb_linked)]
    fn open(&self, options: &OpenOptions) -> Result<Opened> {
        let row = TIERS.of(options.durability);
        let opened = store::open(options, row.set)?;
        row.check(ID, options.durability, &opened.settings).map(|()| opened)
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
