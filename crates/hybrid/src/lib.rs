//! A key-value store whose tables are kept a second time, in columns, for questions in SQL.
//!
//! What is put, got, deleted and scanned is the *front's*, an ordered key-value store, with the
//! durability and nearly the speed of that store. The *mirror* is an SQL database of columns. It holds
//! the same rows and is never the truth: whatever happens to it, it is made anew from the front. A
//! question sees every commit that was acknowledged before it, because what has changed since the last
//! one is brought to the mirror first.
//!
//! ```text
//!  put, delete ──► one transaction of the front: the pairs, and one record of the keys that changed
//!  get, scan   ──► the front alone
//!  question    ──► the records since the last one ──► those keys' rows, in one transaction of the mirror
//!                  └─► SQL, by the mirror
//! ```
//!
//! Rows of a time that is past can be [archived](Hybrid::archive) in Parquet files, which questions read with
//! the mirror's own, and [expire](Hybrid::expire).
//!
//! The front's transactions that write have to follow one another, as those of LMDB do.

mod books;
mod bring;
mod changes;
mod client;
mod cold;
mod handle;
mod keeper;
mod lifecycle;
mod log;
mod mirror;
mod mirror_thread;
mod noting;
mod open;
mod refresh;
mod router;
mod rows;
mod shared;
mod state;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use embermark_contract::Result;
use embermark_contract::sql::SqlStore;

pub use client::Hybrid;
pub use cold::{Archive, Archived, Expired};

/// Its name in errors.
const NAME: &str = "the hybrid";

/// Opens the mirror's database in a folder, new or there already. It need not survive a crash: its
/// cheapest durability will do. It has to let further clients in.
pub type OpenMirror = Arc<dyn Fn(&Path) -> Result<Box<dyn SqlStore>> + Send + Sync>;

/// Is told, in a line, what happens to the mirror and costs time.
pub type Tell = Arc<dyn Fn(&str) + Send + Sync>;

/// How a hybrid keeps its mirror.
#[derive(Clone)]
pub struct Options {
    /// The mirror's folder, its alone; made where it is not there.
    pub dir: PathBuf,
    /// The folder of the cold chunks, theirs alone: rows in it may be nowhere else. Made by the first
    /// [`Hybrid::archive`].
    pub cold: PathBuf,
    /// Opens its database.
    pub mirror: OpenMirror,
    /// How long changes wait at most before they are brought to the mirror in the background; `None`:
    /// only a question, or [`Hybrid::refresh`], brings them. In the background it takes a front that
    /// lets further clients in.
    pub refresh_every: Option<Duration>,
    /// Changed rows after which the mirror's file is written, so that they leave memory.
    pub write_after: u64,
    /// Bytes of change records that are kept for the mirror. Where more come and nobody asks, it is
    /// given up and made anew at the next question.
    pub log_limit: u64,
    /// Is told what happens to the mirror.
    pub tell: Tell,
}

impl Options {
    /// Refreshed by questions alone; written after a million rows; 64 MiB of records. The cold chunks
    /// lie beside the mirror's folder, in one of its name and `-cold`.
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
            tell: Arc::new(|_| ()),
        }
    }
}
