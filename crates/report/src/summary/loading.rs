//! What a load wrote for each byte of its rows, and the maintenance after it.

use embermark_model::result::{Cell, DiskSize, Maintenance, Run};

use super::column::Quantity::{self, Bytes, Ratio, Time};
use super::column::{Amounts, Column};
use super::figure::{counted, parts};
use crate::statistics::{mean, median};

/// A column, and its number of one run.
type Amount = (Column, fn(&Run) -> Option<f64>);

const fn column(
    [key, heading, about]: [&'static str; 3],
    quantity: Quantity,
    of: fn(&Run) -> Option<f64>,
) -> Amount {
    (Column { key, heading, about, quantity }, of)
}

/// The amounts of a load, in the order in which they are shown. `docs/method.md` says which bytes of
/// rows count; amplifications are bytes written for each of them.
const AMOUNTS: [Amount; 9] = [
    column(["user_bytes", "rows' bytes", "bytes of the rows' values"], Bytes, |run| {
        Some(run.loaded?.user_bytes as f64)
    }),
    column(
        ["write_amplification", "written/byte", "write amplification of a run"],
        Ratio,
        Run::write_amplification,
    ),
    column(
        ["maintenance_ns", "maintenance", "maintenance (checkpoint, compaction)"],
        Time,
        |run| of(run, |maintenance| Some(maintenance.elapsed_ns)),
    ),
    column(["maintenance_cpu_ns", "its CPU", "CPU time for it"], Time, |run| {
        of(run, |maintenance| maintenance.engine.cpu_ns)
    }),
    column(["maintenance_written_bytes", "", "written for it"], Bytes, |run| {
        of(run, |maintenance| maintenance.engine.written_bytes)
    }),
    column(
        [
            "amplification_with_maintenance",
            "total/byte",
            "write amplification, maintenance included",
        ],
        Ratio,
        Run::amplification_with_maintenance,
    ),
    column(
        ["device_amplification", "device/byte", "of the device, maintenance included"],
        Ratio,
        Run::device_amplification,
    ),
    column(["disk_before_bytes", "disk before", "on disk before it"], Bytes, |run| {
        of(run, |maintenance| allocated(maintenance.disk_before))
    }),
    column(["disk_after_bytes", "disk after", "on disk after it"], Bytes, |run| {
        of(run, |maintenance| allocated(maintenance.disk_after))
    }),
];

fn of(run: &Run, value: fn(&Maintenance) -> Option<u64>) -> Option<f64> {
    Some(value(run.maintenance()?)? as f64)
}

fn allocated(size: Option<DiskSize>) -> Option<u64> {
    Some(size?.allocated_bytes)
}

/// The columns of [`loading`].
pub fn load_columns() -> impl Iterator<Item = Column> {
    AMOUNTS.iter().map(|(column, _)| *column)
}

/// What one load of one cell wrote: in each trial the mean of the counted runs, or of those that have
/// it, over the trials the median. `None` where the phase inserts no rows, or nobody counted them.
pub fn loading(cell: &Cell, phase: &str) -> Option<Amounts> {
    let trials: Vec<Vec<&Run>> =
        parts(cell, phase).into_iter().map(|(_, part)| counted(part)).collect();
    let over = |amount: fn(&Run) -> Option<f64>| {
        let of_trial =
            |runs: &Vec<&Run>| mean(&runs.iter().copied().filter_map(amount).collect::<Vec<_>>());
        median(&trials.iter().filter_map(of_trial).collect::<Vec<f64>>())
    };
    let amounts: Amounts = AMOUNTS.iter().map(|(column, of)| (*column, over(*of))).collect();
    amounts.get("user_bytes").map(|_| amounts)
}
