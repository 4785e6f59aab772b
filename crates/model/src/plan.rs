//! What was asked for.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::configuration::Configurations;
use crate::{
    Card, Client, Durability, EngineLibrary, MemoryLimit, Scale, ServerUrl, Storage, StorageName,
};

/// What one run of embermark was asked to measure, and how. Recorded in the result as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Workload ids.
    pub workloads: Vec<String>,
    /// Those of them that files describe, by id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub workload_files: BTreeMap<String, WorkloadFile>,
    /// Columns: ids of engines, and names of configurations.
    pub engines: Vec<String>,
    /// Engines with other settings, each a column by its name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub configurations: Configurations,
    /// Shared libraries that are engines, by the engines' ids.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub engine_libraries: BTreeMap<String, EngineLibrary>,
    /// Rows per cell; none: each workload's own.
    pub scales: Vec<Scale>,
    /// By workload, where it has others than these.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub scales_of: BTreeMap<String, Vec<Scale>>,
    /// Tiers.
    pub durabilities: Vec<Durability>,
    /// Variants; the first one a workload knows runs every phase, the others the phases they change.
    /// Where it knows none, its own.
    pub variants: Vec<String>,
    /// The part of a published comparison that it repeats, where it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<Repeats>,
    /// Whether they are those of an overview: small, because every workload runs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub overview: bool,
    /// The phases to run; all when absent.
    pub phases: Option<Vec<String>>,
    /// Where rows come from.
    pub data: DataSource,
    /// Executions of a phase in one trial.
    pub runs: u32,
    /// How many of them, from the first, only warm up: they are recorded and not counted.
    #[serde(alias = "discard")]
    pub warmup_runs: u32,
    /// Fresh processes per cell.
    pub trials: u32,
    /// Whether a workload's own number of them goes before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own_trials: bool,
    /// Longest time of one run of a phase before its loop stops, in milliseconds; absent: no limit.
    #[serde(alias = "cap_ms")]
    pub max_run_time_ms: Option<u64>,
    /// How long a phase goes on that lasts by the clock, in milliseconds; absent: the workload's own
    /// time.
    #[serde(default)]
    pub window_ms: Option<u64>,
    /// How long it goes on before that, unmeasured; absent: the workload's own time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up_ms: Option<u64>,
    /// Samples a second of what a sensor makes.
    #[serde(default)]
    pub rate: Rate,
    /// Clients that work at the same time.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub clients: u32,
    /// Operations a second that are started, by all clients together (open loop); absent: each
    /// client starts its next one when the last has ended (closed loop).
    #[serde(default, alias = "arrivals", skip_serializing_if = "Option::is_none")]
    pub target_rate: Option<u64>,
    /// Limit of the 99th percentile of commit latency at the highest rate, in milliseconds.
    #[serde(default = "default_p99_limit_ms", alias = "bound_ms")]
    pub p99_limit_ms: u64,
    /// Most a trial may take before it is ended, in milliseconds; absent: no limit.
    #[serde(default)]
    pub timeout_ms: Option<u64>,
    /// Seed of rows and operation sequences.
    pub seed: u64,
    /// Cache memory given to every engine, in bytes.
    pub memory_bytes: u64,
    /// Most memory for an engine and the page cache of its files, each a cell of its own, `None`
    /// without a limit; none: each workload's own, which is no limit but in an overview.
    #[serde(default, rename = "memory_limits_bytes", skip_serializing_if = "Vec::is_empty")]
    pub memory_limits: Vec<Option<MemoryLimit>>,
    /// Storages that are imitated below the databases, each a cell of its own, `None` this machine's own disk; none:
    /// that disk alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub storages: Vec<Option<Storage>>,
    /// Whether the database is closed, its pages are dropped from memory, and it is opened again
    /// before each run of a phase that reads.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cold: bool,
    /// Flash cards that are modelled: what they would have programmed for what the trials that count
    /// bring to their disks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cards: Vec<Card>,
    /// Most time that timed trials take where a run goes up in scale, in milliseconds: the next scale
    /// is begun only when it is expected to end within that. Absent: every scale runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_ms: Option<u64>,
    /// How long the whole run takes, in milliseconds: cells are measured again while their order is not
    /// certain, and `trials` says nothing. Absent: as long as its trials do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lasts_ms: Option<u64>,
    /// What a longer run would measure too, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// Bytes of the file system that each trial of a workload has for itself which goes on until it is
    /// steady; absent: as many as follow from the scale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_bytes: Option<u64>,
    /// Servers that already run, by engine id: connection URLs, written
    /// without their secrets.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub urls: BTreeMap<String, ServerUrl>,
    /// Engines whose licence forbids publishing figures, and which the user chose to run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepted_licences: Vec<String>,
}

