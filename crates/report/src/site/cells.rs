//! The cells of one table of a result: settings, trials, plans, errors, and the command that
//! repeats each cell.

use std::collections::HashMap;

use embermark_model::result::{Cell, Latency, PhaseResult, ResultFile, Trial};
use embermark_model::{Client, Durability, Status};
use serde::{Serialize, Serializer};

use super::figures::{amounts, short};
use super::number::Number;
use super::{SnippetKey, command, indexed};
use crate::evidence::{self, TierStanding};
use crate::summary::{Figure, Group, Row, Usage, Work};
use crate::{html, text};

/// Longest reason that is shown, in characters. The result file has all of it.
const LONGEST_REASON: usize = 1_000;

/// Longest workload file that is shown, in bytes.
const LONGEST_FILE: usize = 100_000;

/// Settings as read back, by name.
type Settings = Vec<(String, String)>;

/// The cells of a table of a result.
#[derive(Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct Cells {
    /// The cells.
    cells: Vec<CellData>,
    /// The different settings of the cells.
    settings: Vec<Settings>,
    /// The workload file that commands name, with its text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file: Option<(String, String)>,
    #[serde(skip)]
    known: HashMap<Settings, usize>,
}

/// A cell of an engine.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Cell"))]
struct CellData {
    /// Index of its engine in the index file.
    engine: usize,
    /// The variant.
    variant: String,
    /// How it ended.
    status: Status,
    /// The reason, if it is not ok.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The durability that it has, if it differs from the tier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    effective: Option<Durability>,
    /// Evidence for what its tier promises.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    durability: Option<String>,
    /// How its settings differ from the tier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    own_durability: Option<String>,
    /// The engine's versions over the trials.
    versions: Vec<String>,
    /// Index of its settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    settings: Option<usize>,
    /// Index, status, reason and ns to open of each trial.
    trials: Vec<TrialData>,
    /// Trials that were lost. They are in no figure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    lost: Vec<TrialData>,
    /// Resources that it used, by the columns of the index.
    usage: Vec<Option<Number>>,
    /// Its phases.
    phases: Vec<PhaseData>,
    /// The command that repeats it.
    command: String,
    /// Indexes of programs that open and set its engine in the same way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    snippets: Vec<usize>,
}

/// A trial as `[index, status, reason, ns to open]`.
type TrialData = (u32, Status, Option<String>, Option<u64>);

/// A phase of a cell.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "CellPhase"))]
struct PhaseData {
    /// Its name.
    phase: String,
    /// How it ended.
    status: Status,
    /// The reason, if it is not ok.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// What confirmed its answer, if no oracle checks it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    checked_by: Option<String>,
    /// The engine's query plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    plan: Option<String>,
    /// The time of an operation in each trial, in ns.
    trials: Vec<Number>,
    /// Percentiles of the time of an operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    latency: Option<Percentiles>,
    /// Percentiles of the time from the scheduled start of an operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    response: Option<Percentiles>,
}

/// Percentiles of a latency in ns.
#[cfg_attr(
    test,
    derive(ts_rs::TS),
    ts(
        type = "[p50: number, p95: number | null, p99: number | null, p99_9: number | null, max: number, samples: number]"
    )
)]
struct Percentiles(Latency);

impl Serialize for Percentiles {
    /// `[p50, p95, p99, p99.9, max, samples]`.
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Latency { p50, p95, p99, p99_9, max, samples, .. } = self.0;
        (p50, p95, p99, p99_9, max, samples).serialize(to)
    }
}

/// Returns the cells of a group. `columns` are the indexes of its engines. `snippet` returns the
/// index of a program, if there is one.
pub(super) fn group_cells(
    group: &Group<'_>,
    standings: &[TierStanding],
    columns: &[usize],
    mut snippet: impl FnMut(SnippetKey) -> Option<usize>,
) -> Cells {
    let file = group.file;
    let mut all = Cells { file: own_file(file, group.workload), ..Cells::default() };
    for cell in group.cells() {
        let engine = group.engines.iter().position(|engine| engine.id == cell.id.engine);
        let Some(place) = engine else { continue };
        let settings = all.settings(cell);
        let usage = Usage::new(file, cell, Work::All);
        all.cells.push(CellData {
            engine: columns[place],
            variant: short(&cell.id.variant),
            status: cell.status,
            reason: reason(cell.reason.as_deref()),
            effective: cell.effective_durability.filter(|tier| *tier != group.durability),
            durability: evidence::of_tier(standings, &cell.id.engine, group.durability),
            own_durability: cell.own_durability.as_deref().map(short),
            versions: text::unique(versions(cell)),
            settings,
            trials: cell.trials.iter().map(trial).collect(),
            lost: cell.lost_trials.iter().map(trial).collect(),
            usage: amounts(|of| usage.get(of)),
            phases: phases(group, place, cell),
            command: command::repeat_command(file, cell),
            snippets: client_snippets(file, cell).filter_map(&mut snippet).collect(),
        });
    }
    all
}

