//! Outcomes of runs and of their checks.

use embermark_contract::EngineError;
use embermark_meter::Meter;
use embermark_model::ResultSet;
use embermark_model::answer::{Answer, Difference};
use embermark_model::result::{Execution, SteadyState, WriteBehind};

/// Outcome of a run.
#[derive(Default)]
pub struct Outcome {
    /// The engine's answer.
    pub answer: Answer,
    /// Operations that each client did, in the order of the clients, when clients are on several
    /// machines. After a run these are this machine's clients only.
    pub done: Vec<u64>,
    /// Whether the engine or client code answered, where only the run shows it because either of
    /// two copies of the data can answer. `None`: as [reported at
    /// opening](crate::BenchPhase::execution).
    pub execution: Option<Execution>,
    /// Measurements of each part of a phase that does several things at the same time. Each part is
    /// reported as a phase of its own.
    pub parts: Vec<MeasuredPart>,
    /// Name of the client that measured the times, if that was a process with its own clock.
    pub timed_by: Option<String>,
    /// Nanoseconds that an empty operation takes in that client's loop.
    pub client_floor_ns: Option<f64>,
    /// Whether the changes of a transaction were sent without waiting for the answer to each.
    pub pipelined: bool,
    /// Whether a phase that runs until it is steady became steady, where nothing else in the result
    /// reports it.
    pub steady: Option<SteadyState>,
    /// Size of the engine's log in bytes before the run, for a phase that opens a database with its
    /// log.
    pub log_bytes: Option<u64>,
    /// State of the buffer, for a phase that accepts rows on one thread and commits them on
    /// another.
    pub write_behind: Option<WriteBehind>,
}

impl From<Answer> for Outcome {
    fn from(answer: Answer) -> Self {
        Self { answer, ..Self::default() }
    }
}

/// Result of a check that passed.
#[derive(Debug, Default)]
pub struct Passed {
    /// Source of the right answer, if that was not the oracle.
    pub by: Option<String>,
    /// The answer, if the right one is unknown. It is compared with the answers of other
    /// engines.
    pub unchecked: Option<ResultSet>,
}

/// Measurements of one part of a phase that does several things at the same time.
pub struct MeasuredPart {
    /// Name of the phase and of the part: `live/window`.
    pub name: &'static str,
    /// Whether the engine or client code does the work.
    pub execution: Execution,
    /// The measurements.
    pub meter: Meter,
    /// Target rate in operations per second. `None` for a closed loop.
    pub target_rate: Option<f64>,
}

/// A check that failed.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// The engine gave a wrong answer.
    #[error("wrong answer: {0}")]
    Wrong(#[from] Difference),
    /// The sources of the right answer disagree.
    #[error("{0}")]
    Disputed(String),
    /// The engine failed while its content was read back.
    #[error(transparent)]
    Engine(#[from] EngineError),
}
