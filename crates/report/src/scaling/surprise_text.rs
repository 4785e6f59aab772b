//! Unusual costs as short texts. Those of an engine with the same reason share a text.

use serde::Serialize;

use super::Within;
use super::surprise::{Surprise, reason};
use crate::note;
use crate::text;

/// The unusual costs of one engine in one workload that have the same reason, as text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SurpriseText<'a> {
    /// The workload, the tier and the limit of memory.
    #[serde(flatten)]
    pub within: Within<'a>,
    /// The engine's id.
    #[serde(serialize_with = "super::plain")]
    pub engine: &'a str,
    /// The phases, with the variant if it is not the one that runs every phase.
    pub phases: Vec<String>,
    /// Whether the reason is known.
    pub explained: bool,
    /// The text without the engine's name.
    pub says: String,
}

/// Returns the texts. Unexplained costs come first.
pub(super) fn texts<'a>(surprises: &[Surprise<'a>]) -> Vec<SurpriseText<'a>> {
    let key = |one: &Surprise<'_>| (one.what.how(), one.explained);
    let place = |one: &Surprise<'a>| (one.series.within, one.engine);
    let keyed = surprises.iter().enumerate().map(|(at, one)| ((place(one), key(one)), at));
    let all = text::by_key(keyed).into_iter().map(|(key, places)| {
        let of_key: Vec<&Surprise<'_>> = places.into_iter().map(|at| &surprises[at]).collect();
        (key, of_key)
    });
    let text_of = |(within, engine), all: &[&Surprise<'_>]| SurpriseText {
        within,
        engine,
        phases: text::unique(all.iter().map(|one| one.series.phase_name())),
        explained: all.iter().all(|one| one.explained.is_some()),
        says: says(within, all),
    };
    let mut texts: Vec<SurpriseText<'_>> =
        all.map(|((place, _), all)| text_of(place, &all)).collect();
    texts.sort_by_key(|one| one.explained);
    texts
}

/// Formats costs with the same reason: `sensors 10k, 1M process, load, read: up to 1,089x the next
/// … engine (sqlite) in read: why`. A memory limit follows the scales: `sensors 10k, 1M within 256
/// MiB process, …`.
fn says(within: Within<'_>, all: &[&Surprise<'_>]) -> String {
    let Within { workload, tier, conditions } = within;
    let worst = all.iter().max_by(|a, b| a.times.total_cmp(&b.times));
    let worst = worst.map_or_else(String::new, |one| {
        let says = one.what.describe(one.times, one.scale);
        if all.len() == 1 { says } else { format!("up to {says} in {}", one.series.phase_name()) }
    });
    let phases = note::names(all.iter().map(|one| one.series.phase_name()));
    let mut scales = text::unique(all.iter().map(|one| one.scale));
    scales.sort_unstable();
    let last = scales.pop().map(|scale| format!("{scale}{conditions}"));
    let scales = text::joined(scales.iter().map(ToString::to_string).chain(last), ", ");
    let reason = reason(all.first().and_then(|one| one.explained));
    let workload = text::plain(workload);
    format!("{workload} {scales} {tier}, {phases}: {worst}: {reason}")
}
