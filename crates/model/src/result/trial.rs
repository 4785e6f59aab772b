//! A trial: one new process for one cell, and what was measured of the whole of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{FlashModel, PhaseResult, StorageTimes};
use crate::Status;
use crate::network::LinkUse;

/// One new process for one cell.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Trial {
    /// The number of the trial within the cell, from 0.
    pub index: u32,
    /// Position in the order of all trials of the run, from 0.
    pub order: u32,
    /// How the trial ended.
    pub status: Status,
    /// Why, when not ok.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Version of the engine that ran, as it reports itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Settings as read back from the engine.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// Resident memory of the worker before the engine was opened, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline_bytes: Option<u64>,
    /// Peak memory that counted against a limit: of the engine, and of the page cache of its files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limited_peak_bytes: Option<u64>,
    /// Time to open the engine (a server: to start it) in ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_ns: Option<u64>,
    /// The phases, in the order in which they ran.
    #[serde(default)]
    pub phases: Vec<PhaseResult>,
    /// Size of the data directory after the engine was closed. In the trial that counts: after one
    /// load and maintenance. In a timed one: after all its runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<DiskSize>,
    /// What reached the trial's disk from before the engine was opened until everything was
    /// written, if the trial had a disk of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_io: Option<DeviceIo>,
    /// How exactly the imitated storage of its cell kept its times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage_times: Option<StorageTimes>,
    /// What the imitated network link did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<LinkUse>,
    /// What modelled cards would have done, in the trial that counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flash: Vec<FlashModel>,
    /// CPU time that other programs and virtual machines took while the trial ran.
    #[serde(default, alias = "others", skip_serializing_if = "Option::is_none")]
    pub background_cpu: Option<BackgroundCpu>,
    /// Wall time of the whole trial in ns.
    pub wall_ns: u64,
    /// File with the worker's standard error, relative to the result file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
}

impl Trial {
    /// Sets the status of the trial to that of the first phase that ended worst, if that is worse.
    /// Unsupported, disputed and failed phases do not count: the first two concern only themselves,
    /// and what ended a trial is in the trial's own status. If there are no others, the first phase
    /// counts.
    pub fn update_status(&mut self) {
        let alone = |status: Status| status.concerns_only_phase() || status == Status::Failed;
        let counted = self.phases.iter().rev().filter(|phase| !alone(phase.status));
        let worst = counted.max_by_key(|phase| phase.status).or(self.phases.first());
        if let Some(worst) = worst.filter(|phase| phase.status > self.status) {
            let reason = worst.reason.as_ref();
            self.reason = reason.map(|reason| format!("{}: {reason}", worst.phase));
            self.status = worst.status;
        }
    }
}

/// What reached a block device that nothing else used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceIo {
    /// Bytes read from it.
    pub read_bytes: u64,
    /// Bytes written to it, those of the file system's own journal included.
    pub written_bytes: u64,
    /// Flushes of its cache, which a sync causes.
    pub flushes: u64,
}

/// CPU time that did not go to the trial while it ran, summed over all CPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackgroundCpu {
    /// CPU time of other programs, in ns, from the kernel's clock ticks.
    pub cpu_ns: u64,
    /// CPU time that the host of a virtual machine gave to other machines, in ns.
    pub stolen_ns: u64,
    /// All CPU time of that period, idle time included, in ns.
    #[serde(alias = "of_ns")]
    pub total_cpu_ns: u64,
}

/// Size of a directory on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskSize {
    /// Bytes of blocks allocated.
    pub allocated_bytes: u64,
    /// Sum of file lengths in bytes.
    pub apparent_bytes: u64,
}
