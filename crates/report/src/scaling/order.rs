//! The fastest engines at each scale, and the scales between which the order of two engines
//! changes.

use std::cmp::Ordering;

use embermark_model::Scale;
use serde::Serialize;

use super::series::{Family, Point, Series, Time};
use crate::statistics::may_be_equal;
use crate::text;

/// The fastest of the engines that compete at one scale.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Fastest<'a> {
    /// The scale.
    pub scale: Scale,
    /// The fastest first, then those with no significant difference to it.
    #[serde(serialize_with = "super::all_plain")]
    pub engines: Vec<&'a str>,
}

/// Two engines whose order is significant at two scales, and differs between them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Turn<'a> {
    /// The faster one at `from`.
    #[serde(serialize_with = "super::plain")]
    pub before: &'a str,
    /// The faster one at `to`.
    #[serde(serialize_with = "super::plain")]
    pub after: &'a str,
    /// The largest scale of the old order.
    pub from: Scale,
    /// The smallest scale of the new order.
    pub to: Scale,
    /// Scales between them at which no order is significant, or at which one of the two has no
    /// time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<Scale>,
    /// The slower one's time over the faster one's at `from`, and at `to`.
    pub ratios: [f64; 2],
    /// Whether first place passes from one engine to the other. Each may share it with engines that
    /// do not differ significantly.
    pub leads: bool,
}

/// Returns the fastest engines at each scale at which an engine competes.
pub(super) fn fastest<'a>(series: &Series<'a, '_>) -> Vec<Fastest<'a>> {
    let at = |point: &Point<'a, '_>| {
        let engines = leaders(point, None);
        (!engines.is_empty()).then_some(Fastest { scale: point.scale, engines })
    };
    series.points.iter().filter_map(at).collect()
}

/// Returns the fastest engine, then those with no significant difference to it. Considers all
/// engines that compete, or one family.
fn leaders<'a>(point: &Point<'a, '_>, family: Option<Family<'a>>) -> Vec<&'a str> {
    let own = |time: &&Time<'_, '_>| time.ranked && (family.is_none() || time.family == family);
    let mut times: Vec<&Time<'a, '_>> = point.times.iter().filter(own).collect();
    times.sort_by(|a, b| a.figure.per_op_ns.total_cmp(&b.figure.per_op_ns));
    let Some((best, others)) = times.split_first() else { return Vec::new() };
    let equal = |time: &&&Time<'_, '_>| {
        may_be_equal(&time.figure.per_trial_ns, &best.figure.per_trial_ns) == Some(true)
    };
    [best.engine].into_iter().chain(others.iter().filter(equal).map(|time| time.engine)).collect()
}

/// Returns every change of order between two engines that both lead at some scale, among all
/// engines or in their family.
pub(super) fn turns<'a>(series: &Series<'a, '_>) -> Vec<Turn<'a>> {
    let times = series.points.iter().flat_map(|point| &point.times);
    let families = text::unique(times.filter_map(|time| time.family));
    let circles = [None].into_iter().chain(families.into_iter().map(Some));
    let mut pairs: Vec<[&str; 2]> = Vec::new();
    for family in circles {
        let of_each = series.points.iter().flat_map(|point| leaders(point, family));
        let mut leading = text::unique(of_each);
        leading.sort_unstable();
        for (place, one) in leading.iter().enumerate() {
            pairs.extend(leading[place + 1..].iter().map(|other| [*one, *other]));
        }
    }
    let pairs = text::unique(pairs).into_iter();
    let mut turns: Vec<Turn<'_>> = pairs.flat_map(|[a, b]| turns_of(series, a, b)).collect();
    let gain = |turn: &Turn<'_>| turn.ratios[1];
    turns.sort_by(|a, b| b.leads.cmp(&a.leads).then(gain(b).total_cmp(&gain(a))));
    turns
}

/// Returns the changes of order of two engines: from each scale with a significant order to the
/// next one.
fn turns_of<'a>(series: &Series<'a, '_>, one: &'a str, other: &'a str) -> Vec<Turn<'a>> {
    let mut turns = Vec::new();
    // The last significant order, and the scales without one since.
    let mut last: Option<(&Point<'a, '_>, Ordering, f64)> = None;
    let mut open = Vec::new();
    for point in &series.points {
        let Some((order, ratio)) = shown_order(point, one, other) else {
            open.push(point.scale);
            continue;
        };
        if let Some((from, before, was)) = last.filter(|(_, before, _)| *before != order) {
            let [faster, slower] =
                if before == Ordering::Less { [one, other] } else { [other, one] };
            let leads = leaders(from, None).contains(&faster);
            turns.push(Turn {
                before: faster,
                after: slower,
                from: from.scale,
                to: point.scale,
                open: std::mem::take(&mut open),
                ratios: [was, ratio],
                leads: leads && leaders(point, None).contains(&slower),
            });
        }
        open.clear();
        last = Some((point, order, ratio));
    }
    turns
}

/// Returns which of two engines is faster at a scale, and the slower one's time divided by the
/// faster one's. `None` if the difference is not significant.
fn shown_order(point: &Point<'_, '_>, one: &str, other: &str) -> Option<(Ordering, f64)> {
    let time = |engine: &str| point.time(engine).filter(|time| time.ranked);
    let [one, other] = [time(one)?.figure, time(other)?.figure];
    if may_be_equal(&one.per_trial_ns, &other.per_trial_ns)? {
        return None;
    }
    let ratio = one.per_op_ns / other.per_op_ns;
    Some((ratio.total_cmp(&1.0), ratio.max(1.0 / ratio)))
}

/// Whether a compared figure has too few trials for a significant order.
pub(super) fn few_trials(series: &Series<'_, '_>) -> bool {
    let mut times = series.points.iter().flat_map(|point| &point.times);
    times.any(|time| time.ranked && time.figure.interval_ns.is_none())
}
