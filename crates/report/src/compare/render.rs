//! Formats a comparison for people and for programs.

use embermark_model::CellId;

use super::{Change, Changes, Differences, GroupProtocol, StatusChange, UsageChange, Verdict};
use crate::document::{self, Block};
use crate::grid::{Grid, Text, Tone};
use crate::note::{self, Note, Section, note};
use crate::summary::{Column, Resource};
use crate::{Options, ReportError, export, format, notes, text};

/// Formats a comparison for a terminal.
pub fn table(changes: &Changes, options: &Options<'_>) -> String {
    document::terminal(&blocks(changes), options)
}

/// Formats a comparison as Markdown for GitHub.
pub fn markdown(changes: &Changes) -> String {
    document::markdown(&blocks(changes))
}

fn blocks(changes: &Changes) -> Vec<Block> {
    let unlike = unlike(&changes.differences, "looked at");
    let notice = notes::unpublishable_notice(&changes.unpublishable);
    let heads = notice.into_iter().chain([summary(changes)]).map(Block::Head);
    let heads = unlike.into_iter().map(Block::Section).chain(heads);
    let tables = grids(changes).into_iter().map(|grid| Block::table(grid, Vec::new()));
    heads.chain(tables).chain(sections(changes).into_iter().map(Block::Section)).collect()
}

/// Formats a comparison as CSV, with a line for each phase with figures in either file, and for
/// each cell that only one has.
///
/// # Errors
/// If the CSV writer fails, which it does not in memory.
pub fn csv(changes: &Changes) -> Result<String, ReportError> {
    let line =
        |cell: &CellId, phase: Option<&str>, what: String, rest: [String; 6], p: Option<f64>| {
            let CellId { workload, scale, durability, variant, engine, memory_limit, storage } =
                cell;
            let publishable = !changes.unpublishable.contains(engine);
            let memory = memory_limit.map(|limit| limit.0.to_string()).unwrap_or_default();
            let storage = storage.map(|storage| storage.to_string()).unwrap_or_default();
            let p = p.map(|p| p.to_string()).unwrap_or_default();
            let (scale, durability) = (scale.to_string(), durability.to_string());
            let phase = phase.unwrap_or_default().to_owned();
            [workload.clone(), scale, durability, variant.clone(), engine.clone(), phase, what]
                .into_iter()
                .chain(rest)
                .chain([publishable.to_string(), memory, p, storage])
                .map(|value| text::plain(&value))
                .collect::<Vec<String>>()
        };
    // Without times, the reason.
    let untimed = |reason: Option<&str>| {
        let mut rest: [String; 6] = Default::default();
        rest[5] = reason.unwrap_or_default().to_owned();
        rest
    };
    let phases = changes.phases.iter().map(|change| {
        let Change { cell, phase, old_ns, new_ns, ratio, interval, verdict, lacking, .. } = change;
        let end = |end: usize| interval.map(|ends| ends[end].to_string()).unwrap_or_default();
        let [old, new, ratio] = [old_ns, new_ns, ratio].map(ToString::to_string);
        let rest = [old, new, ratio, end(0), end(1), lacking.clone().unwrap_or_default()];
        line(cell, Some(phase), verdict.name().replace(' ', "-"), rest, change.p)
    });
    let turned = changes.turned.iter().map(|turn| {
        let rest = untimed(turn.reason.as_deref());
        line(&turn.cell, turn.phase.as_deref(), turn.words(), rest, None)
    });
    let only = [("only-old", &changes.only_old), ("only-new", &changes.only_new)];
    let only =
        only.into_iter().flat_map(|(which, cells)| cells.iter().map(move |cell| (which, cell)));
    let only = only.map(|(which, cell)| line(cell, None, which.to_owned(), untimed(None), None));
    let header = CSV_HEADER.map(str::to_owned).to_vec();
    export::csv_written([header].into_iter().chain(phases).chain(turned).chain(only))
}

/// The columns of the CSV.
const CSV_HEADER: [&str; 17] = [
    "workload",
    "scale",
    "durability",
    "variant",
    "engine",
    "phase",
    "change",
    "old_ns",
    "new_ns",
    "ratio",
    "ratio_low",
    "ratio_high",
    "reason",
    "publishable",
    "memory_limit_bytes",
    "p",
    "storage",
];

/// Counts the verdicts: `2 slower, 1 faster, 10 with no difference shown`.
fn summary(changes: &Changes) -> String {
    let count = |verdict| changes.phases.iter().filter(|change| change.verdict == verdict).count();
    let broke = changes.turned.iter().filter(|turn| turn.broke).count();
    let always = [
        (count(Verdict::Slower), "slower"),
        (count(Verdict::Faster), "faster"),
        (count(Verdict::NoDifference), "with no difference shown"),
    ];
    let further = [
        (count(Verdict::DidNotKeepUp), "of cells that did not keep up"),
        (count(Verdict::TooFewTrials), "with too few trials to tell"),
        (broke, "no longer right"),
    ];
    let counts = always.into_iter().chain(further.into_iter().filter(|(count, _)| *count > 0));
    let counts = text::joined(counts.map(|(count, what)| format!("{count} {what}")), ", ");
    let tested = (changes.pairs > 0).then(|| {
        format!(
            ". {} compared: on average at most {} of those called faster or slower are so by chance",
            format::counted(changes.pairs as u64, "pair"),
            format::percent(changes.false_discovery_rate)
        )
    });
    format!("New against old: {counts}{}", tested.unwrap_or_default())
}

