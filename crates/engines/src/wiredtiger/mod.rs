//! WiredTiger, the storage engine of MongoDB as a library: Debian's, and a thin shim of our own.
//!
//! One connection, and a session for each client; a B-tree per table, keys compared as bytes (the format `u`).

use embermark_model::Durability;

use crate::{Availability, DataModel, Engine, Info, Kind, OpenOptions, Opened, Result, Tier};

#[cfg(wiredtiger_linked)]
mod connection;
#[cfg(wiredtiger_linked)]
mod cursor;
#[cfg(wiredtiger_linked)]
mod ffi;
#[cfg(wiredtiger_linked)]
mod store;

const ID: &str = "wiredtiger";

/// The engine.
pub(crate) struct WiredTiger;

impl Engine for WiredTiger {
    fn info(&self) -> Info {
        Info {
            id: ID,
            name: "WiredTiger",
            kind: Kind::Embedded,
            family: DataModel::KeyValue,
            licence: "GPL-2.0 or GPL-3.0",
        }
    }

    #[cfg(wiredtiger_linked)]
    fn availability(&self) -> Availability {
        Availability::Ready { version: connection::version() }
    }

    #[cfg(not(wiredtiger_linked))]
    fn availability(&self) -> Availability {
        Availability::Missing { why: WHY.to_owned(), remedy: REMEDY.to_owned() }
    }

    /// <https://source.wiredtiger.com/mongodb-4.2/tune_durability.html>, "Flush call configuration".
    fn tier(&self, durability: Durability) -> Tier {
        let setting = match durability {
            Durability::None => {
                "log=(enabled=false): changes stay in the process's cache until a checkpoint, at \
                 rest and at close"
            }
            Durability::Process => {
                "transaction_sync=(enabled=true,method=none), checkpoint_sync=false: a commit \
                 writes its log record to the operating system, without a sync"
            }
            Durability::Power => {
                "transaction_sync=(enabled=true,method=fsync): a commit writes and syncs the log"
            }
        };
        Tier::Offered { keeps: durability, setting }
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
