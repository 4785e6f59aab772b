//! The result file: versioned JSON with every raw run. `docs/result-format.md` describes it for
//! readers. A field added later is optional and a field renamed is read under its old name too, so
//! that a file written today stays readable.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::plan::{Dataset, Plan};
use crate::{CellId, Configuration, Durability, Scale, Status, StorageName};

mod client_machines;
mod disk_curve;
mod energy;
mod explained;
mod flash;
mod limits;
mod loaded;
mod repeated;
mod run;
mod storage;
mod timeline;
mod wear;
mod write_behind;

pub use client_machines::{ClientMachine, ClientMachines, ClockOffset};
pub use disk_curve::DiskCurve;
pub use energy::{Energy, EnergyMeasurement, EnergySource, Period};
pub use explained::{CallKind, Explained, OsCost, SystemCalls};
pub use flash::{FlashCost, FlashModel, FlashOfPhase, FlashWork};
pub use loaded::{Loaded, Maintenance};
pub use repeated::Repeated;
pub use run::{
    ClientRun, Counts, Execution, Latency, Observed, OpenLoopSchedule, PhaseKind, PhaseResult,
    Resources, Run,
};
pub use storage::{StoragePath, StorageTimes};
pub use timeline::{Round, Slice, SliceLatency, Stall, SteadyFigure, SteadyState, Timeline};
pub use wear::{Wear, WearCounter, WearUnit};
pub use write_behind::WriteBehind;

/// The version of the schema that is written. Raised when an old reader could misread or not read a
/// new file: schema 3 has other names for fields of schemas 1 and 2, schema 4 the status `not-run` and
/// lost trials apart. Older ones are read as well.
pub const SCHEMA: u32 = 4;

/// One run of embermark: what was asked, on what, and what came out.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ResultFile {
    /// [`SCHEMA`], or an older version.
    pub schema: u32,
    /// What the figures were measured with and on.
    pub manifest: Manifest,
    /// What was asked for.
    pub plan: Plan,
    /// Every cell asked for, in plan order.
    pub cells: Vec<Cell>,
}

impl ResultFile {
    /// The engines with figures that may not be published, in the order of the cells.
    pub fn unpublishable(&self) -> Vec<&str> {
        let mut engines = Vec::new();
        for cell in self.cells.iter().filter(|cell| cell.unpublishable && !cell.trials.is_empty()) {
            if !engines.contains(&cell.id.engine.as_str()) {
                engines.push(&cell.id.engine);
            }
        }
        engines
    }

    /// Without the figures that may not be published: their cells stay and say so.
    #[must_use]
    pub fn publishable(mut self) -> Self {
        let secret =
            |id: &CellId| self.cells.iter().any(|cell| cell.unpublishable && cell.id == *id);
        if self.manifest.drift.as_ref().is_some_and(|drift| secret(&drift.cell)) {
            self.manifest.drift = None;
        }
        let figures = |cell: &&mut Cell| cell.unpublishable && !cell.trials.is_empty();
        for cell in self.cells.iter_mut().filter(figures) {
            cell.trials.clear();
            cell.lost_trials.clear();
            cell.counting = None;
            cell.explaining = None;
            cell.status = Status::Unavailable;
            cell.reason = Some("left out: its licence forbids publishing figures".to_owned());
        }
        self
    }
}

/// What the figures were measured with and on.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Manifest {
    /// A name for this run that no other has.
    pub run_id: String,
    /// When it began, RFC 3339, UTC.
    pub started: String,
    /// When it ended; absent when it did not.
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
    /// Why what reaches storage was not counted; absent where it was, or was not to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_counted: Option<String>,
    /// What the way to an imitated storage takes on this machine, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage_path: Option<StoragePath>,
    /// Why no card was modelled; absent where they were, or none was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_modelled: Option<String>,
    /// What may have disturbed the figures, and what to do about it.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// What the engines are, by id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub engines: BTreeMap<String, EngineFacts>,
    /// The first trial made again after the last one; absent when it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<Drift>,
    /// What measured energy, or why nothing did; absent in files by versions that did not look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<EnergyMeasurement>,
    /// What the disk says of its wear; absent in files by versions that did not look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wear: Option<Wear>,
    /// Where clients on several machines used one server: each of them by its name. `machine` has then
    /// what all of them have in common.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub client_machines: BTreeMap<String, Machine>,
}

/// What an engine is, as its adapter says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineFacts {
    /// Its own name for itself.
    pub name: String,
    /// `embedded`, `server` or `reference`.
    pub kind: String,
    /// Its data model: `SQL`, `key-value`, `document` or `series`.
    #[serde(alias = "family")]
    pub data_model: String,
    /// Licence of what is linked or started.
    pub licence: String,
    /// The settings of its own that it has as a configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configuration: Option<Configuration>,
    /// Where it is no part of embermark, the library that it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine_library: Option<EngineLibraryFacts>,
}

/// A library that was given as an engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineLibraryFacts {
    /// The name of its file.
    pub file: String,
    /// The version that it says its engine is of.
    pub version: String,
    /// SHA-256 of the file, in hexadecimal.
    pub sha256: String,
}

