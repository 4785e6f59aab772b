//! What was asked for.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{Durability, Scale};

/// What one run of embermark was asked to measure, and how. Recorded in the result as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Workload ids.
    pub workloads: Vec<String>,
    /// Engine ids.
    pub engines: Vec<String>,
    /// Rows per cell; none: each workload's own.
    pub scales: Vec<Scale>,
    /// Tiers.
    pub durabilities: Vec<Durability>,
    /// Variants; the first one a workload knows runs every phase, the others the phases they change.
    /// Where it knows none, its own.
    pub variants: Vec<String>,
    /// Whether a workload's own scales and variants are those of its source.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub as_published: bool,
    /// The phases to run; all when absent.
    pub phases: Option<Vec<String>>,
    /// Where rows come from.
    pub data: DataSource,
    /// Executions of a phase in one trial.
    pub runs: u32,
    /// How many of them, from the first, are kept but not counted.
    pub discard: u32,
    /// Fresh processes per cell.
    pub trials: u32,
    /// Most a phase run may take before its loop stops, in milliseconds; no cap when absent.
    pub cap_ms: Option<u64>,
    /// How long a phase goes on that repeats a question in a closed loop, in milliseconds.
    #[serde(default = "usual_window_ms")]
    pub window_ms: u64,
    /// Most a trial may take before it is ended, in milliseconds.
    pub timeout_ms: u64,
    /// Seed of rows and operation sequences.
    pub seed: u64,
    /// Cache memory given to every engine, in bytes.
    pub memory_bytes: u64,
    /// Servers that already run, by engine id: connection URLs.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub urls: BTreeMap<String, String>,
    /// Engines whose licence forbids publishing figures, and which the user chose to run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepted_licences: Vec<String>,
}

/// What plans had before they said so.
const fn usual_window_ms() -> u64 {
    300
}

/// Where a workload's rows come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DataSource {
    /// Made from the plan's seed.
    Synthetic,
    /// A file of the workload's own format.
    File(PathBuf),
}

/// The rows that were used, as the manifest records them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dataset {
    /// What it is, in a few words: `synthetic (seed 42)`, `Intel Berkeley Research Lab log (the published file)`.
    pub name: String,
    /// The file it was read from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// SHA-256 of that file as it lies on disk, in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Rows that can be used.
    pub rows: u64,
    /// Distinct sensors among them, for `sensors`.
    pub sensors: u64,
    /// Rows that were not used, counted by reason. Never silently dropped.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub dropped: BTreeMap<String, u64>,
    /// What is unusual about rows that were used, counted.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub remarks: BTreeMap<String, u64>,
}
