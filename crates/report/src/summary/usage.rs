//! Resources that an engine used for a whole workload.

use embermark_model::result::{BackgroundCpu, Cell, DeviceIo, PhaseResult, ResultFile, Run, Trial};
use serde::Serialize;

use super::column::{Amounts, Column, Quantity};
use super::figure::counted;
use super::metric::{OVER_IDLE, trial_energy};
use super::work::Work;
use crate::statistics::median;
use crate::text;

/// A resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// CPU time of the engine's processes, summed over the phases.
    Cpu,
    /// CPU time of a client that is another process, summed over the phases.
    ClientCpu,
    /// CPU time of the engine and of its client, which is comparable with that of an embedded
    /// engine.
    AllCpu,
    /// Largest resident memory over the phases, without what the worker held before it opened an
    /// engine that runs inside it.
    Peak,
    /// Peak memory minus that of the engine that does nothing in the same phases, which is the
    /// harness's own.
    PeakAboveFloor,
    /// Mean resident memory over the counted runs that were long enough for one, weighted by their
    /// time, minus the same baseline.
    Mean,
    /// Bytes fetched from storage, summed over the phases.
    Read,
    /// Bytes that reached the database's own block device, including maintenance after loads,
    /// summed over the phases. They are from the counting trial, and never count pages that only
    /// became dirty.
    Written,
    /// Flushes of that device's cache.
    Flushes,
    /// Bytes allocated on disk by a database that was loaded once and closed after maintenance.
    Disk,
    /// Energy over the idle draw, summed over the phases.
    Energy,
    /// Share of all CPU time that other programs, and the host of a virtual machine, used during
    /// the cell.
    BackgroundCpu,
    /// Time to open the engine, or to start the server.
    Opening,
}

impl Resource {
    /// Resources that are shown, in display order.
    pub const SHOWN: [Self; 11] = [
        Self::Cpu,
        Self::ClientCpu,
        Self::Peak,
        Self::PeakAboveFloor,
        Self::Mean,
        Self::Read,
        Self::Written,
        Self::Flushes,
        Self::Disk,
        Self::Energy,
        Self::BackgroundCpu,
    ];

    /// Returns its column.
    pub const fn column(self) -> Column {
        use Quantity::{Bytes, Count, Share, Time};
        let (labels, quantity) = match self {
            Self::Energy => return OVER_IDLE,
            Self::Cpu => (["cpu_ns", "CPU", "CPU time"], Time),
            Self::ClientCpu => {
                (["client_cpu_ns", "client CPU", "CPU time of a server's client"], Time)
            }
            Self::AllCpu => (["all_cpu_ns", "", "CPU time of engine and client"], Time),
            Self::Peak => (["peak_bytes", "peak memory", "peak memory"], Bytes),
            Self::PeakAboveFloor => {
                (["peak_above_floor_bytes", "above floor", "peak memory above the floor"], Bytes)
            }
            Self::Mean => (["mean_bytes", "mean memory", "mean memory"], Bytes),
            Self::Read => (["read_bytes", "read", "bytes read from storage"], Bytes),
            Self::Written => (["written_bytes", "written", "written to the device"], Bytes),
            Self::Flushes => (["flushes", "flushes", "flushes of the device"], Count),
            Self::Disk => (["disk_bytes", "on disk", "on disk, rows loaded once"], Bytes),
            Self::BackgroundCpu => {
                (["background_cpu_share", "background CPU", "background CPU"], Share)
            }
            Self::Opening => (["open_ns", "", "time to open or start"], Time),
        };
        Column::new(labels, quantity)
    }

    /// Whether it applies only to a whole cell, and not to a phase.
    const fn is_whole(self) -> bool {
        matches!(self, Self::Disk | Self::BackgroundCpu | Self::Opening)
    }

    /// Whether it is summed over the phases, so that less work uses less of it.
    const fn is_sum(self) -> bool {
        use Resource::{AllCpu, ClientCpu, Cpu, Energy, Flushes, Read, Written};
        matches!(self, Cpu | ClientCpu | AllCpu | Read | Written | Flushes | Energy)
    }

