//! Unusual costs: presumed to be a mistake of embermark until they are explained.
//! `docs/statistics.md` has the two rules. Either the time per row grows more than tenfold over a
//! decade of rows, or it is more than twenty times that of the next engine of the same family.

use embermark_model::{CostAnomaly, Explained, Scale};
use serde::Serialize;

use super::series::{Point, Series, Time};
use super::{Explanations, SeriesId, Within};
use crate::{format, text};

/// Largest growth of the time per row over a decade of rows that is not unusual.
const MOST_GROWTH: f64 = 10.0;
/// Largest multiple of the next engine's time that is not unusual.
const MOST_LAG: f64 = 20.0;

/// Prefixes of the names of phases that change rows and insert none.
const CHANGES: [&str; 2] = ["update", "delete"];

/// Reason for an engine that inserts or changes rows and whose commits survive more than others' in
/// the tier.
const SYNCED: Reason = Reason {
    why: "its commits survive more than the tier asks, and the next engine's do not",
    evidence: "SQLite's inserts, synced and not: 13.6 s and 192 ms, docs/reproduction.md",
    section: "docs/method.md#durability",
};

/// An unusual cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Surprise<'a> {
    /// The phase.
    #[serde(flatten)]
    pub series: SeriesId<'a>,
    /// The scale.
    pub scale: Scale,
    /// The engine's id.
    #[serde(serialize_with = "super::plain")]
    pub engine: &'a str,
    /// The rule that it breaks.
    #[serde(flatten)]
    pub what: What<'a>,
    /// The factor.
    pub times: f64,
    /// The reason. Absent if it is not explained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explained: Option<Reason>,
}

/// A rule that makes a cost unusual.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "how", rename_all = "lowercase")]
pub enum What<'a> {
    /// The time per row grew by the factor.
    Growth {
        /// The smaller scale.
        from: Scale,
    },
    /// The time is a multiple of that of the next engine of the family.
    Lag {
        /// That engine.
        #[serde(serialize_with = "super::plain")]
        behind: &'a str,
        /// `embedded` or `server`, for both.
        #[serde(serialize_with = "super::plain")]
        kind: &'a str,
        /// Their data model.
        #[serde(serialize_with = "super::plain")]
        data_model: &'a str,
    },
}

/// The reason for an unusual cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Reason {
    /// The reason in a few words.
    pub why: &'static str,
    /// The measurement that shows it.
    pub evidence: &'static str,
    /// The section of the documentation that describes it.
    pub section: &'static str,
}

impl Surprise<'_> {
    /// Formats the cost, and its reason or that it is unexplained.
    pub fn describe(&self) -> String {
        format!("{}: {}", self.what.describe(self.times, self.scale), reason(self.explained))
    }
}

impl What<'_> {
    pub(super) const fn how(&self) -> CostAnomaly {
        match self {
            Self::Growth { .. } => CostAnomaly::Growth,
            Self::Lag { .. } => CostAnomaly::Lag,
        }
    }

    /// Formats the cost, which is a factor of `times`: `54.0x the next embedded key-value engine
    /// (berkeleydb)`.
    pub(crate) fn describe(&self, times: f64, to: Scale) -> String {
        let times = format::ratio(times);
        match self {
            Self::Growth { from } => format!("{times} the time for a row, {from} to {to}"),
            Self::Lag { behind, kind, data_model } => {
                text::plain(&format!("{times} the next {kind} {data_model} engine ({behind})"))
            }
        }
    }
}

/// Formats a reason, or that there is no explanation.
pub(crate) fn reason(explained: Option<Reason>) -> String {
    match explained {
        Some(Reason { why, evidence, section }) => {
            format!("{why}; shown by {evidence} ({section})")
        }
        None => "unexplained: look before you believe it".to_owned(),
    }
}

/// Returns the unusual costs of a series. Each engine has at most one at a scale: growth is
/// preferred to lag.
pub(super) fn surprises<'a>(
    series: &Series<'a, '_>,
    explanations: Explanations<'_>,
) -> Vec<Surprise<'a>> {
    let mut all: Vec<Surprise<'a>> = Vec::new();
    for (place, point) in series.points.iter().enumerate() {
        let found = growth(&series.points[..place], point).into_iter().chain(lag(point));
        for (time, what, times) in found {
            let known = |one: &Surprise<'_>| (one.scale, one.engine) == (point.scale, time.engine);
            if all.iter().any(known) {
                continue;
            }
            let explained = adapter_explanation(explanations, time.engine, series, what.how())
                .or_else(|| synced(&series.id, point, time, what));
            let (series, scale, engine) = (series.id, point.scale, time.engine);
            all.push(Surprise { series, scale, engine, what, times, explained });
        }
    }
    all
}

/// An engine, the rule and the factor.
type UnusualTime<'a, 'p, 'c> = (&'p Time<'a, 'c>, What<'a>, f64);

/// Returns engines whose time per row has grown too much since the nearest scale with a tenth of
/// the rows or fewer.
fn growth<'a, 'p, 'c>(
    smaller: &[Point<'a, 'c>],
    point: &'p Point<'a, 'c>,
) -> Vec<UnusualTime<'a, 'p, 'c>> {
    let grown = |time: &'p Time<'a, 'c>| {
        let before = |from: &&Point<'_, '_>| {
            point.decades_from(from) > 1.0 - 1e-9 && from.time(time.engine).is_some()
        };
        let from = smaller.iter().rev().find(before)?;
        let times = point.per_row_ns(time) / from.per_row_ns(from.time(time.engine)?);
        let most = MOST_GROWTH.powf(point.decades_from(from));
        (times > most).then_some((time, What::Growth { from: from.scale }, times))
    };
    point.times.iter().filter(|time| time.candidate).filter_map(grown).collect()
}

/// Returns engines that are too far behind the next engine of their family that is not itself too
/// far behind.
fn lag<'a, 'p, 'c>(point: &'p Point<'a, 'c>) -> Vec<UnusualTime<'a, 'p, 'c>> {
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

/// Returns the explanation of the engine's adapter.
fn adapter_explanation(
    explanations: Explanations<'_>,
    engine: &str,
    series: &Series<'_, '_>,
    how: CostAnomaly,
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

/// Returns the reason of an engine that keeps more than the tier asks, in a phase that inserts or
/// changes rows: others do not do that work.
fn synced(
    &SeriesId { within: Within { tier, .. }, phase, .. }: &SeriesId<'_>,
    point: &Point<'_, '_>,
    time: &Time<'_, '_>,
    what: What<'_>,
) -> Option<Reason> {
    let What::Lag { behind, .. } = what else { return None };
    let next = point.time(behind)?;
    let changes = point.inserts || CHANGES.iter().any(|name| phase.starts_with(name));
    let pays = changes && time.effective > tier && next.effective < time.effective;
    pays.then_some(SYNCED)
}
