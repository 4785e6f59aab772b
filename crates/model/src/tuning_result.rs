//! Result of `embermark tune`: the file `tune.json`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::result::Machine;
use crate::{Durability, Storage};

/// Settings that replace embermark's own, by name.
pub type Set = BTreeMap<String, String>;

/// Formats settings: `mmap_size=0, page_size=8192`.
pub fn words(set: &Set) -> String {
    let words: Vec<String> = set.iter().map(|(name, value)| format!("{name}={value}")).collect();
    words.join(", ")
}

/// Whether settings keep the tier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kept")]
pub enum Kept {
    /// These numbers of kills and power cuts lost nothing that the tier promises.
    Shown {
        /// Number of kills of the process.
        kills: u32,
        /// Number of disk states after a power cut.
        states: u32,
    },
    /// Only according to the manual.
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

/// Outcome of a candidate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "outcome")]
pub enum Outcome {
    /// It is part of the winner.
    Taken,
    /// It was not faster.
    NotFaster,
    /// It was faster by itself, but not in addition to what was taken.
    NotOnTop,
    /// Another candidate was taken that changes the same setting.
    Instead,
    /// It was faster but broke the tier.
    Broken {
        /// What was lost.
        lost: String,
    },
    /// It was not tried, because its manual says that it keeps a weaker tier.
    Weaker {
        /// The strongest tier that it keeps.
        keeps: Durability,
        /// What it costs.
        trades: String,
        /// Page of the manual.
        manual: String,
    },
    /// It could not be measured.
    Out {
        /// The reason.
        why: String,
    },
}

/// A candidate.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Tried {
    /// Settings.
    pub set: Set,
    /// Number of its trials next to the current settings.
    pub trials: u32,
    /// Speedup over the current settings in them: the geometric mean over phases.
    pub gain: Option<f64>,
    /// Outcome.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// The winner's gain over the current settings, in trials that the search did not use.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Gain {
    /// Speedup: the geometric mean over phases.
    pub ratio: f64,
    /// 95 % confidence interval.
    pub interval: Option<[f64; 2]>,
    /// Number of trials of each.
    pub trials: u32,
    /// Speedup per phase.
    pub phases: BTreeMap<String, f64>,
}

impl Gain {
    /// Smallest ratio that counts as a gain.
    pub const LEAST: f64 = 1.05;

    /// Whether this is a gain: at least [`LEAST`](Self::LEAST), and not by chance.
    pub fn is_one(&self) -> bool {
        self.ratio >= Self::LEAST && self.interval.is_some_and(|[low, _]| low > 1.0)
    }
}

/// Result of a search.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SearchResult {
    /// The settings that replace the current ones. Empty if none were better.
    pub winner: Set,
    /// Their gain, if they were measured again.
    pub gain: Option<Gain>,
    /// Whether they keep the tier.
    pub kept: Option<Kept>,
    /// The candidates, largest gain first.
    pub tried: Vec<Tried>,
    /// What was left out because the time was over, in words.
    pub left_out: Vec<String>,
}

impl SearchResult {
    /// Returns the winner if it gains.
    pub fn better(&self) -> Option<(&Set, &Gain)> {
        let gain = self.gain.as_ref().filter(|gain| gain.is_one())?;
        Some((&self.winner, gain))
    }
}

/// Result for one engine, and its costs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Tuned {
    /// Engine.
    pub engine: String,
    /// The current settings that replace embermark's own.
    pub today: Set,
    /// Result of the search.
    #[serde(flatten)]
    pub found: SearchResult,
    /// Resources that the current settings and the winner used, if they were measured again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uses: Option<[Uses; 2]>,
    /// How a program applies the settings: the current ones, and those with the winner's added.
    pub in_a_program: [Vec<String>; 2],
    /// The candidates that were taken, each with its costs and the manual's page.
    pub because: Vec<Because>,
    /// Duration of the search in seconds.
    pub seconds: f64,
    /// Directory of the last run.
    pub last_run: PathBuf,
}

/// Resources of the cells of a column. Absent means not measured.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Uses {
    /// Largest resident memory, in bytes.
    pub memory: Option<f64>,
    /// Size on disk of rows loaded once, in bytes.
    pub disk: Option<f64>,
    /// Time to open the database in ns.
    pub open: Option<f64>,
}

/// Why a candidate was tried.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Because {
    /// Settings.
    pub set: Set,
    /// What they cost, in words.
    pub trades: String,
    /// Page of the manual.
    pub manual: String,
}

/// The whole result.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TuningResult {
    /// Version of the format.
    pub embermark_tune: u32,
    /// The workloads that the engines were tuned for.
    pub workloads: Vec<String>,
    /// What a commit must survive.
    pub tier: Durability,
    /// The imitated storage below the databases. Absent: this machine's own disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<Storage>,
    /// The machine.
    pub machine: Option<Machine>,
    /// Results, by the engine's id or the name of its configuration.
    pub engines: BTreeMap<String, Tuned>,
}

impl TuningResult {
    /// Version of the format that this build writes.
    pub const VERSION: u32 = 1;
}
