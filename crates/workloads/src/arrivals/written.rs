//! What a writer has done, counted while it writes.

use std::time::{Duration, Instant};

use embermark_meter::{Measured, Stopwatch};

use super::queue::Account;
use super::sensor::Task;
use crate::PhaseObserver;

/// Counts rows and gaps, and knows where the window is.
pub(crate) struct Tally {
    pub task: Task,
    /// How long a commit took.
    pub service: Stopwatch,
    /// How long after it was due a commit had ended.
    pub response: Stopwatch,
    /// Rows stored, from the first to the last.
    pub stored: u64,
    /// Those of the window.
    rows: u64,
    next: u64,
    /// Numbers of the rows that came: the first and how many, gap by gap.
    pub runs: Vec<(u64, u64)>,
    /// When the window opened.
    opened: Option<Instant>,
    /// How long it was.
    closed: Option<Duration>,
    /// The shortest response time in the first and in the last tenth of the window: what every
    /// commit there waited for.
    waits: [Option<u64>; 2],
}

impl Tally {
    pub(crate) fn new(task: Task) -> Self {
        Self {
            task,
            service: Stopwatch::new(),
            response: Stopwatch::new(),
            stored: 0,
            rows: 0,
            next: 0,
            runs: Vec::new(),
            opened: None,
            closed: None,
            waits: [None; 2],
        }
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

    /// Whether the window is to be opened: its first row came.
    pub(super) const fn opens(&self) -> bool {
        self.opened.is_none() && self.next > self.task.first
    }

    /// Opens it: what came before is forgotten.
    pub(super) fn open(&mut self) {
        self.service.reset();
        self.response.reset();
        self.opened = Some(Instant::now());
    }

    /// Whether the window's last row came, or one after it.
    pub(super) const fn is_over(&self) -> bool {
        self.next >= self.task.end
    }

    /// Closes the window; whether it was open.
    pub(super) fn close(&mut self) -> bool {
        let open = self.opened.filter(|_| self.closed.is_none());
        if let Some(opened) = open {
            self.closed = Some(opened.elapsed());
            self.service.stop();
            self.response.stop();
        }
        open.is_some()
    }
}

/// What a writer has done, and what the sensor tells of itself.
pub(crate) struct Written {
    pub tally: Tally,
    pub account: Account,
}

impl Written {
    /// Rows of the window that never came.
    pub(super) fn lost(&self) -> u64 {
        let Tally { task, rows, .. } = &self.tally;
        task.end.min(self.account.made).saturating_sub(task.first).saturating_sub(*rows)
    }

    /// Rows that never came, of all that the sensor made.
    pub(super) const fn lost_ever(&self) -> u64 {
        self.account.made.saturating_sub(self.tally.stored)
    }

    /// What stands in a result of the window.
    pub(crate) fn measured(&self) -> Measured {
        let elapsed_ns = self.tally.closed.unwrap_or_default().as_nanos() as u64;
        Measured { elapsed_ns, ops: self.tally.rows, capped: false }
    }

    /// Rows a second that were stored of the window's: the rate, but for what was lost and for what
    /// every commit at the end of the window was later than at its begin.
    pub(super) fn achieved_rate(&self) -> f64 {
        let Tally { task, rows, waits: [begin, end], .. } = &self.tally;
        let behind = begin.zip(*end).map_or(0, |(begin, end)| end.saturating_sub(begin));
        let window = task.rows() as f64 / task.rate as f64;
        *rows as f64 / (window + behind as f64 / 1e9)
    }

    /// Tells all of it that stands in a result.
    pub(crate) fn tell(&self, observer: &mut dyn PhaseObserver) {
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
