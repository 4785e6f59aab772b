//! Requests to a worker, as JSON on its standard input.

use std::path::PathBuf;

use embermark_engines::engine_library::Described;
use embermark_model::plan::Plan;
use embermark_model::{Durability, Scale};
use serde::{Deserialize, Serialize};

use crate::protocol::Job;

/// A request to a worker.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Request {
    /// Runs a trial.
    Trial(Box<Job>),
    /// Describes an engine.
    Facts(Box<EngineQuery>),
    /// Opens an empty database and leaves it idle.
    Idle(Box<IdleRequest>),
    /// Prepares rows.
    Stage(Box<StageRequest>),
    /// Describes the engine in a library.
    Library {
        /// Process id of the requester.
        parent: u32,
        /// The library.
        path: PathBuf,
    },
    /// Removes what killed servers with data below a folder left behind, after the requesting
    /// process has ended.
    Abandoned {
        /// The folder.
        site: PathBuf,
    },
}

/// A request to describe an engine.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct EngineQuery {
    /// Process id of the requester. The worker ends when that process ends.
    pub parent: u32,
    /// The engine's id.
    pub engine: String,
    /// The library that contains the engine, if it is not a part of embermark.
    pub engine_library: Option<Described>,
    /// Databases to open, one in each offered tier.
    pub tries: Option<OpenAttempts>,
}

/// Empty databases to open, one in each tier.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct OpenAttempts {
    /// An empty folder.
    pub folder: PathBuf,
    pub tiers: Vec<Durability>,
    pub settings: Vec<(String, String)>,
}

/// A database to open and leave idle.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct IdleRequest {
    /// Process id of the requester. The worker ends when that process ends.
    pub parent: u32,
    /// The engine's id.
    pub engine: String,
    /// The library that contains the engine, if it is not a part of embermark.
    pub engine_library: Option<Described>,
    /// Folder of the database. The engine creates the database if the folder has none.
    pub folder: PathBuf,
    pub tier: Durability,
    pub cache_bytes: u64,
    pub settings: Vec<(String, String)>,
    /// Duration of the idle time in milliseconds.
    pub idle_ms: u64,
}

/// Rows to prepare.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StageRequest {
    /// Process id of the requester. The worker ends when that process ends.
    pub parent: u32,
    /// The plan, with the data files, the seed and the workload files of the run.
    pub plan: Plan,
    /// The workload.
    pub workload: String,
    /// Its scales.
    pub scales: Vec<Scale>,
    /// Folder for the rows.
    pub dir: PathBuf,
}
