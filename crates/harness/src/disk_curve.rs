//! The disk over time, sampled by a process of its own: beside the writer and not in it, so that
//! neither its commits nor its CPU time and memory have any of it.

use std::io::{self, Read};
use std::path::Path;
use std::process::Child;
use std::time::Duration;

use embermark_meter::MOST_SLICES;
use embermark_model::result::DiskCurve;

use crate::clock::monotonic_ns;
use crate::companion;
use crate::disk_watch::{ROLE, Task};

/// What lasts no longer is not sampled: its beginning and its end are all that there is to say.
const LEAST: Duration = Duration::from_secs(3);

/// Between two points at least.
const SHORTEST: Duration = Duration::from_millis(100);

/// Points of a time that is as long as was said.
const POINTS: u32 = 120;

/// Points at most: of a longer time every second one is given up, and then taken.
const MOST: usize = 200;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_soon_over_is_not_sampled() {
        let dir = tempfile::tempdir().unwrap();
        assert!(Sampler::start(dir.path(), LEAST - Duration::from_millis(1)).is_none());
    }
}
