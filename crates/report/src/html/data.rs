//! What the page is given: one JSON document. `crates/report/page/src/data.ts` says the same in
//! TypeScript; `tests/html.rs` writes the file both are tested with.
//!
//! Times are ns, sizes bytes. Absent means not measured, never zero. Texts from outside are on one
//! line and without control characters.

use std::collections::BTreeMap;

use embermark_model::result::Resources;
use embermark_model::{Durability, Status};
use serde::Serialize;

use crate::advise::AdviceTable;
use crate::summary::Sharing;

/// The version of this form.
pub const VERSION: u32 = 1;

/// Everything the page shows.
#[derive(Clone, Debug, Serialize)]
pub struct Page {
    /// [`VERSION`].
    pub page: u32,
    /// embermark's version that made the page.
    pub tool: String,
    /// What must be said before anything else: that figures may not be published.
    pub face: Option<String>,
    /// The result files.
    pub results: Vec<ResultData>,
    /// What is known of engines.
    pub engines: Vec<EngineFacts>,
    /// What is known of workloads.
    pub workloads: Vec<WorkloadFacts>,
    /// Every cell of every result.
    pub cells: Vec<CellData>,
    /// Every phase of every cell, in display order.
    pub entries: Vec<EntryData>,
    /// Published figures beside measured ones.
    pub published: Vec<PublishedData>,
    /// What it costs to keep up with a machine.
    pub costs: Vec<CostData>,
    /// What advice is drawn from: one table for all results that were measured alike, else one each.
    pub advice: Vec<AdviceData>,
}

/// One table of what it costs to keep up with a machine, as texts.
#[derive(Clone, Debug, Serialize)]
pub struct CostData {
    /// Which result, by its place.
    pub result: usize,
    /// What it shows.
    pub title: String,
    /// Over the columns but the first.
    pub header: Vec<String>,
    /// Lines, each its label first.
    pub rows: Vec<Vec<String>>,
    /// What has to be known of it.
    pub notes: Vec<NoteData>,
}

/// What advice is drawn from.
#[derive(Clone, Debug, Serialize)]
pub struct AdviceData {
    /// Of which result, by its label; absent where it is of all.
    pub of: Option<String>,
    /// The table.
    pub table: AdviceTable,
}

/// One result file.
#[derive(Clone, Debug, Serialize)]
pub struct ResultData {
    /// Its run's name.
    pub run_id: String,
    /// A short name, no other result of the page has it.
    pub label: String,
    /// When the run began, RFC 3339.
    pub started: String,
    /// The machine in a line.
    pub machine: String,
    /// What may have disturbed the figures.
    pub warnings: Vec<String>,
    /// What the terminal's report says below its tables, by section.
    pub sections: Vec<SectionData>,
    /// What was asked for and on what, as name and value.
    pub manifest: Vec<NoteData>,
    /// Engines with figures that may not be published.
    pub unpublishable: Vec<String>,
    /// What the figures of a workload at a scale in a tier were measured on.
    pub groups: Vec<GroupData>,
}

/// Notes under one heading.
#[derive(Clone, Debug, Serialize)]
pub struct SectionData {
    /// The heading.
    pub title: String,
    /// The notes.
    pub notes: Vec<NoteData>,
}

/// One note.
#[derive(Clone, Debug, Serialize)]
pub struct NoteData {
    /// What it is about; may be empty.
    pub about: String,
    /// What it says.
    pub says: String,
}

/// One workload at one scale in one tier.
#[derive(Clone, Debug, Serialize)]
pub struct GroupData {
    /// The workload's id.
    pub workload: String,
    /// The scale as it is written.
    pub scale: String,
    /// The tier.
    pub tier: Durability,
    /// The variant that runs every phase.
    pub variant: String,
    /// Rows, repetitions, who is absent.
    pub about: Vec<String>,
}

/// What is known of an engine.
#[derive(Clone, Debug, Serialize)]
pub struct EngineFacts {
    /// Its id.
    pub id: String,
    /// Its own name for itself.
    pub name: String,
    /// `embedded`, `server` or `reference`.
    pub kind: String,
    /// `SQL`, `key-value`, `document` or `series`.
    pub data_model: String,
}

