//! Tables of the workload's source in their own shape, with published and measured figures and
//! scores.

use embermark_published::{FORM, UsageRow};

use super::published;
use super::score::{ScoredResource, Weights};
use super::{Cost, Costs, scores};
use crate::grid::{Annotated, Grid, Text, Tone};
use crate::note::{Note, note};
use crate::summary::Engine;
use crate::{format, text};

/// One of the source's two resource tables.
struct SourceTable {
    title: &'static str,
    resources: &'static [ScoredResource],
    /// Figures of a row in this table.
    figures: fn(&UsageRow) -> &[f64],
    /// Index of this table's score among those of a row.
    score: usize,
    /// Phase that measures it.
    phase: fn(&UsageRow) -> String,
}

const WRITING: SourceTable = SourceTable {
    title: "table IV, writing",
    resources: &ScoredResource::WRITING,
    figures: |row| &row.write,
    score: 0,
    phase: |_| "write".to_owned(),
};

const READING: SourceTable = SourceTable {
    title: "table V, reading",
    resources: &ScoredResource::READING,
    figures: |row| &row.read,
    score: 1,
    phase: |row| format!("read_{}", row.reader),
};

/// A line that measured a row of the source, with its scores with and without effort.
struct MeasuredRow<'a> {
    /// Index of the row.
    row: usize,
    line: &'a Cost<'a>,
    scores: [Option<f64>; 2],
}

/// Returns the source's two tables for each tier in which its variants were measured, and its
/// scores.
pub(super) fn tables(all: &[Costs<'_>], weights: &Weights) -> Vec<Annotated> {
    let (mut tables, mut totals) = (Vec::new(), Vec::new());
    for costs in all {
        let [written, read] = [WRITING, READING].map(|shape| shape.measured(costs, weights));
        for (shape, here) in [(WRITING, &written), (READING, &read)] {
            tables.extend((!here.is_empty()).then(|| shape.table(costs, here, weights)));
        }
        totals.extend(both(costs, &written, &read));
    }
    tables.push(scored(&totals, weights));
    tables
}

/// Returns the weights with and without effort.
fn with_and_without_effort(weights: &Weights) -> [Weights; 2] {
    [*weights, weights.without_effort()]
}

impl SourceTable {
    /// Returns the lines that measured a row in the source's own form, in the order of its rows.
    fn measured<'a>(&self, costs: &'a Costs<'a>, weights: &Weights) -> Vec<MeasuredRow<'a>> {
        let here = published::source().figures.usage.iter().enumerate().flat_map(|(row, of)| {
            let phase = (self.phase)(of);
            let own = costs.lines.iter().filter(move |line| {
                line.variant.strip_suffix(FORM) == Some(&of.variant)
                    && (line.engine.base, line.phase) == (&*of.engine, &*phase)
            });
            own.map(move |line| MeasuredRow { row, line, scores: [None; 2] })
        });
        let mut here: Vec<MeasuredRow<'_>> = here.collect();
        let mut lines: Vec<&Cost<'_>> = Vec::new();
        // A variant that is written once and read in three ways has one line of writing.
        here.iter().for_each(|one| {
            if !lines.iter().any(|line| std::ptr::eq(*line, one.line)) {
                lines.push(one.line);
            }
        });
        lines.retain(|line| line.status.has_figures() && line.shortfall.is_none());
        let of_lines = with_and_without_effort(weights)
            .map(|weights| scores(&lines, |_| true, self.resources, &weights));
        for one in &mut here {
            let place = lines.iter().position(|line| std::ptr::eq(*line, one.line));
            one.scores = [0, 1].map(|which| of_lines[which][place?]);
        }
        here
    }

    fn table(&self, costs: &Costs<'_>, here: &[MeasuredRow<'_>], weights: &Weights) -> Annotated {
        let of_source = &published::source().figures.usage;
        let recomputed = with_and_without_effort(weights)
            .map(|weights| published::recomputed(of_source, &weights));
        let mut rows: Vec<(String, Vec<Text>)> = Vec::new();
        let mut shown: Vec<(&str, &str, String)> = Vec::new();
        for (place, row) in of_source.iter().enumerate() {
            let which = (&*row.engine, &*row.variant, (self.phase)(row));
            if shown.contains(&which) {
                continue;
            }
            shown.push(which);
            let figures = (self.figures)(row).iter().map(|value| Text::new(number(*value)));
            let [with, without] = [0, 1].map(|which| recomputed[which][place][self.score]);
            let scores = [row.score[self.score] / 100.0, with, without];
            let scores = scores.map(|score| percent(Some(score)));
            let label = if self.score == 0 { written(row) } else { label(row) };
            rows.push((label, figures.chain(scores).collect()));
            for one in here.iter().filter(|one| one.row == place) {
                let figures = self.resources.iter().map(|of| {
                    let value = one.line.amount(*of).map(|value| value / heading_and_unit(*of).1);
                    Text::new(format::or_dash(value, number))
                });
                let scores = [Text::new(format::NOT_MEASURED)].into_iter().chain(one.score_texts());
                rows.push((one.label(), figures.chain(scores).collect()));
            }
        }
        let header = self.resources.iter().map(|of| heading_and_unit(*of).0);
        let header = header.chain(["printed", "with", "without"]);
        // What was written and is read is a number of samples, whatever the scale is.
        let size = match costs.samples {
            Some(samples) => {
                format!("{}{}", format::counted(samples, "sample"), costs.extent.conditions())
            }
            None => costs.extent.to_string(),
        };
        // Defaults keep what they keep, whatever the tier of the plan is.
        let settings = match here.iter().all(|one| one.line.is_at_defaults()) {
            true => "the servers' own settings".to_owned(),
            false => format!("durability {}", costs.durability),
        };
        let title = format!(
            "Published beside measured: {} · {} · {size} · {settings} · {}",
            self.title,
            text::plain(costs.workload),
            format::duration(costs.window_ns as f64)
        );
        Annotated { grid: Grid::new(title, header, rows), notes: legend(self) }
    }
}

