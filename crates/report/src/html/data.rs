//! Data of the page: one JSON document. A test of `html` writes its types for the page,
//! `page/src/data.ts`. `tests/integration/html.rs` writes a document for the page's tests.
//!
//! Times are in ns, sizes in bytes. Absent means not measured, never zero. Texts from outside are
//! on one line and have no control characters.

use std::collections::BTreeMap;

use embermark_model::result::{EngineFacts, Latency, Observed};
use embermark_model::{Durability, Status};
use serde::Serialize;

use super::durability::DurabilityData;
use crate::advise::presets::Ranking;
use crate::advise::{AdviceTables, Preset};
use crate::fleet::Fleet;
use crate::grid::{Annotated, Grid};
use crate::note::{Note, Section};
use crate::scaling::Scaling;
use crate::screen::device::Measured;
use crate::summary::{Amounts, Column, Explanation, Figure, Resource, Usage};
use crate::tuned::TuningData;

/// Version of the format.
pub const VERSION: u32 = 1;

/// Content of the page.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Page<'a> {
    /// Version of the format.
    pub page: u32,
    /// Version of embermark that made the page.
    pub tool: String,
    /// Notice at the top: that figures may not be published.
    pub face: Option<String>,
    /// The result files.
    pub results: Vec<ResultData>,
    /// Differences in how the results were measured. If there are any, their figures are shown
    /// separately.
    pub unlike: Vec<String>,
    /// Resources that are shown.
    pub resource_columns: Vec<Resource>,
    /// How the amounts of the measured ones are combined, in words.
    pub resource_reading: String,
    /// Figures of loads and their maintenance that are shown.
    pub load_columns: Vec<Column>,
    /// Figures of a run other than its time that are shown.
    pub beside_columns: Vec<Column>,
    /// Requests of an operation to the system that are shown.
    pub explained_columns: Vec<Column>,
    /// Facts about engines, by id.
    pub engines: BTreeMap<String, EngineFacts>,
    /// Facts about workloads.
    pub workloads: Vec<WorkloadFacts>,
    /// Every cell of every result.
    pub cells: Vec<CellData>,
    /// Every phase of every cell, in display order.
    pub entries: Vec<EntryData<'a>>,
    /// Effect of the number of rows on time, for each result.
    pub scaling: Vec<Scaling<'a>>,
    /// Published figures next to measured ones.
    pub published: Vec<TableData>,
    /// Bytes that modelled flash cards would have programmed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flash: Vec<TableData>,
    /// Recommendations and a line for each engine, for results in which rows were committed one by
    /// one.
    pub answer: Vec<AnswerData>,
    /// Cost of keeping up with a machine.
    pub costs: Vec<TableData>,
    /// Evidence for durability. Absent if no shown tier promises anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durability: Option<DurabilityData>,
    /// Results of `embermark tune`. Such a page has nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tuned: Option<TuningData>,
    /// Comparison of many devices. Such a page has nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<Fleet>,
    /// Situations that a reader can start from.
    pub presets: &'static [Preset],
    /// Input of advice: one entry for all results if they were measured alike, otherwise one for
    /// each.
    pub advice: Vec<AdviceData>,
}

/// Input of advice.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Advisable"))]
pub struct AdviceData {
    /// Label of the result. Absent if it is of all results.
    pub of: Option<String>,
    /// A table for each scale, and the changes of order between them.
    #[serde(flatten)]
    pub tables: AdviceTables,
}

impl AdviceData {
    /// Drops the ratios of each workload, which the page does not show.
    pub(super) fn new(of: Option<String>, mut tables: AdviceTables) -> Self {
        for engine in tables.tables.iter_mut().flat_map(|table| &mut table.engines) {
            engine.by_workload.clear();
        }
        Self { of, tables }
    }

    /// Whether anything was measured by which advice can rank.
    pub(super) fn ranks(&self) -> bool {
        let mut engines = self.tables.tables.iter().flat_map(|table| &table.engines);
        engines.any(|one| !one.ratios.is_empty())
    }
}

/// One result file.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Result"))]
pub struct ResultData {
    /// Id of its run.
    pub run_id: String,
    /// Short unique name.
    pub label: String,
    /// Start of the run, RFC 3339.
    pub started: String,
    /// Description of the machine in one line.
    pub machine: String,
    /// Conditions that may have disturbed the figures.
    pub warnings: Vec<String>,
    /// Notes that the terminal's report has below its tables, by section.
    pub sections: Vec<Section>,
    /// The plan and the machine, as name and value.
    pub manifest: Vec<Note>,
    /// Engines with figures that may not be published.
    pub unpublishable: Vec<String>,
    /// Groups of figures that may be compared, with how they were measured.
    pub groups: Vec<GroupData>,
}

/// One workload at one scale, within one memory limit, in one tier.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Group"))]
pub struct GroupData {
    /// The workload's id.
    pub workload: String,
    /// The scale as text.
    pub scale: String,
    /// The memory limit as text, if any: `256 MiB`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// The imitated storage, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<String>,
    /// The tier.
    pub tier: Durability,
    /// Rows, repetitions and absent engines.
    pub about: Vec<String>,
}

/// Facts about a workload.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WorkloadFacts {
    /// Its id.
    pub id: String,
    /// What it represents, in one line.
    pub about: String,
    /// Its phases.
    pub phases: Vec<PhaseFacts>,
}

/// Facts about a phase.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PhaseFacts {
    /// Its name.
    pub name: String,
    /// What it does, in one line.
    pub about: String,
}

