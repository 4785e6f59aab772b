//! What more rows do to time: how fast it grows, between which scales the order of engines turns,
//! and what stands out. `docs/statistics.md` has the rules.
//!
//! Everything here is of one result. A series is one phase in one variant of one workload in one
//! tier under the same conditions: its scales are compared with each other, and nothing else is.

mod growth;
mod order;
mod render;
mod series;
mod surprise;
mod told;
mod turns;

#[cfg(test)]
mod tests;

use embermark_model::result::ResultFile;
use embermark_model::{Conditions, Durability, Explained, Scale};
use serde::{Serialize, Serializer};

pub use growth::{Growth, Step};
pub use order::{Fastest, Turn};
pub use surprise::{Reason, Surprise, What};
pub use told::Told;
pub use turns::Overtaking;
pub(crate) use turns::between;

pub(crate) use render::{grids, notes, order_turns, unexplained};

use crate::summary::{Comparison, Group, Row};
use crate::text;

/// What adapters say of their engines, by id.
pub type Explanations<'a> = &'a [(&'a str, &'a [Explained])];

/// What is known of scale in one result.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Scaling<'a> {
    /// Every engine, in the order of the tables.
    #[serde(skip)]
    pub engines: Vec<&'a str>,
    /// Reads were cold.
    #[serde(skip)]
    pub cold: bool,
    /// Every phase that was measured at two scales or more.
    pub phases: Vec<PhaseScaling<'a>>,
    /// Where the order of two engines turns, the same pair between the same scales together.
    pub turns: Vec<Overtaking<'a>>,
    /// Costs that stand out, of phases that were measured at one scale too.
    pub surprises: Vec<Surprise<'a>>,
    /// The same in words.
    pub told: Vec<Told<'a>>,
}

/// One phase at its scales.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PhaseScaling<'a> {
    /// What it is of.
    #[serde(flatten)]
    pub series: SeriesId<'a>,
    /// Its scales, the smallest first.
    pub scales: Vec<Scale>,
    /// How the time of one operation grows, by engine.
    pub growth: Vec<Growth<'a>>,
    /// Who is the fastest, by scale.
    pub fastest: Vec<Fastest<'a>>,
    /// The same in words.
    pub leading: String,
    /// Where the order of two engines turns.
    pub turns: Vec<Turn<'a>>,
    /// Some figure has fewer than three trials: of its order nothing can be said.
    pub few_trials: bool,
}

/// What scales are compared within: a workload in a tier under the same conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Within<'a> {
    /// The workload's id.
    #[serde(serialize_with = "plain")]
    pub workload: &'a str,
    /// The tier.
    pub tier: Durability,
    /// Within how much memory, and on which storage.
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
    /// Whether that is the one that runs every phase.
    pub main: bool,
    /// The phase.
    #[serde(serialize_with = "plain")]
    pub phase: &'a str,
}

impl<'a> Within<'a> {
    pub(crate) const fn of(group: &Group<'a>) -> Self {
        Self { workload: group.workload, tier: group.durability, conditions: group.conditions() }
    }
}

impl SeriesId<'_> {
    /// `load`, `load (bulk)`.
    pub(crate) fn phase_name(&self) -> String {
        let phase = text::plain(self.phase);
        if self.main { phase } else { format!("{phase} ({})", text::plain(self.variant)) }
    }
}

/// What scale does to the figures of `file`, whose comparison this is.
pub fn of<'a>(
    file: &'a ResultFile,
    comparison: &Comparison<'a>,
    explanations: Explanations<'_>,
) -> Scaling<'a> {
    let engines = comparison.groups.iter().flat_map(|group| &group.engines);
    let mut scaling = Scaling {
        engines: text::unique(engines.map(|engine| engine.id)),
        cold: file.plan.cold,
        phases: Vec::new(),
        turns: Vec::new(),
        surprises: Vec::new(),
        told: Vec::new(),
    };
    // What is an engine's nature is that of its configurations.
    let own = file.plan.configurations.iter().filter_map(|(name, configuration)| {
        let (_, told) = explanations.iter().find(|(id, _)| *id == configuration.engine)?;
        Some((&**name, *told))
    });
    let explanations: Vec<_> = explanations.iter().copied().chain(own).collect();
    for series in series::of(file, comparison) {
        scaling.surprises.extend(surprise::of(&series, &explanations));
        if series.points.len() > 1 {
            let fastest = order::fastest(&series);
            scaling.phases.push(PhaseScaling {
                series: series.id,
                scales: series.points.iter().map(|point| point.scale).collect(),
                growth: growth::of(&series),
                leading: render::leading(&fastest),
                fastest,
                turns: order::turns(&series),
                few_trials: order::few_trials(&series),
            });
        }
    }
    scaling.turns = turns::of(scaling.phases.iter());
    scaling.told = told::of(&scaling.surprises);
    scaling
}

impl<'a> Scaling<'a> {
    /// The turns in some phases alone.
    pub(crate) fn turns_of(&self, wanted: impl Fn(&SeriesId<'_>) -> bool) -> Vec<Overtaking<'a>> {
        turns::of(self.phases.iter().filter(|one| wanted(&one.series)))
    }

    /// What stands out in a figure, where something does.
    pub fn surprise(
        &self,
        group: &Group<'_>,
        row: &Row<'_>,
        engine: &str,
    ) -> Option<&Surprise<'_>> {
        let variant = row.variant.unwrap_or(group.variant);
        let of = |one: &&Surprise<'_>| {
            let SeriesId { within, variant: of, phase, .. } = one.series;
            (within, one.scale) == (Within::of(group), group.scale)
                && (of, Some(phase), one.engine) == (variant, row.phase, engine)
        };
        self.surprises.iter().find(of)
    }
}

/// A text from outside, on one line.
fn plain<S: Serializer>(of: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&text::plain(of))
}

/// The same of several.
fn all_plain<S: Serializer>(all: &[&str], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(all.iter().map(|of| text::plain(of)))
}
