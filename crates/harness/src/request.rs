//! What a worker is asked for, as JSON on its standard input.

use std::path::PathBuf;

use embermark_engines::engine_library::Described;
use embermark_model::plan::Plan;
use embermark_model::{Durability, Scale};
use serde::{Deserialize, Serialize};

use crate::protocol::Job;

/// What a worker is asked for.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Request {
    /// To run a trial.
    Trial(Box<Job>),
    /// To say what it knows of an engine.
    Facts(Box<Question>),
    /// To open an empty database and leave it idle.
    Idle(Box<Idling>),
    /// To prepare rows.
    Stage(Box<Staging>),
    /// To say what engine a library is.
    Library {
        /// The process that asks.
        parent: u32,
        /// The library.
        path: PathBuf,
    },
    /// To remove what killed servers left whose data lies below a folder. It comes when whoever asks has ended.
    Abandoned {
        /// The folder.
        site: PathBuf,
    },
}

/// What a worker is asked about an engine in place of a trial.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Question {
    /// The process that asks: a worker that has lost it ends at once.
    pub parent: u32,
    /// The engine's id.
    pub engine: String,
    /// Its library, where it has one of its own.
    pub engine_library: Option<Described>,
    /// An empty database to open in each tier that is offered.
    pub tries: Option<Tries>,
}

/// Databases to open.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Tries {
    /// An empty folder.
    pub folder: PathBuf,
    pub tiers: Vec<Durability>,
    pub settings: Vec<(String, String)>,
}

/// A database to open and leave idle.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Idling {
    /// The process that asks: a worker that has lost it ends at once.
    pub parent: u32,
    /// The engine's id.
    pub engine: String,
    /// Its library, where it has one of its own.
    pub engine_library: Option<Described>,
    /// The folder of the database, which is made if there is none in it.
    pub folder: PathBuf,
    pub tier: Durability,
    pub cache_bytes: u64,
    pub settings: Vec<(String, String)>,
    /// For how long.
    pub idle_ms: u64,
}

/// Rows to be prepared.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Staging {
    /// The process that asks: a worker that has lost it ends at once.
    pub parent: u32,
    /// What was asked for: the files, the seed and the workload files are the run's.
    pub plan: Plan,
    /// The workload.
    pub workload: String,
    /// Its scales.
    pub scales: Vec<Scale>,
    /// Where the rows go.
    pub dir: PathBuf,
}