/// One cell: engine x workload x scale x tier x variant.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Cell"))]
pub struct CellData {
    /// Index in [`Page::results`].
    pub result: usize,
    /// The workload's id.
    pub workload: String,
    /// The scale as text.
    pub scale: String,
    /// The memory limit as text, if any: `256 MiB`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// The memory limit in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_limit_bytes: Option<u64>,
    /// The imitated storage, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<String>,
    /// Number of rows, if known.
    pub rows: Option<u64>,
    /// The requested tier.
    pub tier: Durability,
    /// The variant.
    pub variant: String,
    /// Whether this variant runs every phase.
    pub main: bool,
    /// The engine's id.
    pub engine: String,
    /// `embedded`, `server` or `reference`. Absent if neither the facts nor the runs show it.
    pub kind: Option<String>,
    /// How it ended.
    pub status: Status,
    /// The reason, if it is not ok.
    pub reason: Option<String>,
    /// The durability that it has, if it differs from the tier.
    pub effective_durability: Option<Durability>,
    /// Whether it may have a ratio: not a reference, not given by its URL, and effective durability
    /// not below the tier.
    pub ranked: bool,
    /// Evidence for its tier as text. Absent if the tier promises nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durability: Option<String>,
    /// Whether it broke the promise of its tier in a test.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub broken: bool,
    /// Whether it is a server that was given by its URL.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_url: bool,
    /// For a configuration: the engine and the settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configuration: Option<String>,
    /// The client that does the timed work. Absent for embermark itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// Its language.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// For a configuration: how it differs from the tier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_durability: Option<String>,
    /// Whether its licence forbids publishing its figures.
    pub unpublishable: bool,
    /// The engine's versions over the trials.
    pub versions: Vec<String>,
    /// Settings as read back in the first trial that has them.
    pub settings: BTreeMap<String, String>,
    /// Its trials.
    pub trials: Vec<TrialData>,
    /// Trials that were lost. They are in no figure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_trials: Vec<TrialData>,
    /// Resources for the whole workload.
    pub usage: Usage,
}

/// One trial, in a fresh process.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Trial"))]
pub struct TrialData {
    /// Index in the cell, from 0. A trial whose index is missing did not run.
    pub index: u32,
    /// How it ended.
    pub status: Status,
    /// The reason, if it is not ok.
    pub reason: Option<String>,
    /// Time to open the engine or to start the server.
    pub open_ns: Option<u64>,
    /// Log of its standard error, next to the result file.
    pub log: Option<String>,
}

/// One phase of one cell.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Entry"))]
pub struct EntryData<'a> {
    /// Index in [`Page::cells`].
    pub cell: usize,
    /// Its name. Absent if no cell of the variant reached a phase.
    pub phase: Option<String>,
    /// How it ended. Absent if no run counts.
    pub status: Option<Status>,
    /// The reason, if it is not ok.
    pub reason: Option<String>,
    /// What confirmed the answer, if no oracle checks it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked_by: Option<String>,
    /// The engine's query plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// What measured its times, if that was a client by its own clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timed_by: Option<String>,
    /// Whether this phase ended well and its cell did not. Such a figure is shown and not ranked.
    pub tainted: bool,
    /// Number of trials of its cell that failed or timed out. The figure is from the others.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lost: usize,
    /// What its cell failed to do. Such a figure is shown and not ranked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shortfall: Option<String>,
    /// Why its cost is unusual, with the reason if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surprise: Option<String>,
    /// Whether code in the client does it.
    pub client_side: bool,
    /// Whether each row is a commit, while other engines put many in one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub commits_each: bool,
    /// The time.
    pub figure: Option<Figure<'a>>,
    /// The distribution of the latency of one operation.
    pub latency: Option<Latency>,
    /// Latency from the scheduled start of an operation, if there is a schedule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<Latency>,
    /// Resources of the engine for a counted run.
    pub usage: Usage,
    /// Bytes between client and server in a counted run of an observed phase: the median over
    /// trials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_bytes: Option<f64>,
    /// Remarks on the figures of an observed phase.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// Observations of each counted run of an observed phase, in the order of the trials.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub watched: Vec<WatchedData>,
    /// Bytes that a phase that inserts rows wrote, by the keys of [`Page::load_columns`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loading: Option<Amounts>,
    /// Figures of a run other than its time, by the keys of [`Page::beside_columns`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<Amounts>,
    /// Requests of an operation to the system, by the keys of [`Page::explained_columns`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explained: Option<Explanation>,
    /// The runs of each trial: elapsed ns, operations, and a flag of 0, 1 (discarded), 2 (stopped
    /// at the cap) or 3 (both).
    pub runs: Vec<Vec<(u64, u64, u8)>>,
}

/// A run of a phase with a fixed duration.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Watched"))]
pub struct WatchedData {
    /// Index of the trial, from 0.
    pub trial: usize,
    /// The observations without histograms.
    #[serde(flatten)]
    pub seen: Observed,
}

/// A table of one result.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Table"))]
pub struct TableData {
    /// Index of the result.
    pub result: usize,
    /// The table and its notes.
    #[serde(flatten)]
    pub table: Annotated,
}

/// Recommendations by one result, as on the terminal's screen.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Answer"))]
pub struct AnswerData {
    /// Index of the result.
    pub result: usize,
    /// The language of the columns that it is about. Absent for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The recommendations, one per line.
    pub take: Vec<Note>,
    /// The table, with a line for each engine.
    #[serde(flatten)]
    pub grid: Grid,
    /// The engine of each line.
    pub engines: Vec<Measured>,
    /// Explanations of the marks.
    pub legend: Vec<String>,
    /// The engines in the order of each of [`Page::presets`].
    pub orders: Vec<Ranking>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}
