//! Resources of a run: how each is named, combined over the phases and read from a cell.

use embermark_model::result::{BackgroundCpu, Cell, DeviceIo, Run, Trial};
use serde::Serialize;

use super::column::Column;
use super::column::Quantity::{Bytes, Count, Share, Time};
use super::figure::counted;
use super::metric::{OVER_IDLE, trial_energy};
use super::work::Work;
use crate::text;
use Combined::{Largest, Mean, Sum, Whole};
use Source::{AboveFloor, Counted, OfCell, Timed};

/// How the amounts of phases are combined into that of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Combined {
    /// The sum, so that less work uses less.
    Sum,
    /// The largest.
    Largest,
    /// The mean, weighted by time.
    Mean,
    /// Not at all: phases have no amount of it, only a whole cell has.
    Whole,
}

impl Combined {
    const fn words(self) -> &'static str {
        match self {
            Sum => "summed over one counted run of every phase",
            Largest => "the largest of any phase",
            Mean => "the mean over all phases, weighted by time",
            Whole => "of the whole cell",
        }
    }
}

/// Where the amounts of a cell come from.
#[derive(Clone, Copy, Debug)]
enum Source {
    /// Each timed trial.
    Timed(fn(&Trial, Work<'_>) -> Option<f64>),
    /// The trial that counts: one amount, without an error.
    Counted(fn(&Trial, Work<'_>) -> Option<f64>),
    /// The cell: one amount, without an error.
    OfCell(fn(&Cell) -> Option<f64>),
    /// The result file, which has the floor: see `Usage::new`.
    AboveFloor,
}

/// A resource, with its column.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "ResourceColumn"))]
pub struct Resource {
    /// Its column.
    #[serde(flatten)]
    pub column: Column,
    /// How the amounts of phases are combined.
    pub combined: Combined,
    #[serde(skip)]
    source: Source,
}

impl PartialEq for Resource {
    fn eq(&self, other: &Self) -> bool {
        self.column.key == other.column.key
    }
}

impl Resource {
    /// Resources that are shown, in display order. Another one needs an entry here and no more.
    /// Only those that other modules ask for have a name.
    pub const SHOWN: &'static [Self] = &[
        Self::new(
            Column::new(["cpu_ns", "CPU", "CPU time"], Time),
            Sum,
            Timed(|trial, work| sum(trial, work, |run| run.engine.cpu_ns)),
        ),
        Self::new(
            Column::new(["client_cpu_ns", "client CPU", "CPU time of a server's client"], Time),
            Sum,
            Timed(|trial, work| sum(trial, work, |run| run.client?.cpu_ns)),
        ),
        Self::PEAK,
        Self::PEAK_ABOVE_FLOOR,
        Self::new(
            Column::new(["mean_above_baseline_bytes", "mean memory", "mean memory"], Bytes),
            Mean,
            Timed(mean_memory),
        ),
        Self::new(
            Column::new(["read_bytes", "read", "bytes read from storage"], Bytes),
            Sum,
            Timed(|trial, work| sum(trial, work, |run| run.engine.read_bytes)),
        ),
        Self::WRITTEN,
        Self::new(
            Column::new(["flushes", "flushes", "flushes of the device"], Count),
            Sum,
            Counted(|trial, work| sum(trial, work, |run| to_device(run, |io| io.flushes))),
        ),
        Self::DISK,
        Self::ENERGY,
        Self::BACKGROUND_CPU,
    ];

    /// Largest resident memory, without what the worker held before it opened an engine that runs
    /// inside it.
    pub const PEAK: Self = Self::new(
        Column::new(["peak_above_baseline_bytes", "peak memory", "peak memory"], Bytes),
        Largest,
        Timed(peak),
    );

    /// Peak memory minus that of the engine that does nothing in the same phases, which is the
    /// harness's own.
    pub const PEAK_ABOVE_FLOOR: Self = Self::new(
        Column::new(
            ["peak_above_floor_bytes", "above floor", "peak memory above the floor"],
            Bytes,
        ),
        Largest,
        AboveFloor,
    );

    /// Bytes that reached the database's own block device, including maintenance after loads. They
    /// never count pages that only became dirty.
    pub const WRITTEN: Self = Self::new(
        Column::new(["written_to_device_bytes", "written", "written to the device"], Bytes),
        Sum,
        Counted(|trial, work| sum(trial, work, |run| to_device(run, |io| io.written_bytes))),
    );

    /// Bytes allocated on disk by a database that was loaded once and closed after maintenance. The
    /// database of a timed trial may have been loaded a dozen times.
    pub const DISK: Self = Self::new(
        Column::new(["disk_bytes", "on disk", "on disk, rows loaded once"], Bytes),
        Whole,
        OfCell(|cell| Some(cell.disk()?.allocated_bytes as f64)),
    );

    /// Energy over the idle draw.
    pub const ENERGY: Self = Self::new(OVER_IDLE, Sum, Timed(trial_energy));

    /// Share of all CPU time that other programs, and the host of a virtual machine, used during
    /// the cell.
    pub const BACKGROUND_CPU: Self = Self::new(
        Column::new(["background_cpu_share", "background CPU", "background CPU"], Share),
        Whole,
        Timed(|trial, _| background_share(trial.background_cpu?)),
    );

    /// CPU time of the engine and of its client, which is comparable with that of an embedded
    /// engine. Not shown.
    pub const ALL_CPU: Self = Self::new(
        Column::new(["all_cpu_ns", "", "CPU time of engine and client"], Time),
        Sum,
        Timed(|trial, work| sum(trial, work, all_cpu)),
    );

    /// Time to open the engine, or to start the server. Not shown.
    pub const OPENING: Self = Self::new(
        Column::new(["open_ns", "", "time to open or start"], Time),
        Whole,
        Timed(|trial, _| trial.open_ns.map(|ns| ns as f64)),
    );

    const fn new(column: Column, combined: Combined, source: Source) -> Self {
        Self { column, combined, source }
    }

    /// Whether the amount is counted apart from the timed trials: once, and without an error.
    pub const fn is_counted(self) -> bool {
        matches!(self.source, Counted(_) | OfCell(_))
    }

    /// Returns what each trial of a cell used for some work, if it was measured. A counted resource
    /// has one value.
    pub fn per_trial(self, cell: &Cell, work: Work<'_>) -> Vec<f64> {
        match self.source {
            Timed(of) => cell.trials.iter().filter_map(|trial| of(trial, work)).collect(),
            Counted(of) => {
                let counting = cell.counting.as_deref();
                counting.and_then(|trial| of(trial, work)).into_iter().collect()
            }
            OfCell(of) => of(cell).into_iter().collect(),
            AboveFloor => Vec::new(),
        }
    }
}

/// Says how the amounts of resources are combined: `CPU, read: summed over …; on disk: of …`.
pub(crate) fn combinations(resources: impl Iterator<Item = Resource>) -> String {
    let named = resources.map(|of| (of.combined.words(), of.column.heading));
    let parts = text::by_key(named).into_iter();
    text::joined(parts.map(|(words, names)| format!("{}: {words}", names.join(", "))), "; ")
}

fn all_cpu(run: &Run) -> Option<u64> {
    let beside = match run.client {
        Some(client) => client.cpu_ns?,
        None => 0,
    };
    Some(run.engine.cpu_ns?.saturating_add(beside))
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