/// The trial that a run began with, made once more at its end: what differs, the machine did.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Drift {
    /// The cell of both.
    pub cell: CellId,
    /// [`Trial::index`] of the first one, which stands among the cell's trials.
    pub first: u32,
    /// The second one: no trial of its cell, and in none of its figures.
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

/// The machine. What could not be read is absent, never a guess.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Machine {
    /// The board or the machine's model, as its firmware calls it, or that it is a virtual machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub board: Option<String>,
    /// CPU model.
    pub cpu: Option<String>,
    /// CPUs this process may run on.
    pub cpus: Option<u32>,
    /// Physical memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Bytes of a page of memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_bytes: Option<u64>,
    /// Limits of a container or a service that this process is under, by the names and in the units of
    /// cgroup v2: `memory.max`, `cpu.max`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub limits: BTreeMap<String, String>,
    /// Kernel name and release.
    pub kernel: Option<String>,
    /// Operating system, as it calls itself.
    pub os: Option<String>,
    /// CPU frequency governor.
    pub governor: Option<String>,
    /// Load average of the last minute at the start.
    pub load: Option<f64>,
    /// File system of the data directories.
    pub file_system: Option<String>,
    /// Its mount options.
    pub mount_options: Option<String>,
    /// Whether it has a journal, if the kernel says so: ext4 alone does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal: Option<bool>,
    /// The block device under it.
    pub device: Option<String>,
    /// The device that was imitated by limits on this machine; absent where figures are its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub emulates: Option<Emulated>,
}

/// A device that was imitated: the engines had no more memory and CPU time than it has. It was not
/// measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Emulated {
    /// Its name, `pi3`.
    pub device: String,
    /// The limits as the kernel read them back, by the name of the cgroup file.
    pub limits: BTreeMap<String, String>,
    /// The storages that are imitated in place of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub storages: Vec<StorageName>,
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
    /// The most resident memory in bytes, by workload, scale and phase, without what the process held
    /// before.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub peak_bytes: BTreeMap<String, BTreeMap<String, BTreeMap<String, u64>>>,
}

impl Floor {
    /// The most memory over some phases of a workload at a scale; `None` where none was measured.
    pub fn peak_of(&self, workload: &str, scale: Scale, phases: &[&str]) -> Option<u64> {
        let own = self.peak_bytes.get(workload)?.get(&scale.to_string())?;
        phases.iter().filter_map(|phase| own.get(*phase)).max().copied()
    }
}

/// One cell of the comparison.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cell {
    /// Which cell.
    pub id: CellId,
    /// How it ended: the worst of [`trials`](Self::trials).
    pub status: Status,
    /// Why, when not ok.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The tier that the engine's setting provides, when that is not the one asked for: a stronger
    /// one, or for a reference engine a weaker one.
    #[serde(default, alias = "keeps", skip_serializing_if = "Option::is_none")]
    pub effective_durability: Option<Durability>,
    /// Of a configuration: what the engine gave back that is not the tier's, `synchronous=0 where power
    /// has 2`. Its durability is as its author says then, and embermark's word nowhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_durability: Option<String>,
    /// True for an engine that is shown for orientation and never ranked (`memory`, `null`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reference: bool,
    /// True where the engine's licence forbids publishing its figures.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unpublishable: bool,
    /// Its trials, in the order they ran.
    #[serde(default)]
    pub trials: Vec<Trial>,
    /// Trials that failed or timed out where others ended well. They are in no figure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_trials: Vec<Trial>,
    /// What its work brings to storage, counted apart from the trials that are timed; absent where
    /// it was not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counting: Option<Box<Trial>>,
    /// What an operation asks of the system, counted apart from the trials that are timed; absent
    /// where nobody asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explaining: Option<Box<Trial>>,
}

impl Cell {
    /// Moves trials that failed or timed out to [`lost_trials`](Self::lost_trials), so that the figures
    /// of the others stand. Where no trial ended well, or one answered wrongly, all stay.
    pub fn set_lost_aside(&mut self) {
        let any = |is: fn(Status) -> bool| self.trials.iter().any(|trial| is(trial.status));
        if !any(Status::has_figures) || any(|status| status == Status::Wrong) {
            return;
        }
        let (lost, kept) =
            std::mem::take(&mut self.trials).into_iter().partition(|trial| trial.status.is_lost());
        self.trials = kept;
        if !Vec::is_empty(&lost) {
            self.lost_trials.extend(lost);
            let worst = self.trials.iter().max_by_key(|trial| trial.status);
            (self.status, self.reason) =
                worst.map(|worst| (worst.status, worst.reason.clone())).unwrap_or_default();
        }
    }

    /// Whether it, or one of its trials or their phases, is wrong, failed or timed out.
    pub fn has_failure(&self) -> bool {
        let mut phases = self.trials.iter().flat_map(|trial| &trial.phases);
        self.status.is_failure()
            || !self.lost_trials.is_empty()
            || phases.any(|phase| phase.status.is_failure())
    }

