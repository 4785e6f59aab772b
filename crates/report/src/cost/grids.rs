//! Tables of costs.

use embermark_model::result::Latency;

use super::score::{ScoredResource, Weights};
use super::{Activity, Cost, Costs, RESPONSE, costs, disk, scores, source};
use crate::grid::{self, Annotated, Grid, Text, Tone};
use crate::note::{Note, note};
use crate::summary::Comparison;
use crate::{PublishedDetail, format, text};

/// Returns every table of a result's costs.
pub(crate) fn grids(
    comparison: &Comparison<'_>,
    weights: &Weights,
    beside: PublishedDetail,
) -> Vec<Annotated> {
    let costs = costs(comparison);
    let mut tables: Vec<Annotated> = costs.iter().flat_map(|of| tables_of(of, weights)).collect();
    if costs.iter().any(|costs| !costs.own) && beside != PublishedDetail::None {
        tables.extend(source::tables(&costs, weights));
    }
    tables
}

/// A column of a table: its heading, and its content for a line.
type Column = (&'static str, Content);

/// Content of a column for a line.
#[derive(Clone, Copy)]
enum Content {
    /// A figure of its work.
    Figure(fn(&Cost<'_>) -> Option<String>),
    /// Its usage of a resource.
    Usage(ScoredResource, fn(f64) -> String),
}

use Content::{Figure, Usage};

impl Content {
    fn text(self, line: &Cost<'_>) -> Option<String> {
        match self {
            Self::Figure(of) => of(line),
            Self::Usage(resource, show) => line.amount(resource).map(show),
        }
    }

    const fn resource(self) -> Option<ScoredResource> {
        match self {
            Self::Figure(_) => None,
            Self::Usage(resource, _) => Some(resource),
        }
    }
}

fn p50(latency: &Latency) -> Option<u64> {
    Some(latency.p50)
}

/// Returns the 99th percentile, or the maximum if there are too few samples.
fn p99(latency: &Latency) -> Option<u64> {
    Some(latency.p99.unwrap_or(latency.max))
}

fn duration(ns: Option<u64>) -> Option<String> {
    ns.map(|ns| format::duration(ns as f64))
}

fn counted(count: Option<u64>) -> Option<String> {
    count.map(format::count)
}

fn share(percent: f64) -> String {
    format!("{percent:.1} %")
}

fn byte_rate(bytes: f64) -> String {
    format!("{}/s", format::bytes(bytes))
}

fn grade(grade: f64) -> String {
    format::count(grade as u64)
}

const USAGE: [Column; 8] = [
    ("server CPU", Usage(ScoredResource::ServerCpu, share)),
    ("client CPU", Usage(ScoredResource::ClientCpu, share)),
    ("server mem.", Usage(ScoredResource::ServerMemory, format::bytes)),
    ("client mem.", Usage(ScoredResource::ClientMemory, format::bytes)),
    ("disk I/O", Usage(ScoredResource::Io, byte_rate)),
    ("network", Usage(ScoredResource::Network, byte_rate)),
    ("disk", Usage(ScoredResource::Disk, format::bytes)),
    ("effort", Usage(ScoredResource::Effort, grade)),
];

/// Formats the time of a commit, from its scheduled start if that is known.
fn commit(cost: &Cost<'_>, of: fn(&Latency) -> Option<u64>) -> Option<String> {
    duration(cost.latency(if cost.is_timed_from_due() { RESPONSE } else { "commit" }, of))
}

/// Formats the time of a commit without waiting.
fn service(cost: &Cost<'_>) -> Option<String> {
    duration(cost.latency("commit", p50)).filter(|_| cost.is_timed_from_due())
}

const WRITES: [Column; 4] = [
    ("lost", Figure(|cost| counted(cost.count("lost")))),
    ("commit", Figure(|cost| commit(cost, p50))),
    ("p99", Figure(|cost| commit(cost, p99))),
    ("service", Figure(service)),
];

const READS: [Column; 3] = [
    ("missed", Figure(|cost| counted(cost.count("missed-slots")))),
    ("read", Figure(|cost| duration(cost.latency("read", p50)))),
    ("p99", Figure(|cost| duration(cost.latency("read", p99)))),
];

const LIVE: [Column; 6] = [
    WRITES[0],
    WRITES[1],
    READS[0],
    READS[1],
    ("age", Figure(|cost| duration(cost.latency("staleness", p50)))),
    ("oldest", Figure(|cost| duration(cost.latency("staleness", |latency| Some(latency.max))))),
];

/// Columns for a user's own rows.
const ARRIVALS: [Column; 5] = [
    ("rows/s", Figure(|cost| counted(cost.median("achieved-rate").map(|rate| rate as u64)))),
    WRITES[0],
    WRITES[1],
    WRITES[2],
    WRITES[3],
];

const SUSTAINED: [Column; 5] = [
    ("rate", Figure(|cost| counted(cost.median("sustained-rate").map(|rate| rate as u64)))),
    WRITES[1],
    WRITES[2],
    WRITES[3],
    ("filled", Figure(|cost| counted(cost.median("filled").map(|filled| filled as u64)))),
];

fn tables_of(costs: &Costs<'_>, weights: &Weights) -> Vec<Annotated> {
    let all_that = |does: Activity| -> Vec<&Cost<'_>> {
        costs.lines.iter().filter(|line| line.activity == does).collect()
    };
    if costs.own {
        return own_tables(costs, &all_that(Activity::Writes), &all_that(Activity::Searches));
    }
    let writing = all_that(Activity::Writes);
    let reading = all_that(Activity::Reads);
    let live = all_that(Activity::Both);
    let sustained = all_that(Activity::Searches);
    let write_scores = scores(&writing, |line| line.competes(), &ScoredResource::WRITING, weights);
    let read_scores = scores(&reading, |line| line.competes(), &ScoredResource::READING, weights);
    let with_writing = |(line, read): (&&Cost<'_>, &Option<f64>)| {
        let is = |own: &&Cost<'_>| (own.engine.id, own.variant) == (line.engine.id, line.variant);
        Some(f64::midpoint(write_scores[writing.iter().position(is)?]?, (*read)?))
    };
    let both: Vec<Option<f64>> = reading.iter().zip(&read_scores).map(with_writing).collect();
    let title = |what: &str| {
        format!("{} · {what}, {}", costs.title(), format::duration(costs.window_ns as f64))
    };
    let with = |more: &[Column]| -> Vec<Column> { [more, &USAGE[..]].concat() };
    let mut tables = Vec::new();
    if !writing.is_empty() {
        let scores = vec![("score", write_scores)];
        let mut columns = with(&WRITES);
        if writing.iter().any(|line| line.growth().is_some()) {
            let effort = columns.len() - 1;
            columns.insert(effort, ("from empty", Figure(|cost| cost.growth().map(disk::signed))));
        }
        tables.push(table(title("writing"), &writing, &columns, scores));
        tables.extend(disk::table(costs));
    }
    if !reading.is_empty() {
        let mut columns = with(&READS);
        columns.retain(|(_, content)| content.resource() != Some(ScoredResource::Disk));
        let scores = vec![("score", read_scores), ("with writing", both)];
        tables.push(table(title("three cycles per second"), &reading, &columns, scores));
    }
    if !live.is_empty() {
        let columns = [&LIVE[..], &USAGE[..6]].concat();
        tables.push(table(title("writing and reading at once"), &live, &columns, Vec::new()));
    }
    if !sustained.is_empty() {
        tables.push(highest(costs, &sustained, None));
    }
    if let Some(last) = tables.last_mut() {
        last.notes.extend(legend(costs, weights));
    }
    tables
}

/// Returns the tables of rows that arrive by themselves in a user's own file, phase by phase.
fn own_tables(costs: &Costs<'_>, writing: &[&Cost<'_>], searches: &[&Cost<'_>]) -> Vec<Annotated> {
    let mut tables = Vec::new();
    for phase in text::unique(writing.iter().map(|line| line.phase)) {
        let lines: Vec<&Cost<'_>> =
            writing.iter().copied().filter(|line| line.phase == phase).collect();
        let rates = lines.iter().filter_map(|line| line.count("target-rate"));
        let rate = rates.max().map(|rate| format!(", {} rows per second", format::count(rate)));
        let (rate, window) = (rate.unwrap_or_default(), format::duration(costs.window_ns as f64));
        let title = format!("{} · {}{rate}, {window}", costs.title(), text::plain(phase));
        // There are no columns of effort, which the source graded, and of a server if none ran.
        let is_used = |of: ScoredResource| {
            of != ScoredResource::Effort
                && lines.iter().any(|line| line.amount(of).is_some_and(|used| used > 0.0))
        };
        let usage = USAGE.into_iter().filter(|(_, of)| of.resource().is_some_and(is_used));
        let columns: Vec<Column> = ARRIVALS.into_iter().chain(usage).collect();
        tables.push(table(title, &lines, &columns, Vec::new()));
    }
    for phase in text::unique(searches.iter().map(|line| line.phase)) {
        let lines: Vec<&Cost<'_>> =
            searches.iter().copied().filter(|line| line.phase == phase).collect();
        tables.push(highest(costs, &lines, Some(phase)));
    }
    if let Some(last) = tables.last_mut() {
        last.notes.extend(notes(costs));
    }
    tables
}

/// Returns the table of highest rates. The phase is named if it is given.
fn highest(costs: &Costs<'_>, lines: &[&Cost<'_>], phase: Option<&str>) -> Annotated {
    let phase = phase.map(|phase| format!(" of {}", text::plain(phase))).unwrap_or_default();
    let title = format!("{} · highest rate{phase} without a loss", costs.title());
    table(title, lines, &SUSTAINED, Vec::new())
}

fn table(
    title: String,
    lines: &[&Cost<'_>],
    columns: &[Column],
    scores: Vec<(&'static str, Vec<Option<f64>>)>,
) -> Annotated {
    let best: Vec<f64> = (scores.iter())
        .map(|(_, scores)| scores.iter().flatten().copied().fold(0.0, f64::max))
        .collect();
    let text = |line: &Cost<'_>, (name, content): &Column| {
        let missing = match *name {
            "lost" => line.count("lost"),
            "missed" => line.count("missed-slots"),
            _ => None,
        };
        let tone = if missing.is_some_and(|count| count > 0) { Tone::Bad } else { Tone::Plain };
        Text::toned(format::or_dash(content.text(line), |shown| shown), tone)
    };
    let rows = lines.iter().enumerate().map(|(place, line)| {
        let mut texts: Vec<Text> = columns.iter().map(|column| text(line, column)).collect();
        texts.extend(scores.iter().zip(&best).map(|((name, scores), best)| {
            let score = scores[place];
            if let Some(shortfall) = line.shortfall.filter(|_| *name == "score") {
                let lacking = shortfall.words(Some(line.phase));
                let value = format!("{} {lacking}", format::NOT_MEASURED);
                return Text::toned(value, Tone::Bad);
            }
            let is_best = score.is_some_and(|score| score == *best);
            Text {
                value: format::or_dash(score, |score| format!("{:.0} %", score * 100.0)),
                best: if is_best { grid::BEST } else { "" },
                tone: if is_best { Tone::Best } else { Tone::Plain },
                ..Text::default()
            }
        }));
        if !line.status.has_figures()
            && let Some(first) = texts.first_mut()
        {
            *first = Text::toned(line.status.to_string(), Tone::Bad);
        }
        (line.label(), texts)
    });
    let header = columns.iter().map(|(name, _)| *name).chain(scores.iter().map(|(name, _)| *name));
    let has_scores = scores.iter().flat_map(|(_, scores)| scores).any(Option::is_some);
    Annotated {
        grid: Grid::new(title, header, rows.collect()),
        notes: if has_scores { weightless(lines, columns) } else { Vec::new() },
    }
}

/// Lists resources that are in no score of a table, because they were not counted for any line. The
/// legend has effort.
fn weightless(lines: &[&Cost<'_>], columns: &[Column]) -> Vec<Note> {
    let is_uncounted = |of: ScoredResource| {
        of != ScoredResource::Effort && lines.iter().all(|line| line.amount(of).is_none())
    };
    let uncounted = columns.iter().filter(|(_, of)| of.resource().is_some_and(is_uncounted));
    let says =
        |(name, _): &Column| note("score", format!("{name} was not counted: it weighs nothing"));
    uncounted.map(says).collect()
}

fn legend(costs: &Costs<'_>, weights: &Weights) -> Vec<Note> {
    let mut all = vec![
        note(
            "score",
            format!(
                "1 - sum(usage / largest of the column x weight) / sum(weights), as published; \
                 weights {weights} (--weight)"
            ),
        ),
        note(
            "effort",
            "from 1 (easy) to 5, as the source graded its engines; others have none, and it weighs nothing",
        ),
    ];
    all.extend(notes(costs));
    all
}

/// Explains the columns that every table of costs has.
fn notes(costs: &Costs<'_>) -> Vec<Note> {
    let mut notes = vec![
        note(
            "client",
            "the writer's process, or the reader's, or both of them; an embedded engine is in it, and has no server \
             and no network. The sensor is another process and not counted"
                .to_owned(),
        ),
        note("p99", "with fewer than 100, the largest".to_owned()),
    ];
    if !costs.own && costs.lines.iter().any(|line| line.growth().is_some()) {
        let says = "growth on disk from the empty database to the last sample, warm-up included: in the \
                    variants that are as published this weighs as the disk, else what it grew in the window";
        notes.push(note("from empty", says));
    }
    if costs.lines.iter().any(Cost::is_timed_from_due) {
        let says = match costs.own {
            true => {
                "from when the last row of a commit was due until it was committed, what it waited in the queue \
                     among that; service: the commit by itself"
            }
            false => {
                "from when a sample was due, or its second was over, until it was committed; service: \
                      the commit by itself"
            }
        };
        notes.push(note("commit", says));
    }
    if costs.lines.iter().any(|line| line.count("filled").is_some()) {
        let rows = if costs.own { "rows" } else { "samples" };
        let says = format!(
            "the highest, in {rows} per second, sustained for a whole window on a store that held this many {rows} before (filled); the median over the trials"
        );
        notes.push(note("rate", says));
    }
    let remarks = costs.lines.iter().flat_map(|line| {
        let who = match line.activity {
            Activity::Searches if !costs.own => format!("{} {}", line.engine.id, line.variant),
            _ => line.engine.id.to_owned(),
        };
        line.remarks().map(move |remark| (text::plain(remark), who.clone()))
    });
    let remarks = text::by_key(remarks).into_iter();
    notes.extend(remarks.map(|(remark, engines)| note(engines.join(", "), remark)));
    notes
}
