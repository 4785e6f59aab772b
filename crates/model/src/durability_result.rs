//! The result file of `embermark durability`: what was asked, and what came of every experiment.
//! `docs/result-journals.md` describes it for readers. A field added later is optional, so that a file
//! written today stays readable.

mod full_disk;
mod tested;
mod verdict;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use full_disk::{Deletes, Fill, FullDisk, GoesOn, Said, Stopped, Tried};
pub use tested::{CommitIo, Example, Exhaustive, Experiment, Loss, Tested};
pub use verdict::Verdict;

use crate::{Configurations, Durability, EngineLibrary, Storage};

/// Version of the result file and of its journal, whose first line names it. Another one is written
/// when an old reader could misread a new file.
pub const SCHEMA: &str = "embermark-durability-1";

/// What a run was asked, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// [`SCHEMA`].
    pub schema: String,
    /// When it began, RFC 3339, UTC.
    pub begun: String,
    /// Version of embermark.
    pub embermark: String,
    /// Kernel and its version.
    pub kernel: String,
    /// Ids of the engines and names of configurations, in the order of the table.
    pub engines: Vec<String>,
    /// Those of them that were named by their ids: they are tried in tiers, too, that they are not offered in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub named: Vec<String>,
    /// Shared libraries that are engines, by the engines' ids.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub engine_libraries: BTreeMap<String, EngineLibrary>,
    /// The configurations, by name.
    #[serde(default, skip_serializing_if = "Configurations::is_empty")]
    pub configurations: Configurations,
    /// Tiers.
    pub durabilities: Vec<Durability>,
    /// States to look at for each engine and tier, at most, without second cuts.
    pub states: u32,
    /// The same of a server.
    #[serde(default)]
    pub server_states: u32,
    /// Short works of which every state is looked at, for each embedded engine and tier, at most.
    #[serde(default)]
    pub short_works: u32,
    /// Kills for each engine and tier.
    pub kills: u32,
    /// Clients that commit at the same time; 0 for as many as are usual.
    #[serde(default)]
    pub clients: u32,
    /// Ids of the engines whose licence forbids publishing, and was accepted.
    #[serde(default)]
    pub accepted_licences: Vec<String>,
    /// The file system under a database whose power is cut.
    pub file_system: String,
    /// Whether the power of a device that lies is cut, too.
    #[serde(default)]
    pub device_lies: bool,
    /// For how many seconds the commits of a recorded work go on, at least.
    #[serde(default)]
    pub over_s: u64,
    /// File systems to fill, for each engine and tier.
    #[serde(default)]
    pub fills: u32,
    /// Bytes of each, of an embedded engine. Absent where none is filled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_bytes: Option<u64>,
    /// The storage that is imitated below a database whose processes are killed; absent: this machine's own disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<Storage>,
    /// Seed.
    pub seed: u64,
}

/// An experiment that was not made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotTried {
    /// The engine's id, or the name of a configuration.
    pub engine: String,
    /// The tier.
    pub durability: Durability,
    /// The experiment.
    pub experiment: Experiment,
    /// Why.
    pub why: String,
    /// Whether it was begun: the engine did not do the work undisturbed, or the experiment broke.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
}

/// The result file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// What was asked, and where.
    #[serde(flatten)]
    pub head: Head,
    /// The experiments that were made, in the order in which they ended.
    pub tested: Vec<Tested>,
    /// Those that were not.
    #[serde(default)]
    pub not_tried: Vec<NotTried>,
}

impl Outcome {
    /// Whether an experiment has ended, or will not be made.
    pub fn has(&self, engine: &str, durability: Durability, experiment: Experiment) -> bool {
        let is = |e: &str, d, x| e == engine && d == durability && x == experiment;
        self.tested.iter().any(|t| is(&t.engine, t.durability, t.experiment))
            || self.not_tried.iter().any(|n| is(&n.engine, n.durability, n.experiment))
    }

    /// Without the engines that are not to be `kept`.
    #[must_use]
    pub fn only(mut self, kept: impl Fn(&str) -> bool) -> Self {
        self.head.engines.retain(|engine| kept(engine));
        self.head.named.retain(|engine| kept(engine));
        self.tested.retain(|tested| kept(&tested.engine));
        self.not_tried.retain(|not| kept(&not.engine));
        self
    }

    /// Whether a promise was broken, or an experiment failed.
    pub fn is_failure(&self) -> bool {
        self.tested.iter().any(|tested| tested.violations() > 0)
            || self.not_tried.iter().any(|not| not.failed)
    }
}
