//! Columns of disk use over time, in files that have it.

use embermark_model::result::{DiskCurve, Run};

use super::column::{Column, run, word};
use crate::text;

/// Returns the columns: the disk at both ends, every point, and the cost of sampling.
pub(super) fn columns() -> [Column; 4] {
    [
        run("observed_disk_begin_bytes", |run| Some(disk(run)?.begin_bytes)),
        run("observed_disk_end_bytes", |run| Some(disk(run)?.end_bytes)),
        run("observed_disk_sampling_cpu_ns", |run| disk(run)?.cpu_ns),
        word("observed_disk_points", |line| Some(points(disk(line.run?.1)?))),
    ]
}

/// Returns the disk curve of a run.
pub(super) fn disk(run: &Run) -> Option<&DiskCurve> {
    run.observed.as_ref()?.disk.as_ref()
}

/// Formats points as seconds and bytes: `0.100:57344 0.200:61440`.
fn points(curve: &DiskCurve) -> String {
    let points = curve.points.iter().map(|(seconds, bytes)| format!("{seconds:.3}:{bytes}"));
    text::joined(points, " ")
}
