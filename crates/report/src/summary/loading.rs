//! What a load wrote for each byte of its rows, and the maintenance after it.

use embermark_model::result::{Cell, DiskSize, Maintenance, PhaseResult, Run};

use super::column::Quantity::{self, Bytes, Ratio, Time};
use super::column::{Amounts, Column};
use super::figure::counted;
use crate::statistics::{mean, median};

/// Where an amount is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    /// The timed trials.
    Timed,
    /// The trial that counts.
    Counted,
}

/// A column, where it is from, and its number of one run.
type Amount = (Column, Of, fn(&Run) -> Option<f64>);

const fn column(
    [key, heading, about]: [&'static str; 3],
    quantity: Quantity,
    from: Of,
    of: fn(&Run) -> Option<f64>,
) -> Amount {
    (Column { key, heading, about, quantity }, from, of)
}

/// The amounts of a load, in the order in which they are shown. `docs/resources.md` says which bytes of
/// rows count; amplifications are bytes that reached the device for each of them.
const AMOUNTS: [Amount; 8] = [
    column(["user_bytes", "rows' bytes", "bytes of the rows' values"], Bytes, Of::Timed, |run| {
        Some(run.loaded?.user_bytes as f64)
    }),
    column(
        ["write_amplification", "written/byte", "write amplification of a run"],
        Ratio,
        Of::Counted,
        Run::write_amplification,
    ),
    column(
        ["maintenance_ns", "maintenance", "maintenance (checkpoint, compaction)"],
        Time,
        Of::Timed,
        |run| of(run, |maintenance| Some(maintenance.elapsed_ns)),
    ),
    column(["maintenance_cpu_ns", "its CPU", "CPU time for it"], Time, Of::Timed, |run| {
        of(run, |maintenance| maintenance.engine.cpu_ns)
    }),
    column(["maintenance_written_bytes", "", "written for it"], Bytes, Of::Counted, |run| {
        of(run, |maintenance| Some(maintenance.device_io?.written_bytes))
    }),
    column(
        [
            "amplification_with_maintenance",
            "total/byte",
            "write amplification, maintenance included",
        ],
        Ratio,
        Of::Counted,
        Run::amplification_with_maintenance,
    ),
    column(["disk_before_bytes", "disk before", "on disk before it"], Bytes, Of::Counted, |run| {
        of(run, |maintenance| allocated(maintenance.disk_before))
    }),
    column(["disk_after_bytes", "disk after", "on disk after it"], Bytes, Of::Counted, |run| {
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
    AMOUNTS.iter().map(|(column, ..)| *column)
}

/// What one load of one cell took and wrote: times are in each trial the mean of the runs that have
/// them, over the trials the median; bytes and sizes those of the trial that counts. `None` where the phase inserts no rows, or nobody counted them.
pub fn loading(cell: &Cell, phase: &str, parts: &[(u32, &PhaseResult)]) -> Option<Amounts> {
    let trials: Vec<Vec<&Run>> = parts.iter().map(|(_, part)| counted(part)).collect();
    let over = |amount: fn(&Run) -> Option<f64>| {
        let of_trial =
            |runs: &Vec<&Run>| mean(&runs.iter().copied().filter_map(amount).collect::<Vec<_>>());
        median(&trials.iter().filter_map(of_trial).collect::<Vec<f64>>())
    };
    let counting = cell.counted(phase);
    let amounts = AMOUNTS.iter().map(|(column, from, of)| match from {
        Of::Timed => (*column, over(*of)),
        Of::Counted => (*column, counting.and_then(of)),
    });
    let amounts: Amounts = amounts.collect();
    amounts.get("user_bytes").map(|_| amounts)
}
