//! What was shown of a tier of an engine by killing it and by cutting its power, and what rests on
//! the engine's manual alone. `docs/durability-experiments.md` says how it is tried.

mod full_disk;
mod record;
mod told;

use embermark_model::Durability;
use embermark_model::durability_result::{Experiment, Outcome, Tested, Verdict};
use serde::Serialize;

use crate::text;

pub(crate) use full_disk::full_disk;
pub use full_disk::{full_disk_markdown, full_disk_text};
pub(crate) use record::Origin;
pub use record::Record;
pub(crate) use told::{Told, distinct, in_short, mark, notes, of, of_run};
pub use told::{findings, found, mark_advice};

/// What a tier of an engine rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It was tried.
    Shown(Shown),
    /// It was not, or not all that the tier promises to survive.
    ByManual(Why),
}

/// What was tried of a tier, with the version at hand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Shown {
    /// Its processes were killed.
    pub kills: Tries,
    /// The power was cut: none where the tier does not promise to survive that.
    pub states: Tries,
    /// File systems under a database whose power was cut.
    pub file_systems: Vec<String>,
    /// The day of the last of these runs, UTC, `2026-11-22`.
    pub date: String,
    /// The engine's version.
    pub version: String,
}

/// What came of the tries of an experiment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Tries {
    /// How many were made.
    pub tried: u32,
    /// How many of them broke the promise.
    pub violations: u32,
    /// How many of these came of a write that was torn within a block of 4 KiB.
    pub torn_blocks: u32,
    /// How many broke it how.
    pub verdicts: Vec<(Verdict, u32)>,
}

/// Why nothing is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// Nobody has tried it.
    NeverTried,
    /// Other versions were tried: these.
    OtherVersions(Vec<String>),
    /// It was killed so many times without a violation, and its power was not cut.
    NoPowerCut(u32),
    /// Its power was cut in so many states without a violation, and nothing was killed.
    NoKill(u32),
}

impl Shown {
    /// Whether the tier's promise was broken.
    pub const fn is_broken(&self) -> bool {
        self.kills.violations + self.states.violations > 0
    }
}

impl Standing {
    /// Whether the tier's promise was broken.
    pub const fn is_broken(&self) -> bool {
        matches!(self, Self::Shown(shown) if shown.is_broken())
    }

    /// What experiments in one tier with the version at hand, each of its run, show of it.
    fn of(tier: Durability, version: &str, tried: &[(&Outcome, &Tested)]) -> Self {
        let tries = |experiment: Experiment| {
            let all = tried.iter().map(|(_, tested)| *tested);
            let all = all.filter(|tested| tested.experiment == experiment);
            match experiment.is_survived_by(tier) {
                true => Tries::of(all),
                false => Tries::default(),
            }
        };
        let (kills, states) = (tries(Experiment::Kill), tries(Experiment::PowerCut));
        if kills.violations + states.violations == 0 {
            match (kills.tried, states.tried) {
                (0, 0) => return Self::ByManual(Why::NeverTried),
                (0, states) => return Self::ByManual(Why::NoKill(states)),
                (kills, 0) if Experiment::PowerCut.is_survived_by(tier) => {
                    return Self::ByManual(Why::NoPowerCut(kills));
                }
                _ => {}
            }
        }
        let cut = |tested: &Tested| tested.experiment == Experiment::PowerCut;
        let cut = tried.iter().filter(|(_, tested)| states.tried > 0 && cut(tested));
        let file_systems = text::unique(cut.map(|(run, _)| text::plain(&run.head.file_system)));
        let days = tried.iter().map(|(run, _)| run.head.begun.get(..10).unwrap_or_default());
        let date = text::plain(days.max().unwrap_or_default());
        Self::Shown(Shown { kills, states, file_systems, date, version: version.to_owned() })
    }
}

impl Tries {
    fn of<'a>(all: impl Iterator<Item = &'a Tested>) -> Self {
        let mut tries = Self::default();
        for tested in all {
            tries.tried = tries.tried.saturating_add(tested.tried);
            tries.violations = tries.violations.saturating_add(tested.broken());
            tries.torn_blocks = tries.torn_blocks.saturating_add(tested.torn_blocks);
            for (verdict, count) in tested.verdicts.iter().filter(|(of, _)| of.is_violation()) {
                match tries.verdicts.iter_mut().find(|(of, _)| of == verdict) {
                    Some((_, sum)) => *sum = sum.saturating_add(*count),
                    None => tries.verdicts.push((*verdict, *count)),
                }
            }
        }
        tries
    }
}

#[cfg(test)]
mod tests;
