//! Bytes that a load and the maintenance after it wrote for each byte of its rows.

use embermark_model::result::{Cell, DiskSize, PhaseResult, Run};

use super::column::Amounts;
use super::column::Quantity::{Bytes, Ratio, Time};
use super::figure::counted;
use super::metric::Aggregation::{Counted, Middle};
use super::metric::RunValue::{Real, Whole};
use super::metric::{Metric, amounts, metric};

/// Metrics of a load, in display order. `docs/resources.md` defines which bytes of rows count.
/// Amplifications are bytes that reached the device, divided by those.
pub(crate) const LOADING: &[Metric] = &[
    metric(
        ["user_bytes", "rows' bytes", "bytes of the rows' values"],
        Bytes,
        Middle,
        Whole(|run| Some(run.loaded?.user_bytes)),
    ),
    metric(
        ["write_amplification", "written/byte", "write amplification of a run"],
        Ratio,
        Counted,
        Real(Run::write_amplification),
    ),
    metric(
        ["maintenance_ns", "maintenance", "maintenance (checkpoint, compaction)"],
        Time,
        Middle,
        Whole(|run| Some(run.maintenance()?.elapsed_ns)),
    ),
    metric(
        ["maintenance_cpu_ns", "its CPU", "CPU time for it"],
        Time,
        Middle,
        Whole(|run| run.maintenance()?.engine.cpu_ns),
    ),
    metric(
        ["maintenance_device_written_bytes", "", "written for it"],
        Bytes,
        Counted,
        Whole(|run| Some(run.maintenance()?.device_io?.written_bytes)),
    ),
    metric(
        [
            "amplification_with_maintenance",
            "total/byte",
            "write amplification, maintenance included",
        ],
        Ratio,
        Counted,
        Real(Run::amplification_with_maintenance),
    ),
    metric(
        ["before_maintenance_allocated_bytes", "disk before", "on disk before it"],
        Bytes,
        Counted,
        Whole(|run| allocated(run.maintenance()?.disk_before)),
    ),
    metric(
        ["after_maintenance_allocated_bytes", "disk after", "on disk after it"],
        Bytes,
        Counted,
        Whole(|run| allocated(run.maintenance()?.disk_after)),
    ),
];

fn allocated(size: Option<DiskSize>) -> Option<u64> {
    Some(size?.allocated_bytes)
}

/// Returns the time and bytes of one load of one cell, by the keys of its metrics. `None` if the
/// phase inserts no rows, or if they were not counted.
pub fn loading(cell: &Cell, phase: &str, parts: &[(u32, &PhaseResult)]) -> Option<Amounts> {
    let trials: Vec<Vec<&Run>> = parts.iter().map(|(_, part)| counted(part)).collect();
    let amounts = amounts(LOADING, &trials, cell.counted(phase));
    amounts.get("user_bytes").map(|_| amounts)
}
