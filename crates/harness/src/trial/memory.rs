//! Mean resident memory of an engine, sampled by the parent, because a measuring worker must not
//! pause.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::clock;
use crate::probe;
use crate::processes;

/// Shortest sampling interval.
const PERIOD: Duration = Duration::from_millis(100);

/// Least ratio of the sampling interval to the time that a sample of a server takes. The kernel
/// walks all its pages, takes a CPU for it, and makes the server wait where it maps memory.
const PERIOD_PER_SAMPLE: u32 = 100;

/// Interval for finding the processes of a server, which takes longer than reading them.
const MEMBERS_PERIOD: Duration = Duration::from_secs(1);

/// Smallest number of samples for a mean.
const MIN_SAMPLES: usize = 3;

/// Largest number of samples per run: one hour.
const MAX_SAMPLES: usize = 36_000;

/// Samples of an engine's memory, with their times.
#[derive(Debug, Default)]
pub(super) struct Samples {
    /// Nanoseconds of the monotonic clock, and bytes.
    samples: VecDeque<(u64, u64)>,
    last: Option<Instant>,
    /// Time that the last sample of a server took.
    took: Duration,
    members: Vec<u32>,
    members_at: Option<Instant>,
}

impl Samples {
    /// Takes a sample if one is due: of one process, or of a server's tree.
    pub fn sample(&mut self, root: u32, with_descendants: bool) {
        let due = |at: Option<Instant>, period| at.is_none_or(|at| at.elapsed() >= period);
        if !due(self.last, period(self.took)) {
            return;
        }
        let began = Instant::now();
        self.last = Some(began);
        if !with_descendants {
            self.members = vec![root];
        } else if due(self.members_at, MEMBERS_PERIOD) {
            self.members_at = self.last;
            self.members = processes::tree(root);
        }
        let bytes = probe::resident_of(&self.members);
        if with_descendants {
            self.took = began.elapsed();
        }
        if let Some((bytes, now)) = bytes.zip(clock::monotonic_ns()) {
            self.samples.push_back((now, bytes));
            if self.samples.len() > MAX_SAMPLES {
                self.samples.pop_front();
            }
        }
    }

    /// Returns the mean over a run between these times of the monotonic clock in ns, and removes
    /// the samples. `None` if there are too few.
    pub fn mean(&mut self, began: u64, ended: u64) -> Option<u64> {
        let all = std::mem::take(&mut self.samples);
        let within = all.into_iter().filter(|(at, _)| (began..=ended).contains(at));
        let bytes: Vec<u64> = within.map(|(_, bytes)| bytes).collect();
        let sum = bytes.iter().map(|bytes| u128::from(*bytes)).sum::<u128>();
        (bytes.len() >= MIN_SAMPLES).then(|| (sum / bytes.len() as u128) as u64)
    }
}

/// Returns the time from the begin of a sample to the next one.
fn period(took: Duration) -> Duration {
    took.saturating_mul(PERIOD_PER_SAMPLE).max(PERIOD)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_whose_memory_takes_long_to_count_is_sampled_more_seldom() {
        assert_eq!(period(Duration::ZERO), PERIOD);
        assert_eq!(period(Duration::from_micros(900)), PERIOD);
        assert_eq!(period(Duration::from_millis(20)), Duration::from_secs(2));
    }

    #[test]
    fn a_mean_is_of_the_runs_own_samples_and_absent_for_too_few() {
        let samples = |times: &[(u64, u64)]| Samples {
            samples: times.iter().copied().collect(),
            ..Samples::default()
        };
        let times = [(1, 1_000), (10, 10), (20, 20), (30, 60), (31, 1_000)];
        let mut run = samples(&times);
        assert_eq!(run.mean(10, 30), Some(30));
        assert_eq!(run.mean(10, 30), None);
        assert_eq!(samples(&times).mean(10, 29), None);
    }

    #[test]
    fn samples_are_taken_a_period_apart_and_none_of_a_process_that_is_gone() {
        let mut samples = Samples::default();
        for _ in 0..3 {
            samples.sample(std::process::id(), false);
        }
        assert_eq!(samples.samples.len(), 1);
        assert!(samples.samples[0].1 > 100_000);
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        for tree in [true, false] {
            let mut gone = Samples::default();
            gone.sample(child.id(), tree);
            assert!(gone.samples.is_empty());
        }
    }
}
