//! How many operations a run had done at which time, so that those in a part of its time can be
//! counted afterwards.

use std::time::Duration;

/// Least time between two marks.
const MARK_INTERVAL: Duration = Duration::from_millis(1);

/// Largest number of marks. When it is reached, every second one is removed and the interval is
/// doubled.
const MAX_MARKS: usize = 4_096;

/// Marks of a run's progress. If disabled, it costs one comparison per timed operation.
#[derive(Clone, Debug)]
pub(crate) struct Progress {
    /// Counter value of the next mark.
    due: u64,
    /// Ticks between two marks. 0: disabled.
    interval: u64,
    least_interval: u64,
    /// Ticks, and operations done by then.
    marks: Vec<(u64, u64)>,
}

impl Default for Progress {
    fn default() -> Self {
        Self { due: u64::MAX, interval: 0, least_interval: 0, marks: Vec::new() }
    }
}

impl Progress {
    /// Makes one that records marks, with room for all of them.
    pub fn enabled(ticks_of: impl Fn(Duration) -> u64) -> Self {
        let interval = ticks_of(MARK_INTERVAL).max(1);
        Self { due: 0, interval, least_interval: interval, marks: Vec::with_capacity(MAX_MARKS) }
    }

    pub const fn is_enabled(&self) -> bool {
        self.interval > 0
    }

    /// Begins a run.
    pub fn reset(&mut self) {
        self.marks.clear();
        if self.is_enabled() {
            (self.interval, self.due) = (self.least_interval, 0);
        }
    }

    /// Records that this number of operations was done at a time.
    #[inline]
    pub fn note(&mut self, ticks: u64, ops: u64) {
        if ticks >= self.due {
            self.mark(ticks, ops);
        }
    }

    #[cold]
    fn mark(&mut self, ticks: u64, ops: u64) {
        if self.marks.len() == MAX_MARKS {
            let mut place = 0;
            self.marks.retain(|_| {
                place += 1;
                place % 2 == 0
            });
            self.interval = self.interval.saturating_mul(2);
        }
        self.marks.push((ticks, ops));
        self.due = ticks.saturating_add(self.interval);
    }

    /// Returns the operations done by a time, for a run that did `ops` between `started` and
    /// `stopped`: interpolated between the marks before and after it.
    pub fn at(&self, ticks: u64, (started, stopped): (u64, u64), ops: u64) -> f64 {
        if ticks >= stopped {
            return ops as f64;
        }
        if ticks <= started {
            return 0.0;
        }
        let next = self.marks.partition_point(|(at, _)| *at <= ticks);
        let before = next.checked_sub(1).map_or((started, 0), |last| self.marks[last]);
        let after = self.marks.get(next).copied().unwrap_or((stopped, ops));
        let share = (ticks - before.0) as f64 / (after.0 - before.0).max(1) as f64;
        before.1 as f64 + share * (after.1.saturating_sub(before.1)) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A clock with ticks of 1 ns.
    fn ticks_of(time: Duration) -> u64 {
        time.as_nanos() as u64
    }

    #[test]
    fn operations_lie_on_the_line_between_the_marks() {
        let mut progress = Progress::enabled(ticks_of);
        // Ten in the first 10 ms, then thirty in the next ten.
        for op in 1..=10 {
            progress.note(op * 1_000_000, op);
        }
        for op in 1..=30 {
            progress.note(10_000_000 + op * 333_333, 10 + op);
        }
        let run = (0, 20_000_000);
        let at = |ms: f64| progress.at((ms * 1e6) as u64, run, 40);
        assert_eq!((at(0.0), at(20.0), at(25.0)), (0.0, 40.0, 40.0));
        assert!((at(5.5) - 5.5).abs() < 0.01, "{}", at(5.5));
        assert!((at(15.0) - 25.0).abs() < 1.0, "{}", at(15.0));
    }

    #[test]
    fn a_long_run_has_room_and_one_that_is_disabled_takes_no_mark() {
        let mut progress = Progress::enabled(ticks_of);
        let last = 20 * MAX_MARKS as u64;
        for op in 1..=last {
            progress.note(op * 1_000_000, op);
        }
        assert!(progress.marks.len() <= MAX_MARKS && progress.marks.capacity() == MAX_MARKS);
        let half = progress.at(last * 500_000, (0, last * 1_000_000), last);
        assert!((half - last as f64 / 2.0).abs() < 40.0, "{half}");
        progress.reset();
        assert!(progress.marks.is_empty());
        let mut none = Progress::default();
        none.note(5, 1);
        none.reset();
        none.note(5, 1);
        assert!(none.marks.is_empty());
    }
}
