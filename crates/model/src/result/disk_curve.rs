//! The disk over time.

use serde::{Deserialize, Serialize};

/// The size of the data directory while somebody writes, warm-up included, in allocated blocks as `du`
/// counts them, the directories themselves left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DiskCurve {
    /// Bytes before the first sample: of `write` those of a database whose tables are empty.
    pub begin_bytes: u64,
    /// Bytes after the last sample was stored.
    pub end_bytes: u64,
    /// Seconds since the beginning, and bytes then, in the order of time; none where it did not last
    /// long enough to be sampled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<(f64, u64)>,
    /// Bytes that had been written to the trial's own device at each of the points, since it was made,
    /// without a sync of ours; none where it has no device of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub device_written: Vec<u64>,
    /// What taking them cost: CPU time in ns of the process that did nothing else, which is counted
    /// nowhere else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<u64>,
}

impl DiskCurve {
    /// By how many bytes it grew in all.
    pub const fn growth(&self) -> i64 {
        self.end_bytes.cast_signed() - self.begin_bytes.cast_signed()
    }

    /// By how many bytes it had grown so many seconds after the beginning, by the last point until then;
    /// `None` of a time after the last point.
    pub fn growth_at(&self, seconds: f64) -> Option<i64> {
        let next = self.points.partition_point(|(at, _)| *at <= seconds);
        let (_, last) = self.points.get(next.checked_sub(1)?)?;
        let is_known = next < self.points.len() || self.points[next - 1].0 >= seconds;
        is_known.then(|| last.cast_signed() - self.begin_bytes.cast_signed())
    }

    /// When its last point was taken, in seconds after the beginning.
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
