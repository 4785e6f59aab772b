//! What came of an experiment.

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
    /// The process tree is killed; what the operating system was handed stays.
    Kill,
    /// The power is cut: what the device had not been told to keep may be lost.
    PowerCut,
    /// The same on a device that does not do every flush that it answers, or loses what lies beside a
    /// write. No tier promises anything then: what is found is the device's fault.
    DeviceLies,
    /// The disk becomes full by the work, and later has room again. Nothing is interrupted, but a copy of
    /// it is opened as it was at one moment, as if all processes had been killed then.
    FullDisk,
}

impl Experiment {
    /// In the words of a report.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::PowerCut => "power cut",
            Self::DeviceLies => "device lies",
            Self::FullDisk => "full disk",
        }
    }

    /// What so many of its tries are: `100 kills`, `375 states`.
    pub fn tries(self, count: u32) -> String {
        let unit = match self {
            Self::Kill => "kill",
            Self::PowerCut | Self::DeviceLies => "state",
            Self::FullDisk => "full disk",
        };
        format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
    }

    /// Whether a tier promises to survive it.
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
    /// The engine's id, or the name of a configuration.
    pub engine: String,
    /// The engine and the settings, of a configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configuration: Option<Configuration>,
    /// Its version.
    pub version: String,
    /// The tier asked for.
    pub durability: Durability,
    /// What its setting is said to keep, where that is another. Of a configuration its author says that,
    /// by the tier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_durability: Option<Durability>,
    /// The experiment.
    pub experiment: Experiment,
    /// States, kills or full disks that were looked at.
    pub tried: u32,
    /// Of these, states that a second cut left, during the recovery from a first one or shortly after.
    #[serde(default)]
    pub second: u32,
    /// Further states, that the file system itself did not survive: nothing is said of the engine.
    #[serde(default)]
    pub not_mounted: u32,
    /// Tries that broke what a tier that survives the experiment promises, after a write that was torn
    /// within a block of 4 KiB. A device of such sectors does not do that.
    #[serde(default)]
    pub torn_blocks: u32,
    /// What of these was tried of short works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exhaustive: Option<Exhaustive>,
    /// How many ended how.
    pub verdicts: BTreeMap<Verdict, u32>,
    /// Commits lost, where only commits from some point on were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<Loss>,
    /// Median time to open what was left, in ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_ns: Option<u64>,
    /// The same after a clean close.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clean_open_ns: Option<u64>,
    /// What each commit brought to the device, on average.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitIo>,
    /// What it did when its disk was full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_disk: Option<FullDisk>,
    /// How long the experiment took, in ms.
    #[serde(default)]
    pub took_ms: u64,
    /// An example of each verdict that does not hold: of several one without a torn block, and of these
    /// the one with the fewest commits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Example>,
}

impl Tested {
    /// Whether the tier, as the setting keeps it, promises to survive the experiment.
    pub fn is_promised(&self) -> bool {
        self.experiment.is_survived_by(self.effective())
    }

    /// What was tried: an engine by its id, or a configuration by its engine and settings, whatever its
    /// name and wherever its library is.
    pub fn subject(&self) -> String {
        let own = self.configuration.as_ref().map(Configuration::subject);
        own.unwrap_or_else(|| self.engine.clone())
    }

    /// The tier that its setting keeps.
    pub fn effective(&self) -> Durability {
        self.effective_durability.unwrap_or(self.durability)
    }

    /// How many tries broke what the tier promises: none where it does not promise to survive this.
    pub fn violations(&self) -> u32 {
        if self.is_promised() { self.broken() } else { 0 }
    }

    /// How many tries ended in what a tier that survives the experiment rules out.
    pub fn broken(&self) -> u32 {
        let broken = self.verdicts.iter().filter(|(verdict, _)| verdict.is_violation());
        broken.map(|(_, count)| count).sum()
    }
}

/// Short works, each in every state that a cut could leave, within the bounds of `every_state` of the
/// device's log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exhaustive {
    /// Works.
    pub works: u32,
    /// States of all of them.
    pub states: u32,
    /// How many of these were opened: of states of a work in which the database's files were the same,
    /// with the same promise, one.
    pub opened: u32,
}

/// The window of loss.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Loss {
    /// Commits, median over all tries.
    pub median_commits: u64,
    /// Commits, at worst.
    pub worst_commits: u64,
    /// How long the oldest lost commit had been acknowledged, in ms, median over all tries; 0 where
    /// none was lost.
    pub median_ms: f64,
    /// The same, at worst.
    pub worst_ms: f64,
    /// At worst everything was lost: of a longer work more may be.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub everything: bool,
}

/// What commits brought to a device.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CommitIo {
    /// Commits counted.
    pub commits: u64,
    /// Bytes written.
    pub bytes: u64,
    /// Flushes.
    pub flushes: u64,
}

/// A try that did not hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Example {
    /// The verdict.
    pub verdict: Verdict,
    /// Which try: the cut, or the number of the kill.
    pub of: String,
    /// The last commit acknowledged before; 0 where not even the table was.
    pub acknowledged: u64,
    /// The last commit that was there, where that can be said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<u64>,
    /// What the engine said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Where it is kept, when a promise was broken: the image of a device, or the folder of a database
    /// that was opened since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<PathBuf>,
}
