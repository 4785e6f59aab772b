//! Outcome of an experiment.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{FullDisk, Verdict};
use crate::{Configuration, Durability};

/// How a database is interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum Experiment {
    /// The process tree is killed. What the operating system had received is kept.
    Kill,
    /// The power is cut. What the device had not been asked to flush may be lost.
    PowerCut,
    /// The power of a lying device is cut. Such a device skips some flushes that it acknowledges,
    /// or loses data next to a write. No tier promises to survive it: findings are the device's
    /// fault.
    DeviceLies,
    /// The work fills the disk, which later has room again. Nothing is interrupted, but a copy of
    /// the database from one point of time is opened, as if every process had been killed at that
    /// point.
    FullDisk,
}

impl Experiment {
    /// Returns the words that a report uses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::PowerCut => "power cut",
            Self::DeviceLies => "device lies",
            Self::FullDisk => "full disk",
        }
    }

    /// Formats a number of tries: `100 kills`, `375 states`.
    pub fn tries(self, count: u32) -> String {
        let unit = match self {
            Self::Kill => "kill",
            Self::PowerCut | Self::DeviceLies => "state",
            Self::FullDisk => "full disk",
        };
        format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
    }

    /// Whether a tier promises to survive the experiment.
    pub fn is_survived_by(self, tier: Durability) -> bool {
        match self {
            Self::Kill | Self::FullDisk => tier >= Durability::Process,
            Self::PowerCut => tier >= Durability::Power,
            Self::DeviceLies => false,
        }
    }
}

/// One experiment with one engine in one tier.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Tested {
    /// Id of the engine or name of a configuration.
    pub engine: String,
    /// The engine and settings of a configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configuration: Option<Configuration>,
    /// Version of the engine.
    pub version: String,
    /// The requested tier.
    pub durability: Durability,
    /// The tier that its setting is said to keep, if that differs. The author of a configuration
    /// states it by choosing the tier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_durability: Option<Durability>,
    /// The experiment.
    pub experiment: Experiment,
    /// Number of states, kills or full disks examined.
    pub tried: u32,
    /// Number of these that are states left by a second cut, during the recovery from the first or
    /// shortly after.
    #[serde(default)]
    pub second: u32,
    /// Number of further states that the file system itself did not survive. They say nothing about
    /// the engine.
    #[serde(default)]
    pub not_mounted: u32,
    /// Tries that broke the promise of a tier that survives the experiment, after a write that was
    /// torn within a block of 4 KiB. A device with sectors of that size never tears one.
    #[serde(default)]
    pub torn_blocks: u32,
    /// The part of the tries that used short works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exhaustive: Option<Exhaustive>,
    /// Number of tries per verdict.
    pub verdicts: BTreeMap<Verdict, u32>,
    /// The commits lost, if only commits after some point were lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<Loss>,
    /// Median time to open what was left, in ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_ns: Option<u64>,
    /// Median time to open the database after a clean close, in ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clean_open_ns: Option<u64>,
    /// What each commit wrote to the device, on average.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitIo>,
    /// What the engine did when its disk was full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_disk: Option<FullDisk>,
    /// Duration of the experiment in ms.
    #[serde(default)]
    pub took_ms: u64,
    /// One example of each verdict that does not hold. If there are several, it is one without a
    /// torn block, and among those the one with the fewest commits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Example>,
}

impl Tested {
    /// Whether the tier that the setting keeps promises to survive the experiment.
    pub fn is_promised(&self) -> bool {
        self.experiment.is_survived_by(self.effective())
    }

    /// Describes what was tried: an engine by its id, or a configuration by its engine and
    /// settings, without its name and library.
    pub fn subject(&self) -> String {
        let own = self.configuration.as_ref().map(Configuration::subject);
        own.unwrap_or_else(|| self.engine.clone())
    }

    /// Returns the tier that its setting keeps.
    pub fn effective(&self) -> Durability {
        self.effective_durability.unwrap_or(self.durability)
    }

    /// Returns the number of tries that broke the tier's promise: 0 if the tier does not promise to
    /// survive this.
    pub fn violations(&self) -> u32 {
        if self.is_promised() { self.broken() } else { 0 }
    }

    /// Returns the number of tries with a verdict that a tier which survives the experiment rules
    /// out.
    pub fn broken(&self) -> u32 {
        let broken = self.verdicts.iter().filter(|(verdict, _)| verdict.is_violation());
        broken.map(|(_, count)| *count).fold(0, u32::saturating_add)
    }
}

/// Short works, each examined in every state that a cut could leave, within the bounds of
/// `every_state` of the device's log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exhaustive {
    /// Number of works.
    pub works: u32,
    /// Number of states of all works.
    pub states: u32,
    /// Number of states that were opened. States of one work with equal database files and the same
    /// promise are opened once.
    pub opened: u32,
}

/// The window of loss.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Loss {
    /// Commits lost, median over all tries.
    pub median_commits: u64,
    /// Commits lost, worst try.
    pub worst_commits: u64,
    /// Time since the oldest lost commit was acknowledged, in ms, median over all tries. 0 if none
    /// was lost.
    pub median_ms: f64,
    /// The same in the worst try.
    pub worst_ms: f64,
    /// Whether the worst try lost everything. A longer work could then lose more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub everything: bool,
}

/// What commits wrote to a device.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CommitIo {
    /// Number of commits counted.
    pub commits: u64,
    /// Bytes written.
    pub bytes: u64,
    /// Number of flushes.
    pub flushes: u64,
}

/// A try that did not hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Example {
    /// Its verdict.
    pub verdict: Verdict,
    /// Identifies the try: the cut, or the number of the kill.
    pub of: String,
    /// The last commit acknowledged before. 0 if not even the table was.
    pub acknowledged: u64,
    /// The last commit that was found, if that can be determined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<u64>,
    /// The engine's message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Where it is kept if a promise was broken: the image of a device, or the directory of a
    /// database that has been opened since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<PathBuf>,
}
