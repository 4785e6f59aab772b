//! The process that samples the disk over time for [`Sampler`](crate::disk_curve::Sampler).

use std::error::Error;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use embermark_model::result::DiskCurve;
use serde::{Deserialize, Serialize};

use crate::clock::monotonic_ns;
use crate::probe::Probe;
use crate::{disk, trial_disk};

/// Role of the process.
pub(crate) const ROLE: &str = "disk";

/// What to sample.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Task {
    pub dir: PathBuf,
    pub every_ns: u64,
    /// Largest number of points.
    pub most: usize,
    /// Whether to also read what reached the device, which nothing else uses.
    pub own_disk: bool,
    /// Time on the monotonic clock.
    pub began_ns: u64,
}

/// Runs the process: samples until its standard input ends, and then reports.
pub(crate) fn serve(task: &str, mut out: File) -> Result<(), Box<dyn Error>> {
    let Task { dir, every_ns, most, own_disk, began_ns } = serde_json::from_str(task)?;
    let counters = own_disk.then(|| trial_disk::Counters::find(&dir)).flatten();
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
}