    /// Whether it is counted in a separate trial: once, and without an error.
    pub const fn is_counted(self) -> bool {
        matches!(self, Self::Written | Self::Flushes | Self::Disk)
    }

    /// Returns what each trial of a cell used for some work, if it was measured. A counted resource
    /// has one value.
    pub fn per_trial(self, cell: &Cell, work: Work<'_>) -> Vec<f64> {
        let counting = || cell.counting.as_deref().and_then(|trial| self.in_trial(trial, work));
        match self {
            Self::Disk => cell.disk().map(|disk| disk.allocated_bytes as f64).into_iter().collect(),
            Self::Written | Self::Flushes => counting().into_iter().collect(),
            _ => cell.trials.iter().filter_map(|trial| self.in_trial(trial, work)).collect(),
        }
    }

    fn in_trial(self, trial: &Trial, work: Work<'_>) -> Option<f64> {
        let client = |run: &Run| run.client.unwrap_or_default().cpu_ns;
        match self {
            Self::Cpu => sum(trial, work, |run| run.engine.cpu_ns),
            Self::ClientCpu => sum(trial, work, client),
            Self::AllCpu => sum(trial, work, |run| {
                let beside = if run.client.is_some() { client(run)? } else { 0 };
                Some(run.engine.cpu_ns?.saturating_add(beside))
            }),
            Self::Peak => peak(trial, work),
            Self::Mean => mean_memory(trial, work),
            Self::Energy => trial_energy(trial, work),
            Self::Read => sum(trial, work, |run| run.engine.read_bytes),
            Self::Written => sum(trial, work, |run| to_device(run, |io| io.written_bytes)),
            Self::Flushes => sum(trial, work, |run| to_device(run, |io| io.flushes)),
            // A size belongs to a cell: the database of a timed trial may have been loaded a dozen
            // times. The floor is in the file: see Usage::new.
            Self::Disk | Self::PeakAboveFloor => None,
            Self::BackgroundCpu => background_share(trial.background_cpu?),
            Self::Opening => trial.open_ns.map(|ns| ns as f64),
        }
    }
}

/// Resources of one engine for one run of every phase: the median over the trials. A sum is absent
/// if it was not measured in every phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Usage {
    /// Amounts by the key of the resource's column.
    pub amounts: Amounts,
    /// Whether less than the whole work was done: a phase was capped, could not be done or did not
    /// complete.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub incomplete: bool,
}

impl Usage {
    /// Returns the resources of a cell of `file` for some work. The size on disk and background CPU
    /// are only known for a whole cell.
    pub fn new(file: &ResultFile, cell: &Cell, work: Work<'_>) -> Self {
        let phases = || cell.trials.iter().flat_map(|trial| work.phases(trial));
        let amount = |used: Resource| {
            let middle = |used: Resource| median(&used.per_trial(cell, work));
            if used != Resource::PeakAboveFloor {
                return middle(used);
            }
            let names = text::unique(phases().map(|part| part.phase.as_str()));
            Some((middle(Resource::Peak)? - memory_floor(file, cell, &names)?).max(0.0))
        };
        let shown = Resource::SHOWN.into_iter().filter(|of| !work.is_of_phase() || !of.is_whole());
        let short = |part: &PhaseResult| counted(part).iter().any(|run| run.ops < part.ops);
        let bad = !work.is_of_phase() && !cell.status.has_figures();
        Self {
            amounts: shown.map(|used| (used.column(), amount(used))).collect(),
            incomplete: bad || phases().any(|part| !part.status.has_figures() || short(part)),
        }
    }

    /// Returns the amount of a resource, if it is shown.
    pub fn get(&self, resource: Resource) -> Option<f64> {
        self.amounts.get(resource.column().key)
    }

    /// Returns the amount of a resource that can be compared with that of other engines. The sums
    /// of an engine that did less than the whole work cannot.
    pub fn comparable(&self, resource: Resource) -> Option<f64> {
        self.get(resource).filter(|_| !(self.incomplete && resource.is_sum()))
    }

