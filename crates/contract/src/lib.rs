//! The interface between an engine and the rest of embermark.
//!
//! An [`Engine`] describes itself and opens a [`Store`] of its family. A workload drives the store
//! and knows no engine. An adapter needs only this crate and may live outside of this repository.

mod background;
mod checked;
mod clients;
pub mod document;
mod embedded;
mod engine;
mod error;
pub mod kv;
mod limits;
mod reopen;
pub mod row;
pub mod series;
pub mod settings;
pub mod sql;
mod tier;
mod tuning;

pub use background::{Background, changes_between};
pub use checked::Checked;
pub use clients::{ClientOpener, PATIENCE, retry_if};
pub use embedded::Embedded;
pub use engine::{Availability, DataModel, Engine, Info, Kind, Link, OpenOptions, Opened, Origin};
pub use error::{EngineError, Result};
pub use limits::{Limits, TextOrder};
pub use reopen::{OfflineTask, Reopener};
pub use settings::{Setting, SettingValues, Settings};
pub use tier::{
    EFFECTIVE_DURABILITY, OWN_DURABILITY, ReadBack, Tier, TierSetting, TierTable, WeakerSettings,
    as_set,
};

pub use tuning::Candidate;

use document::DocumentStore;
use kv::KvStore;
use series::SeriesStore;
use sql::SqlStore;

/// An open database, by family.
pub enum Store {
    /// Answers SQL.
    Sql(Box<dyn SqlStore>),
    /// Keeps ordered pairs of bytes.
    Kv(Box<dyn KvStore>),
    /// Keeps documents.
    Document(Box<dyn DocumentStore>),
    /// Keeps points in time.
    Series(Box<dyn SeriesStore>),
}

impl Store {
    /// Returns what every family has.
    pub fn lifecycle(&mut self) -> &mut dyn Lifecycle {
        match self {
            Self::Sql(store) => &mut **store,
            Self::Kv(store) => &mut **store,
            Self::Document(store) => &mut **store,
            Self::Series(store) => &mut **store,
        }
    }

    /// Returns the SQL database. `doing` is the engine's operation, for the error.
    ///
    /// # Errors
    /// If the store is of another family.
    pub fn into_sql(self, engine: &'static str, doing: &str) -> Result<Box<dyn SqlStore>> {
        match self {
            Self::Sql(store) => Ok(store),
            _ => Err(EngineError::failed(engine, doing, "it is not an SQL database")),
        }
    }

    /// Returns the key-value store. `doing` is the engine's operation, for the error.
    ///
    /// # Errors
    /// If the store is of another family.
    pub fn into_kv(self, engine: &'static str, doing: &str) -> Result<Box<dyn KvStore>> {
        match self {
            Self::Kv(store) => Ok(store),
            _ => Err(EngineError::failed(engine, doing, "it is not a key-value store")),
        }
    }

    /// Closes the store ([`Lifecycle::close`]).
    pub fn close(self) -> Result<()> {
        match self {
            Self::Sql(store) => store.close(),
            Self::Kv(store) => store.close(),
            Self::Document(store) => store.close(),
            Self::Series(store) => store.close(),
        }
    }
}

/// What a workload needs of any open database, whatever its family. All of it happens outside the
/// clock unless a workload says otherwise.
///
/// # Errors
/// Every call fails if the engine reports an error.
pub trait Lifecycle {
    /// Maintains the database after many changes, as its manual advises after a bulk load: the
    /// engine's own checkpoint or compaction, and new statistics for its planner.
    fn maintain(&mut self) -> Result<()>;

    /// Does what the engine's manual leaves to the program that uses it, from time to time during
    /// work. An example is a checkpoint once the log has grown enough, for an engine that has
    /// no automatic checkpoints. The default does nothing.
    fn upkeep(&mut self) -> Result<()> {
        Ok(())
    }

    /// Returns the engine's limits, as its manual states them.
    fn limits(&self) -> Limits {
        Limits::default()
    }

    /// Asks the engine again for the settings that keep the durability tier. Names and form are
    /// those of [`Opened::settings`]. Outside the clock. Empty, the default, if the engine cannot
    /// be asked.
    fn tier_settings(&mut self) -> Result<Vec<(String, String)>> {
        Ok(Vec::new())
    }

    /// Returns how another process may use the database while this one has it open.
    fn join(&self) -> Join {
        Join::Exclusive("this engine's adapter opens no second client")
    }

    /// Returns the opener of a further client of this open database, for another thread of this
    /// process. It is an ordinary client with the same tier and settings. It creates nothing and
    /// opens the existing tables. Closing it stops no server and removes nothing. It is closed
    /// before this client clears a table, maintains the database or closes it.
    ///
    /// Several clients may write. A client that has to wait for another one waits. A client that
    /// the engine refuses because of another one retries inside its call, as the engine's manual
    /// says. In a transaction of several calls it returns a
    /// [conflict](EngineError::is_conflict) instead, because all of them must be repeated.
    ///
    /// # Errors
    /// Unsupported, with the reason, if the engine has only one client at a time. Otherwise the
    /// engine's error.
    fn open_client(&mut self) -> Result<ClientOpener> {
        Err(EngineError::unsupported("this engine's adapter", "more than one client at a time"))
    }

