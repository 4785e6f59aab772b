//! What a search found.

use std::collections::BTreeMap;

use serde::Serialize;

/// Settings in place of embermark's own, by name.
pub type Set = BTreeMap<String, String>;

/// `mmap_size=0, page_size=8192`.
pub fn words(set: &Set) -> String {
    let words: Vec<String> = set.iter().map(|(name, value)| format!("{name}={value}")).collect();
    words.join(", ")
}

/// What trials of a column came to: of today's settings, or of a candidate.
#[derive(Clone, Debug)]
pub enum Ended {
    /// By trial and phase the time of an operation in ns.
    Times(Vec<BTreeMap<String, f64>>),
    /// It takes part no more, for this reason.
    Out(String),
}

/// Columns in the order in which they were asked for.
pub type Columns = Vec<Ended>;

/// Whether settings keep the tier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kept")]
pub enum Kept {
    /// So many kills and power cuts lost nothing that the tier promises.
    Shown {
        /// Kills of the process.
        kills: u32,
        /// States of a disk after a power cut.
        states: u32,
    },
    /// By the manual alone.
    ByManual {
        /// Why it was not tried.
        why: String,
    },
    /// They lost what the tier promises.
    Broken {
        /// What was lost, in how many tries.
        lost: String,
    },
}

/// What became of a candidate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "outcome")]
pub enum Outcome {
    /// It is part of the winner.
    Taken,
    /// It was not faster.
    NotFaster,
    /// It was faster by itself, and not on top of what was taken.
    NotOnTop,
    /// Something was taken that sets the same.
    Instead,
    /// It was faster and broke the tier.
    Broken {
        /// What was lost.
        lost: String,
    },
    /// It could not be measured.
    Out {
        /// Why.
        why: String,
    },
}

/// A candidate that was tried.
#[derive(Clone, Debug, Serialize)]
pub struct Tried {
    /// Its settings.
    pub set: Set,
    /// Trials of it beside today's settings.
    pub trials: u32,
    /// How many times as fast as today's settings it was in them, by the geometric mean over phases.
    pub gain: Option<f64>,
    /// What became of it.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// What the winner gains over today's settings, of trials that the search did not see.
#[derive(Clone, Debug, Serialize)]
pub struct Gain {
    /// How many times as fast, by the geometric mean over phases.
    pub ratio: f64,
    /// Its 95 % interval.
    pub interval: Option<[f64; 2]>,
    /// Trials of each.
    pub trials: u32,
    /// By phase how many times as fast.
    pub phases: BTreeMap<String, f64>,
}

impl Gain {
    /// A smaller gain does not count as one.
    pub const LEAST: f64 = 1.05;

    /// Whether it is one: at least [`LEAST`](Self::LEAST), and not by chance.
    pub fn is_one(&self) -> bool {
        self.ratio >= Self::LEAST && self.interval.is_some_and(|[low, _]| low > 1.0)
    }
}

/// What a search found.
#[derive(Clone, Debug, Serialize)]
pub struct Found {
    /// The settings that were taken, in place of today's; empty where none was better.
    pub winner: Set,
    /// What they gain, where they were measured again.
    pub gain: Option<Gain>,
    /// Whether they keep the tier.
    pub kept: Option<Kept>,
    /// The candidates, those that gained most first.
    pub tried: Vec<Tried>,
    /// What was left out because the time was over, in words.
    pub left_out: Vec<String>,
}

impl Found {
    /// The winner, where it gains.
    pub fn better(&self) -> Option<(&Set, &Gain)> {
        let gain = self.gain.as_ref().filter(|gain| gain.is_one())?;
        Some((&self.winner, gain))
    }
}
