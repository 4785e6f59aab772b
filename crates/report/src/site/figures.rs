//! The figures of one table of one result, as the ranking of a machine shows them.

use serde::{Serialize, Serializer};

use super::number::{Number, ends};
use super::standing::{self, Stands, Work};
use crate::kinds::Kinds;
use crate::summary::{Entry, Group, Resource, Row};
use crate::{grid, text};

/// A table. Lists of engines are in the order of `engines`.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct Figures {
    /// Index of the group in the index file.
    pub group: usize,
    /// The variant that runs every phase.
    variant: String,
    /// Rows, repetitions and absent engines.
    about: Vec<String>,
    /// Indexes of the columns in the index file.
    pub engines: Vec<usize>,
    /// Marks of each engine: `(ref)`, `†`.
    marks: Vec<String>,
    /// Summary of each engine over the rows.
    pub rows: Vec<Stands>,
    /// Summary of each engine over the questions.
    pub questions: Vec<Stands>,
    /// Resources of each engine, by the columns of the index. Sums of less than the whole work are
    /// absent.
    usage: Vec<Vec<Option<Number>>>,
    /// The phases, in display order.
    phases: Vec<Phase>,
}

/// A phase in a variant.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Phase {
    /// Name. Absent if no engine reached a phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    phase: Option<String>,
    /// The variant, if it is not that of most phases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    variant: Option<String>,
    /// Whether its times are of one operation.
    per_operation: bool,
    /// The kind of its work, if it counts for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    work: Option<Work>,
    /// The figure of each engine.
    figures: Vec<Figure>,
}

/// The figure of an engine in a phase.
#[cfg_attr(
    test,
    derive(ts_rs::TS),
    ts(
        type = "[ns: number, low: number | null, high: number | null, ratio: number | null, ratio_low: number | null, ratio_high: number | null, marks: string] | string | null"
    )
)]
enum Figure {
    /// A time in ns and its ratio to the best, both with their intervals, and its marks.
    Time {
        ns: f64,
        interval: Option<[f64; 2]>,
        ratio: Option<f64>,
        ratio_interval: Option<[f64; 2]>,
        marks: String,
    },
    Ended(&'static str),
    Absent,
}

impl Serialize for Figure {
    /// Serializes `[ns, low, high, ratio, low, high, marks]`, a word, or null.
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Absent => to.serialize_none(),
            Self::Ended(word) => to.serialize_str(word),
            Self::Time { ns, interval, ratio, ratio_interval, marks } => {
                let ([low, high], [least, most]) = (ends(*interval), ends(*ratio_interval));
                (Number(*ns), low, high, ratio.map(Number), least, most, marks).serialize(to)
            }
        }
    }
}

/// Returns the figures of a group. `at` and `columns` are the indexes of the group and of its
/// columns in the index file.
pub(super) fn group_figures(
    kinds: &Kinds<'_>,
    group: &Group<'_>,
    (at, columns): (usize, &[usize]),
) -> Figures {
    let stands = |work| standing::standings(group, kinds, work);
    let [rows, questions] = Work::ALL.map(stands);
    let phase = |row: &Row<'_>| Phase {
        phase: row.phase.map(short),
        variant: row.variant.map(short),
        per_operation: row.per_operation,
        work: Work::for_row(kinds, group, row),
        figures: row.entries.iter().map(|entry| figure(row, entry)).collect(),
    };
    Figures {
        group: at,
        variant: short(group.variant),
        about: grid::subtitle(group).iter().map(|part| text::clipped(part, 500)).collect(),
        engines: columns.to_vec(),
        marks: (group.engines.iter())
            .map(|engine| {
                let heading = grid::engine_heading(group, engine);
                let marks = heading.strip_prefix(&text::plain(engine.id)).unwrap_or_default();
                marks.trim_start().to_owned()
            })
            .collect(),
        rows,
        questions,
        usage: group.usage.iter().map(|used| amounts(|of| used.comparable(of))).collect(),
        phases: group.rows.iter().map(phase).collect(),
    }
}

/// Returns the amount of each resource that is shown, by the columns of the index.
pub(super) fn amounts(of: impl Fn(Resource) -> Option<f64>) -> Vec<Option<Number>> {
    Resource::SHOWN.iter().map(|resource| of(*resource).map(Number)).collect()
}

/// Shortens a name from a result.
pub(super) fn short(name: &str) -> String {
    text::clipped(name, 120)
}

fn figure(row: &Row<'_>, entry: &Entry<'_>) -> Figure {
    match entry {
        Entry::Absent => Figure::Absent,
        Entry::Ended(status) => Figure::Ended(status.name()),
        Entry::Measured(of) => {
            let (ns, interval) = (row.time_ns(of), row.interval_ns(of));
            let (ratio, ratio_interval) = (of.ratio, of.ratio_interval);
            let marks = grid::lead(of.best, of.not_significant).to_owned() + &grid::marks(of);
            Figure::Time { ns, interval, ratio, ratio_interval, marks }
        }
    }
}
