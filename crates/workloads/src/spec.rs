//! What a worker must know to prepare a cell.

use std::ops::Range;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use embermark_clients::Program;
use embermark_model::plan::Rate;

use crate::observer::Companions;

/// What a worker must know to prepare a cell.
#[derive(Clone)]
pub struct Spec {
    /// The staged rows.
    pub rows: PathBuf,
    /// The variant's name.
    pub variant: String,
    /// Seed of the operation sequences: the same for every engine.
    pub seed: u64,
    /// How long a phase goes on that lasts by the clock.
    pub window: Duration,
    /// How long it goes on before that, unmeasured.
    pub warm_up: Duration,
    /// Samples a second of what a sensor makes.
    pub rate: Rate,
    /// Clients that share the operations of a phase.
    pub clients: u32,
    /// Which of them are on this machine, where they are on several.
    pub own_clients: Option<Range<u32>>,
    /// Operations a second that are started, by all clients together (open loop); `None`: each
    /// client starts its next one when the last has ended (closed loop).
    pub target_rate: Option<u64>,
    /// Limit of the 99th percentile of commit latency at the highest rate.
    pub p99_limit: Duration,
    /// Whether the database is opened again before each run of a phase that reads.
    pub cold: bool,
    /// Starts processes that take part; none where nobody can.
    pub companions: Option<Rc<dyn Companions>>,
    /// The program in another language that does the phases in place of this one, where one does.
    pub program: Option<Program>,
    /// The engine's id, for which somebody may have written a question in words of its own.
    pub engine: String,
    /// Whether the engine only adds rows (`Engine::is_append_only`).
    pub appends_only: bool,
    /// Whose answers to [questions](Workload::questions) lie beside the rows.
    pub referees: &'static [&'static str],
    /// Whether this engine is such a referee: its answers are put beside the rows.
    pub is_referee: bool,
}

impl Spec {
    /// A cell of rows, a variant and a seed; everything else as it usually is.
    pub fn of(rows: PathBuf, variant: impl Into<String>, seed: u64) -> Self {
        Self {
            rows,
            variant: variant.into(),
            seed,
            window: Duration::from_millis(100),
            warm_up: Duration::ZERO,
            rate: Rate::default(),
            clients: 1,
            own_clients: None,
            target_rate: None,
            p99_limit: Duration::from_millis(100),
            cold: false,
            companions: None,
            program: None,
            engine: String::new(),
            appends_only: false,
            referees: &[],
            is_referee: false,
        }
    }
}
