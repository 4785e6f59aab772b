//! The request of a run.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::configuration::Configurations;
use crate::{
    Card, Client, Durability, EngineLibrary, MemoryLimit, NetworkLink, Scale, ServerUrl, Storage,
    StorageName,
};

/// What one run of embermark measures, and how. Recorded in the result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Ids of the workloads.
    pub workloads: Vec<String>,
    /// Workloads that are described by files, by id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub workload_files: BTreeMap<String, WorkloadFile>,
    /// Columns: ids of engines and names of configurations.
    pub engines: Vec<String>,
    /// Engines with other settings. Each is a column with its name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub configurations: Configurations,
    /// Shared libraries that are engines, by engine id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub engine_libraries: BTreeMap<String, EngineLibrary>,
    /// Rows per cell. Empty: the scales of each workload.
    pub scales: Vec<Scale>,
    /// Scales of workloads that differ from these.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub scales_of: BTreeMap<String, Vec<Scale>>,
    /// Durability tiers.
    pub durabilities: Vec<Durability>,
    /// Variants. The first one that a workload knows runs every phase. The others run the phases
    /// that they change. A workload that knows none uses its own.
    pub variants: Vec<String>,
    /// The part of a published comparison that the run repeats, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<Repeats>,
    /// Whether the scales are those of an overview: small, because every workload runs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub overview: bool,
    /// The phases to run. Absent: all.
    pub phases: Option<Vec<String>>,
    /// Source of the rows.
    pub data: DataSource,
    /// Number of runs of a phase in one trial.
    pub runs: u32,
    /// Number of first runs that only warm up. They are recorded but not counted.
    #[serde(alias = "discard")]
    pub warmup_runs: u32,
    /// Number of trials per cell, each in a new process.
    pub trials: u32,
    /// Whether a workload's own number of trials replaces this one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own_trials: bool,
    /// Longest time of one run of a phase in milliseconds, after which its loop stops. Absent: no
    /// limit.
    #[serde(alias = "cap_ms")]
    pub max_run_time_ms: Option<u64>,
    /// Duration of a phase that lasts a fixed time, in milliseconds. Absent: the workload's own.
    pub window_ms: Option<u64>,
    /// Duration of its unmeasured warm-up in milliseconds. Absent: the workload's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up_ms: Option<u64>,
    /// Rate of a sensor's samples.
    #[serde(default)]
    pub rate: Rate,
    /// Number of clients that work at the same time.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub clients: u32,
    /// Operations per second that all clients together start (open loop). Absent: each client
    /// starts its next operation when the last one has ended (closed loop).
    #[serde(default, alias = "arrivals", skip_serializing_if = "Option::is_none")]
    pub target_rate: Option<u64>,
    /// Limit of the 99th percentile of commit latency at the highest rate, in milliseconds.
    #[serde(default = "default_p99_limit_ms", alias = "bound_ms")]
    pub p99_limit_ms: u64,
    /// Longest time of a trial in milliseconds, after which it is ended. Absent: no limit.
    pub timeout_ms: Option<u64>,
    /// Seed of the rows and of the sequence of operations.
    pub seed: u64,
    /// Cache memory of every engine, in bytes.
    pub memory_bytes: u64,
    /// Memory limits for an engine and the page cache of its files. Each is its own cell, and
    /// `None` has no limit. Empty: each workload's own, which is no limit except in an overview.
    #[serde(default, rename = "memory_limits_bytes", skip_serializing_if = "Vec::is_empty")]
    pub memory_limits: Vec<Option<MemoryLimit>>,
    /// Imitated storages below the databases. Each is its own cell, and `None` is this machine's
    /// own disk. Empty: only that disk.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub storages: Vec<Option<Storage>>,
    /// The imitated network link between clients and private servers. Absent: none, and a server is
    /// on the same machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkLink>,
    /// Whether the database is closed, its pages are dropped from memory, and it is opened again
    /// before each run of a phase that reads.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cold: bool,
    /// Modelled flash cards. The model estimates what they would program for what the counting
    /// trials write to their disks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cards: Vec<Card>,
    /// Longest time of the timed trials in milliseconds for a run that increases its scale. The
    /// next scale begins only if it is expected to end in that time. Absent: every scale runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_ms: Option<u64>,
    /// Duration of the whole run in milliseconds. Cells are measured again while their order is
    /// uncertain, and `trials` is ignored. Absent: as long as the trials take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lasts_ms: Option<u64>,
    /// What a longer run would also measure, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// Size in bytes of the private file system of each trial of a workload that runs until it is
    /// steady. Absent: the size follows from the scale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_bytes: Option<u64>,
    /// Connection URLs of servers that already run, by engine id. Written without their secrets.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub urls: BTreeMap<String, ServerUrl>,
    /// Engines whose licence forbids publishing figures and that the user chose to run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepted_licences: Vec<String>,
}

/// Default for plans without the field.
const fn default_p99_limit_ms() -> u64 {
    100
}

/// Default for plans without the field.
const fn one() -> u32 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands it a reference")]
const fn is_one(clients: &u32) -> bool {
    *clients == 1
}

