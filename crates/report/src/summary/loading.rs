//! What a load wrote for each byte of its rows, and the maintenance after it.

use embermark_model::result::{Cell, DiskSize, Maintenance, Run};

use super::figure::{counted, parts};
use crate::statistics::{mean, median};

/// One load of one cell. Times are, in each trial, the mean of the runs that have them, over the trials
/// the median; bytes and sizes those of the trial that counts. Absent means not measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Loading {
    /// Bytes of the rows' values: `docs/method.md` says what counts.
    pub user_bytes: Option<f64>,
    /// Bytes that reached a block device of the database's own for each of them.
    pub write_amplification: Option<f64>,
    /// The same with what maintenance brought there.
    pub amplification_with_maintenance: Option<f64>,
    /// Time of the maintenance, in ns.
    pub maintenance_ns: Option<f64>,
    /// CPU time of the engine's processes for it, in ns.
    pub maintenance_cpu_ns: Option<f64>,
    /// Bytes that reached the device for it.
    pub maintenance_written_bytes: Option<f64>,
    /// Bytes allocated on disk before it.
    pub disk_before_bytes: Option<f64>,
    /// Bytes allocated on disk after it, the engine still open.
    pub disk_after_bytes: Option<f64>,
}

impl Loading {
    /// Of a phase of a cell; `None` where it inserts no rows, or nobody counted them.
    pub fn of(cell: &Cell, phase: &str) -> Option<Self> {
        let parts = parts(cell, phase).into_iter();
        let trials: Vec<Vec<&Run>> = parts.map(|(_, part)| counted(part)).collect();
        let over = |value: &dyn Fn(&Run) -> Option<f64>| {
            let of_trial = |runs: &Vec<&Run>| {
                mean(&runs.iter().filter_map(|run| value(run)).collect::<Vec<f64>>())
            };
            median(&trials.iter().filter_map(of_trial).collect::<Vec<f64>>())
        };
        let maintenance = |value: &dyn Fn(&Maintenance) -> Option<u64>| {
            over(&|run| Some(value(run.maintenance()?)? as f64))
        };
        let counted_run = cell.counted(phase);
        let once = |value: &dyn Fn(&Maintenance) -> Option<u64>| {
            Some(value(counted_run?.maintenance()?)? as f64)
        };
        let allocated = |size: Option<DiskSize>| Some(size?.allocated_bytes);
        let loading = Self {
            user_bytes: over(&|run| Some(run.loaded?.user_bytes as f64)),
            write_amplification: counted_run.and_then(Run::write_amplification),
            amplification_with_maintenance: counted_run
                .and_then(Run::amplification_with_maintenance),
            maintenance_ns: maintenance(&|maintenance| Some(maintenance.elapsed_ns)),
            maintenance_cpu_ns: maintenance(&|maintenance| maintenance.engine.cpu_ns),
            maintenance_written_bytes: once(&|of| Some(of.device_io?.written_bytes)),
            disk_before_bytes: once(&|of| allocated(of.disk_before)),
            disk_after_bytes: once(&|of| allocated(of.disk_after)),
        };
        loading.user_bytes.map(|_| loading)
    }
}
