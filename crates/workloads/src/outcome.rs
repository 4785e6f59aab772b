//! What a run returns, and what its check finds.

use embermark_contract::EngineError;
use embermark_meter::Meter;
use embermark_model::ResultSet;
use embermark_model::answer::{Answer, Difference};
use embermark_model::result::{Execution, SteadyState, WriteBehind};

/// What came of a run.
#[derive(Default)]
pub struct Outcome {
    /// What the engine answered.
    pub answer: Answer,
    /// Operations that each client did, in their order, where clients are on several machines: in a run those of
    /// this machine.
    pub done: Vec<u64>,
    /// By the engine's own means or by client code, where only the run has shown it: a question that either of two
    /// copies of the data may answer. `None`: as it was [opened](BenchPhase::execution).
    pub execution: Option<Execution>,
    /// What was measured of each part, where the phase does several things at the same time: each is shown as a
    /// phase of its own.
    pub parts: Vec<MeasuredPart>,
    /// What took the time, where that was a client in another process by its own clock.
    pub timed_by: Option<String>,
    /// Nanoseconds of an operation that does nothing in the loop of that client.
    pub client_floor_ns: Option<f64>,
    /// Whether the changes of a transaction were sent without waiting for the answer to each.
    pub pipelined: bool,
    /// Whether it ended because it was steady, of a phase that goes on until it is and says so nowhere else.
    pub steady: Option<SteadyState>,
    /// Bytes of the engine's log as it was found, of a phase that opens a database with its log.
    pub log_bytes: Option<u64>,
    /// What the buffer held, of a phase that commits on another thread than the one that accepts rows.
    pub write_behind: Option<WriteBehind>,
}

impl From<Answer> for Outcome {
    fn from(answer: Answer) -> Self {
        Self { answer, ..Self::default() }
    }
}

/// What a check that passed has to tell.
#[derive(Debug, Default)]
pub struct Passed {
    /// Who said what is right, or that nobody did, where that was no oracle.
    pub by: Option<String>,
    /// The answer, where nobody said what is right: to be compared with that of other engines.
    pub unchecked: Option<ResultSet>,
}

/// A part of a phase that does several things at the same time, as a run was measured.
pub struct MeasuredPart {
    /// Its name: the phase's and its own, `live/window`.
    pub name: &'static str,
    /// By the engine's own means or by client code.
    pub execution: Execution,
    /// What was measured.
    pub meter: Meter,
    /// Operations a second that were to be started; `None` of a closed loop.
    pub target_rate: Option<f64>,
}

/// A check that did not pass.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// The engine answered wrongly.
    #[error("wrong answer: {0}")]
    Wrong(#[from] Difference),
    /// Those who should say what is right differ.
    #[error("{0}")]
    Disputed(String),
    /// The engine failed while its content was read back.
    #[error(transparent)]
    Engine(#[from] EngineError),
}
