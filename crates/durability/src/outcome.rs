//! What came of an experiment.

use std::collections::BTreeMap;

use embermark_model::Durability;
use serde::{Deserialize, Serialize};

use crate::oracle::Verdict;

/// How a database is interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Experiment {
    /// The process tree is killed; what the operating system was handed stays.
    Kill,
    /// The power is cut: what the device had not been told to keep may be lost.
    PowerCut,
}

impl Experiment {
    /// In the words of a report.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::PowerCut => "power cut",
        }
    }

    /// Whether a tier promises to survive it.
    pub fn is_survived_by(self, tier: Durability) -> bool {
        match self {
            Self::Kill => tier >= Durability::Process,
            Self::PowerCut => tier >= Durability::Power,
        }
    }
}

/// One experiment with one engine in one tier.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Tested {
    /// The engine's id.
    pub engine: String,
    /// Its version.
    pub version: String,
    /// The tier asked for.
    pub durability: Durability,
    /// What its setting is said to keep, where that is another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_durability: Option<Durability>,
    /// The experiment.
    pub experiment: Experiment,
    /// States or kills that were looked at.
    pub tried: u32,
    /// Of these, states that the file system itself did not survive: nothing is said of the engine.
    #[serde(default)]
    pub not_mounted: u32,
    /// How many ended how.
    pub verdicts: BTreeMap<Verdict, u32>,
    /// Commits lost and for how long they had been acknowledged, where only commits from some point on
    /// were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<Loss>,
    /// Median time to open what was left, in ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_ns: Option<u64>,
    /// What each commit brought to the device, on average.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitIo>,
    /// An example of each verdict that is none to be content with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Example>,
}

impl Tested {
    /// How many tries broke what the tier promises: none where it does not promise to survive this.
    pub fn violations(&self) -> u32 {
        let kept = self.effective_durability.unwrap_or(self.durability);
        if !self.experiment.is_survived_by(kept) {
            return 0;
        }
        self.broken()
    }

    /// How many tries did not hold, promised or not.
    pub fn broken(&self) -> u32 {
        let broken = self.verdicts.iter().filter(|(verdict, _)| **verdict != Verdict::Holds);
        broken.map(|(_, count)| count).sum()
    }
}

/// The window of loss.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Loss {
    /// Commits, median over all tries.
    pub median_commits: u64,
    /// Commits, at worst.
    pub worst_commits: u64,
    /// How long the oldest lost commit had been acknowledged, in ms, at worst.
    pub worst_ms: f64,
}

/// What commits brought to a device.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommitIo {
    /// Commits counted.
    pub commits: u64,
    /// Bytes written.
    pub bytes: u64,
    /// Flushes.
    pub flushes: u64,
}

/// A try that did not hold.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Example {
    /// The verdict.
    pub verdict: Verdict,
    /// Which try: the cut, or the number of the kill.
    pub of: String,
    /// Commits acknowledged before.
    pub acknowledged: u64,
    /// The last commit that was there, where that can be said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<u64>,
    /// What the engine said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Gathers what tries showed.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    pub tried: u32,
    pub not_mounted: u32,
    verdicts: BTreeMap<Verdict, u32>,
    lost: Vec<(u64, f64)>,
    opened: Vec<u64>,
    examples: Vec<Example>,
}

impl Gathered {
    /// One try: what was seen, how many commits it had lost, and for how long these had been
    /// acknowledged.
    pub(crate) fn add(&mut self, example: Example, open_ns: Option<u64>, lost: Option<(u64, f64)>) {
        self.tried += 1;
        *self.verdicts.entry(example.verdict).or_default() += 1;
        self.lost.extend(lost);
        self.opened.extend(open_ns);
        let verdict = example.verdict;
        let known = self.examples.iter().any(|other| other.verdict == verdict);
        if verdict != Verdict::Holds && !known {
            self.examples.push(example);
        }
    }

    /// The whole.
    pub(crate) fn ended(mut self, of: Tested) -> Tested {
        self.opened.sort_unstable();
        self.lost.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
        let loss = self.lost.last().filter(|(worst, _)| *worst > 0).map(|(worst, _)| Loss {
            median_commits: self.lost[self.lost.len() / 2].0,
            worst_commits: *worst,
            worst_ms: self.lost.iter().map(|(_, ms)| *ms).fold(0.0, f64::max),
        });
        Tested {
            tried: self.tried,
            not_mounted: self.not_mounted,
            verdicts: self.verdicts,
            loss,
            open_ns: self.opened.get(self.opened.len() / 2).copied(),
            examples: self.examples,
            ..of
        }
    }
}
