//! Effect of the number of rows on time: how fast time grows, between which scales the order of
//! engines changes, and which costs are unusual. `docs/statistics.md` has the rules.
//!
//! Everything here is about one result. A series is one phase in one variant of one workload in one
//! tier under the same conditions. Only scales of the same series are compared.

mod growth;
mod order;
mod render;
mod series;
mod surprise;
mod surprise_text;
mod turns;

#[cfg(test)]
mod tests;

use embermark_model::{Conditions, Durability, Explained, Scale};
use serde::{Serialize, Serializer};

pub use growth::{Growth, Step};
pub use order::{Fastest, Turn};
pub use surprise::{Reason, Surprise, What};
pub use surprise_text::SurpriseText;
pub use turns::Overtaking;
pub(crate) use turns::between;

pub(crate) use render::{grids, notes, order_turns, unexplained};

use crate::summary::{Comparison, Group, Row};
use crate::{conditions, text};

/// Explanations by the engines' adapters, by engine id.
pub type Explanations<'a> = &'a [(&'a str, &'a [Explained])];

/// Effect of scale in one result.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Scaling<'a> {
    /// Every engine, in the order of the tables.
    #[serde(skip)]
    pub engines: Vec<&'a str>,
    /// Conditions of the run that titles name: `cold reads`.
    #[serde(skip)]
    pub conditions: Vec<String>,
    /// Every phase that was measured at two scales or more.
    pub phases: Vec<PhaseScaling<'a>>,
    /// Changes of the order of two engines. The same pair between the same scales is one entry.
    pub turns: Vec<Overtaking<'a>>,
    /// Unusual costs, also of phases that were measured at only one scale.
    pub surprises: Vec<Surprise<'a>>,
    /// The unusual costs as text.
    pub told: Vec<SurpriseText<'a>>,
}

/// One phase at its scales.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PhaseScaling<'a> {
    /// The phase.
    #[serde(flatten)]
    pub series: SeriesId<'a>,
    /// Its scales, the smallest first.
    pub scales: Vec<Scale>,
    /// How the time of one operation grows, by engine.
    pub growth: Vec<Growth<'a>>,
    /// The fastest engines at each scale.
    pub fastest: Vec<Fastest<'a>>,
    /// The fastest engines as text.
    pub leading: String,
    /// Changes of the order of two engines.
    pub turns: Vec<Turn<'a>>,
    /// Whether a figure has fewer than three trials, so that nothing can be said about its order.
    pub few_trials: bool,
}

/// The scope of a comparison of scales: a workload in a tier under the same conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Within<'a> {
    /// The workload's id.
    #[serde(serialize_with = "plain")]
    pub workload: &'a str,
    /// The tier.
    pub tier: Durability,
    /// The memory limit and the storage.
    #[serde(flatten)]
    pub conditions: Conditions,
}

/// A phase in a variant of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SeriesId<'a> {
    /// The workload, the tier and the conditions.
    #[serde(flatten)]
    pub within: Within<'a>,
    /// The variant.
    #[serde(serialize_with = "plain")]
    pub variant: &'a str,
    /// Whether the variant is the one that runs every phase.
    pub main: bool,
    /// The phase.
    #[serde(serialize_with = "plain")]
    pub phase: &'a str,
}

impl<'a> Within<'a> {
    pub(crate) const fn new(group: &Group<'a>) -> Self {
        Self { workload: group.workload, tier: group.durability, conditions: group.conditions() }
    }
}

impl SeriesId<'_> {
    /// Returns the phase, with the variant if it is not the main one: `load`, `load (bulk)`.
    pub(crate) fn phase_name(&self) -> String {
        let phase = text::plain(self.phase);
        if self.main { phase } else { format!("{phase} ({})", text::plain(self.variant)) }
    }
}

/// Computes the effect of scale on the figures of a result.
pub fn analyze<'a>(comparison: &Comparison<'a>, explanations: Explanations<'_>) -> Scaling<'a> {
    let file = comparison.file;
    let engines = comparison.groups.iter().flat_map(|group| &group.engines);
    let is_paced = comparison.groups.iter().any(Group::is_paced);
    let mut scaling = Scaling {
        engines: text::unique(engines.map(|engine| engine.id)),
        conditions: conditions::of_heading(&file.plan, is_paced),
        ..Scaling::default()
    };
    // Explanations of an engine are true for its configurations too.
    let own = file.plan.configurations.iter().filter_map(|(name, configuration)| {
        let (_, told) = explanations.iter().find(|(id, _)| *id == configuration.engine)?;
        Some((&**name, *told))
    });
    let explanations: Vec<_> = explanations.iter().copied().chain(own).collect();
    for series in series::all_series(comparison) {
        scaling.surprises.extend(surprise::surprises(&series, &explanations));
        if series.points.len() > 1 {
            let fastest = order::fastest(&series);
            scaling.phases.push(PhaseScaling {
                series: series.id,
                scales: series.points.iter().map(|point| point.scale).collect(),
                growth: growth::growths(&series),
                leading: render::leading(&fastest),
                fastest,
                turns: order::turns(&series),
                few_trials: order::few_trials(&series),
            });
        }
    }
    scaling.turns = turns::overtakings(scaling.phases.iter());
    scaling.told = surprise_text::texts(&scaling.surprises);
    scaling
}

impl<'a> Scaling<'a> {
    /// Returns the changes of order in some of the phases.
    pub(crate) fn turns_of(&self, wanted: impl Fn(&SeriesId<'_>) -> bool) -> Vec<Overtaking<'a>> {
        turns::overtakings(self.phases.iter().filter(|one| wanted(&one.series)))
    }

    /// Finds the unusual cost of a figure.
    pub fn surprise(
        &self,
        group: &Group<'_>,
        row: &Row<'_>,
        engine: &str,
    ) -> Option<&Surprise<'_>> {
        let variant = row.variant.unwrap_or(group.variant);
        let of = |one: &&Surprise<'_>| {
            let SeriesId { within, variant: of, phase, .. } = one.series;
            (within, one.scale) == (Within::new(group), group.extent.scale)
                && (of, Some(phase), one.engine) == (variant, row.phase, engine)
        };
        self.surprises.iter().find(of)
    }
}

/// Serializes a text from outside on one line.
fn plain<S: Serializer>(of: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&text::plain(of))
}

/// Serializes texts from outside, each on one line.
fn all_plain<S: Serializer>(all: &[&str], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(all.iter().map(|of| text::plain(of)))
}
