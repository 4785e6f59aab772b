//! Disk usage over time, sampled by a separate process. It does not affect the writer's commits,
//! CPU time or memory.

use std::error::Error;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use embermark_meter::MOST_SLICES;
use embermark_model::result::{DiskCurve, Timeline};
use serde::{Deserialize, Serialize};

use crate::clock::monotonic_ns;
use crate::probe::Probe;
use crate::{companion, disk, trial_disk};

/// Shortest duration that is sampled. For less, beginning and end are enough.
const MIN_DURATION: Duration = Duration::from_secs(3);

/// Least time between two points.
const MIN_INTERVAL: Duration = Duration::from_millis(100);

/// Number of points if the time is as long as announced.
const POINTS: u32 = 120;

/// Largest number of points. For a longer time every second point is dropped, and later not taken.
const MAX_POINTS: usize = 200;

/// A process that samples. Dropping it ends the process.
pub(crate) struct Sampler(Child);

impl Sampler {
    /// Starts to sample a directory. `None` if the time is too short.
    pub fn start(dir: &Path, lasts: Duration) -> Option<io::Result<Self>> {
        let every = (lasts / POINTS).max(MIN_INTERVAL);
        (lasts >= MIN_DURATION).then(|| Self::task(dir, every, MAX_POINTS, false))
    }

    /// Starts to sample a directory at this interval, often enough for a point in each slice of a
    /// timeline. With `own_disk` it also samples what reached the device below it.
    pub fn start_every(dir: &Path, every: Duration, own_disk: bool) -> io::Result<Self> {
        Self::task(dir, every, MOST_SLICES, own_disk)
    }

    fn task(dir: &Path, every: Duration, most: usize, own_disk: bool) -> io::Result<Self> {
        let began_ns = monotonic_ns().ok_or_else(|| io::Error::other("the clock is unreadable"))?;
        let (dir, every_ns) = (dir.to_owned(), every.as_nanos() as u64);
        let task = Task { dir, every_ns, most, own_disk, began_ns };
        companion::start(ROLE, &serde_json::to_string(&task)?).map(Self)
    }

    /// Ends the process and returns the points and the CPU time that they took.
    pub fn stop(mut self) -> io::Result<DiskCurve> {
        drop(self.0.stdin.take());
        let mut curve = Vec::new();
        if let Some(out) = &mut self.0.stdout {
            out.read_to_end(&mut curve)?;
        }
        Ok(serde_json::from_slice(&curve)?)
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Role of the process.
pub(crate) const ROLE: &str = "disk";

/// What to sample.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Task {
    dir: PathBuf,
    every_ns: u64,
    /// Largest number of points.
    most: usize,
    /// Whether to also read what reached the device, which nothing else uses.
    own_disk: bool,
    /// Time on the monotonic clock.
    began_ns: u64,
}

/// Runs the process: samples until its standard input ends, and then reports.
pub(crate) fn serve(task: &str, mut out: File) -> Result<(), Box<dyn Error>> {
    let Task { dir, every_ns, most, own_disk, began_ns } = serde_json::from_str(task)?;
    let counters = own_disk.then(|| trial_disk::counters_of(&dir)).flatten();
    let written_bytes = || Some(trial_disk::read_counters(counters.as_deref()?)?.written_bytes);
    let has_counters = written_bytes().is_some();
    let probe = Probe::process(std::process::id());
    let before = probe.begin();
    let (ended, end) = channel();
    std::thread::spawn(move || {
        // An error is an end as well.
        let _ = io::stdin().lock().read_to_end(&mut Vec::new());
        ended.send(())
    });
    let (mut points, mut written, mut every_ns) = (Vec::new(), Vec::new(), every_ns);
    loop {
        let now_ns = monotonic_ns().unwrap_or(began_ns).saturating_sub(began_ns);
        let device = has_counters.then(written_bytes);
        // A sample that fails is left out.
        if let (Ok(size), true) = (disk::size_of(&dir), device != Some(None)) {
            points.push((now_ns as f64 / 1e9, size.allocated_bytes));
            written.extend(device.flatten());
        }
        if points.len() == most {
            thin(&mut points);
            thin(&mut written);
            every_ns *= 2;
        }
        let wait = Duration::from_nanos(every_ns - now_ns % every_ns);
        if !matches!(end.recv_timeout(wait), Err(RecvTimeoutError::Timeout)) {
            break;
        }
    }
    let cpu_ns = probe.end(before).cpu_ns;
    let device_written = written;
    let curve = DiskCurve { points, device_written, cpu_ns, ..DiskCurve::default() };
    serde_json::to_writer(&mut out, &curve)?;
    Ok(out.flush()?)
}

/// Removes every second point and keeps the first.
fn thin<T>(points: &mut Vec<T>) {
    let mut place = 0;
    points.retain(|_| {
        place += 1;
        place % 2 == 1
    });
}

/// Gives each slice the size of the data directory at its end and the bytes that reached the device
/// in it, from samples of another process. The timeline began `later` seconds after the sampling.
/// Between two points, writing is assumed to be even and the size to be that of the earlier point.
/// Before the first point and after the last, nothing is known.
pub(crate) fn fill_timeline(timeline: &mut Timeline, curve: &DiskCurve, later: f64) {
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
    use embermark_model::result::Slice;

    use super::*;

    #[test]
    fn what_is_soon_over_is_not_sampled() {
        let dir = tempfile::tempdir().unwrap();
        assert!(Sampler::start(dir.path(), MIN_DURATION - Duration::from_millis(1)).is_none());
    }

    #[test]
    fn a_curve_that_lasts_longer_keeps_its_beginning_and_every_second_point() {
        let mut points: Vec<(f64, u64)> = (0..200).map(|n| (n as f64, n)).collect();
        thin(&mut points);
        assert_eq!(
            (points.len(), points[0], points[1], points[99]),
            (100, (0.0, 0), (2.0, 2), (198.0, 198))
        );
    }

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
        fill_timeline(&mut timeline, &curve, 0.5);
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
        fill_timeline(&mut timeline, &curve, 0.0);
        assert_eq!(timeline.slices[0].allocated_bytes, Some(20));
        assert_eq!(timeline.slices[0].device_written_bytes, None);
    }
}
