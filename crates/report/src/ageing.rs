//! Tables of phases that run until they are steady: the last rounds and the first minute.

use std::collections::BTreeMap;

use embermark_model::card::{End, Mapping};
use embermark_model::result::{
    Cell, Latency, Observed, PhaseResult, ResultFile, Round, Run, StorageTimes, Timeline,
};

use crate::grid::{self, Annotated, Grid, Text, Tone};
use crate::note::{Note, note};
use crate::statistics::total;
use crate::{flash, format, text};

/// Number of rounds that the steady-state figures cover.
const ROUNDS: usize = 5;

/// Number of stall causes that are named.
const NAMED: usize = 3;

/// One run of one engine in one phase.
struct Line<'a> {
    file: &'a ResultFile,
    cell: &'a Cell,
    part: &'a PhaseResult,
    run: &'a Run,
    seen: &'a Observed,
    timeline: &'a Timeline,
    /// Trial of the run, if there are several.
    trial: Option<u32>,
    /// Imitated storage of the run, if it has one.
    storage: Option<&'a StorageTimes>,
    /// Rows per day for which the lifetime of a card is shown.
    rows_per_day: Option<f64>,
}

/// Returns one table per workload, scale, memory limit and tier.
pub(crate) fn grids(file: &ResultFile, rows_per_day: Option<f64>) -> Vec<Annotated> {
    let mut tables: Vec<(String, Vec<Line<'_>>)> = Vec::new();
    for line in file.cells.iter().flat_map(|cell| lines(file, cell, rows_per_day)) {
        let id = &line.cell.id;
        let title = format!(
            "{} {} · durability {} · {} until it is steady",
            text::plain(&id.workload),
            id.extent(),
            id.durability,
            text::plain(&line.part.phase)
        );
        match tables.iter_mut().find(|(known, _)| *known == title) {
            Some((_, lines)) => lines.push(line),
            None => tables.push((title, vec![line])),
        }
    }
    tables.into_iter().map(|(title, lines)| table(title, &lines)).collect()
}

fn lines<'a>(
    file: &'a ResultFile,
    cell: &'a Cell,
    rows_per_day: Option<f64>,
) -> impl Iterator<Item = Line<'a>> {
    let several = cell.trials.len() > 1;
    let trials = cell.trials.iter();
    let parts = trials.flat_map(|trial| trial.phases.iter().map(move |part| (trial, part)));
    let runs = parts.flat_map(|(trial, part)| part.runs.iter().map(move |run| (trial, part, run)));
    runs.filter_map(move |(trial, part, run)| {
        let seen = run.observed.as_ref()?;
        let (timeline, storage) = (seen.timeline.as_ref()?, trial.storage_times.as_ref());
        let trial = several.then_some(trial.index);
        Some(Line { file, cell, part, run, seen, timeline, trial, storage, rows_per_day })
    })
}

