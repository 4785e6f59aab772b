//! Cells and entries of one group, as data of the page.

use std::collections::HashMap;

use embermark_model::result::{
    Cell, DiskCurve, Execution, Latency, Observed, PhaseResult, ResultFile, Run, Timeline, Trial,
};
use embermark_model::{Status, foreign};

use super::data::{CellData, EntryData, Page, TrialData, WatchedData};
use crate::evidence::{self, TierStanding};
use crate::scaling::{Scaling, Surprise};
use crate::statistics::{mean, median};
use crate::summary::{
    self, Engine, Entry, Figure, Group, Phases, Row, Usage, Work, explained, loading, run_figures,
};
use crate::text;

/// Longest plan that is shown, in characters.
const PLAN: usize = 4_000;

/// Longest reason that is shown, in characters. The result file has all of it.
const LONGEST_REASON: usize = 2_000;

/// Adds the cells and entries of one group.
pub(super) fn add_group<'a>(
    page: &mut Page<'a>,
    group: &Group<'a>,
    scaling: &Scaling<'_>,
    durability: &[TierStanding],
) {
    let first = page.cells.len();
    let mut known: Vec<(&Cell, Phases<'_>, HashMap<&str, usize>)> = Vec::new();
    for row in &group.rows {
        let variant = row.variant.unwrap_or(group.variant);
        for (engine, entry) in group.engines.iter().zip(&row.entries) {
            let Some(cell) = group.cell(variant, engine.id) else { continue };
            let place = known.iter().position(|(other, ..)| std::ptr::eq(*other, cell));
            let place = place.unwrap_or_else(|| {
                let first = cell.trials.first().into_iter().flat_map(|trial| &trial.phases);
                let places = first.enumerate().map(|(at, part)| (&*part.phase, at)).collect();
                known.push((cell, Phases::new(cell), places));
                page.cells.push(cell_data(page, group, cell, engine, durability));
                known.len() - 1
            });
            let surprise = scaling.surprise(group, row, engine.id).map(Surprise::describe);
            let (_, phases, places) = &known[place];
            let near = row.phase.and_then(|phase| places.get(phase)).copied().unwrap_or_default();
            let entry = entry_data(first + place, group.file, (cell, phases, near), row, entry);
            page.entries.push(EntryData { surprise, ..entry });
        }
    }
}

fn cell_data(
    page: &Page<'_>,
    group: &Group<'_>,
    cell: &Cell,
    engine: &Engine<'_>,
    durability: &[TierStanding],
) -> CellData {
    let file = group.file;
    let versions = cell.trials.iter().filter_map(|trial| trial.version.as_deref());
    let versions = text::unique(versions.map(|version| text::clipped(version, 200)));
    let settings = cell.trials.iter().map(|trial| &trial.settings).find(|all| !all.is_empty());
    let settings = settings.into_iter().flatten();
    let configuration = file.plan.configurations.get(engine.id);
    let client = file.plan.client_of(engine.id);
    CellData {
        result: page.results.len(),
        workload: text::plain(group.workload),
        scale: group.extent.scale.to_string(),
        limit: group.extent.memory_limit.map(|limit| limit.to_string()),
        memory_limit_bytes: group.extent.memory_limit.map(|limit| limit.0),
        storage: group.extent.storage.map(|storage| storage.to_string()),
        rows: group.row_count(),
        tier: group.durability,
        variant: text::plain(&cell.id.variant),
        main: cell.id.variant == group.variant,
        engine: text::plain(&cell.id.engine),
        kind: summary::kind(file, engine.id, &page.engines).map(str::to_owned),
        status: cell.status,
        reason: reason(cell.reason.as_deref()),
        effective_durability: cell.effective_durability.filter(|tier| *tier != group.durability),
        ranked: engine.ranked(group.durability),
        durability: evidence::of_tier(durability, engine.id, group.durability),
        broken: engine.broken,
        by_url: engine.by_url,
        configuration: (configuration.filter(|own| own.has_settings()))
            .map(|own| text::plain(&own.to_string())),
        client: client.map(|client| text::plain(&client.to_string())),
        language: client.map(|client| text::plain(client.language())),
        own_durability: cell.own_durability.as_deref().map(text::plain),
        unpublishable: cell.unpublishable,
        versions,
        settings: settings
            .map(|(name, value)| (text::plain(name), text::clipped(value, 200)))
            .collect(),
        trials: cell.trials.iter().map(trial_data).collect(),
        lost_trials: cell.lost_trials.iter().map(trial_data).collect(),
        usage: Usage::new(file, cell, Work::All),
    }
}

fn reason(text: Option<&str>) -> Option<String> {
    text.map(|text| text::clipped(text, LONGEST_REASON))
}

fn trial_data(trial: &Trial) -> TrialData {
    TrialData {
        index: trial.index,
        status: trial.status,
        reason: reason(trial.reason.as_deref()),
        open_ns: trial.open_ns,
        log: trial.log.as_deref().map(text::plain),
    }
}

fn entry_data<'a>(
    place: usize,
    file: &ResultFile,
    (cell, phases, near): (&Cell, &Phases<'_>, usize),
    row: &Row<'a>,
    entry: &Entry<'a>,
) -> EntryData<'a> {
    let part = |trial| Work::Near(row.phase?, near).phases(trial).next();
    let parts: Vec<Option<&PhaseResult>> = cell.trials.iter().map(part).collect();
    let known = || parts.iter().copied().flatten();
    let measured = entry.measured();
    let figure = measured.map(|measured| &measured.figure);
    let status = match entry {
        Entry::Measured(measured) if measured.figure.stop.is_some() => Some(Status::Capped),
        Entry::Measured(_) => known().map(|part| part.status).reduce(Status::worst),
        Entry::Ended(status) => Some(*status),
        Entry::Absent => None,
    };
    let of_cell = cell.trials.iter().find_map(|trial| trial.reason.as_deref());
    let of_cell = of_cell.or(cell.reason.as_deref()).filter(|_| figure.is_none());
    let why = known().find_map(|part| part.reason.as_deref()).or(of_cell);
    let runs = |part: Option<&PhaseResult>| {
        let runs = part.map_or(&[][..], |part| &part.runs);
        let mark = |run: &Run| u8::from(run.discarded) + 2 * u8::from(run.capped);
        runs.iter().map(|run| (run.elapsed_ns, run.ops, mark(run))).collect()
    };
    let usage = |phase| Usage::new(file, cell, Work::Near(phase, near));
    EntryData {
        cell: place,
        phase: row.phase.map(text::plain),
        status,
        reason: reason(why),
        checked_by: known().find_map(|part| part.checked_by.as_deref()).map(text::plain),
        plan: known().find_map(|part| part.plan.as_deref()).map(plan),
        timed_by: known().find_map(|part| part.timed_by.as_deref()).map(text::plain),
        tainted: measured.is_some_and(|measured| measured.tainted),
        lost: measured.map_or(0, |measured| measured.lost),
        shortfall: measured.and_then(|measured| Some(measured.shortfall?.words(row.phase))),
        surprise: None,
        client_side: known().any(|part| part.execution == Execution::ClientSide),
        commits_each: measured.is_some_and(|measured| measured.commits_each),
        figure: figure.cloned(),
        latency: figure.and_then(Figure::latency).map(without_histogram),
        response: figure.and_then(Figure::response).map(without_histogram),
        usage: row.phase.map(usage).unwrap_or_default(),
        network_bytes: network(&parts),
        remarks: remarks(&parts),
        watched: watched(&parts),
        loading: row.phase.and_then(|phase| loading(cell, phase, phases.at(phase))),
        beside: row.phase.and_then(|phase| run_figures(phases.at(phase))),
        explained: row.phase.and_then(|phase| explained(cell, phase)),
        runs: parts.iter().map(|part| runs(*part)).collect(),
    }
}

