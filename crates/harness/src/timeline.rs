//! Assigns disk samples to the slices of a timeline.

use embermark_model::result::{DiskCurve, Timeline};

/// Gives each slice the size of the data directory at its end and the bytes that reached the device
/// in it, from samples of another process. The timeline began `later` seconds after the sampling.
/// Between two points, writing is assumed to be even and the size to be that of the earlier point.
/// Before the first point and after the last, nothing is known.
pub(crate) fn fill(timeline: &mut Timeline, curve: &DiskCurve, later: f64) {
    let mut from = 0.0;
    for slice in &mut timeline.slices {
        let (began, ended) = (from + later, slice.until_s + later);
        slice.allocated_bytes = size_at(&curve.points, ended);
        let written = |at| written_at(curve, at);
        slice.device_written_bytes = written(ended)
            .zip(written(began))
            .map(|(after, before)| (after - before).max(0.0).round() as u64);
        from = slice.until_s;
    }
}

/// Returns the size at the last point until then.
fn size_at(points: &[(f64, u64)], seconds: f64) -> Option<u64> {
    let next = points.partition_point(|(at, _)| *at <= seconds);
    points.get(next.checked_sub(1)?).map(|(_, bytes)| *bytes)
}

/// Interpolates between two points.
fn written_at(curve: &DiskCurve, seconds: f64) -> Option<f64> {
    let DiskCurve { points, device_written: written, .. } = curve;
    let next = points.partition_point(|(at, _)| *at <= seconds);
    let before = next.checked_sub(1)?;
    let (from, bytes) = (points[before].0, *written.get(before)? as f64);
    let Some((to, after)) = points.get(next).zip(written.get(next)) else {
        // After the last point, which was taken after the writing had ended.
        return Some(bytes);
    };
    let share = (seconds - from) / (to.0 - from);
    Some(bytes + share * (*after as f64 - bytes))
}

#[cfg(test)]
mod tests {
    use embermark_model::result::{DiskCurve, Slice, Timeline};

    use super::fill;

    #[test]
    fn slices_take_their_share_of_what_was_sampled_beside_them() {
        let curve = DiskCurve {
            points: vec![(0.0, 10), (1.0, 20), (2.0, 30), (4.0, 50)],
            device_written: vec![1_000, 1_100, 1_300, 2_300],
            ..DiskCurve::default()
        };
        let slice = |until_s| Slice { until_s, ..Slice::default() };
        let slices = [0.5, 1.5, 2.5, 9.0].map(slice).to_vec();
        let mut timeline = Timeline { slices, ..Timeline::default() };
        fill(&mut timeline, &curve, 0.5);
        let seen: Vec<_> = (timeline.slices.iter())
            .map(|slice| (slice.allocated_bytes, slice.device_written_bytes))
            .collect();
        let expected = [(20, 50), (30, 200), (30, 500), (50, 500)];
        assert_eq!(seen, expected.map(|(size, written)| (Some(size), Some(written))));
    }

    #[test]
    fn a_device_that_is_not_its_own_has_no_bytes_in_a_slice() {
        let curve = DiskCurve { points: vec![(0.0, 10), (1.0, 20)], ..DiskCurve::default() };
        let slices = vec![Slice { until_s: 1.0, ..Slice::default() }];
        let mut timeline = Timeline { slices, ..Timeline::default() };
        fill(&mut timeline, &curve, 0.0);
        assert_eq!(timeline.slices[0].allocated_bytes, Some(20));
        assert_eq!(timeline.slices[0].device_written_bytes, None);
    }
}