/// Returns a table of times for each workload, scale, tier and variant, and one of resources if
/// they were measured.
fn grids(changes: &Changes) -> Vec<Grid> {
    let header = ["old", "new", "new/old", "95 % interval", ""];
    let row = |change: &Change| {
        let name = format!("{} {}", text::plain(&change.cell.engine), text::plain(&change.phase));
        (name, texts(change))
    };
    let grid = |ran: &GroupProtocol| {
        let rows = changes.phases.iter().filter(|of| ran.holds(&of.cell)).map(row);
        Grid::new(format!("{} · {}", ran.title, ran.protocol), header, rows.collect())
    };
    let of_ran = |ran: &GroupProtocol| [grid(ran)].into_iter().chain(resources(&changes.used, ran));
    changes.ran.iter().flat_map(of_ran).collect()
}

/// Returns a table with engines down and resources across: the new result's amount, and that
/// divided by the old one.
fn resources(all: &[UsageChange], ran: &GroupProtocol) -> Option<Grid> {
    let own: Vec<&UsageChange> = all.iter().filter(|used| ran.holds(&used.cell)).collect();
    let known = |column: &Column| own.iter().any(|used| used.both(column).is_some());
    let columns: Vec<Column> =
        Resource::SHOWN.iter().map(|resource| resource.column).filter(known).collect();
    let text = |used: &UsageChange, column: &Column| match used.both(column) {
        Some([old, new]) => Text {
            second: if old > 0.0 { format::ratio(new / old) } else { String::new() },
            ..Text::new(column.quantity.show(new))
        },
        None => Text::new(format::NOT_MEASURED),
    };
    let row = |used: &&UsageChange| {
        let texts = columns.iter().map(|column| text(used, column)).collect();
        (text::plain(&used.cell.engine), texts)
    };
    let title = format!("{} · resources, new and new/old", ran.title);
    let header = columns.iter().map(|column| column.heading);
    (!columns.is_empty()).then(|| Grid::new(title, header, own.iter().map(row).collect()))
}

fn texts(change: &Change) -> Vec<Text> {
    let tone = match change.verdict {
        Verdict::Slower | Verdict::DidNotKeepUp => Tone::Warning,
        Verdict::Faster => Tone::Best,
        _ => Tone::Plain,
    };
    let lacking = change.lacking.as_ref().map(|lacking| format!(": {lacking}"));
    let verdict = format!("{}{}", change.verdict.name(), lacking.unwrap_or_default());
    let interval = format::or_dash(change.interval, |ends| format::between(ends, format::ratio));
    [
        format::duration(change.old_ns),
        format::duration(change.new_ns),
        format::ratio(change.ratio),
        interval,
        verdict,
    ]
    .map(|value| Text::toned(value, tone))
    .to_vec()
}

fn sections(changes: &Changes) -> Vec<Section> {
    let says = "new/old is the ratio of the times per operation, medians over the trials; faster and \
                slower where its 95 % bootstrap interval leaves out 1 and the pair is among those that \
                Benjamini and Hochberg's procedure passes; `embermark gate` judges for a build";
    note::non_empty([
        ("Turned", turned(&changes.turned)),
        ("In the old file only", note::lines(&changes.only_old)),
        ("In the new file only", note::lines(&changes.only_new)),
        ("Not alike", note::lines(&changes.differences.remarks)),
        ("How to read it", vec![note("", says)]),
    ])
}

/// Returns the notice that results which cannot be compared were used all the same, with the reasons.
/// It comes first.
pub(crate) fn unlike(differences: &Differences, used: &str) -> Option<Section> {
    let notes = note::lines(&differences.incomparable);
    let title = format!("NOT COMPARABLE, {used} all the same (--force)");
    (!notes.is_empty()).then_some(Section { title, notes })
}

/// Lists what completed in only one file, with the reasons.
pub(crate) fn turned(turns: &[StatusChange]) -> Vec<Note> {
    let line = |turn: &StatusChange| {
        let phase = turn.phase.as_deref().map(|phase| format!("{}: ", text::plain(phase)));
        let reason = turn.reason.as_deref().map(|why| format!(": {}", text::clipped(why, 400)));
        let (phase, reason) = (phase.unwrap_or_default(), reason.unwrap_or_default());
        note(text::plain(&turn.cell.to_string()), format!("{phase}{}{reason}", turn.words()))
    };
    turns.iter().map(line).collect()
}