    /// Size of a database that was loaded once and closed after maintenance: of the trial that counts,
    /// or of one whose phases last by the clock, which load nothing twice. Absent where every store
    /// was emptied and loaded again.
    pub fn disk(&self) -> Option<DiskSize> {
        let counted = self.counting.as_ref().and_then(|trial| trial.disk);
        let lasts = |trial: &&Trial| {
            trial.phases.iter().flat_map(|phase| &phase.runs).any(|run| run.observed.is_some())
        };
        counted.or_else(|| self.trials.iter().filter(lasts).find_map(|trial| trial.disk))
    }

    /// Why the storage of the cell cannot be imitated, where that is why it did not run.
    pub fn lacks_storage(&self) -> Option<&str> {
        let storage = self.id.storage.filter(|_| self.status == Status::Unavailable)?;
        self.reason.as_deref()?.strip_prefix(&format!("storage {storage}: "))
    }

    /// Whether a trial of the cell is the one that counts.
    pub fn is_counting(&self, trial: &Trial) -> bool {
        self.counting.as_deref().is_some_and(|counting| std::ptr::eq(counting, trial))
    }

    /// Whether a trial of the cell is the one that explains.
    pub fn is_explaining(&self, trial: &Trial) -> bool {
        self.explaining.as_deref().is_some_and(|explaining| std::ptr::eq(explaining, trial))
    }

    /// Whether a trial of the cell is the one that counts or explains, or was lost: it is in no figure
    /// of time.
    pub fn is_apart(&self, trial: &Trial) -> bool {
        self.is_counting(trial) || self.is_explaining(trial) || self.is_lost(trial)
    }

    /// Whether a trial of the cell is one that was lost.
    pub fn is_lost(&self, trial: &Trial) -> bool {
        self.lost_trials.iter().any(|lost| std::ptr::eq(lost, trial))
    }

    /// The run of a phase in the trial that explains. Its times are in no figure.
    pub fn explained(&self, phase: &str) -> Option<&Run> {
        let explaining = self.explaining.as_ref()?;
        let explained = explaining.phases.iter().find(|explained| explained.phase == phase)?;
        explained.runs.last().filter(|run| run.explained.is_some())
    }

    /// The run of a phase in the trial that counts: its `device_io` and its maintenance's are what
    /// reached a block device of its own. Its times are in no figure.
    pub fn counted(&self, phase: &str) -> Option<&Run> {
        let counting = self.counting.as_ref()?;
        counting.phases.iter().find(|counted| counted.phase == phase)?.runs.last()
    }
}

/// One fresh process for one cell.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Trial {
    /// Counts from 0 within the cell.
    pub index: u32,
    /// Position in the order of all trials of the run, from 0.
    pub order: u32,
    /// How it ended.
    pub status: Status,
    /// Why, when not ok.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Version of the engine that ran, as it says itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Settings as read back from the engine.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// Resident memory of the worker before the engine was opened, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline_bytes: Option<u64>,
    /// The most memory that was taken of a limit: by the engine, and by the page cache of its files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limited_peak_bytes: Option<u64>,
    /// Time to open the engine (a server: to start it) in ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_ns: Option<u64>,
    /// Its phases, in the order they ran.
    #[serde(default)]
    pub phases: Vec<PhaseResult>,
    /// Size of the data directory after the engine was closed: of the trial that counts, when its rows
    /// had been loaded once and maintenance was done; of a timed one, after all its runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<DiskSize>,
    /// What reached the trial's disk from before the engine was opened until everything was written,
    /// where it had a disk of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_io: Option<DeviceIo>,
    /// How well the imitated storage of its cell kept its times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage_times: Option<StorageTimes>,
    /// What modelled cards would have done, of the trial that counts.
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
    /// The phase that ended worst. One that the engine does not support, or whose answer is disputed,
    /// speaks for itself and does not colour the others, nor does one that failed: what ended a trial is
    /// the trial's own. Where all are such, the first.
    pub fn worst_phase(&self) -> Option<&PhaseResult> {
        let alone = |status: Status| status.is_of_phase_alone() || status == Status::Failed;
        let counts = |phase: &&PhaseResult| !alone(phase.status);
        let worst = self.phases.iter().filter(counts).map(|phase| phase.status).max();
        match worst {
            Some(worst) => self.phases.iter().find(|phase| phase.status == worst),
            None => self.phases.first(),
        }
    }

    /// Makes the trial as bad as its [worst phase](Self::worst_phase), where that is worse.
    pub fn colour(&mut self) {
        let Some(worst) = self.worst_phase().filter(|phase| phase.status > self.status) else {
            return;
        };
        let reason = worst.reason.as_ref();
        let reason = reason.map(|reason| format!("{}: {reason}", worst.phase));
        (self.status, self.reason) = (worst.status, reason);
    }
}

/// What reached a block device that nobody else used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceIo {
    /// Bytes read from it.
    pub read_bytes: u64,
    /// Bytes written to it, those of the file system's own journal included.
    pub written_bytes: u64,
    /// Flushes of its cache: what a sync comes down to.
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