    /// Whether a resource of the engine was measured.
    pub fn is_measured(&self) -> bool {
        let of_engine = |resource: &Resource| *resource != Resource::BackgroundCpu;
        Resource::SHOWN.into_iter().filter(of_engine).any(|resource| self.get(resource).is_some())
    }
}

/// Returns what a run and the maintenance after it sent to the block device.
fn to_device(run: &Run, count: fn(&DeviceIo) -> u64) -> Option<u64> {
    let own = count(run.device_io.as_ref()?);
    match run.maintenance() {
        Some(maintenance) => own.checked_add(count(maintenance.device_io.as_ref()?)),
        None => Some(own),
    }
}

/// Returns the sum, over the phases with counted runs, of the mean per run.
fn sum(trial: &Trial, work: Work<'_>, value: impl Fn(&Run) -> Option<u64>) -> Option<f64> {
    let mut total = None;
    // A closed loop of a fixed time takes that time with every engine.
    for part in work.phases(trial).filter(|part| part.ops > 0) {
        let runs = counted(part);
        if runs.is_empty() {
            continue;
        }
        let values: Option<Vec<u64>> = runs.iter().map(|run| value(run)).collect();
        let mean = values?.iter().map(|bytes| *bytes as f64).sum::<f64>() / runs.len() as f64;
        *total.get_or_insert(0.0) += mean * work.share(part, &runs);
    }
    total
}

fn peak(trial: &Trial, work: Work<'_>) -> Option<f64> {
    let runs = work.phases(trial).flat_map(counted);
    let peaks = runs.map(|run| above_baseline(trial, run, run.engine.peak_bytes));
    peaks.collect::<Option<Vec<u64>>>()?.into_iter().max().map(|bytes| bytes as f64)
}

/// Weights each run by its time. A short run has no samples.
fn mean_memory(trial: &Trial, work: Work<'_>) -> Option<f64> {
    let runs = work.phases(trial).flat_map(counted);
    let (mut weighted, mut time) = (0.0, 0.0);
    for run in runs {
        if let Some(bytes) = above_baseline(trial, run, run.engine.mean_bytes) {
            weighted += bytes as f64 * run.elapsed_ns as f64;
            time += run.elapsed_ns as f64;
        }
    }
    (time > 0.0).then(|| weighted / time)
}

fn background_share(background: BackgroundCpu) -> Option<f64> {
    let taken = background.cpu_ns.checked_add(background.stolen_ns)?;
    (background.total_cpu_ns > 0).then(|| taken as f64 / background.total_cpu_ns as f64)
}

/// Subtracts the worker's size before opening. A run with its own client has its engine in another
/// process, so nothing is subtracted.
pub(crate) fn above_baseline(trial: &Trial, run: &Run, bytes: Option<u64>) -> Option<u64> {
    let baseline = if run.client.is_some() { 0 } else { trial.baseline_bytes.unwrap_or(0) };
    bytes.map(|bytes| bytes.saturating_sub(baseline))
}

/// Id of the engine that does nothing.
const NULL: &str = "null";

/// Returns the peak memory of the `null` engine over some phases of a cell's workload at its scale,
/// in bytes. It was measured before the trials or in a cell of the same kind. `None` if it was not
/// measured, and for engines in their own process, which has no memory of the harness.
pub fn memory_floor(file: &ResultFile, cell: &Cell, phases: &[&str]) -> Option<f64> {
    // The first run shows it, because either all runs of a cell have a client or none.
    let first = cell.trials.iter().find_map(|trial| trial.phases.first()?.runs.first());
    if first.is_some_and(|run| run.client.is_some()) {
        return None;
    }
    let id = &cell.id;
    let measured = file.manifest.floor.as_ref();
    let measured = measured.and_then(|floor| floor.peak_of(&id.workload, id.scale, phases));
    let null = || {
        let own = file.cells.iter().find(|other| {
            other.id.engine == NULL
                && (&other.id.workload, other.id.extent(), &other.id.variant)
                    == (&id.workload, id.extent(), &id.variant)
        })?;
        let phases = phases.iter().copied().collect();
        median(&Resource::Peak.per_trial(own, Work::Whole(&phases)))
    };
    measured.map(|bytes| bytes as f64).or_else(null)
}
