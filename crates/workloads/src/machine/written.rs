//! What a writer has done, counted while it writes and checked when it has ended.

use std::time::{Duration, Instant};

use embermark_contract::Result;
use embermark_data::machine::{Sample, Signal};
use embermark_meter::Stopwatch;
use embermark_model::fingerprint::Fingerprint;
use embermark_model::result::Latency;

use super::cycles::with;
use super::port::{Channels, MachineLog, Span};
use super::sensor::{Account, Task};
use crate::PhaseObserver;

/// Counts samples and gaps, and knows where the window is.
pub(super) struct Tally {
    pub task: Task,
    /// How long a commit took.
    pub service: Stopwatch,
    /// How long after it was due a commit had ended.
    pub response: Stopwatch,
    pub stored: u64,
    samples: u64,
    next: u64,
    fingerprint: Fingerprint,
    runs: Vec<(u64, u64)>,
    /// When the window opened.
    opened: Option<Instant>,
    /// How long it was.
    closed: Option<Duration>,
    /// The shortest response time in the first and in the last tenth of the window: what every
    /// commit there waited for.
    waits: [Option<u64>; 2],
}

impl Tally {
    pub(super) fn new(task: Task) -> Self {
        Self {
            task,
            service: Stopwatch::new(),
            response: Stopwatch::new(),
            stored: 0,
            samples: 0,
            next: 0,
            fingerprint: Fingerprint::default(),
            runs: Vec::new(),
            opened: None,
            closed: None,
            waits: [None; 2],
        }
    }

    /// Counts the samples of a commit that ended `response` ns after it was due, and opens and
    /// closes the window by their numbers; whether it is over.
    pub(super) fn take(
        &mut self,
        numbers: &[u64],
        samples: &[Sample],
        response: u64,
        observer: &mut dyn PhaseObserver,
    ) -> bool {
        self.response.record(response);
        for (number, sample) in numbers.iter().zip(samples) {
            self.fingerprint = with(self.fingerprint, sample);
            self.stored += 1;
            self.samples += u64::from((self.task.first..self.task.end).contains(number));
            match self.runs.last_mut() {
                Some((_, run)) if *number == self.next => *run += 1,
                _ => self.runs.push((*number, 1)),
            }
            self.next = number + 1;
        }
        if self.opened.is_none() && self.next > self.task.first {
            self.service.reset();
            self.response.reset();
            observer.open();
            self.opened = Some(Instant::now());
        }
        if self.opened.is_some() && self.closed.is_none() {
            let (Task { first, end, .. }, tenth) = (self.task, self.task.samples() / 10);
            let least = |wait: Option<u64>| wait.map(|wait| wait.min(response)).or(Some(response));
            if self.waits[0].is_none() || self.next <= first + tenth {
                self.waits[0] = least(self.waits[0]);
            }
            if self.next + tenth >= end {
                self.waits[1] = least(self.waits[1]);
            }
        }
        let over = self.next >= self.task.end;
        if over {
            self.close(observer);
        }
        over
    }

    /// Closes the window where it is open.
    pub(super) fn close(&mut self, observer: &mut dyn PhaseObserver) {
        if let (Some(opened), None) = (self.opened, self.closed) {
            self.closed = Some(opened.elapsed());
            observer.close();
            self.service.stop();
            self.response.stop();
        }
    }

    /// What has been done, beside what the sensor tells.
    pub(super) fn written(self, account: Account) -> Written {
        let behind = self.waits[0].zip(self.waits[1]).map(|(begin, end)| end.saturating_sub(begin));
        let made = self.task.end.min(account.made).saturating_sub(self.task.first);
        Written {
            task: self.task,
            stored: self.stored,
            samples: self.samples,
            lost: made.saturating_sub(self.samples),
            lost_ever: account.made.saturating_sub(self.stored),
            window: self.closed.unwrap_or_default(),
            behind_ns: behind.unwrap_or(0),
            service: self.service.latency(),
            response: self.response.latency(),
            fingerprint: self.fingerprint,
            runs: self.runs,
            account,
        }
    }
}

/// What a writer has done.
pub(super) struct Written {
    pub task: Task,
    /// Samples stored, from the first to the last.
    pub stored: u64,
    /// Samples of the window that were taken from the queue.
    pub samples: u64,
    /// Samples of the window that never came.
    pub lost: u64,
    /// Samples that never came, of all that the sensor made.
    pub lost_ever: u64,
    /// How long the window was, from its first sample to its last.
    pub window: Duration,
    /// By how many ns every commit at the window's end was later after it was due than those at its
    /// begin.
    pub behind_ns: u64,
    /// How long the commits of the window took.
    pub service: Option<Latency>,
    /// How long after they were due they had ended.
    pub response: Option<Latency>,
    /// Of everything stored, in its order.
    pub fingerprint: Fingerprint,
    /// Numbers of the samples that came: the first and how many, gap by gap.
    pub runs: Vec<(u64, u64)>,
    /// What the sensor tells.
    pub account: Account,
}

impl Written {
    /// Samples a second that were stored of the window's: the rate, but for what the writer fell
    /// behind.
    pub(super) fn achieved_rate(&self) -> f64 {
        let window = self.task.samples() as f64 / self.task.rate as f64;
        let kept = window / (window + self.behind_ns as f64 / 1e9);
        self.task.rate as f64 * kept * self.samples as f64 / self.task.samples() as f64
    }

    /// Tells all of it that stands in a result.
    pub(super) fn tell(&self, observer: &mut dyn PhaseObserver) {
        observer.count("samples", self.samples);
        observer.count("lost", self.lost);
        observer.count("lost-ever", self.lost_ever);
        observer.count("deadline-misses", self.account.missed);
        observer.count("latest-ns", self.account.latest_ns);
        observer.count("target-rate", self.task.rate);
        observer.count("achieved-rate", self.achieved_rate().round() as u64);
        for (name, latency) in [("commit", &self.service), ("response", &self.response)] {
            if let Some(latency) = latency {
                observer.latency(name, latency.clone());
            }
        }
    }

    /// Whether everything stored is what the sensor made and the writer stamped: visits the store
    /// in the order of time.
    pub(super) fn check(
        &self,
        log: &mut dyn MachineLog,
        signal: &Signal,
    ) -> Result<Option<String>> {
        let mut runs = self.runs.iter().flat_map(|(first, run)| *first..*first + *run);
        let (mut seen, mut fingerprint, mut wrong) = (0_u64, Fingerprint::default(), None);
        log.visit(Span::All, Channels::All, &mut |sample| {
            seen += 1;
            fingerprint = with(fingerprint, &sample);
            let expected = runs.next().map(|number| (number, signal.values(number)));
            if wrong.is_none() && expected.map(|(_, values)| values) != Some(sample.values) {
                wrong = Some(format!(
                    "sample {seen} of the store is {sample:?}, expected number and values {expected:?}"
                ));
            }
        })?;
        Ok(match wrong {
            Some(wrong) => Some(wrong),
            None if seen != self.stored => {
                Some(format!("{seen} samples in the store, expected {}", self.stored))
            }
            None if fingerprint != self.fingerprint => Some(
                "the times of the samples in the store are not those they were given".to_owned(),
            ),
            None => None,
        })
    }
}

#[cfg(test)]
pub(super) mod tests;
