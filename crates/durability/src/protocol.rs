//! What goes between the experiment and the process that has the database open: a line of JSON each.

use std::path::PathBuf;

use embermark_model::Durability;
use serde::{Deserialize, Serialize};

use crate::work::filling::Filling;

/// The first line to the worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Task {
    /// The engine's id.
    pub engine: String,
    /// The folder of the database.
    pub dir: PathBuf,
    /// The tier to make.
    pub durability: Durability,
    /// The settings of a configuration.
    pub settings: Vec<(String, String)>,
    /// Cache memory in bytes.
    pub memory: u64,
    /// Seed of the work.
    pub seed: u64,
    /// The short work that comes first, by its place.
    pub short: Option<usize>,
    /// The work is to fill a disk.
    pub filling: Option<Filling>,
    /// Clients that do it.
    pub clients: u32,
    /// What is there already.
    pub there: There,
}

/// What is there when a worker begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum There {
    /// Nothing, and no table is made either: the database is opened and closed.
    Nothing,
    /// No table that was acknowledged: it is made.
    NoTable,
    /// A table.
    Table,
}

/// Any further line to the worker. The end of input is the end of its work: it has the
/// engine check the database, and closes it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Command {
    /// Goes on with the work.
    Commit {
        /// The last commit of each client that is there.
        after: Vec<u64>,
        /// How many each is to do.
        count: u64,
        /// Whether one that has acknowledged a commit waits for a line, and those with it that come
        /// to acknowledge one.
        waits: bool,
    },
    /// Has the one client go on with the work until a commit is refused: [`Event::Refused`], else
    /// [`Event::Done`]. The database stays open.
    Fill {
        /// The last commit that is there.
        after: u64,
        /// How many it is to do at most.
        count: u64,
        /// What they are.
        filling: Filling,
    },
    /// Reads what is there: [`Event::Found`] or [`Event::Refused`].
    Read,
    /// Maintains the database: [`Event::Done`] or [`Event::Refused`].
    Maintain,
}

/// A line from the worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Event {
    /// The database is open, and the table is there: made, where it was not.
    Opened {
        /// How long that took, in ns.
        ns: u64,
    },
    /// What was there. Follows at once.
    Found(crate::oracle::Found),
    /// A commit has returned.
    Committed {
        /// Whose.
        client: usize,
        /// Which.
        number: u64,
    },
    /// Something failed; nothing follows.
    Failed {
        /// At what.
        doing: Doing,
        /// What the engine said.
        message: String,
    },
    /// The engine failed, and the database is open still: of a [`Command::Fill`] and those after it.
    Refused {
        /// How long it took, in ns.
        ns: u64,
        /// What the engine said.
        message: String,
    },
    /// What was asked was done.
    Done,
    /// The database is closed.
    Closed,
}

/// What a worker is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Doing {
    Open,
    Read,
    Commit,
    /// Its own check, which found fault or could not be made.
    Check,
    Close,
}
