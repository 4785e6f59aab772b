//! One group's cells and entries, as the page is given them.

use embermark_model::result::{
    Cell, Execution, Latency, Observed, PhaseResult, ResultFile, Run, Trial,
};
use embermark_model::{Scale, Status};

use super::data::{
    CellData, EngineFacts, EntryData, FigureData, LatencyData, LoadingData, Page, TrialData,
    UsageData, WatchedData,
};
use crate::statistics::median;
use crate::summary::{Entry, Figure, Group, Loading, Row, Usage};
use crate::text;

/// The longest text of a reason; the result file has it whole.
const LONGEST_REASON: usize = 2_000;

/// Adds the cells and entries of one group.
pub(super) fn add(page: &mut Page, file: &ResultFile, group: &Group<'_>) {
    let first = page.cells.len();
    let mut known: Vec<&Cell> = Vec::new();
    for row in &group.rows {
        let variant = row.variant.unwrap_or(group.variant);
        for (engine, entry) in group.engines.iter().zip(&row.entries) {
            let Some(cell) = find(file, group, variant, engine.id) else { continue };
            let place = known.iter().position(|other| std::ptr::eq(*other, cell));
            let place = place.unwrap_or_else(|| {
                known.push(cell);
                let ranked = engine.ranked(group.durability);
                page.cells.push(cell_data(page, file, group, cell, ranked));
                known.len() - 1
            });
            page.entries.push(entry_data(first + place, cell, row, entry));
        }
    }
}

fn find<'a>(
    file: &'a ResultFile,
    group: &Group<'_>,
    variant: &str,
    engine: &str,
) -> Option<&'a Cell> {
    file.cells.iter().find(|Cell { id, .. }| {
        (id.workload.as_str(), id.scale, id.durability)
            == (group.workload, group.scale, group.durability)
            && (id.variant.as_str(), id.engine.as_str()) == (variant, engine)
    })
}

fn cell_data(
    page: &Page,
    file: &ResultFile,
    group: &Group<'_>,
    cell: &Cell,
    ranked: bool,
) -> CellData {
    let rows = match group.scale {
        Scale::Rows(rows) => Some(rows),
        Scale::Full => group.dataset.map(|dataset| dataset.rows),
    };
    let mut versions: Vec<String> = Vec::new();
    for version in cell.trials.iter().filter_map(|trial| trial.version.as_deref()) {
        let version = text::clipped(version, 200);
        if !versions.contains(&version) {
            versions.push(version);
        }
    }
    let settings = cell.trials.iter().map(|trial| &trial.settings).find(|all| !all.is_empty());
    let settings = settings.into_iter().flatten();
    CellData {
        result: page.results.len(),
        workload: text::plain(group.workload),
        scale: group.scale.to_string(),
        rows,
        tier: group.durability,
        variant: text::plain(&cell.id.variant),
        main: cell.id.variant == group.variant,
        engine: text::plain(&cell.id.engine),
        kind: kind(&page.engines, file, cell),
        status: cell.status,
        reason: reason(cell.reason.as_deref()),
        effective_durability: cell.effective_durability.filter(|tier| *tier != group.durability),
        ranked,
        unpublishable: cell.unpublishable,
        versions,
        settings: settings
            .map(|(name, value)| (text::plain(name), text::clipped(value, 200)))
            .collect(),
        trials: cell.trials.iter().map(trial_data).collect(),
        usage: usage_data(&Usage::of(cell)),
    }
}

/// What the facts say; else an engine that had a client beside it is a server.
fn kind(facts: &[EngineFacts], file: &ResultFile, cell: &Cell) -> Option<String> {
    if cell.reference {
        return Some("reference".into());
    }
    if let Some(known) = facts.iter().find(|known| known.id == cell.id.engine) {
        return Some(known.kind.clone());
    }
    let of_engine = file.cells.iter().filter(|other| other.id.engine == cell.id.engine);
    let phases = of_engine.flat_map(|cell| &cell.trials).flat_map(|trial| &trial.phases);
    let mut runs = phases.flat_map(|part| &part.runs).peekable();
    runs.peek()?;
    let kind = if runs.any(|run| run.client.is_some()) { "server" } else { "embedded" };
    Some(kind.into())
}