impl Line<'_> {
    fn label(&self) -> String {
        let id = &self.cell.id;
        let mut label = format!("{} {}", text::plain(&id.engine), text::plain(&id.variant));
        if let Some(trial) = self.trial {
            label += &format!(", trial {}", u64::from(trial) + 1);
        }
        let marks = [
            (self.cell.reference, grid::REFERENCE),
            (self.file.plan.urls.contains_key(&id.engine), grid::BY_URL),
            (self.cell.own_durability.is_some(), grid::OWN_DURABILITY),
        ];
        label.extend(marks.iter().filter(|(is, _)| *is).flat_map(|(_, mark)| [" ", mark]));
        label
    }

    /// Reports when the phase became steady, or which figures did not.
    fn steady(&self) -> Text {
        let steady = &self.timeline.steady;
        let after = format::duration(steady.after_s * 1e9);
        if steady.reached {
            return Text::new(format!("after {after}"));
        }
        let restless: Vec<&str> = (steady.figures.iter())
            .filter(|(_, figure)| !figure.steady)
            .map(|(name, _)| name.as_str())
            .collect();
        let why = match &restless[..] {
            [] => format!("window replaced {:.1} times", steady.turnovers),
            restless => restless.join(", "),
        };
        Text::toned(format!("not after {after}: {}", text::plain(&why)), Tone::Warning)
    }

    fn latency(&self, name: &str) -> Option<&Latency> {
        self.seen.latencies.get(name)
    }

    /// Returns the 99th percentile, or the maximum if there are too few samples.
    fn p99(&self, name: &str) -> Option<String> {
        let latency = self.latency(name)?;
        Some(format::duration(latency.p99.unwrap_or(latency.max) as f64))
    }

    /// Returns the number of rows written.
    fn rows(&self) -> u64 {
        total(self.timeline.slices.iter().map(|slice| slice.rows_in))
    }

    /// Returns the bytes that the imitated storage programmed into its flash per row.
    fn programmed(&self) -> Option<f64> {
        let (programmed, rows) = (self.storage?.programmed_bytes?, self.rows());
        (rows > 0).then(|| programmed as f64 / rows as f64)
    }

    /// Returns the lifetime of the imitated storage in years at the given rows per day, from
    /// shortest to longest.
    fn years(&self) -> Option<String> {
        let flash = self.file.plan.storage(self.cell.id.storage?)?.flash.as_ref()?;
        let erases_per_row = match flash.card.mapping {
            // In a steady state each programmed block causes one erase.
            Mapping::PageMapped { .. } => self.programmed()? / flash.card.erase_block_bytes as f64,
            Mapping::LogBlocks { .. } => self.storage?.erases? as f64 / self.rows().max(1) as f64,
        };
        let erases_per_day = erases_per_row * self.rows_per_day?;
        let at = |end| flash.card.days(end, erases_per_day).map(|days| days / flash::YEAR);
        Some(flash::years_between([at(End::Low)?, at(End::High)?]))
    }

    /// Returns the number of stalled operations, and the engine's figures that changed in the
    /// slices with stalls.
    fn stalls(&self) -> String {
        let Timeline { stalled, stalls, background, .. } = self.timeline;
        if *stalled == 0 {
            return "0".to_owned();
        }
        if background.is_empty() {
            return format!("{} (it reports nothing)", format::count(*stalled));
        }
        let mut causes: BTreeMap<&str, u64> = BTreeMap::new();
        for name in stalls.iter().flat_map(|stall| stall.moved.keys()) {
            *causes.entry(name).or_default() += 1;
        }
        let mut causes: Vec<(&str, u64)> = causes.into_iter().collect();
        causes.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
        let named = causes.iter().take(NAMED);
        let named = named.map(|(name, times)| format!("{} in {times}", text::plain(name)));
        let named = match causes.is_empty() {
            true => "nothing that it reports changed".to_owned(),
            false => text::joined(named, ", "),
        };
        format!("{} ({named})", format::count(*stalled))
    }
}

/// Returns bytes written to a run's own device per byte of the rows that it wrote.
pub(crate) fn written_per_byte(run: &Run) -> Option<f64> {
    let timeline = run.observed.as_ref()?.timeline.as_ref()?;
    let rows = total(timeline.slices.iter().map(|slice| slice.rows_in));
    let user = rows.saturating_mul(timeline.row_bytes);
    (user > 0).then_some(run.device_io?.written_bytes as f64 / user as f64)
}

/// Returns the last rounds of a timeline.
pub(crate) fn last_rounds(timeline: &Timeline) -> &[Round] {
    &timeline.rounds[timeline.rounds.len().saturating_sub(ROUNDS)..]
}

/// Returns rows per second over the last rounds.
pub(crate) fn throughput(timeline: &Timeline) -> Option<f64> {
    let last = last_rounds(timeline);
    let rows = total(last.iter().map(|round| round.rows));
    let ns = total(last.iter().map(|round| round.elapsed_ns));
    per_second(rows, ns)
}

/// Returns rows per second until the window was full, over at most the first minute.
fn throughput_at_first(timeline: &Timeline) -> Option<f64> {
    const MINUTE_S: f64 = 60.0;
    let (mut rows, mut ns) = (0, 0);
    for slice in &timeline.slices {
        (rows, ns) = (total([rows, slice.rows_in]), total([ns, slice.elapsed_ns]));
        if rows >= timeline.window_rows || slice.until_s >= MINUTE_S {
            break;
        }
    }
    per_second(rows, ns)
}

