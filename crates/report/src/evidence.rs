//! Evidence for the durability of a tier of an engine: kill and power-cut tests, or only the
//! engine's manual. `docs/durability-experiments.md` describes the tests.

mod full_disk;
mod record;
mod tier_standing;

use embermark_model::Durability;
use embermark_model::durability_result::{Experiment, Outcome, Tested, Verdict};
use serde::Serialize;

use crate::text;

pub(crate) use full_disk::full_disk;
pub use full_disk::{full_disk_markdown, full_disk_text};
pub(crate) use record::Origin;
pub use record::Record;
pub(crate) use tier_standing::{
    TierStanding, broken, compare, distinct, notes, run_standings, summary_line, tier_standings,
};
pub use tier_standing::{findings, findings_text, mark_advice};

/// Evidence for what a tier of an engine promises.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// The tier was tested.
    Shown(Shown),
    /// The tier was not tested, or not for everything that it promises to survive.
    ByManual(Why),
}

/// Tests of a tier, with the engine version of the result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Shown {
    /// Kills of its processes.
    pub kills: Tries,
    /// Power cuts. There are none if the tier does not promise to survive them.
    pub states: Tries,
    /// File systems of the databases whose power was cut.
    pub file_systems: Vec<String>,
    /// Day of the last of these runs, UTC: `2026-11-22`.
    pub date: String,
    /// The engine's version.
    pub version: String,
}

/// Outcomes of the tries of an experiment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Tries {
    /// Number of tries.
    pub tried: u32,
    /// Number of tries that broke the promise.
    pub violations: u32,
    /// Number of violations that a write torn within a block of 4 KiB caused.
    pub torn_blocks: u32,
    /// Number of tries by violation.
    pub verdicts: Vec<(Verdict, u32)>,
}

/// Why there is no evidence from tests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// It was never tested.
    NeverTried,
    /// Only these other versions were tested.
    OtherVersions(Vec<String>),
    /// This number of kills had no violation, and its power was not cut.
    NoPowerCut(u32),
    /// This number of states after a power cut had no violation, and it was not killed.
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

    /// Combines the experiments in one tier with the same engine version, each with its run.
    fn from_tests(tier: Durability, version: &str, tried: &[(&Outcome, &Tested)]) -> Self {
        let tries = |experiment: Experiment| {
            let all = tried.iter().map(|(_, tested)| *tested);
            let all = all.filter(|tested| tested.experiment == experiment);
            match experiment.is_survived_by(tier) {
                true => Tries::sum(all),
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
    fn sum<'a>(all: impl Iterator<Item = &'a Tested>) -> Self {
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