fn reason(text: Option<&str>) -> Option<String> {
    text.map(|text| text::clipped(text, LONGEST_REASON))
}

fn trial_data(trial: &Trial) -> TrialData {
    TrialData {
        status: trial.status,
        reason: reason(trial.reason.as_deref()),
        open_ns: trial.open_ns,
        wall_ns: trial.wall_ns,
        baseline_bytes: trial.baseline_bytes,
        log: trial.log.as_deref().map(text::plain),
    }
}

fn entry_data(place: usize, cell: &Cell, row: &Row<'_>, entry: &Entry<'_>) -> EntryData {
    let parts: Vec<Option<&PhaseResult>> = cell
        .trials
        .iter()
        .map(|trial| trial.phases.iter().find(|part| Some(part.phase.as_str()) == row.phase))
        .collect();
    let known = || parts.iter().copied().flatten();
    let status = match entry {
        Entry::Measured(measured) => Some(match measured.figure.stop {
            Some(_) => Status::Capped,
            None => known().map(|part| part.status).reduce(Status::worst).unwrap_or(Status::Ok),
        }),
        Entry::Ended(status) => Some(*status),
        Entry::Absent => None,
    };
    let (figure, tainted, client_side) = match entry {
        Entry::Measured(measured) => {
            (Some(&measured.figure), measured.tainted, measured.figure.client_side)
        }
        _ => (None, false, known().any(|part| part.execution == Execution::ClientSide)),
    };
    let of_trials = || cell.trials.iter().filter_map(|trial| trial.reason.as_deref());
    let why = known().find_map(|part| part.reason.as_deref());
    let why = why.or_else(|| of_trials().next().filter(|_| figure.is_none()));
    let why = why.or_else(|| cell.reason.as_deref().filter(|_| figure.is_none()));
    let runs = |part: Option<&PhaseResult>| {
        let runs = part.map_or(&[][..], |part| &part.runs);
        let mark = |run: &Run| u8::from(run.discarded) + 2 * u8::from(run.capped);
        runs.iter().map(|run| (run.elapsed_ns, run.ops, mark(run))).collect()
    };
    let loading = row.phase.and_then(|phase| Loading::of(cell, phase));
    EntryData {
        cell: place,
        phase: row.phase.map(text::plain),
        status,
        reason: reason(why),
        tainted,
        shortfall: match entry {
            Entry::Measured(measured) => {
                measured.shortfall.map(|shortfall| shortfall.beside(row.phase))
            }
            _ => None,
        },
        client_side,
        figure: figure.map(|figure| figure_data(cell, figure)),
        latency: figure.and_then(Figure::latency).map(|latency| latency_data(&latency)),
        response: figure.and_then(Figure::response).map(|response| latency_data(&response)),
        sharing: figure.and_then(|figure| figure.sharing.clone()),
        usage: row
            .phase
            .map_or_else(UsageData::default, |phase| usage_data(&Usage::of_phase(cell, phase))),
        network_bytes: network(&parts),
        remarks: remarks(&parts),
        watched: watched(cell, row),
        write_amplification: loading.and_then(|loading| loading.write_amplification),
        loading: loading.map(loading_data),
        runs: parts.iter().map(|part| runs(*part)).collect(),
    }
}

/// What was seen of the counted runs of each trial.
fn observed<'a>(part: &'a PhaseResult) -> impl Iterator<Item = &'a Observed> + use<'a> {
    part.runs.iter().filter(|run| !run.discarded).filter_map(|run| run.observed.as_ref())
}