fn per_second(rows: u64, ns: u64) -> Option<f64> {
    (rows > 0 && ns > 0).then(|| rows as f64 * 1e9 / ns as f64)
}

fn rate_text(rate: Option<f64>) -> Option<String> {
    rate.map(|rate| format::count(rate.round() as u64))
}

/// A column: its heading, and the text that it shows for a line.
type Column = (&'static str, fn(&Line<'_>) -> Option<String>);

const COLUMNS: [Column; 11] = [
    ("rows/s", |line| rate_text(throughput(line.timeline))),
    ("at first", |line| rate_text(throughput_at_first(line.timeline))),
    ("commit", |line| Some(format::duration(line.latency("commit-last")?.p50 as f64))),
    ("p99", |line| line.p99("commit-last")),
    ("max", |line| Some(format::duration(line.latency("commit-last")?.max as f64))),
    ("p99 at first", |line| line.p99("commit-first")),
    ("question p99", |line| line.p99("question-last")),
    ("expiry p50", |line| Some(format::duration(line.latency("expiry-last")?.p50 as f64))),
    ("space", |line| {
        let bytes = line.timeline.rounds.last()?.allocated_bytes?;
        Some(format::bytes(bytes as f64))
    }),
    ("written/byte", |line| written_per_byte(line.run).map(format::number)),
    ("stalls", |line| Some(line.stalls())),
];

/// Columns for imitated storage with flash.
const FLASH_COLUMNS: [Column; 2] = [
    ("programmed/row", |line| line.programmed().map(format::bytes)),
    ("years", |line| line.years()),
];

fn table(title: String, lines: &[Line<'_>]) -> Annotated {
    let flash = lines.iter().any(|line| line.programmed().is_some());
    let mut columns = COLUMNS.to_vec();
    columns.extend(FLASH_COLUMNS.iter().filter(|_| flash));
    let rows = lines.iter().map(|line| {
        let status = line.part.status;
        let first = match status.has_figures() {
            true => line.steady(),
            false => Text::toned(status.to_string(), Tone::Bad),
        };
        let shown = columns.iter().map(|(_, show)| Text::new(format::or_dash(show(line), |of| of)));
        (line.label(), [first].into_iter().chain(shown).collect())
    });
    let header = ["steady"].into_iter().chain(columns.iter().map(|(name, _)| *name));
    Annotated { grid: Grid::new(title, header, rows.collect()), notes: legend(lines) }
}

fn legend(lines: &[Line<'_>]) -> Vec<Note> {
    let steady = "over five rounds throughput (at a rate: mean latency) and space stay within 20 % of their \
                  mean and the line of least squares through them rises or falls by no more than 10 % \
                  (SNIA, Solid State Storage Performance Test Specification), after the window was \
                  replaced twice";
    let columns = "over the last five rounds: rows/s, commit (median), its p99 and max, question p99, the time to delete the oldest rows; at first: in the first minute, or until the window was full if that is sooner; a p99 of fewer than 100 values is the largest";
    let amounts = "space: allocated blocks at the end; written/byte: what reached a device of its own for \
                   each byte of the rows, all rounds; stalls: operations above 100 ms, and of the \
                   engine's own counters which moved in the seconds of how many of them";
    let mut notes =
        vec![note("steady", steady), note("columns", columns), note("amounts", amounts)];
    let expiry =
        |line: &Line<'_>| (text::plain(&line.timeline.expiry), text::plain(&line.cell.id.engine));
    let by = text::by_key(lines.iter().map(expiry));
    let by = by.into_iter().map(|(how, engines)| format!("{how}: {}", engines.join(", ")));
    if lines.iter().any(|line| line.programmed().is_some()) {
        let flash = "by the model of the imitated storage, not measured on a device: bytes that its flash programmed per row, and \
                     years until its blocks are worn at --rows-per-day, from the card's shortest life to its longest";
        notes.push(note("programmed/row, years", flash));
    }
    notes.push(note("old rows go", text::joined(by, "; ")));
    notes
}

#[cfg(test)]
mod tests;
