//! Specification of a cell that a worker prepares.

use std::ops::Range;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use embermark_clients::Program;
use embermark_model::plan::Rate;

use crate::observer::Companions;

/// Specification of a cell that a worker prepares.
#[derive(Clone, Default)]
pub struct Spec {
    /// Path of the staged rows.
    pub rows: PathBuf,
    /// The variant's name.
    pub variant: String,
    /// Seed of the operation sequences: the same for every engine.
    pub seed: u64,
    /// How long a timed phase is measured.
    pub window: Duration,
    /// How long it runs before that, unmeasured.
    pub warm_up: Duration,
    /// Samples per second that a sensor makes.
    pub rate: Rate,
    /// Number of clients that share the operations of a phase.
    pub clients: u32,
    /// Which clients are on this machine, when they are on several.
    pub own_clients: Option<Range<u32>>,
    /// Operations started per second by all clients together (open loop). `None`: each client
    /// starts its next operation when the last one has ended (closed loop).
    pub target_rate: Option<u64>,
    /// Limit of the 99th percentile of commit latency in the search for the highest rate.
    pub p99_limit: Duration,
    /// Whether the database is reopened before each run of a phase that reads.
    pub cold: bool,
    /// Starts companion processes. `None` where no process can be started.
    pub companions: Option<Rc<dyn Companions>>,
    /// Program in another language that runs the phases instead of this one.
    pub program: Option<Program>,
    /// The engine's id. A question can have its own text for an engine.
    pub engine: String,
    /// Whether the engine only adds rows (`Engine::is_append_only`).
    pub appends_only: bool,
    /// Engines whose answers to [questions](crate::Workload::questions) are stored next to the rows.
    pub referees: &'static [&'static str],
    /// Whether this engine is such a referee, whose answers are stored next to the rows.
    pub is_referee: bool,
}

impl Spec {
    /// Creates a spec from rows, a variant, and a seed, with defaults for everything else.
    pub fn of(rows: PathBuf, variant: impl Into<String>, seed: u64) -> Self {
        Self {
            rows,
            variant: variant.into(),
            seed,
            window: Duration::from_millis(100),
            clients: 1,
            p99_limit: Duration::from_millis(100),
            ..Self::default()
        }
    }
}