/// Of plans that do not say.
const fn default_p99_limit_ms() -> u64 {
    100
}

/// Of plans that do not say.
const fn one() -> u32 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands it a reference")]
const fn is_one(clients: &u32) -> bool {
    *clients == 1
}

impl Plan {
    /// Whether several clients share the operations or a target rate is set: both need point
    /// operations.
    pub const fn is_shared(&self) -> bool {
        self.clients > 1 || self.target_rate.is_some()
    }

    /// The criterion of advice that a phase of a workload file counts for, of a plan that says so: an older one.
    pub fn criterion_of(&self, workload: &str, phase: &str) -> Option<&str> {
        self.workload_files.get(workload)?.criteria.get(phase).map(String::as_str)
    }

    /// The description of the storage of that name.
    pub fn storage(&self, name: StorageName) -> Option<&Storage> {
        self.storages.iter().flatten().find(|storage| storage.name == name)
    }

    /// The id of the engine of a column: its configuration's, or the column's name itself.
    pub fn engine_of<'a>(&'a self, column: &'a str) -> &'a str {
        self.configurations.get(column).map_or(column, |configuration| &configuration.engine)
    }

    /// The client that does the timed work of a column; `None`: embermark itself.
    pub fn client_of(&self, column: &str) -> Option<&Client> {
        self.configurations.get(column)?.client.as_ref()
    }

    /// The language that a column is used from, `python`; `native` without a client.
    pub fn language_of(&self, column: &str) -> &str {
        self.client_of(column).map_or(Client::NATIVE, Client::language)
    }
}

/// The part of a published comparison that a plan repeats.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeats {
    /// The comparison's name.
    pub source: String,
    /// The name of the part.
    pub piece: String,
}

impl fmt::Display for Repeats {
    /// `ulb/duckdb`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.source, self.piece)
    }
}

/// A file that describes a workload, as it was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkloadFile {
    /// Its text.
    pub text: String,
    /// Its folder, which the names of files in it start from.
    pub folder: PathBuf,
    /// Of a million rows of a data file so many may not fit their columns.
    pub misfits_per_million: u32,
    /// In older plans: which criterion of advice each phase counts for, by the phase's name. Phases themselves say so
    /// since.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub criteria: BTreeMap<String, String>,
}

/// How fast samples come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rate {
    /// So many a second.
    PerSecond(u64),
    /// As many as can be kept up with: to be found out.
    Max,
}

impl Default for Rate {
    /// The machine of the source: 1 kHz.
    fn default() -> Self {
        Self::PerSecond(1_000)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PerSecond(rate) => rate.fmt(f),
            Self::Max => f.write_str("max"),
        }
    }
}

impl FromStr for Rate {
    type Err = String;

    /// A number above 0, or `max`.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("rate '{text}' is neither a number of samples a second nor max");
        match text {
            "max" => Ok(Self::Max),
            _ => {
                match text.parse().map_err(|_| wrong())? {
                    0 => Err("a rate of 0 samples per second measures nothing: give at least 1"
                        .to_owned()),
                    rate => Ok(Self::PerSecond(rate)),
                }
            }
        }
    }
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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

impl Dataset {
    /// How many rows of a workload are not used, by reason; `None` where all are.
    pub fn not_used(&self, workload: &str) -> Option<String> {
        let lost: u64 = self.dropped.values().sum();
        let reasons = self.dropped.iter().map(|(reason, count)| format!("{count} with {reason}"));
        let reasons: Vec<_> = reasons.collect();
        (lost > 0).then(|| format!("{workload}: {lost} rows are not used: {}", reasons.join("; ")))
    }
}
