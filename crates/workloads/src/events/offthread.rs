//! Rows that one thread accepts into a buffer while another commits what has gathered there, again and
//! again: what is accepted and not committed, a crash loses.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use embermark_contract::{EngineError, Result};
use embermark_meter::Meter;
use embermark_model::result::WriteBehind;

use super::port::{Record, Telemetry};

/// Rows a second that are offered: the peak that the source names.
const RATE: u64 = 100_000;

/// Most rows of a commit: some engines keep a transaction in their cache.
const MOST: usize = 10_000;

/// The rows that have become due are accepted at such intervals.
const TICK: Duration = Duration::from_millis(1);

/// The buffer between the two threads. The rows lie in memory already, in their order, so it is how many
/// of them are accepted.
pub(super) struct Buffer {
    accepted: AtomicUsize,
    /// When each row was accepted, in ns since the start.
    times: Box<[AtomicU64]>,
    /// Nobody commits any more.
    ended: AtomicBool,
}

/// What came of a run.
pub(super) struct Committed {
    /// Rows that the engine says there were.
    pub stored: u64,
    /// `None` without a commit.
    pub write_behind: Option<WriteBehind>,
}

impl Buffer {
    /// For so many rows.
    pub(super) fn new(rows: usize) -> Self {
        let times = (0..rows).map(|_| AtomicU64::new(0)).collect();
        Self { accepted: AtomicUsize::new(0), times, ended: AtomicBool::new(false) }
    }

    /// Offers every row at its time on a thread of its own, and commits all that has gathered, up to
    /// [`MOST`] rows at once, on this one.
    ///
    /// # Errors
    /// The store's, or that of the system when it starts no thread.
    pub(super) fn insert(
        &self,
        records: &[Record],
        store: &mut dyn Telemetry,
        meter: &mut Meter,
    ) -> Result<Committed> {
        let (began, committer) = (Instant::now(), thread::current());
        thread::scope(|scope| {
            thread::Builder::new()
                .spawn_scoped(scope, || self.accept(began, &committer))
                .map_err(|error| EngineError::failed("this process", "start a thread", error))?;
            let done = self.commit(records, began, store, meter);
            self.ended.store(true, Ordering::Relaxed);
            done
        })
    }

    /// Accepts rows as they become due.
    fn accept(&self, began: Instant, committer: &Thread) {
        let (rows, mut accepted) = (self.times.len(), 0);
        while !self.ended.load(Ordering::Relaxed) {
            let now = nanoseconds(began.elapsed());
            let due = usize::try_from(u128::from(now) * u128::from(RATE) / 1_000_000_000);
            let due = due.unwrap_or(rows).min(rows);
            self.times[accepted..due].iter().for_each(|time| time.store(now, Ordering::Relaxed));
            accepted = due;
            // With the times before it.
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
        records: &[Record],
        began: Instant,
        store: &mut dyn Telemetry,
        meter: &mut Meter,
    ) -> Result<Committed> {
        let (mut committed, mut stored, mut ended) = (0, 0, 0);
        let mut lost = WriteBehind { target_rate: RATE as f64, ..WriteBehind::default() };
        while committed < records.len() {
            if committed > 0 && meter.expired() {
                break;
            }
            let end = self.accepted.load(Ordering::Acquire).min(committed + MOST);
            if end == committed {
                thread::park_timeout(TICK);
                continue;
            }
            stored += store.insert_batch(&records[committed..end])?;
            // Right before a commit has ended most rows wait, and its first one has waited longest.
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
mod tests;
