//! What the page is given: one JSON document. `html/typescript.rs` writes its types for the page,
//! `page/src/data.ts`; `tests/integration/html.rs` writes a document that the page is tested with.
//!
//! Times are ns, sizes bytes. Absent means not measured, never zero. Texts from outside are on one
//! line and without control characters.

use std::collections::BTreeMap;

use embermark_model::result::{EngineFacts, Latency, Observed};
use embermark_model::{Durability, Status};
use serde::Serialize;

use super::durability::DurabilityData;
use super::tuned::TuningData;
use crate::advise::presets::Ranking;
use crate::advise::{AdviceTables, Preset};
use crate::fleet::Fleet;
use crate::grid::{Annotated, Grid};
use crate::note::{Note, Section};

use crate::overview::device::Measured;
use crate::scaling::Scaling;
use crate::summary::{Amounts, Column, Explanation, Figure, Usage};

/// The version of this form.
pub const VERSION: u32 = 1;

/// Everything the page shows.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Page<'a> {
    /// The version of this form.
    pub page: u32,
    /// embermark's version that made the page.
    pub tool: String,
    /// What must be said before anything else: that figures may not be published.
    pub face: Option<String>,
    /// The result files.
    pub results: Vec<ResultData>,
    /// In what the results were not measured alike: their figures stand apart.
    pub unlike: Vec<String>,
    /// What is shown of resources.
    pub resource_columns: Vec<Column>,
    /// What is shown of loads and their maintenance.
    pub load_columns: Vec<Column>,
    /// What is shown of a run beside its time.
    pub beside_columns: Vec<Column>,
    /// What is shown of what an operation asked of the system.
    pub explained_columns: Vec<Column>,
    /// What is known of engines, by id.
    pub engines: BTreeMap<String, EngineFacts>,
    /// What is known of workloads.
    pub workloads: Vec<WorkloadFacts>,
    /// Every cell of every result.
    pub cells: Vec<CellData>,
    /// Every phase of every cell, in display order.
    pub entries: Vec<EntryData<'a>>,
    /// What more rows do to time, of each result.
    pub scaling: Vec<Scaling<'a>>,
    /// Published figures beside measured ones.
    pub published: Vec<TableData>,
    /// What modelled flash cards would have programmed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flash: Vec<TableData>,
    /// What to take, and a line for each engine, of results in which rows were committed one by one.
    pub answer: Vec<AnswerData>,
    /// What it costs to keep up with a machine.
    pub costs: Vec<TableData>,
    /// What was tried of durability; absent where no tier of what is shown promises anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durability: Option<DurabilityData>,
    /// The engines that `embermark tune` has tuned; such a page has nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tuned: Option<TuningData>,
    /// Many devices side by side; such a page has nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<Fleet>,
    /// Situations to begin with.
    pub presets: &'static [Preset],
    /// What advice is drawn from: one table for all results that were measured alike, else one each.
    pub advice: Vec<AdviceData>,
}

/// What advice is drawn from.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Advisable"))]
pub struct AdviceData {
    /// Of which result, by its label; absent where it is of all.
    pub of: Option<String>,
    /// A table for each scale, and what turns between them.
    #[serde(flatten)]
    pub tables: AdviceTables,
}

impl AdviceData {
    /// Without the ratios of each workload, which the page does not show.
    pub(super) fn new(of: Option<String>, mut tables: AdviceTables) -> Self {
        for engine in tables.tables.iter_mut().flat_map(|table| &mut table.engines) {
            engine.by_workload.clear();
        }
        Self { of, tables }
    }

    /// Whether anything was measured that advice can rank by.
    pub(super) fn ranks(&self) -> bool {
        let mut engines = self.tables.tables.iter().flat_map(|table| &table.engines);
        engines.any(|one| !one.ratios.is_empty())
    }
}

/// One result file.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Result"))]
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
    pub sections: Vec<Section>,
    /// What was asked for and on what, as name and value.
    pub manifest: Vec<Note>,
    /// Engines with figures that may not be published.
    pub unpublishable: Vec<String>,
    /// What the figures of a workload at a scale, within a limit, in a tier were measured on.
    pub groups: Vec<GroupData>,
}

/// One workload at one scale, within one limit of memory, in one tier.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Group"))]
pub struct GroupData {
    /// The workload's id.
    pub workload: String,
    /// The scale as it is written.
    pub scale: String,
    /// The limit of memory as it is written, if any: `256 MiB`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// The imitated storage, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<String>,
    /// The tier.
    pub tier: Durability,
    /// Rows, repetitions, who is absent.
    pub about: Vec<String>,
}

/// What is known of a workload.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
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
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PhaseFacts {
    /// Its name.
    pub name: String,
    /// What it does, in a line.
    pub about: String,
}

