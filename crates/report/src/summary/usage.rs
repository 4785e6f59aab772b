//! What an engine used for the whole of a workload.

use embermark_model::result::{BackgroundCpu, Cell, DeviceIo, PhaseResult, Run, Trial};

use super::figure::counted;
use crate::statistics::median;

/// What one engine used to do one run of every phase: the median over the trials. Absent means
/// that some part of it was not measured; a sum that leaves a phase out would be no sum.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Usage {
    /// CPU time of the engine's processes in ns, summed over the phases.
    pub cpu_ns: Option<f64>,
    /// CPU time of a client that is another process, in ns, summed over the phases.
    pub client_cpu_ns: Option<f64>,
    /// Largest resident memory in bytes over the phases, without what the worker held before it
    /// opened an engine that runs inside it.
    pub peak_bytes: Option<f64>,
    /// Mean resident memory in bytes over the counted runs that were long enough for one, by their
    /// time, without what the worker held before it opened an engine that runs inside it.
    pub mean_bytes: Option<f64>,
    /// Bytes fetched from storage, summed over the phases.
    pub read_bytes: Option<f64>,
    /// Bytes that reached a block device of the database's own, maintenance after loads included,
    /// summed over the phases: of the trial that counts, never of pages that became dirty.
    pub written_bytes: Option<f64>,
    /// Flushes of that device's cache.
    pub flushes: Option<f64>,
    /// Bytes allocated on disk by a database that was loaded once and closed after maintenance.
    pub disk_bytes: Option<f64>,
    /// Share of all CPU time that other programs, and the host of a virtual machine, had meanwhile.
    pub background_cpu_share: Option<f64>,
    /// Some phase was capped, could not be done or did not end well: less than the whole work.
    pub incomplete: bool,
}

impl Usage {
    /// What one cell used for the whole of its workload.
    pub fn of(cell: &Cell) -> Self {
        over(cell, None)
    }

    /// What one cell used for a run of one phase. The size on disk and what others had are of a whole
    /// cell alone.
    pub fn of_phase(cell: &Cell, phase: &str) -> Self {
        over(cell, Some(phase))
    }

    /// Whether anything of the engine was measured.
    pub fn is_measured(&self) -> bool {
        let nothing = Self { background_cpu_share: self.background_cpu_share, ..Self::default() };
        *self != Self { incomplete: self.incomplete, ..nothing }
    }
}

/// Something an engine uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// [`Usage::cpu_ns`].
    Cpu,
    /// [`Usage::client_cpu_ns`].
    ClientCpu,
    /// [`Usage::peak_bytes`].
    Peak,
    /// [`Usage::mean_bytes`].
    Mean,
    /// [`Usage::read_bytes`].
    Read,
    /// [`Usage::written_bytes`].
    Written,
    /// [`Usage::flushes`].
    Flushes,
    /// [`Usage::disk_bytes`].
    Disk,
    /// [`Usage::background_cpu_share`].
    BackgroundCpu,
    /// The time to open the engine, or to start the server, in ns.
    Opening,
}

impl Resource {
    /// Whether it is counted, in a trial of its own: once, and without an error.
    pub const fn is_counted(self) -> bool {
        matches!(self, Self::Written | Self::Flushes | Self::Disk)
    }

    /// What each trial of a cell used, where it was measured; of what is counted, the one count.
    pub fn per_trial(self, cell: &Cell) -> Vec<f64> {
        self.over(cell, None)
    }

    /// The same over the phases of that name, or all.
    fn over(self, cell: &Cell, phase: Option<&str>) -> Vec<f64> {
        let client = |run: &Run| run.client.unwrap_or_default();
        let of = |trial: &Trial| match self {
            Self::Cpu => sum(trial, phase, |run| run.engine.cpu_ns),
            Self::ClientCpu => sum(trial, phase, |run| client(run).cpu_ns),
            Self::Peak => peak(trial, phase),
            Self::Mean => mean_memory(trial, phase),
            Self::Read => sum(trial, phase, |run| run.engine.read_bytes),
            Self::Written => sum(trial, phase, |run| to_device(run, |io| io.written_bytes)),
            Self::Flushes => sum(trial, phase, |run| to_device(run, |io| io.flushes)),
            Self::Disk => None,
            Self::BackgroundCpu => trial.background_cpu.as_ref().and_then(share),
            Self::Opening => trial.open_ns.map(|ns| ns as f64),
        };
        let counted = || cell.counting.as_deref().and_then(of);
        match self {
            Self::Disk => cell.disk().map(|disk| disk.allocated_bytes as f64).into_iter().collect(),
            Self::Written | Self::Flushes => counted().into_iter().collect(),
            _ => cell.trials.iter().filter_map(of).collect(),
        }
    }
}