/// What is known of a workload.
#[derive(Clone, Debug, Serialize)]
pub struct WorkloadFacts {
    /// Its id.
    pub id: String,
    /// What it stands for, in a line.
    pub about: String,
    /// Its phases.
    pub phases: Vec<PhaseFacts>,
}

/// What is known of a phase.
#[derive(Clone, Debug, Serialize)]
pub struct PhaseFacts {
    /// Its name.
    pub name: String,
    /// What it does, in a line.
    pub about: String,
}

/// One cell: engine x workload x scale x tier x variant.
#[derive(Clone, Debug, Serialize)]
pub struct CellData {
    /// Place in [`Page::results`].
    pub result: usize,
    /// The workload's id.
    pub workload: String,
    /// The scale as it is written.
    pub scale: String,
    /// Rows, where they are known.
    pub rows: Option<u64>,
    /// The tier asked for.
    pub tier: Durability,
    /// The variant.
    pub variant: String,
    /// Whether this variant runs every phase.
    pub main: bool,
    /// The engine's id.
    pub engine: String,
    /// `embedded`, `server` or `reference`; absent when neither the facts nor the runs tell.
    pub kind: Option<String>,
    /// How it ended.
    pub status: Status,
    /// Why, when not ok.
    pub reason: Option<String>,
    /// The tier really kept, when that is another.
    pub effective_durability: Option<Durability>,
    /// Whether it may have a ratio: no reference, and effective durability not below the tier.
    pub ranked: bool,
    /// Its licence forbids publishing its figures.
    pub unpublishable: bool,
    /// The engine's versions over the trials.
    pub versions: Vec<String>,
    /// Settings as read back in the first trial that has them.
    pub settings: BTreeMap<String, String>,
    /// Its trials.
    pub trials: Vec<TrialData>,
    /// What it used for the whole of the workload.
    pub usage: UsageData,
}

/// One fresh process.
#[derive(Clone, Debug, Serialize)]
pub struct TrialData {
    /// How it ended.
    pub status: Status,
    /// Why, when not ok.
    pub reason: Option<String>,
    /// Time to open the engine or to start the server.
    pub open_ns: Option<u64>,
    /// Wall time of the whole trial.
    pub wall_ns: u64,
    /// Resident memory of the worker before the engine was opened.
    pub baseline_bytes: Option<u64>,
    /// The log of its standard error, beside the result file.
    pub log: Option<String>,
}

/// One phase of one cell.
#[derive(Clone, Debug, Serialize)]
pub struct EntryData {
    /// Place in [`Page::cells`].
    pub cell: usize,
    /// Its name; absent when no cell of the variant came as far as a phase.
    pub phase: Option<String>,
    /// How it ended; absent when nothing was counted.
    pub status: Option<Status>,
    /// Why, when not ok.
    pub reason: Option<String>,
    /// This phase ended well and its cell did not: shown, not ranked.
    pub tainted: bool,
    /// What its cell did not do: shown, not ranked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shortfall: Option<String>,
    /// Done by code in the client.
    pub client_side: bool,
    /// The time.
    pub figure: Option<FigureData>,
    /// The distribution of the latency of one operation.
    pub latency: Option<LatencyData>,
    /// The same from the scheduled start of an operation, where there is a schedule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<LatencyData>,
    /// What several clients did together, and how well a schedule was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sharing: Option<Sharing>,
    /// What the engine used for a counted run.
    pub usage: UsageData,
    /// Bytes between client and server in a counted run of a phase that is watched: the median over
    /// trials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_bytes: Option<f64>,
    /// What a reader of the figures has to know, of a phase that is watched.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// What was seen of each counted run of a phase that is watched, in the order of the trials.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub watched: Vec<WatchedData>,
    /// Bytes written for each byte of the rows' values, of a phase that inserts rows.
    pub write_amplification: Option<f64>,
    /// What else is known of a phase that inserts rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loading: Option<LoadingData>,
    /// The runs of each trial: elapsed ns, operations, and 0, 1 (discarded), 2 (stopped at the
    /// cap) or 3 (both).
    pub runs: Vec<Vec<(u64, u64, u8)>>,
}

