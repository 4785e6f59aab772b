//! The result file of `embermark durability`: the request and the outcome of every experiment.
//! `docs/result-journals.md` describes it for readers. A field added later is optional, so that a
//! file written today stays readable.

mod full_disk;
mod tested;
mod verdict;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use full_disk::{CommitRecovery, DeleteOutcome, Fill, FullDisk, Observation, Stopped, Tried};
pub use tested::{CommitIo, Example, Exhaustive, Experiment, Loss, Tested};
pub use verdict::Verdict;

use crate::{Configurations, Durability, EngineLibrary, Storage};

/// Version of the result file and of its journal, which is in the journal's first line. It changes
/// when an old reader could misread a new file.
pub const SCHEMA: &str = "embermark-durability-1";

/// The request of a run, and the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// [`SCHEMA`].
    pub schema: String,
    /// When the run began, RFC 3339, UTC.
    pub begun: String,
    /// Version of embermark.
    pub embermark: String,
    /// Kernel name and version.
    pub kernel: String,
    /// Ids of engines and names of configurations, in the order of the table.
    pub engines: Vec<String>,
    /// Engines that were requested by id. They are also tried in tiers that they do not offer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub named: Vec<String>,
    /// Shared libraries that are engines, by engine id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub engine_libraries: BTreeMap<String, EngineLibrary>,
    /// Configurations, by name.
    #[serde(default, skip_serializing_if = "Configurations::is_empty")]
    pub configurations: Configurations,
    /// Durability tiers.
    pub durabilities: Vec<Durability>,
    /// Largest number of states to examine per engine and tier, without second cuts.
    pub states: u32,
    /// The same for a server.
    #[serde(default)]
    pub server_states: u32,
    /// Largest number of short works whose every state is examined, per embedded engine and tier.
    #[serde(default)]
    pub short_works: u32,
    /// Number of kills per engine and tier.
    pub kills: u32,
    /// Number of clients that commit at the same time. 0 for the usual number.
    #[serde(default)]
    pub clients: u32,
    /// Ids of engines whose licence forbids publishing and was accepted.
    #[serde(default)]
    pub accepted_licences: Vec<String>,
    /// File system of a database whose power is cut.
    pub file_system: String,
    /// Whether the power of a device that lies about flushes is cut, too.
    #[serde(default)]
    pub device_lies: bool,
    /// Shortest duration of the commits of a recorded work, in seconds.
    #[serde(default)]
    pub over_s: u64,
    /// Number of file systems to fill per engine and tier.
    #[serde(default)]
    pub fills: u32,
    /// Size of each of them in bytes for an embedded engine. Absent if none is filled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_bytes: Option<u64>,
    /// The imitated storage below a database whose processes are killed. Absent: this machine's own
    /// disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<Storage>,
    /// Seed.
    pub seed: u64,
}

/// An experiment that did not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotTried {
    /// Id of the engine or name of a configuration.
    pub engine: String,
    /// Durability tier.
    pub durability: Durability,
    /// The experiment.
    pub experiment: Experiment,
    /// The reason.
    pub why: String,
    /// Whether it began: the engine did not complete the undisturbed work, or the experiment
    /// failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
}

/// The result file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// The request, and the machine.
    #[serde(flatten)]
    pub head: Head,
    /// The experiments that ran, in the order in which they ended.
    pub tested: Vec<Tested>,
    /// The experiments that did not run.
    #[serde(default)]
    pub not_tried: Vec<NotTried>,
}

impl Outcome {
    /// Whether an experiment has ended or failed. One that could not begin may be possible later: as
    /// root, for example.
    pub fn has(&self, engine: &str, durability: Durability, experiment: Experiment) -> bool {
        let is = |e: &str, d, x| e == engine && d == durability && x == experiment;
        let mut failed = self.not_tried.iter().filter(|not| not.failed);
        self.tested.iter().any(|t| is(&t.engine, t.durability, t.experiment))
            || failed.any(|n| is(&n.engine, n.durability, n.experiment))
    }

    /// Adds an experiment that has ended.
    pub fn add_tested(&mut self, tested: Tested) {
        self.remove_not_tried(&tested.engine, tested.durability, tested.experiment);
        self.tested.push(tested);
    }

    /// Adds an experiment that did not run.
    pub fn add_not_tried(&mut self, not: NotTried) {
        self.remove_not_tried(&not.engine, not.durability, not.experiment);
        self.not_tried.push(not);
    }

    /// Removes why an experiment did not run before.
    fn remove_not_tried(&mut self, engine: &str, durability: Durability, experiment: Experiment) {
        let is = |not: &NotTried| {
            not.engine == engine && not.durability == durability && not.experiment == experiment
        };
        self.not_tried.retain(|not| !is(not));
    }

    /// Removes the engines for which `kept` is false.
    #[must_use]
    pub fn only(mut self, kept: impl Fn(&str) -> bool) -> Self {
        self.head.engines.retain(|engine| kept(engine));
        self.head.named.retain(|engine| kept(engine));
        self.tested.retain(|tested| kept(&tested.engine));
        self.not_tried.retain(|not| kept(&not.engine));
        self
    }

    /// Whether a promise was broken or an experiment failed.
    pub fn is_failure(&self) -> bool {
        self.tested.iter().any(|tested| tested.violations() > 0)
            || self.not_tried.iter().any(|not| not.failed)
    }
}