/// What a run and the maintenance after it brought to the block device.
fn to_device(run: &Run, count: fn(&DeviceIo) -> u64) -> Option<u64> {
    let own = count(run.device_io.as_ref()?);
    match run.maintenance() {
        Some(maintenance) => own.checked_add(count(maintenance.device_io.as_ref()?)),
        None => Some(own),
    }
}

pub(super) fn of(cell: Option<&Cell>) -> Usage {
    cell.map(Usage::of).unwrap_or_default()
}

/// Over the phases of that name, or all.
fn over(cell: &Cell, phase: Option<&str>) -> Usage {
    let over = |resource: Resource| median(&resource.over(cell, phase));
    let whole = |resource: Resource| over(resource).filter(|_| phase.is_none());
    Usage {
        cpu_ns: over(Resource::Cpu),
        client_cpu_ns: over(Resource::ClientCpu),
        peak_bytes: over(Resource::Peak),
        mean_bytes: over(Resource::Mean),
        read_bytes: over(Resource::Read),
        written_bytes: over(Resource::Written),
        flushes: over(Resource::Flushes),
        disk_bytes: whole(Resource::Disk),
        background_cpu_share: whole(Resource::BackgroundCpu),
        incomplete: is_incomplete(cell, phase),
    }
}

/// The phases of a trial of that name, or all.
fn parts<'a>(trial: &'a Trial, name: Option<&'a str>) -> impl Iterator<Item = &'a PhaseResult> {
    trial.phases.iter().filter(move |part| name.is_none_or(|name| part.phase == name))
}

fn is_incomplete(cell: &Cell, phase: Option<&str>) -> bool {
    let phases = || cell.trials.iter().flat_map(|trial| parts(trial, phase));
    let short = |part: &PhaseResult| counted(part).iter().any(|run| run.ops < part.ops);
    let bad = phase.is_none() && !cell.status.has_figures();
    bad || phases().any(|part| !part.status.has_figures() || short(part))
}

/// Over the phases with counted runs, the sum of the mean per run.
fn sum(trial: &Trial, phase: Option<&str>, value: impl Fn(&Run) -> Option<u64>) -> Option<f64> {
    let mut total = None;
    // A closed loop for a time uses that time, whatever the engine.
    for part in parts(trial, phase).filter(|part| part.ops > 0) {
        let runs = counted(part);
        if runs.is_empty() {
            continue;
        }
        let values: Option<Vec<u64>> = runs.iter().map(|run| value(run)).collect();
        let mean = values?.iter().map(|bytes| *bytes as f64).sum::<f64>() / runs.len() as f64;
        *total.get_or_insert(0.0) += mean;
    }
    total
}

fn peak(trial: &Trial, phase: Option<&str>) -> Option<f64> {
    let runs = parts(trial, phase).flat_map(counted);
    let peaks: Option<Vec<u64>> =
        runs.map(|run| above_baseline(trial, run, run.engine.peak_bytes)).collect();
    peaks?.into_iter().max().map(|bytes| bytes as f64)
}

/// By the time of the runs that have one: a short run has no samples.
fn mean_memory(trial: &Trial, phase: Option<&str>) -> Option<f64> {
    let runs = parts(trial, phase).flat_map(counted);
    let known: Vec<(f64, f64)> = runs
        .filter_map(|run| {
            let bytes = above_baseline(trial, run, run.engine.mean_bytes)?;
            Some((bytes as f64, run.elapsed_ns as f64))
        })
        .collect();
    let time: f64 = known.iter().map(|(_, ns)| ns).sum();
    (time > 0.0).then(|| known.iter().map(|(bytes, ns)| bytes * ns).sum::<f64>() / time)
}

fn share(background: &BackgroundCpu) -> Option<f64> {
    let taken = background.cpu_ns.checked_add(background.stolen_ns)?;
    (background.total_cpu_ns > 0).then(|| taken as f64 / background.total_cpu_ns as f64)
}

/// A run with a client of its own has its engine in another process, which the worker's size
/// before opening says nothing about.
fn above_baseline(trial: &Trial, run: &Run, bytes: Option<u64>) -> Option<u64> {
    let baseline = if run.client.is_some() { 0 } else { trial.baseline_bytes.unwrap_or(0) };
    bytes.map(|bytes| bytes.saturating_sub(baseline))
}
