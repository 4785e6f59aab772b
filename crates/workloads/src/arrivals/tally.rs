//! Counts of a writer's work, kept while it writes.

use std::time::{Duration, Instant};

use embermark_meter::{Measured, Stopwatch};

use super::queue::Account;
use super::sensor::Task;
use crate::PhaseObserver;

/// Counts rows and gaps, and tracks the window.
#[derive(Default)]
pub(crate) struct Tally {
    pub task: Task,
    /// Duration of commits.
    pub service: Stopwatch,
    /// Time from when a commit was due to its end.
    pub response: Stopwatch,
    /// Rows stored, from the first to the last.
    pub stored: u64,
    /// Rows of the window.
    rows: u64,
    next: u64,
    /// Numbers of the rows that arrived, as runs without gaps: the first number and the count.
    pub runs: Vec<(u64, u64)>,
    /// When the window opened.
    opened: Option<Instant>,
    /// Its duration.
    closed: Option<Duration>,
    /// The shortest response time in the first and in the last tenth of the window, which every
    /// commit there waited for.
    waits: [Option<u64>; 2],
}

impl Tally {
    pub(crate) fn new(task: Task) -> Self {
        Self { task, ..Self::default() }
    }

    /// Counts the rows of a commit that ended `response` ns after it was due.
    pub(super) fn take(&mut self, numbers: &[u64], response: u64) {
        self.response.record(response);
        for number in numbers {
            self.stored += 1;
            self.rows += u64::from((self.task.first..self.task.end).contains(number));
            match self.runs.last_mut() {
                Some((_, run)) if *number == self.next => *run += 1,
                _ => self.runs.push((*number, 1)),
            }
            self.next = number + 1;
        }
        if self.opened.is_some() && self.closed.is_none() {
            let (Task { first, end, .. }, tenth) = (self.task, self.task.rows() / 10);
            let least = |wait: Option<u64>| wait.map(|wait| wait.min(response)).or(Some(response));
            if self.waits[0].is_none() || self.next <= first + tenth {
                self.waits[0] = least(self.waits[0]);
            }
            if self.next + tenth >= end {
                self.waits[1] = least(self.waits[1]);
            }
        }
    }

    /// Returns whether the first row of the window has come, and its last one has not. A commit
    /// with both would open and close it at once.
    pub(super) const fn opens(&self) -> bool {
        self.opened.is_none() && self.next > self.task.first && !self.is_over()
    }

    /// Opens the window, and discards the times measured before.
    pub(super) fn open(&mut self) {
        self.service.reset();
        self.response.reset();
        self.opened = Some(Instant::now());
    }

    /// Returns whether the last row of the window has come, or a later one.
    pub(super) const fn is_over(&self) -> bool {
        self.next >= self.task.end
    }

    /// Closes the window. Returns whether it was open. Times before a window that did not open are
    /// discarded.
    pub(super) fn close(&mut self) -> bool {
        let Some(opened) = self.opened else {
            self.service.reset();
            self.response.reset();
            return false;
        };
        let open = self.closed.is_none();
        if open {
            self.closed = Some(opened.elapsed());
            self.service.stop();
            self.response.stop();
        }
        open
    }
}

/// Outcome of a writer, with the sensor's account.
pub(crate) struct WriteOutcome {
    pub tally: Tally,
    pub account: Account,
}

impl WriteOutcome {
    /// Returns the number of rows of the window that were lost.
    pub(super) fn lost(&self) -> u64 {
        let Tally { task, rows, .. } = &self.tally;
        task.end.min(self.account.made).saturating_sub(task.first).saturating_sub(*rows)
    }

    /// Returns the number of rows that were lost, of all that the sensor made.
    pub(super) const fn lost_ever(&self) -> u64 {
        self.account.made.saturating_sub(self.tally.stored)
    }

    /// Returns why nothing was measured, if one commit stored every row of the window. `rows` is
    /// the name of rows in messages.
    pub(super) fn without_window(&self, rows: &str) -> Option<String> {
        let Tally { task, opened, .. } = &self.tally;
        let is_none = opened.is_none() && self.tally.is_over() && self.lost_ever() == 0;
        is_none.then(|| {
            format!(
                "one commit stored all {} {rows} of the window, which begins with a commit and \
                 ends with a later one: take a longer window or a higher rate",
                task.rows()
            )
        })
    }

    /// Returns the result of the window.
    pub(crate) fn measured(&self) -> Measured {
        let elapsed_ns = self.tally.closed.unwrap_or_default().as_nanos() as u64;
        Measured { elapsed_ns, ops: self.tally.rows, capped: false }
    }

    /// Returns the rows of the window that were stored per second: the rate, less the rows lost and
    /// the delay that commits gained between the begin and the end of the window.
    pub(super) fn achieved_rate(&self) -> f64 {
        let Tally { task, rows, waits: [begin, end], .. } = &self.tally;
        let behind = begin.zip(*end).map_or(0, |(begin, end)| end.saturating_sub(begin));
        let window = task.rows() as f64 / task.rate as f64;
        *rows as f64 / (window + behind as f64 / 1e9)
    }

    /// Reports everything that is part of a result.
    pub(crate) fn report(&self, observer: &mut dyn PhaseObserver) {
        observer.count("samples", self.tally.rows);
        observer.count("lost", self.lost());
        observer.count("lost-ever", self.lost_ever());
        observer.count("deadline-misses", self.account.missed);
        observer.count("latest-ns", self.account.latest_ns);
        observer.count("target-rate", self.tally.task.rate);
        observer.count("achieved-rate", self.achieved_rate().round() as u64);
        for (name, watch) in [("commit", &self.tally.service), ("response", &self.tally.response)] {
            if let Some(latency) = watch.latency() {
                observer.latency(name, latency);
            }
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
