//! What `embermark tune` found: the file `tune.json`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::result::Machine;
use crate::{Durability, Storage};

/// Settings in place of embermark's own, by name.
pub type Set = BTreeMap<String, String>;

/// `mmap_size=0, page_size=8192`.
pub fn words(set: &Set) -> String {
    let words: Vec<String> = set.iter().map(|(name, value)| format!("{name}={value}")).collect();
    words.join(", ")
}

/// Whether settings keep the tier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// It was not tried, because it keeps a weaker tier by its manual.
    Weaker {
        /// The strongest tier that it keeps.
        keeps: Durability,
        /// What it trades.
        trades: String,
        /// The manual's page.
        manual: String,
    },
    /// It could not be measured.
    Out {
        /// Why.
        why: String,
    },
}

/// A candidate.
#[derive(Clone, Debug, Serialize, Deserialize)]
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
#[derive(Clone, Debug, Serialize, Deserialize)]
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
#[derive(Clone, Debug, Serialize, Deserialize)]
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

/// What was found of one engine, and what it costs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Tuned {
    /// The engine.
    pub engine: String,
    /// The settings it had in place of embermark's.
    pub today: Set,
    /// What the search found.
    #[serde(flatten)]
    pub found: Found,
    /// What today's settings and the winner used, where they were measured again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uses: Option<[Uses; 2]>,
    /// How a program has them: today's, and with the winner's on top.
    pub in_a_program: [Vec<String>; 2],
    /// Each candidate that was taken, with its trade and the manual's page.
    pub because: Vec<Because>,
    /// How long the search took, in seconds.
    pub seconds: f64,
    /// The folder of the last run.
    pub last_run: PathBuf,
}

/// What the cells of a column used: absent was not measured.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Uses {
    /// Largest resident memory, in bytes.
    pub memory: Option<f64>,
    /// Size on disk of rows loaded once, in bytes.
    pub disk: Option<f64>,
    /// Time to open it, in ns.
    pub open: Option<f64>,
}

/// Why a candidate is one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Because {
    /// Its settings.
    pub set: Set,
    /// What they cost, in words.
    pub trades: String,
    /// The manual's page.
    pub manual: String,
}

/// All of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TuningResult {
    /// The version of this form.
    pub embermark_tune: u32,
    /// What the engines were tuned for.
    pub workloads: Vec<String>,
    /// What a commit must survive.
    pub tier: Durability,
    /// The storage that was imitated below the databases; absent: this machine's own disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<Storage>,
    /// Where.
    pub machine: Option<Machine>,
    /// What was found, by the engine's id or the name of its configuration.
    pub engines: BTreeMap<String, Tuned>,
}

impl TuningResult {
    /// The version of the form that this build writes.
    pub const VERSION: u32 = 1;
}