impl MeasuredRow<'_> {
    fn label(&self) -> String {
        let Engine { id, base, .. } = self.line.engine;
        let name = if id == base { String::new() } else { format!(", {}", text::plain(id)) };
        format!("  here{name}")
    }

    /// Formats its scores, or what it failed to do.
    fn score_texts(&self) -> [Text; 2] {
        match self.line.shortfall {
            None => self.scores.map(percent),
            Some(shortfall) => {
                let lacking = shortfall.words(Some(self.line.phase));
                [Text::toned(lacking, Tone::Bad), Text::new(format::NOT_MEASURED)]
            }
        }
    }
}

/// Names how a row was written.
fn written(row: &UsageRow) -> String {
    match row.engine.as_str() {
        // The source has only one way of writing it.
        "influxdb" => row.engine.clone(),
        engine => format!("{engine} {}", row.variant),
    }
}

/// Names how a row was read.
fn label(row: &UsageRow) -> String {
    format!("{} {}", row.engine, row.reader)
}

/// Scores of writing, reading and both, each with and without effort.
type Total = (usize, String, [[Option<f64>; 2]; 3]);

/// Returns the scores of the rows that were both written and read.
fn both(costs: &Costs<'_>, written: &[MeasuredRow<'_>], read: &[MeasuredRow<'_>]) -> Vec<Total> {
    let total = |one: &MeasuredRow<'_>| {
        let same = |other: &&MeasuredRow<'_>| {
            (other.row, other.line.engine.id) == (one.row, one.line.engine.id)
        };
        let write = written.iter().find(same)?.scores;
        let both = [0, 1].map(|which| Some(f64::midpoint(write[which]?, one.scores[which]?)));
        let label = match one.line.is_at_defaults() {
            true => one.label(),
            false => format!("{}, durability {}", one.label(), costs.durability),
        };
        Some((one.row, label, [write, one.scores, both]))
    };
    read.iter().filter_map(total).collect()
}

