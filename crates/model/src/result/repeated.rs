//! Repetitions of a run that is too short to be timed once.

use serde::{Deserialize, Serialize};

use super::SteadyFigure;

/// How often a short run was repeated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Repeated {
    /// Number of repetitions, including the first.
    pub times: u64,
    /// Time inside the clock of all repetitions together in ns.
    pub total_ns: u64,
    /// For a warm-up run: the time of a repetition over the last rounds, and whether it was steady.
    /// Absent for counted runs, and if no round ended within the warm-up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady: Option<SteadyFigure>,
}

impl Repeated {
    /// Total time in ns up to which a run is repeated.
    pub const ENOUGH_NS: u64 = 1_000_000;

    /// Whether the repetitions together are too short for a reliable time.
    pub const fn is_short(&self) -> bool {
        self.total_ns < Self::ENOUGH_NS
    }
}
