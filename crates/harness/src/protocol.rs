//! What parent and worker say to each other: one `Request` as JSON on the worker's standard input,
//! then, of a trial, [`Event`]s as JSON lines on its standard output.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

use embermark_engines::engine_library::Described;
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
    /// It reads what its processes have used before and after.
    Usage,
    /// It starts the worker proper and counts its system calls.
    Calls,
    /// It is that worker.
    Traced,
}

/// One trial of one cell, as the worker is told of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// The cell.
    pub cell: CellId,
    /// The library of its engine, where it has one of its own.
    pub engine_library: Option<Described>,
    /// The staged rows.
    pub rows: PathBuf,
    /// An empty directory for the engine's files, an absolute path.
    pub site: PathBuf,
    /// Whether `site` lies on a disk that nobody else uses.
    pub own_disk: bool,
    /// Folders of the control group that the worker enters right before it opens the engine: none
    /// without a limit of memory.
    pub groups: Vec<PathBuf>,
    /// A running server to use instead of a private one, with its secrets.
    pub url: Option<String>,
    /// Name of what is made on such a server.
    pub guest: String,
    /// The phases to run.
    pub phases: Vec<String>,
    /// What was asked for: runs, limits, clients, rates, memory and seed are the trial's.
    pub plan: Plan,
    /// How long a phase goes on that lasts by the clock, in milliseconds: the plan's or the workload's.
    pub window_ms: u64,
    /// How long it goes on before that, unmeasured, in milliseconds.
    pub warm_up_ms: u64,
    /// The parent's process id: a worker that has lost its parent ends at once.
    pub parent: u32,
    /// What it does to explain its runs.
    pub explain: Explain,
    /// Whether runs that are over at once are repeated.
    pub repeats: bool,
    /// Whether its answers are kept for those of others to be held to.
    pub is_referee: bool,
    /// By phase the longest time of a run in ns, where that is less than the plan's.
    pub bounds: BTreeMap<String, u64>,
    /// Counters of energy that are read around each run, outside its clock.
    pub energy_counters: Vec<Counter>,
}

/// When something began and ended, in ns of the monotonic clock.
pub type Between = (u64, u64);

/// What a worker reports to its parent, in this order: `Ready`, then for each phase `PhaseBegan`, its
/// `Run`s (each announced by `Running`) and `PhaseEnded`, then `Finished`. `Failed` may come at any time
/// and is the last.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// The engine is open.
    Ready {
        /// What is known of the trial: the engine's version and settings, the time to open it, and the
        /// worker's memory before.
        trial: Box<Trial>,
        /// Root process of a private server.
        server: Option<u32>,
    },
    /// A phase begins, without runs yet.
    PhaseBegan(Box<PhaseResult>),
    /// A run of the phase is about to begin; counts from 0.
    Running {
        /// Which one.
        run: u32,
    },
    /// What the run that is about to end asked of the system, as who traces the worker says.
    Traced {
        /// Every process that asked for something.
        processes: Vec<TracedProcess>,
    },
    /// The run ended.
    Run {
        /// What it took.
        run: Box<Run>,
        /// When it began and ended, in ns of the monotonic clock.
        between: Option<Between>,
        /// When its own disk was looked at before and after, where it has one.
        on_disk: Option<Between>,
        /// The same of the maintenance after it.
        maintenance_on_disk: Option<Between>,
        /// The time that its energy is of, with what counters of energy counted in it.
        window: Option<Window>,
    },
    /// The phase ended: ok, capped, unsupported or wrong. Its runs have been told before.
    PhaseEnded(Box<PhaseResult>),
    /// Every phase ended, and the engine is no longer set as its tier asks.
    TierChanged {
        /// Which setting, and how.
        reason: String,
    },
    /// Every phase ended and the engine is closed.
    Finished,
    /// The trial cannot go on.
    Failed {
        /// Failed, unsupported or unavailable.
        status: Status,
        /// Why.
        reason: String,
    },
}

/// Writes an event or an answer, one line.
pub(crate) fn send(events: &mut File, event: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(event)?;
    line.push(b'\n');
    events.write_all(&line)
}
