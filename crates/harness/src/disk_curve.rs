//! Disk usage over time, sampled by a separate process. It does not affect the writer's commits,
//! CPU time or memory.

use std::io::{self, Read};
use std::path::Path;
use std::process::Child;
use std::time::Duration;

use embermark_meter::MOST_SLICES;
use embermark_model::result::DiskCurve;

use crate::clock::monotonic_ns;
use crate::companion;
use crate::disk_sampler::{ROLE, Task};

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_soon_over_is_not_sampled() {
        let dir = tempfile::tempdir().unwrap();
        assert!(Sampler::start(dir.path(), MIN_DURATION - Duration::from_millis(1)).is_none());
    }
}
