//! A phase of a trial: its runs and their measurements.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    ClientMachines, DeviceIo, DiskCurve, Energy, Explained, Loaded, Period, SteadyFigure,
    SteadyState, Timeline,
};
use crate::{ResultSet, Status};

/// How an engine does a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Execution {
    /// By the engine's own means: a query, or a cursor operation made for it.
    #[default]
    Native,
    /// By code in the client over scans and point operations.
    ClientSide,
}

/// Properties of a phase, independent of its measurements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseKind {
    /// The criterion of advice that it counts for, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counts>,
    /// Whether its operations are single rows, each with a response time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_rows: bool,
    /// Whether it changes row after row, with many in a transaction.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub many_in_a_transaction: bool,
}

/// The criterion of advice that the times of a phase count for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counts {
    /// Rows inserted one by one, one commit per row.
    Ingest,
    /// Many rows per commit, or the fastest path.
    Load,
    /// Rows fetched by key or by an index.
    Point,
    /// Existing rows changed or deleted.
    Update,
    /// Queries over many rows, and scans.
    Analytics,
    /// Rows inserted while rows are read.
    Mixed,
    /// Rows inserted while old ones expire, once that is steady.
    SteadyLatency,
    /// Opening a database.
    Start,
}

impl Counts {
    /// All criteria, with their names on the command line.
    pub const ALL: [(Self, &str); 8] = [
        (Self::Ingest, "ingest"),
        (Self::Load, "load"),
        (Self::Point, "point"),
        (Self::Update, "update"),
        (Self::Analytics, "analytics"),
        (Self::Mixed, "mixed"),
        (Self::SteadyLatency, "steady-latency"),
        (Self::Start, "start"),
    ];

    /// Returns the criterion's name on the command line.
    pub const fn id(self) -> &'static str {
        Self::ALL[self as usize].1
    }
}

/// One phase in one trial.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct PhaseResult {
    /// Name of the phase, `read`.
    pub phase: String,
    /// Properties of the phase. Absent in older results and for the parts of a mix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<PhaseKind>,
    /// Whether the engine's own means or client code did it.
    #[serde(alias = "how")]
    pub execution: Execution,
    /// Outcome.
    pub status: Status,
    /// Why, if not ok. For a wrong answer this is the first difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Number of operations of a full run.
    pub ops: u64,
    /// Every run, discarded ones first.
    pub runs: Vec<Run>,
    /// Latency over the counted runs, from an operation's start to its end. Absent if a phase is
    /// one operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Latency>,
    /// The same from the time at which an operation was scheduled to start. Absent without a
    /// schedule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<Latency>,
    /// What confirms the answer, or that nothing does, if there is no oracle: `agreed by sqlite and
    /// duckdb`, `by sqlite alone`, `expected.csv`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked_by: Option<String>,
    /// The client that took the times of its runs in another process by its own clock: `Node.js
    /// v20.1.0, sqlite3 6.0.1, SQLite 3.52.0`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timed_by: Option<String>,
    /// Nanoseconds that an empty operation takes in that client's loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_floor_ns: Option<f64>,
    /// Whether the changes of a transaction were sent without waiting for each answer, so that none
    /// of them has its own latency.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pipelined: bool,
    /// The engine's plan for its query, or why it has none. Recorded in the first trial that has a
    /// plan and in trials with a different one. Absent if there is no query or the engine shows no
    /// plans.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// Its answer, to be compared with those of other engines. Only in journals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unchecked: Option<ResultSet>,
}

impl PhaseResult {
    /// Returns the mean time of an operation over the counted runs, in ns. `None` if no run
    /// counted.
    pub fn mean_time(&self) -> Option<f64> {
        let counted = self.runs.iter().filter(|run| !run.discarded && run.ops > 0);
        let (ns, ops) = counted.fold((0, 0), |(ns, ops), run| (ns + run.elapsed_ns, ops + run.ops));
        (ops > 0).then(|| ns as f64 / ops as f64)
    }
}

/// One execution of a phase.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Run {
    /// Elapsed time of the whole loop in ns. For a counted run that was [repeated](Self::repeated)
    /// it is the mean over the repetitions. Everything else is for the first repetition.
    pub elapsed_ns: u64,
    /// Operations done.
    pub ops: u64,
    /// Repetitions of a run that lasts less than a millisecond.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeated: Option<Repeated>,
    /// Not counted in statistics.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub discarded: bool,
    /// Stopped at the time cap.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub capped: bool,
    /// What reached the trial's own disk until everything that the run wrote was there. Absent
    /// without such a disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_io: Option<DeviceIo>,
    /// Resources that the engine's processes used during the run.
    #[serde(default)]
    pub engine: Resources,
    /// Resources that the client used, if it is another process than the engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<Resources>,
    /// What was observed, for a phase that keeps up with a machine for a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<Observed>,
    /// Size of the rows of a run that inserts, and the maintenance after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loaded: Option<Loaded>,
    /// What each client did, if there were several. `elapsed_ns` is then from the first one's start
    /// to the last one's end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clients: Vec<ClientRun>,
    /// What each client machine did, if there were several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_machines: Option<Box<ClientMachines>>,
    /// The schedule, if operations were started at a target rate.
    #[serde(default, alias = "arrivals", skip_serializing_if = "Option::is_none")]
    pub schedule: Option<OpenLoopSchedule>,
    /// Size in bytes of the engine's log at the start of a run that opens a database with its log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_bytes: Option<u64>,
    /// The steady state of the last rounds, for a mix that runs until it is steady.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady: Option<SteadyState>,
    /// Contents of the write-behind buffer, for a run whose rows are committed by another thread
    /// than the one that accepts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_behind: Option<WriteBehind>,
    /// What a run in the explaining trials requested of the system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explained: Option<Explained>,
    /// When the run took place. For a phase that lasts a fixed time this is its window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<Period>,
    /// The energy of that time by the first source of the manifest. Absent if it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<Energy>,
    /// The energy by the other sources.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub energy_beside: Vec<Energy>,
    /// Why the first source did not measure this run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_energy: Option<String>,
}

