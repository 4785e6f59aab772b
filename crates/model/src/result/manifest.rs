//! The manifest of a result: the tool, the machine and the engines behind the figures.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{EnergyMeasurement, Machine, StoragePath, Trial, Wear};
use crate::plan::Dataset;
use crate::{CellId, Configuration, Scale};

/// The tool, the machine and the engines behind the figures.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Manifest {
    /// A unique name for this run.
    pub run_id: String,
    /// When the run began, RFC 3339, UTC.
    pub started: String,
    /// When the run ended; absent if it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished: Option<String>,
    /// The tool that measured.
    pub tool: Tool,
    /// The machine.
    pub machine: Machine,
    /// The rows, by workload.
    pub datasets: BTreeMap<String, Dataset>,
    /// Cost of the harness itself on an engine that does nothing, measured in this run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<Floor>,
    /// Why the bytes that reach storage were not counted, or not of every cell; absent if they
    /// were, or if counting was off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_counted: Option<String>,
    /// The cost of the path to an imitated storage on this machine, if one was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage_path: Option<StoragePath>,
    /// Why no card was modelled, or not for every cell; absent if cards were modelled, or if none
    /// was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_modelled: Option<String>,
    /// What may have disturbed the figures, and what to do about it.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// Facts about the engines, by id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub engines: BTreeMap<String, EngineFacts>,
    /// The first trial, repeated after the last one; absent if it was not repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<Drift>,
    /// What measured energy, or why nothing did; absent in files of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<EnergyMeasurement>,
    /// The wear that the disk reports; absent in files of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wear: Option<Wear>,
    /// The machines of the clients by name, when clients on several machines used one server.
    /// `machine` then has what they have in common.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub client_machines: BTreeMap<String, Machine>,
}

/// Facts about an engine, as its adapter reports them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct EngineFacts {
    /// The name of the engine.
    pub name: String,
    /// `embedded`, `server` or `reference`.
    pub kind: String,
    /// Its data model: `SQL`, `key-value`, `document` or `series`.
    #[serde(alias = "family")]
    pub data_model: String,
    /// Licence of what is linked or started.
    pub licence: String,
    /// The configuration, for an engine with settings of the user's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configuration: Option<Configuration>,
    /// The library that contains the engine, if it is not a part of embermark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine_library: Option<EngineLibraryFacts>,
}

/// A shared library that the user gave as an engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct EngineLibraryFacts {
    /// The name of its file.
    pub file: String,
    /// The version of its engine, as the library reports it.
    pub version: String,
    /// SHA-256 of the file, in hexadecimal.
    pub sha256: String,
}

/// The first trial of a run, repeated at its end. A difference shows that the machine changed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Drift {
    /// The cell of both trials.
    pub cell: CellId,
    /// [`Trial::index`] of the first one, which is among the cell's trials.
    pub first: u32,
    /// The second one. It is not among the trials of its cell and is in no figure.
    pub again: Trial,
}

/// The tool that measured.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Tool {
    /// embermark's version.
    pub version: String,
    /// The commit it was built from, with `-dirty` when the tree had changes; absent outside git.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// `release` or `debug`.
    pub profile: String,
}

/// Cost of the harness itself, measured with the `null` engine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Floor {
    /// Median nanoseconds per point read of `sensors`, key encoding and answer check included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ns: Option<f64>,
    /// Median nanoseconds per operation, by workload and phase.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub phases: BTreeMap<String, BTreeMap<String, f64>>,
    /// Peak resident memory in bytes, by workload, scale and phase, without what the process held
    /// before.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub peak_bytes: BTreeMap<String, BTreeMap<String, BTreeMap<String, u64>>>,
}

impl Floor {
    /// Returns the peak memory over some phases of a workload at a scale; `None` if none was
    /// measured.
    pub fn peak_of(&self, workload: &str, scale: Scale, phases: &[&str]) -> Option<u64> {
        let own = self.peak_bytes.get(workload)?.get(&scale.to_string())?;
        phases.iter().filter_map(|phase| own.get(*phase)).max().copied()
    }
}
