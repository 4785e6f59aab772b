//! A phase over time: what it was like from one second to the next, its rounds, and whether it came to
//! a steady state.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A phase that goes on until it is steady, over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(default)]
pub struct Timeline {
    /// Rows that are kept: what a window of them holds when it is full.
    pub window_rows: u64,
    /// Bytes of user data in a row, at the width of its types.
    pub row_bytes: u64,
    /// By which of the engine's means old rows go.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub expiry: String,
    /// Slices of time, one after the other: about a second each, and longer where there would be more
    /// than 600.
    pub slices: Vec<Slice>,
    /// Rounds, one after the other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<Round>,
    /// What the last rounds came to.
    pub steady: SteadyState,
    /// Operations that took longer than 100 ms, in the order of time: the first thousand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stalls: Vec<Stall>,
    /// How many there were.
    pub stalled: u64,
    /// What the engine tells of its work in the background, by name; none where it tells nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub background: Vec<String>,
}

/// A slice of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(default)]
pub struct Slice {
    /// When it ended, in seconds since the beginning.
    pub until_s: f64,
    /// How much of it was the engine's and its client's, in ns: without the time in which answers were
    /// compared and figures were read.
    pub elapsed_ns: u64,
    /// Rows that came in.
    pub rows_in: u64,
    /// Rows that went.
    pub rows_out: u64,
    /// Latency of the commits that brought rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commits: Option<SliceLatency>,
    /// Latency of the questions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub questions: Option<SliceLatency>,
    /// How long expiring took, the engine's work for rows that go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expiries: Option<SliceLatency>,
    /// Bytes of the data directory at its end, in allocated blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocated_bytes: Option<u64>,
    /// Bytes that reached the trial's own device in it, without a sync of ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_written_bytes: Option<u64>,
}

/// A latency in a slice, in ns. A percentile that the samples cannot support is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SliceLatency {
    /// Operations.
    pub samples: u64,
    /// Median.
    pub p50: u64,
    /// 99th percentile: needs 100 samples.
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
    /// When it ended, in seconds since the beginning.
    pub until_s: f64,
    /// Its time in ns, without what was not the engine's and its client's.
    pub elapsed_ns: u64,
    /// Rows that came in.
    pub rows: u64,
    /// Mean latency of the commits in ns; at a rate from the time at which they were due.
    pub commit_mean_ns: f64,
    /// Bytes of the data directory at its end, in allocated blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocated_bytes: Option<u64>,
}

impl Round {
    /// Rows a second.
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
    /// Whether every figure was.
    pub reached: bool,
    /// When the last round ended, in seconds since the beginning.
    pub after_s: f64,
    /// The figures, by name: `throughput` or `latency`, and `space`.
    pub figures: BTreeMap<String, SteadyFigure>,
    /// How often all rows of the window had been replaced by then.
    pub turnovers: f64,
}

/// A figure of the last five rounds; of as many as there were, where there were fewer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SteadyFigure {
    /// Rounds that it is of.
    pub rounds: u64,
    /// Its mean.
    pub mean: f64,
    /// The largest less the smallest, as a share of the mean: 0.2 at most.
    pub spread: f64,
    /// By how much the line of least squares rises or falls from the first of them to the last, as a
    /// share of the mean: 0.1 at most.
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
    /// How long it took, in ns.
    pub ns: u64,
    /// What it was: `commit`, `question` or `expiry`.
    pub of: String,
    /// What the engine tells of its work in the background that moved in the same slice: by how much a
    /// counter went up, and what a state was.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub moved: BTreeMap<String, u64>,
}