/// Returns the name and text of a user's workload file, if it is short enough to be shown.
fn own_file(file: &ResultFile, workload: &str) -> Option<(String, String)> {
    let own = file.plan.workload_files.get(workload)?;
    // Line breaks are kept. Control characters have no effect.
    let lines = own.text.lines().map(embermark_model::foreign::message);
    (own.text.len() <= LONGEST_FILE).then(|| (text::file_name(workload), text::joined(lines, "\n")))
}

impl Cells {
    fn settings(&mut self, cell: &Cell) -> Option<usize> {
        let own = cell.trials.iter().map(|trial| &trial.settings).find(|all| !all.is_empty())?;
        let own = own.iter().map(|(name, value)| (short(name), text::clipped(value, 300)));
        Some(indexed(&mut self.known, &mut self.settings, own.collect(), Clone::clone))
    }
}

/// Returns the versions of its engine.
pub(super) fn versions(cell: &Cell) -> impl Iterator<Item = String> {
    let versions = cell.trials.iter().filter_map(|trial| trial.version.as_deref());
    versions.map(short)
}

/// Returns the embermark clients that use the cell's engine. If the cell has no client, these are
/// all clients.
fn client_snippets(file: &ResultFile, cell: &Cell) -> impl Iterator<Item = SnippetKey> {
    let (plan, column, tier) = (&file.plan, &cell.id.engine, cell.id.durability);
    let has_settings = plan.configurations.get(column).is_some_and(|of| of.has_settings());
    let clients = match plan.client_of(column) {
        _ if has_settings || !cell.status.has_figures() => Vec::new(),
        Some(own) => vec![own.to_string()],
        None => Client::LANGUAGES.map(str::to_owned).to_vec(),
    };
    let engine = plan.engine_of(column).to_owned();
    clients.into_iter().map(move |client| SnippetKey { engine: engine.clone(), client, tier })
}

fn reason(text: Option<&str>) -> Option<String> {
    text.map(|text| text::clipped(text, LONGEST_REASON))
}

fn trial(trial: &Trial) -> TrialData {
    (trial.index, trial.status, reason(trial.reason.as_deref()), trial.open_ns)
}

/// Returns the phases of a cell, from the rows of the table.
fn phases(group: &Group<'_>, engine: usize, cell: &Cell) -> Vec<PhaseData> {
    let own = |row: &&Row<'_>| row.variant.unwrap_or(group.variant) == cell.id.variant;
    let with_phase = group.rows.iter().filter(own).filter_map(|row| Some((row.phase?, row)));
    let of_row = |(phase, row): (&str, &Row<'_>)| {
        let parts = cell.trials.iter().flat_map(|trial| &trial.phases);
        let parts: Vec<&PhaseResult> = parts.filter(|part| part.phase == phase).collect();
        let status = parts.iter().map(|part| part.status).reduce(Status::worst)?;
        let figure = row.entries[engine].measured().map(|measured| &measured.figure);
        let times = figure.map(|figure| figure.per_trial_ns.as_slice()).unwrap_or_default();
        Some(PhaseData {
            phase: short(phase),
            status,
            reason: reason(parts.iter().find_map(|part| part.reason.as_deref())),
            checked_by: parts.iter().find_map(|part| part.checked_by.as_deref()).map(short),
            plan: parts.iter().find_map(|part| part.plan.as_deref()).map(html::plan),
            trials: times.iter().copied().map(Number).collect(),
            latency: figure.and_then(Figure::latency).map(Percentiles),
            response: figure.and_then(Figure::response).map(Percentiles),
        })
    };
    with_phase.filter_map(of_row).collect()
}