/// Compares the source's printed scores, those recomputed from its columns, and those measured.
fn scored(totals: &[Total], weights: &Weights) -> Annotated {
    let source = published::source();
    let figures = &source.figures;
    let recomputed = with_and_without_effort(weights)
        .map(|weights| published::recomputed(&figures.usage, &weights));
    let mut rows = Vec::new();
    for (place, row) in figures.usage.iter().enumerate() {
        let printed = (0..3).flat_map(|of| {
            let [with, without] = [0, 1].map(|which| recomputed[which][place][of]);
            [row.score[of] / 100.0, with, without].map(|score| percent(Some(score)))
        });
        rows.push((label(row), printed.collect()));
        for (_, label, scores) in totals.iter().filter(|(of, ..)| *of == place) {
            let texts = scores.iter().flat_map(|pair| {
                [Text::new(format::NOT_MEASURED)].into_iter().chain(pair.map(percent))
            });
            rows.push((label.clone(), texts.collect()));
        }
    }
    let header = ["writing", "reading", "both"].into_iter().flat_map(|of| [of, "with", "without"]);
    let mut notes = vec![
        note("there", source.hardware_of_figures()),
        note("differs", &figures.differs),
        note(
            "with",
            "computed from the columns with the weights of this report, the difficulty as the source \
             graded it among them; without: the difficulty left out",
        ),
    ];
    notes.extend(figures.notes.iter().map(|says| note("note", says)));
    let title = format!("Published: {}, scores", source.title_of_figures());
    Annotated { grid: Grid::new(title, header, rows), notes }
}

fn legend(shape: &SourceTable) -> Vec<Note> {
    let mut notes = vec![
        note(
            "score",
            "printed by the source; with: from the columns of this table; without: the difficulty left out. What no line measured weighs nothing, and a line without a score counts for no column's maximum",
        ),
        note(
            "memory",
            "there the resident memory at the end, as ps shows it, here the largest of the window; kB of \
             1,024 bytes",
        ),
        note(
            "kB/s",
            "read and written by the server's process, of /proc/PID/io, as pidstat reads it there: bytes of \
             pages that became dirty are written",
        ),
    ];
    if shape.score == 0 {
        let says = "the data folder after the test minus the folder of the empty database, warm-up included, as in the source; MiB, as du counts its MB. A server that \
                    had written nothing when the window ended has none, and no score";
        notes.push(note("disk", says));
    } else {
        let says = "from what the writer of the same trial had written, right after it and its check; \
                    there after a reboot";
        notes.push(note("reading", says));
    }
    notes
}

/// Returns the heading of a resource's column, and how many of our units its unit has.
const fn heading_and_unit(of: ScoredResource) -> (&'static str, f64) {
    match of {
        ScoredResource::ServerCpu => ("server CPU %", 1.0),
        ScoredResource::ServerMemory => ("server kB", 1_024.0),
        ScoredResource::Io => ("server kB/s", 1_024.0),
        ScoredResource::ClientCpu => ("client CPU %", 1.0),
        ScoredResource::ClientMemory => ("client kB", 1_024.0),
        ScoredResource::Network => ("kbit/s", 1_000.0 / 8.0),
        ScoredResource::Disk => ("disk MiB", 1_048_576.0),
        ScoredResource::Effort => ("difficulty", 1.0),
    }
}

/// Formats a number as the source prints it: a small one with its decimal.
fn number(value: f64) -> String {
    if value.fract() == 0.0 || value >= 99.95 {
        format::count(value.round() as u64)
    } else {
        format!("{value:.1}")
    }
}

fn percent(score: Option<f64>) -> Text {
    Text::new(format::or_dash(score, |score| format!("{:.0} %", score * 100.0)))
}
