//! Write-behind: one thread accepts rows into a buffer while another commits the rows
//! in it. A crash loses rows that were accepted and not committed.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use embermark_contract::{EngineError, Result};
use embermark_meter::Meter;
use embermark_model::result::WriteBehind;

/// Commits the rows at these positions and returns the number that the engine reports.
type Commit<'a> = dyn FnMut(Range<usize>) -> Result<u64> + 'a;

/// Interval at which due rows are accepted.
const TICK: Duration = Duration::from_millis(1);

/// The buffer between the two threads. The rows are already in memory, in their order, so the
/// buffer only has the number of accepted rows.
pub(crate) struct Buffer {
    /// Rows offered per second.
    rate: u64,
    /// Most rows of a commit: some engines keep a transaction in their cache.
    most: usize,
    accepted: AtomicUsize,
    /// When each row was accepted, in ns since the start.
    times: Box<[AtomicU64]>,
    /// Whether committing has stopped.
    ended: AtomicBool,
}

/// Outcome of a run.
pub(crate) struct Committed {
    /// Number of rows that the engine reports.
    pub stored: u64,
    /// `None` when nothing was committed.
    pub write_behind: Option<WriteBehind>,
}

impl Buffer {
    /// Creates a buffer for this many rows. `rate` rows are offered per second and at most `most`
    /// are committed at once.
    pub(crate) fn new(rows: usize, rate: u64, most: usize) -> Self {
        let times = (0..rows).map(|_| AtomicU64::new(0)).collect();
        let (accepted, ended) = (AtomicUsize::new(0), AtomicBool::new(false));
        Self { rate, most, accepted, times, ended }
    }

    /// Offers every row at its time on a new thread, and commits accepted rows on this one.
    ///
    /// # Errors
    /// Returns the store's error, or the system's when it cannot start a thread.
    pub(crate) fn insert(&self, commit: &mut Commit<'_>, meter: &mut Meter) -> Result<Committed> {
        let (began, committer) = (Instant::now(), thread::current());
        thread::scope(|scope| {
            thread::Builder::new()
                .spawn_scoped(scope, || self.accept(began, &committer))
                .map_err(|error| EngineError::failed("this process", "start a thread", error))?;
            let done = self.commit(began, commit, meter);
            self.ended.store(true, Ordering::Relaxed);
            done
        })
    }

    /// Accepts rows as they become due.
    fn accept(&self, began: Instant, committer: &Thread) {
        let (rows, mut accepted) = (self.times.len(), 0);
        while !self.ended.load(Ordering::Relaxed) {
            let now = nanoseconds(began.elapsed());
            let due = usize::try_from(u128::from(now) * u128::from(self.rate) / 1_000_000_000);
            let due = due.unwrap_or(rows).min(rows);
            self.times[accepted..due].iter().for_each(|time| time.store(now, Ordering::Relaxed));
            accepted = due;
            // Publishes the times before it as well.
            self.accepted.store(accepted, Ordering::Release);
            committer.unpark();
            if accepted == rows {
                return;
            }
            let tick = nanoseconds(TICK);
            thread::sleep(Duration::from_nanos(tick - nanoseconds(began.elapsed()) % tick));
        }
    }

    fn commit(
        &self,
        began: Instant,
        commit: &mut Commit<'_>,
        meter: &mut Meter,
    ) -> Result<Committed> {
        let (mut committed, mut stored, mut ended) = (0, 0, 0);
        let mut lost = WriteBehind { target_rate: self.rate as f64, ..WriteBehind::default() };
        while committed < self.times.len() {
            if committed > 0 && meter.expired() {
                break;
            }
            let end = self.accepted.load(Ordering::Acquire).min(committed + self.most);
            if end == committed {
                thread::park_timeout(TICK);
                continue;
            }
            stored += commit(committed..end)?;
            // Just before a commit ends the most rows are waiting, and the first of them has waited
            // longest.
            ended = nanoseconds(began.elapsed());
            let waiting = self.accepted.load(Ordering::Acquire) - committed;
            let first = self.times[committed].load(Ordering::Relaxed);
            lost.loss_rows = lost.loss_rows.max(waiting as u64);
            lost.loss_ns = lost.loss_ns.max(ended - first);
            lost.commits += 1;
            meter.count((end - committed) as u64);
            committed = end;
        }
        let accepted = self.accepted.load(Ordering::Acquire);
        let last =
            accepted.checked_sub(1).map_or(0, |last| self.times[last].load(Ordering::Relaxed));
        lost.accepted_rate = per_second(accepted, last);
        lost.committed_rate = per_second(committed, ended);
        Ok(Committed { stored, write_behind: (committed > 0).then_some(lost) })
    }
}

fn nanoseconds(time: Duration) -> u64 {
    time.as_nanos() as u64
}

fn per_second(rows: usize, ns: u64) -> f64 {
    rows as f64 * 1e9 / ns.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the buffer, and returns the positions in commit order with the outcome.
    fn run(rows: usize, cap: Option<Duration>, pause: Duration) -> (Vec<usize>, Committed, Meter) {
        let (mut places, mut meter) = (Vec::new(), Meter::new(cap));
        let buffer = Buffer::new(rows, 100_000, 10_000);
        meter.start();
        let done = buffer.insert(
            &mut |batch: Range<usize>| {
                thread::sleep(pause);
                places.extend(batch.clone());
                Ok(batch.len() as u64)
            },
            &mut meter,
        );
        meter.stop();
        (places, done.unwrap(), meter)
    }

    #[test]
    fn every_row_is_committed_once_in_its_order_and_none_sooner_than_it_is_offered() {
        let (places, done, meter) = run(3_000, None, Duration::ZERO);
        assert_eq!(places, (0..3_000).collect::<Vec<_>>());
        assert_eq!((done.stored, meter.measured().ops), (3_000, 3_000));
        let lost = done.write_behind.unwrap();
        assert!(lost.accepted_rate > 0.0 && lost.accepted_rate <= lost.target_rate, "{lost:?}");
        assert!(lost.committed_rate <= lost.accepted_rate, "{lost:?}");
        // The last of 3,000 is due after 30 ms.
        assert!(meter.measured().elapsed_ns >= 30_000_000);
    }

    #[test]
    fn what_waits_while_a_commit_lasts_is_what_a_crash_would_lose() {
        let (_, done, _) = run(2_000, None, Duration::from_millis(15));
        let lost = done.write_behind.unwrap();
        assert!(lost.loss_ns >= 15_000_000, "{lost:?}");
        let most = 2_000_u64.div_ceil(lost.commits);
        assert!((most..=2_000).contains(&lost.loss_rows), "{lost:?}");
    }

    #[test]
    fn it_ends_at_its_cap_and_without_rows() {
        let (places, done, meter) =
            run(30_000, Some(Duration::from_millis(1)), Duration::from_millis(2));
        assert!(meter.measured().capped && !places.is_empty() && places.len() < 30_000);
        assert_eq!(done.stored, places.len() as u64);
        let (places, done, _) = run(0, None, Duration::ZERO);
        assert!(places.is_empty() && done.write_behind.is_none());
    }

    #[test]
    fn an_error_of_the_store_ends_it() {
        let mut meter = Meter::new(None);
        let refuse = &mut |_: Range<usize>| Err(EngineError::read_only("a store"));
        let done = Buffer::new(1_000, 100_000, 10_000).insert(refuse, &mut meter);
        assert!(done.is_err_and(|error| error.to_string().contains("a store")));
    }
}