impl Default for Plan {
    /// Returns the values of a plain run. They name no workload, engine or tier.
    fn default() -> Self {
        Self {
            workloads: Vec::new(),
            workload_files: BTreeMap::new(),
            engines: Vec::new(),
            configurations: Configurations::new(),
            engine_libraries: BTreeMap::new(),
            scales: Vec::new(),
            scales_of: BTreeMap::new(),
            durabilities: Vec::new(),
            variants: Vec::new(),
            repeats: None,
            overview: false,
            phases: None,
            data: DataSource::Synthetic,
            runs: 6,
            warmup_runs: 1,
            trials: 3,
            own_trials: false,
            max_run_time_ms: Some(20_000),
            window_ms: None,
            warm_up_ms: None,
            rate: Rate::default(),
            clients: one(),
            target_rate: None,
            p99_limit_ms: default_p99_limit_ms(),
            timeout_ms: Some(30 * 60 * 1_000),
            seed: 42,
            memory_bytes: 64 << 20,
            memory_limits: Vec::new(),
            storages: Vec::new(),
            network: None,
            cold: false,
            cards: Vec::new(),
            budget_ms: None,
            lasts_ms: None,
            left_out: Vec::new(),
            disk_bytes: None,
            urls: BTreeMap::new(),
            accepted_licences: Vec::new(),
        }
    }
}

impl Plan {
    /// Whether several clients share the operations or a target rate is set. Both need point
    /// operations.
    pub const fn is_shared(&self) -> bool {
        self.clients > 1 || self.target_rate.is_some()
    }

    /// Returns the criterion of advice that a phase of a workload file counts for, if the plan has
    /// it. Only older plans do.
    pub fn criterion_of(&self, workload: &str, phase: &str) -> Option<&str> {
        self.workload_files.get(workload)?.criteria.get(phase).map(String::as_str)
    }

    /// Returns the description of the storage with this name.
    pub fn storage(&self, name: StorageName) -> Option<&Storage> {
        self.storages.iter().flatten().find(|storage| storage.name == name)
    }

    /// Returns the id of a column's engine: that of its configuration, or the column's name itself.
    pub fn engine_of<'a>(&'a self, column: &'a str) -> &'a str {
        self.configurations.get(column).map_or(column, |configuration| &configuration.engine)
    }

    /// Returns the client that does the timed work of a column. `None` for embermark itself.
    pub fn client_of(&self, column: &str) -> Option<&Client> {
        self.configurations.get(column)?.client.as_ref()
    }

    /// Returns the language that uses a column, `python`. `native` without a client.
    pub fn language_of(&self, column: &str) -> &str {
        self.client_of(column).map_or(Client::NATIVE, Client::language)
    }
}

/// The part of a published comparison that a plan repeats.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeats {
    /// Name of the comparison.
    pub source: String,
    /// Name of the part.
    pub piece: String,
}

impl fmt::Display for Repeats {
    /// Writes `ulb/duckdb`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.source, self.piece)
    }
}

/// A file that describes a workload, as it was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkloadFile {
    /// Text of the file.
    pub text: String,
    /// Directory of the file. Names of files in it are relative to it.
    pub folder: PathBuf,
    /// Largest number of rows per million of a data file that may not match their columns.
    pub misfits_per_million: u32,
    /// The criterion of advice for each phase, by the phase's name. Only in older plans: phases now
    /// have it themselves.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub criteria: BTreeMap<String, String>,
}

/// Rate at which samples come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rate {
    /// This number per second.
    PerSecond(u64),
    /// The highest rate that can be kept up with, which the run finds out.
    Max,
}

impl Default for Rate {
    /// Returns 1,000 samples per second, the rate of the machine that the workload is modelled on.
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

    /// Reads a number above 0 or `max`.
    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse::<u64>() {
            _ if text == "max" => Ok(Self::Max),
            Ok(0) => {
                Err("a rate of 0 samples per second measures nothing: give at least 1".to_owned())
            }
            Ok(rate) => Ok(Self::PerSecond(rate)),
            Err(_) => {
                Err(format!("rate '{text}' is neither a number of samples per second nor max"))
            }
        }
    }
}

/// Source of a workload's rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DataSource {
    /// Generated from the plan's seed.
    Synthetic,
    /// A file in the workload's own format.
    File(PathBuf),
}

/// The rows that were used, as the manifest records them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dataset {
    /// Description in a few words: `synthetic (seed 42)`, `Intel Berkeley Research Lab log (the
    /// published file)`.
    pub name: String,
    /// The file that was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// SHA-256 of the file on disk, in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Number of usable rows.
    pub rows: u64,
    /// Number of distinct sensors among them, for `sensors`.
    pub sensors: u64,
    /// Number of rows that were not used, by reason. Rows are never silently dropped.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub dropped: BTreeMap<String, u64>,
    /// Number of used rows that are unusual, by remark.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub remarks: BTreeMap<String, u64>,
}

impl Dataset {
    /// Describes how many rows of a workload are not used, by reason. `None` if all are.
    pub fn not_used(&self, workload: &str) -> Option<String> {
        let lost = self.dropped.values().copied().fold(0, u64::saturating_add);
        let reasons = self.dropped.iter().map(|(reason, count)| format!("{count} with {reason}"));
        let reasons: Vec<_> = reasons.collect();
        let rows = if lost == 1 { "row is" } else { "rows are" };
        (lost > 0).then(|| format!("{workload}: {lost} {rows} not used: {}", reasons.join("; ")))
    }

    /// Describes what was unusual about the used rows of a workload, a text for each remark.
    pub fn unusual(&self, workload: &str) -> impl Iterator<Item = String> {
        self.remarks.iter().map(move |(what, count)| {
            let times = if *count == 1 { "time" } else { "times" };
            format!("{workload}: {count} {times}: {what}")
        })
    }
}
