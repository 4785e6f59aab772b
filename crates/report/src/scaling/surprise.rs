//! Costs that stand out: our mistake until somebody has looked. Two rules, both in
//! `docs/statistics.md`: time for a row grows more than tenfold over a decade of rows, or is more than
//! twenty times that of the next engine of the same family.

use embermark_model::{Explained, Scale, StandsOut};
use serde::Serialize;

use super::series::{Point, Series, Time};
use super::{Explanations, SeriesId, Within};
use crate::{format, text};

/// More growth for a row over a decade of rows stands out.
const MOST_GROWTH: f64 = 10.0;
/// More times the next engine's time stands out.
const MOST_LAG: f64 = 20.0;

/// How phases begin that change rows and put none in.
const CHANGES: [&str; 2] = ["update", "delete"];

/// Of an engine whose commits survive more than others' in the tier, where rows are put in or
/// changed.
const SYNCED: &str = "its commits survive more than the tier asks, and the next engine's do not";
/// What shows that it costs so much.
const SYNCED_EVIDENCE: &str =
    "SQLite's inserts, synced and not: 13.6 s and 192 ms, docs/reproduction.md";
/// Where that is written.
const SYNCED_SECTION: &str = "docs/method.md#durability";

/// A cost that stands out.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Surprise<'a> {
    /// What it is of.
    #[serde(flatten)]
    pub series: SeriesId<'a>,
    /// At which scale.
    pub scale: Scale,
    /// The engine's id.
    #[serde(serialize_with = "super::plain")]
    pub engine: &'a str,
    /// How it stands out.
    #[serde(flatten)]
    pub what: What<'a>,
    /// How many times.
    pub times: f64,
    /// Why, where that is known; absent: nobody has looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explained: Option<Reason>,
}

/// How a cost stands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "how", rename_all = "lowercase")]
pub enum What<'a> {
    /// Time for a row grew so many times.
    Growth {
        /// From this scale on.
        from: Scale,
    },
    /// So many times the time of the next engine of its family.
    Lag {
        /// That engine.
        #[serde(serialize_with = "super::plain")]
        behind: &'a str,
        /// Where both run.
        #[serde(serialize_with = "super::plain")]
        kind: &'a str,
        /// Their data model.
        #[serde(serialize_with = "super::plain")]
        data_model: &'a str,
    },
}

/// Why a cost stands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Reason {
    /// In some words.
    pub why: &'static str,
    /// The measurement that shows it.
    pub evidence: &'static str,
    /// Where it is written.
    pub section: &'static str,
}

impl Surprise<'_> {
    /// What stands out, and why or that nobody knows.
    pub fn says(&self) -> String {
        format!("{}: {}", self.what.says(self.times, self.scale), reason(self.explained))
    }
}

impl What<'_> {
    pub(super) const fn how(&self) -> StandsOut {
        match self {
            Self::Growth { .. } => StandsOut::Growth,
            Self::Lag { .. } => StandsOut::Lag,
        }
    }

    /// `54.0x the next embedded key-value engine (berkeleydb)`, of so many times.
    pub(crate) fn says(&self, times: f64, to: Scale) -> String {
        let times = format::ratio(times);
        match self {
            Self::Growth { from } => format!("{times} the time for a row, {from} to {to}"),
            Self::Lag { behind, kind, data_model } => {
                let [behind, kind, data_model] =
                    [behind, kind, data_model].map(|of| text::plain(of));
                format!("{times} the next {kind} {data_model} engine ({behind})")
            }
        }
    }
}

/// What is said of a reason, or that there is none.
pub(crate) fn reason(explained: Option<Reason>) -> String {
    match explained {
        Some(Reason { why, evidence, section }) => {
            format!("{why}; shown by {evidence} ({section})")
        }
        None => "unexplained: look before you believe it".to_owned(),
    }
}

