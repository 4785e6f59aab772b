//! A phase of a trial: its runs, and what was measured of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    ClientMachines, DeviceIo, DiskCurve, Energy, Explained, Loaded, Period, Repeated, SteadyState,
    Timeline, WriteBehind,
};
use crate::{ResultSet, Status};

/// How an engine does a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Execution {
    /// By the engine's own means: a query, a cursor operation it is made for.
    #[default]
    Native,
    /// By code in the client over scans and point operations.
    ClientSide,
}

/// What a phase is, whatever was measured of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseKind {
    /// The criterion of advice that it counts for, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counts>,
    /// Whether its operations are single rows, each with a response time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_rows: bool,
    /// Whether it changes row after row, many of them in a transaction.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub many_in_a_transaction: bool,
}

/// The criterion of advice that the times of a phase count for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counts {
    /// Rows put in one by one, one commit a row.
    Ingest,
    /// Many rows in a commit, or by the fastest path.
    Load,
    /// Rows fetched by key or by an index.
    Point,
    /// Rows that are there changed or deleted.
    Update,
    /// Questions over many rows, and scans.
    Analytics,
    /// Rows put in while they are read.
    Mixed,
    /// Rows that come in while old ones go, once that is steady.
    SteadyLatency,
    /// Opening a database.
    Start,
}

impl Counts {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Ingest,
        Self::Load,
        Self::Point,
        Self::Update,
        Self::Analytics,
        Self::Mixed,
        Self::SteadyLatency,
        Self::Start,
    ];

    /// The criterion's name on the command line.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Ingest => "ingest",
            Self::Load => "load",
            Self::Point => "point",
            Self::Update => "update",
            Self::Analytics => "analytics",
            Self::Mixed => "mixed",
            Self::SteadyLatency => "steady-latency",
            Self::Start => "start",
        }
    }
}

/// One phase in one trial.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct PhaseResult {
    /// The phase's name, `read`.
    pub phase: String,
    /// What it is; absent in older results, and of the parts of a mix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<PhaseKind>,
    /// By the engine's own means or by client code.
    #[serde(alias = "how")]
    pub execution: Execution,
    /// How it ended.
    pub status: Status,
    /// Why, when not ok: for a wrong answer the first difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Operations a full run has.
    pub ops: u64,
    /// Every run, the discarded ones first.
    pub runs: Vec<Run>,
    /// Latency over the counted runs, from an operation's start to its end; absent where a phase is
    /// one operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Latency>,
    /// The same from the time at which an operation was to start; absent where none was set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<Latency>,
    /// Who says that its answer is right, or that nobody does, where no oracle says it: `agreed by sqlite
    /// and duckdb`, `by sqlite alone`, `expected.csv`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked_by: Option<String>,
    /// What took the times of its runs, where that was a client in another process by its own clock:
    /// `Node.js v20.1.0, sqlite3 6.0.1, SQLite 3.52.0`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timed_by: Option<String>,
    /// Nanoseconds that an operation which does nothing takes in the loop of that client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_floor_ns: Option<f64>,
    /// Whether the changes of a transaction were sent without waiting for the answer to each, so that none of them has
    /// a latency of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pipelined: bool,
    /// The plan that the engine has for its query, as the engine tells it, or why it tells none: in the first trial
    /// that has one, and in those that have another. Absent where there is no query, or no words for plans.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// Its answer, to be compared with that of other engines: in journals alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unchecked: Option<ResultSet>,
}

impl PhaseResult {
    /// The mean time of an operation over the counted runs, in ns; `None` if no run counted.
    pub fn mean_time(&self) -> Option<f64> {
        let counted = self.runs.iter().filter(|run| !run.discarded && run.ops > 0);
        let (ns, ops) = counted.fold((0, 0), |(ns, ops), run| (ns + run.elapsed_ns, ops + run.ops));
        (ops > 0).then(|| ns as f64 / ops as f64)
    }
}

/// One execution of a phase.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Run {
    /// Elapsed time of the whole loop in ns. Of a counted run that was [repeated](Self::repeated), the
    /// mean over its repetitions; everything else is of the first time.
    pub elapsed_ns: u64,
    /// Operations done.
    pub ops: u64,
    /// How often it was made, of a run that lasts less than a millisecond.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeated: Option<Repeated>,
    /// Not counted in statistics.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub discarded: bool,
    /// Stopped at the time cap.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub capped: bool,
    /// What reached the trial's own disk until all that the run wrote was there, where it had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_io: Option<DeviceIo>,
    /// What the engine's processes used during the run.
    #[serde(default)]
    pub engine: Resources,
    /// What the client used, where it is another process than the engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<Resources>,
    /// What was seen while it lasted, of a phase that keeps up with a machine for a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<Observed>,
    /// Of a run that inserts rows: how many bytes they are, and the maintenance after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loaded: Option<Loaded>,
    /// What each client did, where there were several; `elapsed_ns` is then from the first one's
    /// start to the last one's end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clients: Vec<ClientRun>,
    /// What each client machine did, where there were several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_machines: Option<Box<ClientMachines>>,
    /// The schedule, where operations were started at a target rate.
    #[serde(default, alias = "arrivals", skip_serializing_if = "Option::is_none")]
    pub schedule: Option<OpenLoopSchedule>,
    /// Bytes of the engine's log as the run found it, of one that opens a database with its log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_bytes: Option<u64>,
    /// What the last rounds came to, of a mix that goes on until it is steady.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady: Option<SteadyState>,
    /// What the buffer held that rows went through, of a run that commits on another thread than the one
    /// that accepts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_behind: Option<WriteBehind>,
    /// What it asked of the system, of a run in the explaining trials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explained: Option<Explained>,
    /// When it was; of a phase that lasts by the clock its window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<Period>,
    /// The energy of that time, by the first source of the manifest; absent where it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<Energy>,
    /// The same by the other sources.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub energy_beside: Vec<Energy>,
    /// Why the first source did not measure this run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_energy: Option<String>,
}

