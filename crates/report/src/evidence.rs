//! Evidence for the durability of a tier of an engine: kill and power-cut tests, or only the
//! engine's manual. `docs/durability-experiments.md` describes the tests.

mod full_disk;
mod record_text;
mod tier_standing;

use embermark_model::Durability;
use embermark_model::durability_result::{Experiment, Outcome, Tested, Verdict};
use serde::Serialize;

use crate::text;

pub(crate) use full_disk::full_disk;
pub use full_disk::{full_disk_markdown, full_disk_text};
pub(crate) use tier_standing::{
    TierStanding, broken, compare, notes, of_tier, run_standings, summary_line, tier_standings,
};
pub use tier_standing::{findings, findings_text, mark_advice};

/// Evidence for what a tier of an engine promises.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// The tier was tested.
    Shown(Shown),
    /// The tier was not tested, or not for everything that it promises to survive.
    ByManual(Why),
}

/// Tests of a tier, with the engine version of the result.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
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

impl Standing {
    /// Whether the tier's promise was broken.
    pub const fn is_broken(&self) -> bool {
        matches!(self, Self::Shown(of) if of.kills.violations > 0 || of.states.violations > 0)
    }

    /// Combines the experiments in one tier with the same engine version, each with its run.
    fn from_tests(tier: Durability, version: &str, tried: &[(&Outcome, &Tested)]) -> Self {
        let tries = |experiment: Experiment| {
            let all = tried.iter().map(|(_, tested)| *tested);
            Tries::sum(all.filter(|tested| {
                tested.experiment == experiment && experiment.is_survived_by(tier)
            }))
        };
        let (kills, states) = (tries(Experiment::Kill), tries(Experiment::PowerCut));
        if kills.violations == 0 && states.violations == 0 {
            match (kills.tried, states.tried) {
                (0, 0) => return Self::ByManual(Why::NeverTried),
                (0, states) => return Self::ByManual(Why::NoKill(states)),
                (kills, 0) if Experiment::PowerCut.is_survived_by(tier) => {
                    return Self::ByManual(Why::NoPowerCut(kills));
                }
                _ => {}
            }
        }
        let is_cut = |tested: &Tested| tested.experiment == Experiment::PowerCut;
        let cut = tried.iter().filter(|(_, tested)| states.tried > 0 && is_cut(tested));
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

/// The record that is part of embermark: result files without examples and without the list of what
/// was not tried. `embermark durability-record` writes it.
const SHIPPED: &str = include_str!("../durability/record.json");

/// Runs of `embermark durability`.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// Runs of the reader.
    own: Vec<Outcome>,
    /// Runs that are part of embermark.
    shipped: Vec<Outcome>,
}

/// A record without runs.
static EMPTY: Record = Record { own: Vec::new(), shipped: Vec::new() };

impl Default for &Record {
    /// Returns a record without runs.
    fn default() -> Self {
        &EMPTY
    }
}

impl Record {
    /// Combines a reader's own runs with the record that is part of embermark. If the own runs
    /// tested a tier of a version, only they count for it.
    ///
    /// # Panics
    /// If the file in the repository is not such a record, which a test rules out.
    pub fn with(own: Vec<Outcome>) -> Self {
        let shipped = serde_json::from_str(SHIPPED);
        Self { own, shipped: shipped.expect("the file of the repository is well-formed") }
    }

    /// Makes a record of one run.
    pub fn from_run(run: Outcome) -> Self {
        Self { own: vec![run], shipped: Vec::new() }
    }

    /// Returns the ids of the engines that were tested.
    pub fn engines(&self) -> Vec<&str> {
        let runs = self.own.iter().chain(&self.shipped);
        text::unique(runs.flat_map(|run| &run.tested).map(|one| one.engine.as_str()))
    }

    /// Returns the evidence for a tier of an engine ([`Tested::subject`]) whose setting keeps
    /// `effective`. `None` if the tier promises nothing, or if the setting keeps less than the
    /// tier.
    pub fn standing(
        &self,
        engine: &str,
        version: &str,
        tier: Durability,
        effective: Durability,
    ) -> Option<Standing> {
        if tier == Durability::None || effective < tier {
            return None;
        }
        let mut others = Vec::new();
        let mut in_part = None;
        for runs in [&self.own, &self.shipped] {
            let mut tried = tests_of_version(runs, engine, version);
            tried.retain(|(_, tested)| tested.effective() == effective);
            // Those of a setting that keeps the same count if the requested tier has none.
            if tried.iter().any(|(_, tested)| tested.durability == tier) {
                tried.retain(|(_, tested)| tested.durability == tier);
            }
            match Standing::from_tests(tier, version, &tried) {
                shown @ Standing::Shown(_) => return Some(shown),
                Standing::ByManual(Why::NeverTried) => {}
                by_manual => in_part = in_part.or(Some(by_manual)),
            }
            let tested = runs.iter().flat_map(|run| &run.tested);
            let tested = tested.filter(|one| one.subject() == engine);
            let versions = tested.map(|one| one.version.clone());
            others.extend(versions.filter(|other| !is_same(other, version)));
        }
        let why = match others.is_empty() {
            true => Why::NeverTried,
            false => Why::OtherVersions(text::unique(others)),
        };
        in_part.or(Some(Standing::ByManual(why)))
    }

    /// Returns the tests of an engine's version with their runs. The reader's own runs are used if
    /// they tested it.
    pub(crate) fn tested(&self, engine: &str, version: &str) -> Vec<(&Outcome, &Tested)> {
        let own = tests_of_version(&self.own, engine, version);
        if own.is_empty() { tests_of_version(&self.shipped, engine, version) } else { own }
    }

    /// Whether a run is part of embermark.
    pub(crate) fn ships(&self, run: &Outcome) -> bool {
        self.shipped.iter().any(|shipped| std::ptr::eq(shipped, run))
    }
}

/// Returns the tests of an engine's version with their runs.
fn tests_of_version<'a>(
    runs: &'a [Outcome],
    engine: &str,
    version: &str,
) -> Vec<(&'a Outcome, &'a Tested)> {
    let all = runs.iter().flat_map(|run| run.tested.iter().map(move |one| (run, one)));
    all.filter(|(_, one)| one.subject() == engine && is_same(&one.version, version)).collect()
}

/// Whether two texts name one version. A running server also reports its package, which its program
/// does not: `15.18 (Debian 15.18-0+deb12u1)`, `10.11.19-MariaDB-0+deb12u1`.
fn is_same(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    long.strip_prefix(short).is_some_and(|rest| {
        let mut rest = rest.chars();
        match rest.next() {
            None => true,
            Some(' ') => !short.is_empty(),
            Some('-') => !short.is_empty() && rest.next().is_some_and(char::is_uppercase),
            Some(_) => false,
        }
    })
}

#[cfg(test)]
mod tests;
