//! Disk usage over time.

use serde::{Deserialize, Serialize};

/// Size of the data directory during writes, including the warm-up. It is in allocated blocks as
/// `du` counts them, without the directories themselves.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DiskCurve {
    /// Bytes before the first sample. For `write` this is a database with empty tables.
    pub begin_bytes: u64,
    /// Bytes after the last sample was stored.
    pub end_bytes: u64,
    /// Seconds since the beginning and bytes at that time, in order. Empty if the phase was too
    /// short to be sampled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<(f64, u64)>,
    /// Bytes written to the trial's own device since it was created, at each of the points, without
    /// any sync by embermark. Empty if the trial has no own device.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub device_written: Vec<u64>,
    /// Cost of the sampling: CPU time in ns of the process that did only this. It is counted
    /// nowhere else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<u64>,
}

impl DiskCurve {
    /// Returns the total growth in bytes.
    pub const fn growth(&self) -> i64 {
        self.end_bytes.cast_signed() - self.begin_bytes.cast_signed()
    }

    /// Returns the growth in bytes after `seconds`, by the last point until then. `None` after the
    /// last point.
    pub fn growth_at(&self, seconds: f64) -> Option<i64> {
        let next = self.points.partition_point(|(at, _)| *at <= seconds);
        let (_, last) = self.points.get(next.checked_sub(1)?)?;
        let is_known = next < self.points.len() || self.points[next - 1].0 >= seconds;
        is_known.then(|| last.cast_signed() - self.begin_bytes.cast_signed())
    }

    /// Returns the time of its last point in seconds after the beginning.
    pub fn seconds(&self) -> Option<f64> {
        self.points.last().map(|(at, _)| *at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_at_a_time_is_that_of_the_last_point_until_then_and_of_no_time_beyond() {
        let points = vec![(0.0, 100), (1.0, 300), (2.0, 250)];
        let curve = DiskCurve { begin_bytes: 100, end_bytes: 400, points, ..DiskCurve::default() };
        let at = |seconds| curve.growth_at(seconds);
        assert_eq!([at(0.0), at(0.9), at(1.0), at(2.0)], [Some(0), Some(0), Some(200), Some(150)]);
        assert_eq!((at(-0.1), at(2.1)), (None, None));
        assert_eq!((curve.growth(), curve.seconds()), (300, Some(2.0)));
        assert_eq!(DiskCurve::default().growth_at(0.0), None);
    }
}
