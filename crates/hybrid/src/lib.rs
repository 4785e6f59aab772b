//! A key-value store that also keeps its tables in columns, for queries in SQL.
//!
//! Puts, gets, deletes and scans go to the *front*, an ordered key-value store, with the durability
//! and nearly the speed of that store. The *mirror* is a columnar SQL database. It holds the same
//! rows and is never the primary copy: whatever happens to it, it is rebuilt from the front. A
//! query sees every commit that was acknowledged before it, because changes since the last one are
//! transferred to the mirror first.
//!
//! ```text
//!  put, delete ──► one transaction of the front: the pairs, and one record of the changed keys
//!  get, scan   ──► only the front
//!  query       ──► the records since the last one ──► those keys' rows, in one mirror transaction
//!                  └─► SQL, by the mirror
//! ```
//!
//! Old rows can be [archived](Hybrid::archive) in Parquet files, which queries read together with
//! the mirror's own, and can [expire](Hybrid::expire).
//!
//! The front's write transactions must be serialized, like those of LMDB.

mod catalog;
mod change_log;
mod changes;
mod client;
mod cold;
mod handle;
mod lifecycle;
mod mirror;
mod mirror_thread;
mod recording;
mod refresh;
mod router;
mod rows;
mod shared;
mod transfer;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use embermark_contract::Result;
use embermark_contract::sql::SqlStore;

pub use client::Hybrid;
pub use cold::{Archive, Archived, Expired};

/// Name in errors.
const NAME: &str = "the hybrid";

/// Opens the mirror's database in a folder, new or existing. It need not survive a crash, so its
/// cheapest durability is sufficient. It must allow further clients.
pub type OpenMirror = Arc<dyn Fn(&Path) -> Result<Box<dyn SqlStore>> + Send + Sync>;

/// Receives a line about each expensive event of the mirror.
pub type OnEvent = Arc<dyn Fn(&str) + Send + Sync>;

/// Settings of a hybrid's mirror.
#[derive(Clone)]
pub struct Options {
    /// Folder that only the mirror uses. It is created if it does not exist.
    pub dir: PathBuf,
    /// Folder that only the cold chunks use. Its rows may exist nowhere else. The first
    /// [`Hybrid::archive`] creates it.
    pub cold: PathBuf,
    /// Opens the mirror's database.
    pub mirror: OpenMirror,
    /// Longest time that changes wait before they are transferred to the mirror in the background.
    /// `None`: only a query, or [`Hybrid::refresh`], transfers them. The background refresh needs a
    /// front that allows further clients.
    pub refresh_every: Option<Duration>,
    /// Number of changed rows after which the mirror's file is written, so that they leave memory.
    pub write_after: u64,
    /// Largest number of bytes of change records that are kept for the mirror. If there are more and
    /// no query runs, the mirror is discarded and rebuilt for the next query.
    pub log_limit: u64,
    /// Receives events of the mirror.
    pub on_event: OnEvent,
}

impl Options {
    /// Default options: refreshed only by queries, written after a million rows, 64 MiB of records.
    /// The folder of the cold chunks has the name of the mirror's folder and `-cold`.
    pub fn new(dir: impl Into<PathBuf>, mirror: OpenMirror) -> Self {
        let dir = dir.into();
        let mut cold = dir.clone().into_os_string();
        cold.push("-cold");
        Self {
            dir,
            cold: cold.into(),
            mirror,
            refresh_every: None,
            write_after: 1_000_000,
            log_limit: 64 << 20,
            on_event: Arc::new(|_| ()),
        }
    }
}