/// Everything of a series that stands out, of an engine at a scale once: growth before lag.
pub(super) fn of<'a>(series: &Series<'a, '_>, explanations: Explanations<'_>) -> Vec<Surprise<'a>> {
    let mut all: Vec<Surprise<'a>> = Vec::new();
    for (place, point) in series.points.iter().enumerate() {
        let found = growth(&series.points[..place], point).into_iter().chain(lag(point));
        for (time, what, times) in found {
            let known = |one: &Surprise<'_>| (one.scale, one.engine) == (point.scale, time.engine);
            if all.iter().any(known) {
                continue;
            }
            let explained = told(explanations, time.engine, series, what.how())
                .or_else(|| synced(&series.id, point, time, what));
            let (series, scale, engine) = (series.id, point.scale, time.engine);
            all.push(Surprise { series, scale, engine, what, times, explained });
        }
    }
    all
}

/// An engine, how it stands out and how many times.
type Found<'a, 'p, 'c> = (&'p Time<'a, 'c>, What<'a>, f64);

/// Engines whose time for a row has grown too much since a scale of a tenth of the rows or less;
/// the nearest such scale is taken.
fn growth<'a, 'p, 'c>(
    smaller: &[Point<'a, 'c>],
    point: &'p Point<'a, 'c>,
) -> Vec<Found<'a, 'p, 'c>> {
    let grown = |time: &'p Time<'a, 'c>| {
        let before = |from: &&Point<'_, '_>| {
            point.decades_from(from) > 1.0 - 1e-9 && from.of(time.engine).is_some()
        };
        let from = smaller.iter().rev().find(before)?;
        let times = point.per_row_ns(time) / from.per_row_ns(from.of(time.engine)?);
        let most = MOST_GROWTH.powf(point.decades_from(from));
        (times > most).then_some((time, What::Growth { from: from.scale }, times))
    };
    point.times.iter().filter(|time| time.candidate).filter_map(grown).collect()
}

/// Engines that lie too far behind the next one of their family that does not lie so itself.
fn lag<'a, 'p, 'c>(point: &'p Point<'a, 'c>) -> Vec<Found<'a, 'p, 'c>> {
    let families = text::unique(point.times.iter().filter_map(|time| time.family));
    let mut found = Vec::new();
    for family @ (kind, data_model, _) in families {
        let own = point.times.iter().filter(|time| time.family == Some(family));
        let mut own: Vec<&Time<'_, '_>> = own.collect();
        own.sort_by(|a, b| a.figure.per_op_ns.total_cmp(&b.figure.per_op_ns));
        let mut next: Option<&Time<'_, '_>> = None;
        for time in own {
            let times = next.map_or(1.0, |next| time.figure.per_op_ns / next.figure.per_op_ns);
            match next {
                Some(next) if times > MOST_LAG => {
                    let what = What::Lag { behind: next.engine, kind, data_model };
                    found.push((time, what, times));
                }
                _ => next = Some(time),
            }
        }
    }
    found
}

/// What the engine's adapter says of it.
fn told(
    explanations: Explanations<'_>,
    engine: &str,
    series: &Series<'_, '_>,
    how: StandsOut,
) -> Option<Reason> {
    let (_, own) = explanations.iter().find(|(id, _)| *id == engine)?;
    let of = |one: &&Explained| {
        let is_of_kind = series.kind.counts.is_some_and(|counts| one.counts.contains(&counts));
        one.how == how && (is_of_kind || one.phases.contains(&series.id.phase))
    };
    own.iter().find(of).map(|one| {
        let Explained { why, evidence, section, .. } = *one;
        Reason { why, evidence, section }
    })
}

/// Where rows are put in or changed, an engine that keeps more than the tier asks pays for what
/// others do not do.
fn synced(
    &SeriesId { within: Within { tier, .. }, phase, .. }: &SeriesId<'_>,
    point: &Point<'_, '_>,
    time: &Time<'_, '_>,
    what: What<'_>,
) -> Option<Reason> {
    let What::Lag { behind, .. } = what else { return None };
    let next = point.of(behind)?;
    let changes = point.inserts || CHANGES.iter().any(|name| phase.starts_with(name));
    let pays = changes && time.effective > tier && next.effective < time.effective;
    pays.then_some(Reason { why: SYNCED, evidence: SYNCED_EVIDENCE, section: SYNCED_SECTION })
}
