//! Repetitions of a run that is over too soon to be timed once.

use serde::{Deserialize, Serialize};

use super::SteadyFigure;

/// How often a short run was repeated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Repeated {
    /// How many times the run was made, the first time included.
    pub times: u64,
    /// Time inside the clock of all of them together in ns.
    pub total_ns: u64,
    /// Of a warm-up run: the time of a repetition over the last rounds, and whether it was steady.
    /// Absent of counted runs, and where no round ended in the time that a warm-up may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady: Option<SteadyFigure>,
}

impl Repeated {
    /// A run is repeated until all times together last this long in ns.
    pub const ENOUGH_NS: u64 = 1_000_000;

    /// Whether the repetitions together are too short for a reliable time.
    pub const fn is_short(&self) -> bool {
        self.total_ns < Self::ENOUGH_NS
    }
}