/// Returns a plan with its line breaks, shortened to `PLAN` characters. The result file has all of
/// it.
pub(crate) fn plan(text: &str) -> String {
    foreign::shortened(foreign::screen(text.trim_end(), false), PLAN)
}

/// Removes the histogram. The page shows only percentiles.
fn without_histogram(latency: Latency) -> Latency {
    Latency { hdr: String::new(), ..latency }
}

/// Returns the observations of the counted runs of a phase.
fn observed<'a>(part: &'a PhaseResult) -> impl Iterator<Item = &'a Observed> + use<'a> {
    part.runs.iter().filter(|run| !run.discarded).filter_map(|run| run.observed.as_ref())
}

fn network(parts: &[Option<&PhaseResult>]) -> Option<f64> {
    let of_trial = |part: &&PhaseResult| {
        let bytes = observed(part).map(|seen| Some(seen.network_bytes? as f64));
        mean(&bytes.collect::<Option<Vec<f64>>>()?)
    };
    let trials: Vec<f64> = parts.iter().flatten().filter_map(of_trial).collect();
    median(&trials)
}

fn remarks(parts: &[Option<&PhaseResult>]) -> Vec<String> {
    let seen = parts.iter().flatten().flat_map(|part| observed(part));
    let remarks = seen.flat_map(|seen| &seen.remarks);
    text::unique(remarks.map(|remark| text::clipped(remark, LONGEST_REASON)))
}

fn watched(parts: &[Option<&PhaseResult>]) -> Vec<WatchedData> {
    let known = parts.iter().enumerate().filter_map(|(trial, part)| Some((trial, (*part)?)));
    let seen = known.flat_map(|(trial, part)| observed(part).map(move |seen| (trial, seen)));
    seen.map(|(trial, seen)| WatchedData { trial, seen: page_observation(seen) }).collect()
}

/// Returns the part of an observation that the page shows, with names on one line.
fn page_observation(seen: &Observed) -> Observed {
    Observed {
        processes: seen.processes.iter().map(|(role, used)| (text::plain(role), *used)).collect(),
        counts: seen.counts.iter().map(|(of, count)| (text::plain(of), *count)).collect(),
        latencies: (seen.latencies.iter())
            .map(|(of, latency)| (text::plain(of), without_histogram(latency.clone())))
            .collect(),
        disk: seen.disk.clone().map(|disk| DiskCurve { device_written: Vec::new(), ..disk }),
        timeline: seen.timeline.clone().map(|of| Timeline { rounds: Vec::new(), ..of }),
        // They are shown with the phase.
        remarks: Vec::new(),
        ..seen.clone()
    }
}