/// One cell: engine x workload x scale x tier x variant.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Cell"))]
pub struct CellData {
    /// Place in [`Page::results`].
    pub result: usize,
    /// The workload's id.
    pub workload: String,
    /// The scale as it is written.
    pub scale: String,
    /// The limit of memory as it is written, if any: `256 MiB`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// The same in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_limit_bytes: Option<u64>,
    /// The imitated storage, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<String>,
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
    /// Whether it may have a ratio: no reference, not given by its URL, and effective durability not
    /// below the tier.
    pub ranked: bool,
    /// What its tier rests on, in words; absent where the tier promises nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durability: Option<String>,
    /// It was tried, and broke what its tier promises.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub broken: bool,
    /// A server that was given by its URL.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_url: bool,
    /// Of a configuration: the engine and the settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configuration: Option<String>,
    /// The client that does the timed work; absent: embermark itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// Its language.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Of a configuration: in what it is not as the tier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_durability: Option<String>,
    /// Its licence forbids publishing its figures.
    pub unpublishable: bool,
    /// The engine's versions over the trials.
    pub versions: Vec<String>,
    /// Settings as read back in the first trial that has them.
    pub settings: BTreeMap<String, String>,
    /// Its trials.
    pub trials: Vec<TrialData>,
    /// Those that were lost: they are in no figure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_trials: Vec<TrialData>,
    /// What it used for the whole of the workload.
    pub usage: Usage,
}

/// One fresh process.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Trial"))]
pub struct TrialData {
    /// Counts from 0 within the cell; one that is missing did not run.
    pub index: u32,
    /// How it ended.
    pub status: Status,
    /// Why, when not ok.
    pub reason: Option<String>,
    /// Time to open the engine or to start the server.
    pub open_ns: Option<u64>,
    /// The log of its standard error, beside the result file.
    pub log: Option<String>,
}

/// One phase of one cell.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Entry"))]
pub struct EntryData<'a> {
    /// Place in [`Page::cells`].
    pub cell: usize,
    /// Its name; absent when no cell of the variant came as far as a phase.
    pub phase: Option<String>,
    /// How it ended; absent when nothing was counted.
    pub status: Option<Status>,
    /// Why, when not ok.
    pub reason: Option<String>,
    /// Who said what is right, where no oracle does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked_by: Option<String>,
    /// The plan that the engine has for its query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// What took its times, where that was a client by its own clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timed_by: Option<String>,
    /// This phase ended well and its cell did not: shown, not ranked.
    pub tainted: bool,
    /// Trials of its cell that failed or timed out: the figure is of the others.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lost: usize,
    /// What its cell did not do: shown, not ranked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shortfall: Option<String>,
    /// How its cost stands out, and why where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surprise: Option<String>,
    /// Done by code in the client.
    pub client_side: bool,
    /// One commit a row, where other engines put many in one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub commits_each: bool,
    /// The time.
    pub figure: Option<Figure<'a>>,
    /// The distribution of the latency of one operation.
    pub latency: Option<Latency>,
    /// The same from the scheduled start of an operation, where there is a schedule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<Latency>,
    /// What the engine used for a counted run.
    pub usage: Usage,
    /// Bytes between client and server in a counted run of a phase that is watched: the median over
    /// trials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_bytes: Option<f64>,
    /// What a reader of the figures has to know, of a phase that is watched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// What was seen of each counted run of a phase that is watched, in the order of the trials.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub watched: Vec<WatchedData>,
    /// What a phase that inserts rows wrote, by the keys of [`Page::load_columns`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loading: Option<Amounts>,
    /// What a run has to show beside its time, by the keys of [`Page::beside_columns`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<Amounts>,
    /// What an operation asked of the system, by the keys of [`Page::explained_columns`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explained: Option<Explanation>,
    /// The runs of each trial: elapsed ns, operations, and 0, 1 (discarded), 2 (stopped at the
    /// cap) or 3 (both).
    pub runs: Vec<Vec<(u64, u64, u8)>>,
}

/// A window of a phase that lasts by the clock.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Watched"))]
pub struct WatchedData {
    /// Which trial, from 0.
    pub trial: usize,
    /// What was seen, its histograms left out.
    #[serde(flatten)]
    pub seen: Observed,
}

/// A table of one result.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Table"))]
pub struct TableData {
    /// Which result, by its place.
    pub result: usize,
    /// The table and its notes.
    #[serde(flatten)]
    pub table: Annotated,
}

/// What to take by one result: the terminal's screen.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Answer"))]
pub struct AnswerData {
    /// Which result, by its place.
    pub result: usize,
    /// Of the columns that are used from this language; absent: of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// What to take, in lines.
    pub take: Vec<Note>,
    /// A line for each engine.
    #[serde(flatten)]
    pub grid: Grid,
    /// The engine of each line.
    pub engines: Vec<Measured>,
    /// What the marks mean.
    pub legend: Vec<String>,
    /// The engines in the order of each of [`Page::presets`].
    pub orders: Vec<Ranking>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}
