//! The messages between parent and worker: one `Request` as JSON on the worker's standard input,
//! and for a trial then [`Event`]s as JSON lines on its standard output.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

use embermark_engines::engine_library::Described;
use embermark_model::network::LinkUse;
use embermark_model::plan::Plan;
use embermark_model::result::{PhaseResult, Run, SystemCalls, Trial};
use embermark_model::{CellId, Durability, Scale, Status};
use serde::{Deserialize, Serialize};

use crate::energy::{Counter, Window};

/// A request to a worker. The requester's process id precedes it: a worker ends when that process
/// ends, except the one that cleans up after it.
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

impl Request {
    /// Returns the text of a request by this process.
    pub fn to_json(&self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(&(std::process::id(), self))
    }
}

/// A request to describe an engine.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct EngineQuery {
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
    /// The plan, with the data files, the seed and the workload files of the run.
    pub plan: Plan,
    /// The workload.
    pub workload: String,
    /// Its scales.
    pub scales: Vec<Scale>,
    /// Folder for the rows.
    pub dir: PathBuf,
}

/// What a worker does to explain its runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Explain {
    /// Nothing.
    #[default]
    Nothing,
    /// Reads page faults and context switches of its processes before and after each run.
    Usage,
    /// Starts the actual worker and counts its system calls.
    Calls,
    /// Is the actual worker, whose system calls another process counts.
    Traced,
}

/// One trial of one cell, as sent to the worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// The cell.
    pub cell: CellId,
    /// The library that contains the engine, if it is not a part of embermark.
    pub engine_library: Option<Described>,
    /// The staged rows.
    pub rows: PathBuf,
    /// Absolute path of an empty folder for the engine's files.
    pub site: PathBuf,
    /// Whether `site` is on a disk that nothing else uses.
    pub own_disk: bool,
    /// Directories of the control group that the worker enters right before it opens the engine.
    /// Empty without a memory limit.
    pub groups: Vec<PathBuf>,
    /// A running server to use instead of a private one, with its secrets.
    pub url: Option<String>,
    /// Name of the database or schema that is made on such a server.
    pub guest: String,
    /// The phases to run.
    pub phases: Vec<String>,
    /// The plan. Runs, limits, clients, rates, memory and seed are those of the trial.
    pub plan: Plan,
    /// Duration of a phase that lasts a fixed time in milliseconds: the plan's or the workload's.
    pub window_ms: u64,
    /// Duration of its unmeasured warm-up in milliseconds.
    pub warm_up_ms: u64,
    /// How it explains its runs.
    pub explain: Explain,
    /// Whether very short runs are repeated.
    pub repeats: bool,
    /// Whether its answers are kept for comparison with those of other engines.
    pub is_referee: bool,
    /// Longest time of a run in ns by phase, if that is less than the plan's.
    pub bounds: BTreeMap<String, u64>,
    /// The trial's share in ns of a run's time. `None` if its own time is known, or not limited.
    pub share_ns: Option<u64>,
    /// Energy counters that are read around each run, outside its clock.
    pub energy_counters: Vec<Counter>,
}

/// Beginning and end in ns of the monotonic clock.
pub type Between = (u64, u64);

/// The system calls of one process in a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TracedProcess {
    /// Process id.
    pub pid: u32,
    /// The processes that it descends from, up to the worker. Empty for the worker itself.
    pub ancestors: Vec<u32>,
    /// Its system calls inside the clock.
    pub calls: SystemCalls,
}

/// What a worker reports to its parent, in this order: `Ready`, then for each phase `PhaseBegan`,
/// its `Run`s (each announced by `Running`) and `PhaseEnded`, then `Finished`. `Failed` may come at
/// any time and is the last event.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// The engine is open.
    Ready {
        /// What is known about the trial: the engine's version and settings, the time to open it,
        /// and the worker's memory before.
        trial: Box<Trial>,
        /// Root process of a private server.
        server: Option<u32>,
    },
    /// A phase begins, without runs yet.
    PhaseBegan(Box<PhaseResult>),
    /// A run of the phase is about to begin.
    Running {
        /// Number of the run, from 0.
        run: u32,
    },
    /// The system calls of the run that is about to end, as counted by the worker's tracer.
    Traced {
        /// Every process with system calls.
        processes: Vec<TracedProcess>,
    },
    /// The run ended.
    Run {
        /// The measurements.
        run: Box<Run>,
        /// Beginning and end in ns of the monotonic clock.
        between: Option<Between>,
        /// When its own disk was read before and after, if it has one.
        on_disk: Option<Between>,
        /// The same for the maintenance after it.
        maintenance_on_disk: Option<Between>,
        /// The period of its energy, with what the energy counters counted in it.
        window: Option<Window>,
    },
    /// The phase ended: ok, capped, unsupported or wrong. Its runs have been reported before.
    PhaseEnded(Box<PhaseResult>),
    /// Every phase ended, and the engine's settings no longer match its tier.
    TierChanged {
        /// Which setting changed, and how.
        reason: String,
    },
    /// The engine is closed, and so is the imitated network link, which did this.
    Network(LinkUse),
    /// Every phase ended and the engine is closed.
    Finished,
    /// The trial cannot continue.
    Failed {
        /// Failed, unsupported or unavailable.
        status: Status,
        /// The reason.
        reason: String,
    },
}

/// Writes an event, an answer or a task as one line.
pub(crate) fn send(to: &mut impl Write, what: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(what)?;
    line.push(b'\n');
    to.write_all(&line)
}
