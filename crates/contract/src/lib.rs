//! What an engine is to the rest of embermark.
//!
//! An [`Engine`] says what it is and opens a [`Store`] of its family; a workload drives the store and
//! knows no engine. An adapter needs this crate alone, and may live outside of this repository.

mod client;
pub mod document;
mod engine;
mod error;
pub mod kv;
pub mod row;
pub mod series;
pub mod sql;

pub use client::ClientOpener;
pub use engine::{Availability, DataModel, Engine, Info, Kind, Link, OpenOptions, Opened, Tier};
pub use error::{EngineError, Result};

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

/// What a workload needs of any open database, whatever its family. All of it happens outside
/// the clock unless a workload says otherwise.
pub trait Lifecycle {
    /// Brings the database to rest after many changes: the engine's own checkpoint or
    /// compaction, and fresh statistics for its planner, as its manual advises after a bulk load.
    ///
    /// # Errors
    /// When the engine reports one.
    fn maintain(&mut self) -> Result<()>;

    /// Ends what is open and opens it again, as a program does that starts anew on a database that is
    /// there: an embedded engine its files, a server engine its connection. Tables and collections
    /// keep their numbers; prepared statements are forgotten. Not inside a transaction.
    ///
    /// # Errors
    /// When the engine reports one, or cannot do it in this way.
    fn reopen(&mut self, _after: ShutdownKind) -> Result<()> {
        Err(EngineError::unsupported("this engine's adapter", "opening a database again"))
    }

    /// How another process may use the same database while this one has it open.
    fn join(&self) -> Join {
        Join::Exclusive("this engine's adapter opens no second client")
    }

    /// The way in for a further client of this open database, on another thread of this process: an
    /// ordinary client, of the same tier and with the same settings. It creates nothing, opens the
    /// tables that are there, and closing it stops no server and removes nothing. It is closed before
    /// this client clears a table, comes to rest, opens the database again or closes it. Several
    /// clients may write: one that has to wait for another waits, and one that the engine refuses
    /// for the sake of another tries again as the engine's manual says, inside its call.
    ///
    /// # Errors
    /// Unsupported where an engine has one client at a time, with its reason; else the engine's own.
    fn open_client(&mut self) -> Result<ClientOpener> {
        Err(EngineError::unsupported("this engine's adapter", "more than one client at a time"))
    }

    /// Closes the database as its manual asks, so that nothing is left running or unflushed.
    ///
    /// # Errors
    /// When the engine reports one.
    fn close(self: Box<Self>) -> Result<()>;
}

/// How a database was left before it is opened again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShutdownKind {
    /// Closed as its manual asks.
    Clean,
    /// As its process leaves it that dies: no checkpoint, nothing flushed that a commit did not. What
    /// the log holds is recovered when it is opened.
    Crash,
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

/// What a transaction will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Only read: one snapshot for all of it.
    Read,
    /// Read and write.
    Write,
}