    /// Returns what a program in another language needs to open this database with the same
    /// settings. The names are those that its package's source file knows (`crates/clients`).
    ///
    /// # Errors
    /// Unsupported if no such program exists for the engine.
    fn connection(&mut self) -> Result<ConnectionParameters> {
        Err(no_client())
    }

    /// Connects again, like a program that restarts. Only clients of a server need this.
    /// Prepared statements are forgotten. Tables and collections keep their numbers. `None`, the
    /// default, if a database is [opened again](Reopener) by closing and opening it.
    fn reconnect(&mut self) -> Option<Result<()>> {
        None
    }

    /// Whether [`reconnect`](Self::reconnect) only ends a connection. The next request then makes
    /// one.
    fn connects_by_request(&self) -> bool {
        false
    }

    /// Appends what the engine reports about its background work: checkpoints, flushes,
    /// compactions, and how they delay writers. Always the same figures in the same order. Appends
    /// nothing if the engine reports nothing. Called between two operations, about once per second,
    /// so it may cost as much as a short query.
    fn background(&mut self, _into: &mut Vec<Background>) -> Result<()> {
        Ok(())
    }

    /// Closes the database as its manual asks, so that nothing is left running.
    fn close(self: Box<Self>) -> Result<()>;

    /// Makes [`close`](Self::close) leave the database like a process that dies: no checkpoint, and
    /// nothing flushed that a commit did not flush. The log is recovered at the next open.
    ///
    /// # Errors
    /// Unsupported, with the reason, if there is no log to recover. Otherwise the engine's error.
    fn crash_on_close(&mut self) -> Result<()> {
        Err(EngineError::unsupported("this engine's adapter", "to leave a log to recover"))
    }

    /// Stops automatic checkpoints and writes from the log to tables until the database is closed.
    /// The log then holds every change that is made from now on. About `bytes` of keys and values
    /// will follow. Call [`maintain`](Self::maintain) first to start with an empty log. If the log
    /// is the database, there is nothing to stop unless the engine writes checkpoints by itself.
    ///
    /// # Errors
    /// Unsupported, with the reason, if there is no such log or it cannot grow that large.
    /// Otherwise the engine's error.
    fn suspend_checkpoints(&mut self, _bytes: u64) -> Result<()> {
        Err(EngineError::unsupported("this engine's adapter", "to keep every change in a log"))
    }

    /// Returns the total size of the log's files in bytes: of all files if the log is the database.
    /// Each counts with its length, or with its allocated size if that is less, as for a
    /// preallocated file.
    ///
    /// # Errors
    /// Unsupported, with the reason, if there is no log. Otherwise an error if its files cannot be
    /// read.
    fn log_bytes(&mut self) -> Result<u64> {
        Err(EngineError::unsupported("this engine's adapter", "the size of a log"))
    }

    /// Makes the engine check the whole database by the means that its manual offers, outside of
    /// any transaction and with no other client open. It may checkpoint first, and close and open
    /// its files. The store can be used as before afterwards: tables and statements keep their
    /// numbers.
    ///
    /// A fault that the engine finds is not an error but the purpose of the check. The engine may
    /// repair it, or refuse the database from then on.
    ///
    /// # Errors
    /// Unsupported, with the reason, if the engine has no usable check. Otherwise an error if the
    /// check could not run, or if the database cannot be used after it.
    fn check(&mut self) -> Result<Checked> {
        Err(EngineError::unsupported("this engine's adapter", "a check of the engine's own"))
    }
}

/// How a process may use a database that another one has open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Join {
    /// By [`Engine::join`] with the same options and this address, in the engine's own form. It may
    /// hold a password.
    At(String),
    /// Not at all, with the reason that the engine's manual gives.
    Exclusive(&'static str),
}

/// What a program needs to open a database: values by name. They may include a password.
pub type ConnectionParameters = Vec<(&'static str, String)>;

/// Makes the error that an engine has no client in another language.
pub fn no_client() -> EngineError {
    EngineError::impossible("embermark has no client in another language for it")
}

/// What one transaction covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All reads see one snapshot, and nothing is changed. If the engine cannot make sure of that,
    /// because another client may have written in between, the scope fails as unsupported.
    Snapshot,
    /// One transaction that reads and writes, committed at its end.
    Batch,
    /// Each operation is its own transaction by the engine's autocommit, committed at the tier's
    /// durability before it returns.
    PerOperation,
}

/// Implements methods of a trait by the methods of a field that have the same names and arguments.
#[macro_export]
macro_rules! delegate {
    ($field:ident:) => {};
    (
        $field:ident: fn $name:ident(&self $(, $argument:ident: $of:ty)*) -> $result:ty;
        $($rest:tt)*
    ) => {
        fn $name(&self, $($argument: $of),*) -> $result {
            self.$field.$name($($argument),*)
        }

        $crate::delegate! { $field: $($rest)* }
    };
    (
        $field:ident: fn $name:ident(&mut self $(, $argument:ident: $of:ty)*) -> $result:ty;
        $($rest:tt)*
    ) => {
        fn $name(&mut self, $($argument: $of),*) -> $result {
            self.$field.$name($($argument),*)
        }

        $crate::delegate! { $field: $($rest)* }
    };
}