impl Run {
    /// Returns the operations and ns of a rate: those of the run or, for clients on several
    /// machines, those of the time in which all machines were working.
    pub fn at_work(&self) -> (u64, u64) {
        match &self.client_machines {
            Some(together) => (together.common_ops, together.common_ns),
            None => (self.ops, self.elapsed_ns),
        }
    }
}

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

/// A run in which one thread accepted rows into a buffer while another one repeatedly committed its
/// contents. A row that is accepted but not committed is lost in a crash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WriteBehind {
    /// Rows per second that were offered.
    pub target_rate: f64,
    /// Rows per second that the buffer accepted, from the start to the last one accepted.
    pub accepted_rate: f64,
    /// Rows per second that were committed, from the start to the end of the last commit.
    pub committed_rate: f64,
    /// Number of commits.
    pub commits: u64,
    /// Largest number of rows that were accepted but not yet committed.
    pub loss_rows: u64,
    /// Longest time in ns from accepting a row to the end of its commit.
    pub loss_ns: u64,
}

/// What one of several clients did in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientRun {
    /// Time from its start to its end in ns.
    pub elapsed_ns: u64,
    /// Operations done.
    pub ops: u64,
}

impl ClientRun {
    /// Returns operations per second, if any time passed.
    pub fn ops_per_second(&self) -> Option<f64> {
        (self.elapsed_ns > 0).then(|| self.ops as f64 * 1e9 / self.elapsed_ns as f64)
    }
}

/// An open-loop load: operations that all clients of a run start together on a schedule, and how
/// well it was kept.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenLoopSchedule {
    /// Operations per second of the schedule.
    #[serde(alias = "per_second")]
    pub target_rate: f64,
    /// Operations per second that were started.
    #[serde(alias = "reached")]
    pub achieved_rate: f64,
    /// Mean time in ns from the scheduled start of an operation to its end.
    pub response_ns: f64,
    /// Operations that a client was idle before and that therefore started on schedule.
    #[serde(alias = "waited")]
    pub on_time: u64,
    /// How late those started, in ns: the client's own error, not the engine's. The 99th
    /// percentile; absent with fewer than 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_p99_ns: Option<u64>,
}

impl OpenLoopSchedule {
    /// Share of the target rate that must be achieved.
    pub const ENOUGH: f64 = 0.99;

    /// Whether operations were started at the target rate.
    pub fn kept_up(&self) -> bool {
        self.achieved_rate >= Self::ENOUGH * self.target_rate
    }
}

/// What was observed of a phase that lasts a fixed time, after its warm-up. What could not be
/// measured is absent, never zero.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(default)]
pub struct Observed {
    /// Duration in ns.
    pub window_ns: u64,
    /// Resources of each process by its role: `server`, `writer` (which holds an embedded engine),
    /// `reader`, `sensor`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub processes: BTreeMap<String, Resources>,
    /// Bytes between client and server, including TCP and UDP headers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_bytes: Option<u64>,
    /// Growth of the data directory in bytes of allocated blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_growth_bytes: Option<i64>,
    /// Disk usage over time, from before the warm-up until everything was stored. Only for phases
    /// that write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<DiskCurve>,
    /// Course of a phase that runs until it is steady.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeline: Option<Timeline>,
    /// Counts by name: `samples`, `lost`, `deadline-misses`, `reads`, `missed-slots`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counts: BTreeMap<String, u64>,
    /// Distributions in ns, by name: `commit`, `read`, `staleness`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub latencies: BTreeMap<String, Latency>,
    /// Remarks for a reader of the figures, in sentences.
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
    /// Mean resident memory in bytes over samples every tenth of a second. Absent for a run that is
    /// too short for three samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_bytes: Option<u64>,
    /// Bytes fetched from storage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_bytes: Option<u64>,
    /// Bytes of pages that became dirty. This is not what reaches storage. A page that stays dirty
    /// is written once, however often it changes, but a page that is synced is written many times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_bytes: Option<u64>,
}

/// A latency distribution in ns, from an HDR histogram with three significant digits. A percentile
/// that the number of samples cannot support is absent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Latency {
    /// Number of samples.
    pub samples: u64,
    /// Number of operations per timed one.
    pub sampled_every: u64,
    /// Smallest.
    pub min: u64,
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: u64,
    /// 95th percentile. Needs 20 samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p95: Option<u64>,
    /// 99th percentile. Needs 100 samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99: Option<u64>,
    /// 99.9th percentile. Needs 1,000 samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_9: Option<u64>,
    /// Largest.
    pub max: u64,
    /// Share of these operations' time, from 0 to 1, spent in those that took more than ten times
    /// the median. Absent in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stalled: Option<f64>,
    /// The histogram itself: HdrHistogram V2, deflated, base64. Result files have it. It is empty
    /// if only the percentiles are passed on.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hdr: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_criterion_is_in_its_place_among_all_and_is_written_by_its_name() {
        for (place, (counts, id)) in Counts::ALL.into_iter().enumerate() {
            assert_eq!((counts as usize, counts.id()), (place, id));
            assert_eq!(serde_json::to_value(counts).unwrap(), id);
        }
    }
}
