//! Summary of an engine in a table, over its rows or over its questions. It has the means of the
//! terminal's screen, divided by those of the best engine.

use embermark_model::result::Counts;
use serde::{Serialize, Serializer};

use super::number::{Number, ends};
use crate::kinds::Kinds;
use crate::screen::means::{self, Line, Mean, Standing, Step};
use crate::statistics::geometric_mean;
use crate::summary::{Group, Measured, Row};
use crate::{grid, text};

/// Two kinds of work that never share a mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub(super) enum Work {
    /// Rows that are inserted, fetched by key, or changed.
    Rows,
    /// Questions over many rows, and scans.
    Questions,
}

impl Work {
    /// Both kinds.
    pub const ALL: [Self; 2] = [Self::Rows, Self::Questions];

    /// Returns the kind of a row of a table. `None` if its phase does not count.
    pub fn for_row(kinds: &Kinds<'_>, group: &Group<'_>, row: &Row<'_>) -> Option<Self> {
        let variant = row.variant.unwrap_or(group.variant);
        let kind = kinds.at((group.workload, variant, row.phase?));
        match kind.counts {
            Some(Counts::Analytics) => Some(Self::Questions),
            Some(_) => Some(Self::Rows),
            None => kind.of_rows.then_some(Self::Rows),
        }
    }
}

/// Summary of an engine.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    test,
    derive(ts_rs::TS),
    ts(
        type = "[ratio: number | null, low: number | null, high: number | null, ns: number, answered: number, phases: number, marks: string] | string | null"
    )
)]
pub(super) enum Stands {
    /// A mean over the phases of one kind of work.
    Timed {
        /// Its time divided by that of the best engine that answered every phase, as a geometric
        /// mean. If it did not answer every phase, its time divided by the best of each phase.
        /// Absent if no engine competes with it.
        ratio: Option<f64>,
        /// The 95 % interval of the ratio. Absent for the best, and with fewer than three trials.
        interval: Option<[f64; 2]>,
        /// The geometric mean of the times of an operation, in ns.
        ns: f64,
        /// Number of phases that it answered, and of all phases.
        answered: [usize; 2],
        /// Marks as in the terminal's tables.
        marks: String,
    },
    /// The reason why it has no mean.
    Says(String),
    /// Nothing was measured.
    Nothing,
}

impl Serialize for Stands {
    /// Serializes `[ratio, low, high, ns, answered, phases, marks]`, a text, or null.
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Nothing => to.serialize_none(),
            Self::Says(says) => to.serialize_str(says),
            Self::Timed { ratio, interval, ns, answered: [answered, of], marks } => {
                let [low, high] = ends(*interval);
                (ratio.map(Number), low, high, Number(*ns), answered, of, marks).serialize(to)
            }
        }
    }
}

/// Returns the summary of each engine of a group in a kind of work, in their order.
pub(super) fn standings(group: &Group<'_>, kinds: &Kinds<'_>, work: Work) -> Vec<Stands> {
    let wanted = |row: &Row<'_>| Work::for_row(kinds, group, row) == Some(work);
    let line = means::line(group, wanted);
    let least = line.boxes.iter().find_map(|stands| match stands {
        Standing::Mean(mean) if mean.best => Some(mean.ratio),
        _ => None,
    });
    (0..group.engines.len()).map(|place| stands(&line, place, least)).collect()
}

fn stands(line: &Line<'_>, place: usize, least: Option<f64>) -> Stands {
    let times = || line.steps.iter().filter_map(|step| time(step, place));
    let answered = times().count();
    let answered = [answered, line.steps.len()];
    let timed = |mean: &Mean, ns: f64| {
        let best = least.filter(|_| answered[0] == answered[1]).unwrap_or(1.0);
        let lead = grid::lead(mean.best, mean.not_significant);
        let marks = [lead, if mean.lost { grid::LOST } else { "" }].concat();
        let ratio = Some(mean.ratio / best);
        Stands::Timed { ratio, interval: mean.interval, ns, answered, marks }
    };
    match (&line.boxes[place], geometric_mean(times())) {
        (Standing::Mean(mean), Some(ns)) => timed(mean, ns),
        (Standing::Behind(shortfall), _) => {
            Stands::Says(text::clipped(&format!("behind: {}", shortfall.words(None)), 200))
        }
        (Standing::Ended(status), _) => Stands::Says(status.to_string()),
        (Standing::Weaker, _) => Stands::Says("weaker".to_owned()),
        (Standing::Broken, _) => Stands::Says("broken".to_owned()),
        (Standing::ByUrl, _) => Stands::Says("by URL".to_owned()),
        (_, Some(ns)) => {
            let (ratio, interval, marks) = (None, None, String::new());
            Stands::Timed { ratio, interval, ns, answered, marks }
        }
        (_, None) => Stands::Nothing,
    }
}

/// Returns the time of an operation in ns, if it competes.
fn time(step: &Step<'_>, place: usize) -> Option<f64> {
    let measured = step.row.entries[place].measured().filter(|one| Measured::competes(one))?;
    Some(measured.figure.per_op_ns)
}