impl Run {
    /// Operations and ns that a rate is of: those of the run, or, of clients on several machines, those of
    /// the time in which all machines were at work.
    pub fn at_work(&self) -> (u64, u64) {
        match &self.client_machines {
            Some(together) => (together.common_ops, together.common_ns),
            None => (self.ops, self.elapsed_ns),
        }
    }
}

/// What one of several clients did in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientRun {
    /// From its start to its end in ns.
    pub elapsed_ns: u64,
    /// Operations done.
    pub ops: u64,
}

impl ClientRun {
    /// Operations per second, if any time passed.
    pub fn ops_per_second(&self) -> Option<f64> {
        (self.elapsed_ns > 0).then(|| self.ops as f64 * 1e9 / self.elapsed_ns as f64)
    }
}

/// Operations started on a schedule, by all clients of a run together, and how well it was kept: an
/// open-loop load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenLoopSchedule {
    /// Operations a second that the schedule has.
    #[serde(alias = "per_second")]
    pub target_rate: f64,
    /// Operations a second that were started.
    #[serde(alias = "reached")]
    pub achieved_rate: f64,
    /// Mean time in ns from when an operation was to start to its end.
    pub response_ns: f64,
    /// Operations before whose time a client was idle, and which so started when they were to.
    #[serde(alias = "waited")]
    pub on_time: u64,
    /// By how much those were late, in ns: the client's own error, not the engine's. The 99th
    /// percentile; absent with fewer than 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_p99_ns: Option<u64>,
}

impl OpenLoopSchedule {
    /// The share of the target rate that must be achieved.
    pub const ENOUGH: f64 = 0.99;

    /// Whether operations were started at the target rate.
    pub fn kept_up(&self) -> bool {
        self.achieved_rate >= Self::ENOUGH * self.target_rate
    }
}

/// What was seen of a phase that lasts by the clock, from the end of its warm-up on. What could not
/// be measured is absent, never zero.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(default)]
pub struct Observed {
    /// How long, in ns.
    pub window_ns: u64,
    /// What each process used, by its role: `server`, `writer` (which holds an embedded engine),
    /// `reader`, `sensor`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub processes: BTreeMap<String, Resources>,
    /// Bytes between client and server, headers of TCP and UDP among them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_bytes: Option<u64>,
    /// By how many bytes the data directory grew, in allocated blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_growth_bytes: Option<i64>,
    /// The disk over time, from before the warm-up until all was stored; of phases that write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<DiskCurve>,
    /// What it was like over time, of a phase that goes on until it is steady.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeline: Option<Timeline>,
    /// What was counted, by name: `samples`, `lost`, `deadline-misses`, `reads`, `missed-slots`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counts: BTreeMap<String, u64>,
    /// Distributions in ns, by name: `commit`, `read`, `staleness`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub latencies: BTreeMap<String, Latency>,
    /// What a reader of the figures has to know, in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

/// What processes used during a run. Absent means not measured, never zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(default)]
pub struct Resources {
    /// User and system CPU time in ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<u64>,
    /// Largest resident memory during the run in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_bytes: Option<u64>,
    /// Mean resident memory in bytes, of samples a tenth of a second apart; absent for a run that is
    /// too short for three.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_bytes: Option<u64>,
    /// Bytes fetched from storage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_bytes: Option<u64>,
    /// Bytes of pages that became dirty. Not what reaches storage: a page that stays dirty is written
    /// once, however often it changes, and many times where it is synced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_bytes: Option<u64>,
}

/// A latency distribution in ns, from an HDR histogram of three significant digits. A percentile
/// that the number of samples cannot support is absent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Latency {
    /// Samples recorded.
    pub samples: u64,
    /// Every how many operations one was timed.
    pub sampled_every: u64,
    /// Smallest.
    pub min: u64,
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: u64,
    /// 95th percentile: needs 20 samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p95: Option<u64>,
    /// 99th percentile: needs 100 samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99: Option<u64>,
    /// 99.9th percentile: needs 1,000 samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_9: Option<u64>,
    /// Largest.
    pub max: u64,
    /// The share, from 0 to 1, of the time of these operations that went into those which took more than ten times the
    /// median; absent in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stalled: Option<f64>,
    /// The histogram itself: HdrHistogram V2, deflated, base64. Result files have it; where only the
    /// percentiles are handed on it is empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hdr: String,
}
