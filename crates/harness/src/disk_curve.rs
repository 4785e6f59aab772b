//! The disk over time, sampled by a process of its own: beside the writer and not in it, so that
//! neither its commits nor its CPU time and memory have any of it.

use std::error::Error;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use embermark_meter::MOST_SLICES;
use embermark_model::result::DiskCurve;
use serde::{Deserialize, Serialize};

use crate::clock::monotonic_ns;
use crate::probe::Probe;
use crate::{companion, disk, isolation};

/// The role of the process.
pub(crate) const ROLE: &str = "disk";

/// What lasts no longer is not sampled: its beginning and its end are all that there is to say.
const LEAST: Duration = Duration::from_secs(3);

/// Between two points at least.
const SHORTEST: Duration = Duration::from_millis(100);

/// Points of a time that is as long as was said.
const POINTS: u32 = 120;

/// Points at most: of a longer time every second one is given up, and then taken.
const MOST: usize = 200;

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Task {
    dir: PathBuf,
    every_ns: u64,
    /// Points at most.
    most: usize,
    /// Whether what reached the device is read as well: one that nobody else uses.
    own_disk: bool,
    /// On the monotonic clock.
    began_ns: u64,
}

/// A process that samples. Dropping it ends it.
pub(crate) struct Sampler(Child);

impl Sampler {
    /// Samples a directory from now on; `None` where it does not last long enough.
    pub fn start(dir: &Path, lasts: Duration) -> Option<io::Result<Self>> {
        let every = (lasts / POINTS).max(SHORTEST);
        (lasts >= LEAST).then(|| Self::task(dir, every, MOST, false))
    }

    /// Samples a directory from now on, so often and so many times that there is a point for each slice of a
    /// timeline; with `own_disk` what reached the device under it as well.
    pub fn start_every(dir: &Path, every: Duration, own_disk: bool) -> io::Result<Self> {
        Self::task(dir, every, MOST_SLICES, own_disk)
    }

    fn task(dir: &Path, every: Duration, most: usize, own_disk: bool) -> io::Result<Self> {
        let began_ns = monotonic_ns().ok_or_else(|| io::Error::other("the clock is unreadable"))?;
        let (dir, every_ns) = (dir.to_owned(), every.as_nanos() as u64);
        let task = Task { dir, every_ns, most, own_disk, began_ns };
        companion::start(ROLE, &serde_json::to_string(&task)?).map(Self)
    }

    /// Ends it, and gives the points and the CPU time that they took.
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

/// The process: samples until its standard input ends, and then tells.
pub(crate) fn serve(task: &str, mut out: File) -> Result<(), Box<dyn Error>> {
    let Task { dir, every_ns, most, own_disk, began_ns } = serde_json::from_str(task)?;
    let counters = own_disk.then(|| isolation::Counters::of(&dir)).flatten();
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
        let device = counters.as_ref().map(|counters| counters.written_bytes());
        // One that could not be taken is left out.
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

/// Leaves every second point, the first among them.
fn thin<T>(points: &mut Vec<T>) {
    let mut place = 0;
    points.retain(|_| {
        place += 1;
        place % 2 == 1
    });
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn what_is_soon_over_is_not_sampled() {
        let dir = tempfile::tempdir().unwrap();
        assert!(Sampler::start(dir.path(), LEAST - Duration::from_millis(1)).is_none());
    }
}