fn network(parts: &[Option<&PhaseResult>]) -> Option<f64> {
    let of_trial = |part: &&PhaseResult| {
        let bytes: Option<Vec<u64>> = observed(part).map(|seen| seen.network_bytes).collect();
        let bytes = bytes.filter(|bytes| !bytes.is_empty())?;
        Some(bytes.iter().sum::<u64>() as f64 / bytes.len() as f64)
    };
    let trials: Vec<f64> = parts.iter().flatten().filter_map(of_trial).collect();
    median(&trials)
}

fn remarks(parts: &[Option<&PhaseResult>]) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    for remark in
        parts.iter().flatten().flat_map(|part| observed(part)).flat_map(|seen| &seen.remarks)
    {
        let remark = text::clipped(remark, LONGEST_REASON);
        if !said.contains(&remark) {
            said.push(remark);
        }
    }
    said
}

fn watched(cell: &Cell, row: &Row<'_>) -> Vec<WatchedData> {
    let trials = cell.trials.iter().enumerate();
    let parts = trials.flat_map(|(trial, of)| of.phases.iter().map(move |part| (trial, part)));
    parts
        .filter(|(_, part)| Some(part.phase.as_str()) == row.phase)
        .flat_map(|(trial, part)| observed(part).map(move |seen| watched_data(trial, seen)))
        .collect()
}

fn watched_data(trial: usize, seen: &Observed) -> WatchedData {
    let latency = |of: &Latency| (of.samples, of.p50, of.p99, of.max);
    WatchedData {
        trial,
        window_ns: seen.window_ns,
        processes: seen.processes.iter().map(|(r, of)| (text::plain(r), *of)).collect(),
        disk_growth_bytes: seen.disk_growth_bytes,
        network_bytes: seen.network_bytes,
        counts: seen.counts.iter().map(|(name, n)| (text::plain(name), *n)).collect(),
        latencies: seen.latencies.iter().map(|(n, of)| (text::plain(n), latency(of))).collect(),
    }
}

fn latency_data(latency: &Latency) -> LatencyData {
    LatencyData {
        samples: latency.samples,
        sampled_every: latency.sampled_every,
        min: latency.min,
        mean: latency.mean,
        p50: latency.p50,
        p95: latency.p95,
        p99: latency.p99,
        p99_9: latency.p99_9,
        max: latency.max,
    }
}

fn figure_data(cell: &Cell, figure: &Figure<'_>) -> FigureData {
    let place = |index: &u32| cell.trials.iter().position(|trial| trial.index == *index);
    FigureData {
        per_op_ns: figure.per_op_ns,
        elapsed_ns: figure.elapsed_ns,
        interval: figure.interval_ns,
        ops: figure.ops,
        done: figure.stop.map(|stop| stop.done),
        per_trial_ns: figure.per_trial_ns.clone(),
        trials: figure.trials.iter().filter_map(place).collect(),
        outliers: figure.outliers.clone(),
    }
}

fn loading_data(loading: Loading) -> LoadingData {
    LoadingData {
        user_bytes: loading.user_bytes,
        amplification_with_maintenance: loading.amplification_with_maintenance,
        maintenance_ns: loading.maintenance_ns,
        maintenance_cpu_ns: loading.maintenance_cpu_ns,
        maintenance_written_bytes: loading.maintenance_written_bytes,
        disk_before_bytes: loading.disk_before_bytes,
        disk_after_bytes: loading.disk_after_bytes,
    }
}

fn usage_data(usage: &Usage) -> UsageData {
    UsageData {
        cpu_ns: usage.cpu_ns,
        client_cpu_ns: usage.client_cpu_ns,
        peak_bytes: usage.peak_bytes,
        mean_bytes: usage.mean_bytes,
        read_bytes: usage.read_bytes,
        written_bytes: usage.written_bytes,
        disk_bytes: usage.disk_bytes,
        flushes: usage.flushes,
        background_cpu_share: usage.background_cpu_share,
        incomplete: usage.incomplete && usage.is_measured(),
    }
}
