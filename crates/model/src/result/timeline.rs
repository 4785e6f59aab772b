//! A phase over time: slices of about a second, its rounds, and whether it reached a steady state.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A phase that runs until it is steady, over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(default)]
pub struct Timeline {
    /// Number of rows that are kept: the size of a full window.
    pub window_rows: u64,
    /// Bytes of user data per row, at the width of its types.
    pub row_bytes: u64,
    /// The engine's means of removing old rows.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub expiry: String,
    /// Consecutive slices of time of about a second each. They are longer if there would be more
    /// than 600.
    pub slices: Vec<Slice>,
    /// Consecutive rounds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<Round>,
    /// Steady state of the last rounds.
    pub steady: SteadyState,
    /// Operations that took longer than 100 ms, in order of time: the first thousand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stalls: Vec<Stall>,
    /// Total number of such operations.
    pub stalled: u64,
    /// Names of the engine's figures about its background work. Empty if it reports none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub background: Vec<String>,
}

/// A slice of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(default)]
pub struct Slice {
    /// End of the slice in seconds since the beginning.
    pub until_s: f64,
    /// Time of the engine and its client in ns, without the time for comparing answers and reading
    /// figures.
    pub elapsed_ns: u64,
    /// Number of rows inserted.
    pub rows_in: u64,
    /// Number of rows expired.
    pub rows_out: u64,
    /// Latency of the commits that inserted rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commits: Option<SliceLatency>,
    /// Latency of the queries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub questions: Option<SliceLatency>,
    /// Duration of expiring: the engine's work to remove old rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expiries: Option<SliceLatency>,
    /// Bytes of the data directory at its end, in allocated blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocated_bytes: Option<u64>,
    /// Bytes that reached the trial's own device in it, without any sync by embermark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_written_bytes: Option<u64>,
}

/// A latency in a slice, in ns. A percentile that the samples cannot support is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SliceLatency {
    /// Number of operations.
    pub samples: u64,
    /// Median.
    pub p50: u64,
    /// 99th percentile. Needs 100 samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99: Option<u64>,
    /// Largest.
    pub max: u64,
}

/// A round: the unit in which a steady state is looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(default)]
pub struct Round {
    /// End of the round in seconds since the beginning.
    pub until_s: f64,
    /// Time of the engine and its client in ns.
    pub elapsed_ns: u64,
    /// Number of rows inserted.
    pub rows: u64,
    /// Mean latency of the commits in ns. With a target rate it counts from when they were due.
    pub commit_mean_ns: f64,
    /// Bytes of the data directory at its end, in allocated blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocated_bytes: Option<u64>,
}

impl Round {
    /// Returns rows per second.
    pub fn throughput(&self) -> f64 {
        self.rows as f64 * 1e9 / (self.elapsed_ns.max(1)) as f64
    }
}

/// Whether the last rounds were steady, by the rule of SNIA's Solid State Storage Performance Test
/// Specification.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(default)]
pub struct SteadyState {
    /// Whether every figure was steady.
    pub reached: bool,
    /// End of the last round in seconds since the beginning.
    pub after_s: f64,
    /// The figures, by name: `throughput` or `latency`, and `space`.
    pub figures: BTreeMap<String, SteadyFigure>,
    /// Number of times that all rows of the window had been replaced by then.
    pub turnovers: f64,
}

/// A figure of the last five rounds, or of all rounds if there were fewer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SteadyFigure {
    /// Number of rounds.
    pub rounds: u64,
    /// Mean.
    pub mean: f64,
    /// Largest value minus smallest, as a share of the mean. Must be at most 0.2.
    pub spread: f64,
    /// Rise or fall of the least-squares line from the first round to the last, as a share of the
    /// mean. Must be at most 0.1.
    pub slope: f64,
    /// Whether it was steady.
    pub steady: bool,
}

/// An operation that took longer than 100 ms.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Stall {
    /// When it began, in seconds since the beginning.
    pub at_s: f64,
    /// Duration in ns.
    pub ns: u64,
    /// Kind of operation: `commit`, `question` or `expiry`.
    pub of: String,
    /// Figures about the engine's background work that changed in the same slice: the increase of a
    /// counter, and the value of a state.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub moved: BTreeMap<String, u64>,
}