/// A load beside its time, as [`crate::summary::Loading`] has it. Absent means not measured.
#[derive(Clone, Debug, Serialize)]
pub struct LoadingData {
    /// Bytes of the rows' values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_bytes: Option<f64>,
    /// Bytes written for each of them, maintenance included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amplification_with_maintenance: Option<f64>,
    /// Time of the maintenance: the engine's checkpoint or compaction, until its background work
    /// ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maintenance_ns: Option<f64>,
    /// CPU time for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maintenance_cpu_ns: Option<f64>,
    /// Bytes written for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maintenance_written_bytes: Option<f64>,
    /// Allocated on disk before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk_before_bytes: Option<f64>,
    /// Allocated on disk after it, the engine still open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk_after_bytes: Option<f64>,
}

/// A time over all trials.
#[derive(Clone, Debug, Serialize)]
pub struct FigureData {
    /// Time per operation: the median over trials.
    pub per_op_ns: f64,
    /// Time of a whole run; absent when not all of it was done.
    pub elapsed_ns: Option<f64>,
    /// 95 % interval of the time per operation.
    pub interval: Option<[f64; 2]>,
    /// Operations of a full run; 0 for a closed loop.
    pub ops: u64,
    /// Operations done where it was stopped.
    pub done: Option<u64>,
    /// Time per operation of each trial.
    pub per_trial_ns: Vec<f64>,
    /// The place in [`CellData::trials`] of each of these.
    pub trials: Vec<usize>,
    /// Places in `per_trial_ns` of trials that stand apart from the others.
    pub outliers: Vec<usize>,
}

/// Latency of one operation in ns, over all trials.
#[derive(Clone, Debug, Serialize)]
pub struct LatencyData {
    /// Operations timed.
    pub samples: u64,
    /// Every how many operations one was timed.
    pub sampled_every: u64,
    /// Smallest.
    pub min: u64,
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: u64,
    /// 95th percentile.
    pub p95: Option<u64>,
    /// 99th percentile.
    pub p99: Option<u64>,
    /// 99.9th percentile.
    pub p99_9: Option<u64>,
    /// Largest.
    pub max: u64,
}

/// Resources, as [`crate::summary::Usage`] has them.
#[derive(Clone, Debug, Default, Serialize)]
pub struct UsageData {
    /// CPU time of the engine's processes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<f64>,
    /// CPU time of a client of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_cpu_ns: Option<f64>,
    /// Largest resident memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_bytes: Option<f64>,
    /// Mean resident memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_bytes: Option<f64>,
    /// Fetched from storage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_bytes: Option<f64>,
    /// Reached a block device of the database's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written_bytes: Option<f64>,
    /// Flushes of its cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flushes: Option<f64>,
    /// Allocated on disk by rows loaded once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk_bytes: Option<f64>,
    /// Share of all CPU time that other programs and virtual machines took meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background_cpu_share: Option<f64>,
    /// Less than the whole work was done.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub incomplete: bool,
}

/// A window of a phase that lasts by the clock.
#[derive(Clone, Debug, Serialize)]
pub struct WatchedData {
    /// Which trial, from 0.
    pub trial: usize,
    /// How long, in ns.
    pub window_ns: u64,
    /// What each process used, by its role.
    pub processes: BTreeMap<String, Resources>,
    /// By how many bytes the data directory grew.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk_growth_bytes: Option<i64>,
    /// Bytes between client and server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_bytes: Option<u64>,
    /// What was counted, by name.
    pub counts: BTreeMap<String, u64>,
    /// By name: samples, median, 99th percentile, largest, in ns.
    pub latencies: BTreeMap<String, (u64, u64, Option<u64>, u64)>,
}

/// One published comparison beside one result.
#[derive(Clone, Debug, Serialize)]
pub struct PublishedData {
    /// Place in [`Page::results`].
    pub result: usize,
    /// What it is.
    pub title: String,
    /// The engines.
    pub engines: Vec<String>,
    /// The lines.
    pub rows: Vec<PublishedRow>,
    /// Source, hardware, why the figures need not agree.
    pub notes: Vec<NoteData>,
}

/// A published line, or what was measured of it.
#[derive(Clone, Debug, Serialize)]
pub struct PublishedRow {
    /// Phase and scale, or tier and variant.
    pub label: String,
    /// Measured here, and not printed by the source.
    pub here: bool,
    /// By engine: the figure as a text, the ratio to the line's best as a text and as a number.
    pub figures: Vec<(String, String, Option<f64>)>,
}
