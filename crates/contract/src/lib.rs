//! What an engine is to the rest of embermark.
//!
//! An [`Engine`] says what it is and opens a [`Store`] of its family; a workload drives the store and
//! knows no engine. An adapter needs this crate alone, and may live outside of this repository.

mod background;
mod checked;
mod client;
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

pub use background::{Background, moved};
pub use checked::Checked;
pub use client::ClientOpener;
pub use embedded::Embedded;
pub use engine::{Availability, DataModel, Engine, Info, Kind, Link, OpenOptions, Opened, Origin};
pub use error::{EngineError, Result};
pub use limits::Limits;
pub use reopen::{Meanwhile, Reopener};
pub use settings::{Setting, Settings, Takes};
pub use tier::{
    EFFECTIVE_DURABILITY, Misfit, OWN_DURABILITY, ReadBack, Tier, TierSetting, TierTable, as_set,
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
    /// What every family has.
    pub fn lifecycle(&mut self) -> &mut dyn Lifecycle {
        match self {
            Self::Sql(store) => &mut **store,
            Self::Kv(store) => &mut **store,
            Self::Document(store) => &mut **store,
            Self::Series(store) => &mut **store,
        }
    }

    /// Closes it: [`Lifecycle::close`].
    pub fn close(self) -> Result<()> {
        match self {
            Self::Sql(store) => store.close(),
            Self::Kv(store) => store.close(),
            Self::Document(store) => store.close(),
            Self::Series(store) => store.close(),
        }
    }
}

/// What a workload needs of any open database, whatever its family. All of it happens outside
/// the clock unless a workload says otherwise.
///
/// # Errors
/// Every call fails when the engine reports an error.
pub trait Lifecycle {
    /// Maintenance after many changes: the engine's own checkpoint or compaction, and fresh statistics for its planner, as its manual advises after a bulk load.
    fn maintain(&mut self) -> Result<()>;

    /// What the engine's manual leaves to the program that uses it, from time to time while that works: a
    /// checkpoint of an engine that takes none by itself, where its log has grown by enough. (By default
    /// nothing.)
    fn upkeep(&mut self) -> Result<()> {
        Ok(())
    }

    /// How much of something it holds, as its manual states.
    fn limits(&self) -> Limits {
        Limits::default()
    }

    /// The settings that keep the durability tier, asked of the engine again, by their names and in their
    /// form in [`Opened::settings`]. Outside the clock. Empty, the default, where nothing can be asked.
    fn tier_settings(&mut self) -> Result<Vec<(String, String)>> {
        Ok(Vec::new())
    }

    /// How another process may use the same database while this one has it open.
    fn join(&self) -> Join {
        Join::Exclusive("this engine's adapter opens no second client")
    }

    /// The way in for a further client of this open database, on another thread of this process: an
    /// ordinary client, of the same tier and with the same settings. It creates nothing, opens the
    /// tables that are there, and closing it stops no server and removes nothing. It is closed before
    /// this client clears a table, maintains the database or closes it. Several
    /// clients may write: one that has to wait for another waits, and one that the engine refuses
    /// for the sake of another tries again as the engine's manual says, inside its call.
    ///
    /// # Errors
    /// Unsupported where an engine has one client at a time, with its reason; else the engine's own.
    fn open_client(&mut self) -> Result<ClientOpener> {
        Err(EngineError::unsupported("this engine's adapter", "more than one client at a time"))
    }

    /// What a program in another language must be told to open this database with the same settings: values by
    /// names that its package's file of code knows (`crates/clients`).
    ///
    /// # Errors
    /// Unsupported where no such program is written for the engine.
    fn connection(&mut self) -> Result<ConnectionParameters> {
        Err(no_client())
    }

    /// Connects again, as a program does that starts anew: what a client of a server does, and what
    /// lives in this process alone has no need of. Prepared statements are forgotten; tables and
    /// collections keep their numbers. `None`, the default, where a database is
    /// [opened again](Reopener) by closing and opening it.
    fn reconnect(&mut self) -> Option<Result<()>> {
        None
    }

    /// Whether [`reconnect`](Self::reconnect) ends a connection and makes none, which the next request
    /// does.
    fn connects_by_request(&self) -> bool {
        false
    }

    /// Appends what the engine tells of the work that it does in the background: checkpoints, flushes,
    /// compactions, what they do to writers. Always the same, in the same order; nothing where it tells
    /// nothing. Between two operations, about once a second: it may cost what a short question costs.
    fn background(&mut self, _into: &mut Vec<Background>) -> Result<()> {
        Ok(())
    }

    /// Closes the database as its manual asks, so that nothing is left running.
    fn close(self: Box<Self>) -> Result<()>;

    /// Has [`close`](Self::close) leave the database as its process does that dies: no checkpoint,
    /// nothing flushed that a commit did not. What the log holds is recovered when it is opened.
    ///
    /// # Errors
    /// Unsupported where there is no log to recover, with its reason; else the engine's own.
    fn crash_on_close(&mut self) -> Result<()> {
        Err(EngineError::unsupported("this engine's adapter", "to leave a log to recover"))
    }

    /// Has the engine take no checkpoint by itself any more, and write nothing of its log to tables, until
    /// the database is closed: so that its log holds every change that is made from now on. About
    /// `bytes` of keys and values are to come. Whoever wants an empty log before calls
    /// [`maintain`](Self::maintain).
    ///
    /// # Errors
    /// Unsupported where there is no such log, or it cannot grow so far, with the reason; else the
    /// engine's own.
    fn suspend_checkpoints(&mut self, _bytes: u64) -> Result<()> {
        Err(EngineError::unsupported("this engine's adapter", "to keep every change in a log"))
    }

    /// Bytes of the files of its log: of each the length, or what is allocated where that is less, as
    /// of a file that was made larger than what is in it.
    ///
    /// # Errors
    /// Unsupported where there is no log, with the reason; else when the files cannot be read.
    fn log_bytes(&mut self) -> Result<u64> {
        Err(EngineError::unsupported("this engine's adapter", "the size of a log"))
    }

    /// Has the engine check the whole database by the means that its manual offers for it, outside
    /// of any transaction and with no other client open. It may checkpoint first, and close and open
    /// its files. The store is used as before afterwards: tables and statements keep their numbers.
    ///
    /// What the engine finds wrong is no error but what the check is for; it may repair that, or refuse
    /// the database from then on.
    ///
    /// # Errors
    /// Unsupported where the engine has no check that can be reached, with its reason; else that the
    /// check could not be done, or the database not be used after it.
    fn check(&mut self) -> Result<Checked> {
        Err(EngineError::unsupported("this engine's adapter", "a check of the engine's own"))
    }
}

/// How a process may use a database that another one has open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Join {
    /// By [`Engine::join`] with the same options, given this: what reaches the database, in the engine's
    /// own form. It may hold a password.
    At(String),
    /// Not at all, and why, as the engine's manual has it.
    Exclusive(&'static str),
}

/// What a program must be told to open a database: values by their names. A password may be among them.
pub type ConnectionParameters = Vec<(&'static str, String)>;

/// That an engine has no client in another language.
pub fn no_client() -> EngineError {
    EngineError::impossible("embermark has no client in another language for it")
}

/// What one transaction covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Everything in it is read in one snapshot, and nothing is changed.
    Snapshot,
    /// One transaction that reads and writes, committed at its end.
    Batch,
    /// Each operation is a transaction of its own, by the engine's own autocommit, committed at the
    /// tier's durability before it returns.
    PerOperation,
}
