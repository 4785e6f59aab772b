//! The messages between the experiment and the process that has the database open: one line of JSON
//! each.

use std::path::PathBuf;

use embermark_model::Durability;
use serde::{Deserialize, Serialize};

use crate::work::filling::Filling;

/// The first line to the worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Task {
    /// Id of the engine.
    pub engine: String,
    /// Folder of the database.
    pub dir: PathBuf,
    /// The tier to make.
    pub durability: Durability,
    /// Settings of a configuration.
    pub settings: Vec<(String, String)>,
    /// Cache memory in bytes.
    pub memory: u64,
    /// Seed of the work.
    pub seed: u64,
    /// The short work that comes first, by its index.
    pub short: Option<usize>,
    /// Set if the work is to fill a disk.
    pub filling: Option<Filling>,
    /// Number of clients.
    pub clients: u32,
    /// What exists already.
    pub there: DatabaseState,
}

/// What exists when a worker begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum DatabaseState {
    /// Nothing. No table is created either: the database is opened and closed.
    Nothing,
    /// No table that was acknowledged. It is created.
    NoTable,
    /// A table.
    Table,
}

/// Any further line to the worker. The end of input ends its work: it makes the engine check the
/// database, and closes it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Command {
    /// Continue the work.
    Commit {
        /// The last commit of each client that was found.
        after: Vec<u64>,
        /// Number of commits per client.
        count: u64,
        /// Whether a client that has acknowledged a commit waits for a line, and so do other
        /// clients when they acknowledge one.
        waits: bool,
    },
    /// Continue the work with one client until a commit is refused: [`Event::Refused`], otherwise
    /// [`Event::Done`]. The database stays open.
    Fill {
        /// The last commit that was found.
        after: u64,
        /// Largest number of commits.
        count: u64,
        /// Content of the commits.
        filling: Filling,
    },
    /// Read the content: [`Event::Found`] or [`Event::Refused`].
    Read,
    /// Maintain the database: [`Event::Done`] or [`Event::Refused`].
    Maintain,
}

/// A line from the worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Event {
    /// The database is open and the table exists. It was created if necessary.
    Opened {
        /// How long that took in ns.
        ns: u64,
    },
    /// The content. Follows at once.
    Found(crate::oracle::TableContent),
    /// A commit has returned.
    Committed {
        /// The client.
        client: usize,
        /// Number of the commit.
        number: u64,
    },
    /// Something failed. Nothing follows.
    Failed {
        /// The failed action.
        doing: WorkerAction,
        /// The engine's message.
        message: String,
    },
    /// The engine failed, but the database is still open. For [`Command::Fill`] and the commands
    /// after it.
    Refused {
        /// How long it took in ns.
        ns: u64,
        /// The engine's message.
        message: String,
    },
    /// The command was executed.
    Done,
    /// The database is closed.
    Closed,
}

/// What a worker is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum WorkerAction {
    Open,
    Read,
    Commit,
    /// The engine's own check, which found a fault or could not run.
    Check,
    Close,
}
