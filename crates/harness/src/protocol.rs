//! The messages between parent and worker: one `Request` as JSON on the worker's standard input,
//! and for a trial then [`Event`]s as JSON lines on its standard output.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

use embermark_engines::engine_library::Described;
use embermark_model::network::LinkUse;
use embermark_model::plan::Plan;
use embermark_model::result::{PhaseResult, Run, Trial};
use embermark_model::{CellId, Status};
use serde::{Deserialize, Serialize};

use crate::energy::{Counter, Window};

pub use crate::explaining::TracedProcess;

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
    /// The parent's process id. A worker that has lost its parent ends at once.
    pub parent: u32,
    /// How it explains its runs.
    pub explain: Explain,
    /// Whether very short runs are repeated.
    pub repeats: bool,
    /// Whether its answers are kept for comparison with those of other engines.
    pub is_referee: bool,
    /// Longest time of a run in ns by phase, if that is less than the plan's.
    pub bounds: BTreeMap<String, u64>,
    /// Energy counters that are read around each run, outside its clock.
    pub energy_counters: Vec<Counter>,
}

/// Beginning and end in ns of the monotonic clock.
pub type Between = (u64, u64);

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

/// Writes an event or an answer as one line.
pub(crate) fn send(events: &mut File, event: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(event)?;
    line.push(b'\n');
    events.write_all(&line)
}
