//! WiredTiger, the storage engine of MongoDB as a library: Debian's, and a thin shim of our own.
//!
//! One connection, and a session for each client; a B-tree per table, keys compared as bytes.

use embermark_model::Durability;

use crate::{
    Availability, DataModel, Engine, Info, Kind, OpenOptions, Opened, Result, Tier, TierSetting,
    TierTable,
};

#[cfg(wiredtiger_linked)]
mod ffi;
#[cfg(wiredtiger_linked)]
mod store;

const ID: &str = "wiredtiger";

/// Parts of the connection's configuration.
type Parts = &'static [(&'static str, &'static str)];

static TIERS: TierTable<Parts> = TierTable {
    none: row(
        Durability::None,
        &[("checkpoint_sync", "false"), ("log", "(enabled=false)")],
        "log=(enabled=false): changes stay in the process's cache until a checkpoint, at \
         maintenance and at close",
    ),
    process: row(
        Durability::Process,
        &[("checkpoint_sync", "false"), LOG, ("transaction_sync", "(enabled=true,method=none)")],
        "transaction_sync=(enabled=true,method=none), checkpoint_sync=false: a commit writes its \
         log record to the operating system, without a sync",
    ),
    power: row(
        Durability::Power,
        &[("checkpoint_sync", "true"), LOG, ("transaction_sync", "(enabled=true,method=fsync)")],
        "transaction_sync=(enabled=true,method=fsync): a commit writes and syncs the log",
    ),
};
/// Its files are made in advance and are 100 MB each as shipped, which would pass for the size of a
/// small database.
const LOG: (&str, &str) = ("log", "(enabled=true,file_max=16MB)");

const fn row(keeps: Durability, set: Parts, words: &'static str) -> TierSetting<Parts> {
    // Its "Flush call configuration".
    let manual = "https://source.wiredtiger.com/mongodb-4.2/tune_durability.html";
    TierSetting::of(keeps, set, words, manual).reads(set)
}

/// The engine.
pub(crate) struct WiredTiger;

impl Engine for WiredTiger {
    fn info(&self) -> Info {
        let (kind, family) = (Kind::Embedded, DataModel::KeyValue);
        Info { id: ID, name: "WiredTiger", kind, family, licence: "GPL-2.0 or GPL-3.0" }
    }

    #[cfg(wiredtiger_linked)]
    fn availability(&self) -> Availability {
        Availability::Ready { version: ffi::version() }
    }

    #[cfg(not(wiredtiger_linked))]
    fn availability(&self) -> Availability {
        Availability::Missing { why: WHY.to_owned(), remedy: REMEDY.to_owned() }
    }

    fn tier(&self, durability: Durability) -> Tier {
        TIERS.tier(durability)
    }

    #[cfg(wiredtiger_linked)]
    fn open(&self, options: &OpenOptions) -> Result<Opened> {
        store::open(options)
    }

    #[cfg(not(wiredtiger_linked))]
    fn open(&self, _: &OpenOptions) -> Result<Opened> {
        Err(crate::EngineError::unavailable(ID, WHY, REMEDY))
    }
}

#[cfg(not(wiredtiger_linked))]
const WHY: &str = "built without WiredTiger's headers";
#[cfg(not(wiredtiger_linked))]
const REMEDY: &str = "apt-get install libwiredtiger-dev, then build again";
