//! Work done on a recorded device: what had reached it when, and what had been acknowledged by then.

use std::time::Duration;

use embermark_blockdev::{Device, Log};

use crate::gathered::Lost;
use crate::oracle::Promised;
use crate::work::MADE;

/// A commit's acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acknowledged {
    pub commit: u64,
    /// How many records had reached the device.
    pub at: usize,
    /// When, since the device was mounted.
    pub time: Duration,
}

impl Acknowledged {
    /// Of a commit, now.
    pub(crate) fn now(commit: u64, device: &Device) -> Self {
        Self { commit, at: device.position(), time: device.elapsed() }
    }
}

/// Work done on a recorded device.
#[derive(Clone, Debug)]
pub(crate) struct Recording {
    pub log: Log,
    /// In their order.
    pub acknowledged: Vec<Acknowledged>,
    /// What had been promised before, and was there.
    pub before: Promised,
}

impl Recording {
    /// What had been promised before the record `at`. The power is cut at the last moment at which the
    /// device has received no more than these: what is acknowledged until then is promised.
    pub(crate) fn promised(&self, at: usize) -> Promised {
        let before = self.acknowledged.partition_point(|acknowledged| acknowledged.at <= at);
        match before.checked_sub(1) {
            Some(last) => Promised::after(self.acknowledged[last].commit),
            None => self.before,
        }
    }

    /// What was lost of that, with `last` the last commit that is there.
    pub(crate) fn lost(&self, at: usize, last: u64) -> Lost {
        let acknowledged = self.promised(at).acknowledged;
        let commits = acknowledged.saturating_sub(last);
        let first = self.acknowledged.iter().find(|a| a.commit > last).filter(|_| commits > 0);
        let then = first.map_or(Duration::ZERO, |first| self.cut(at).saturating_sub(first.time));
        let everything = commits > 0 && last <= MADE;
        Lost { commits, ms: then.as_secs_f64() * 1e3, everything }
    }

    /// The time of a cut before the record `at`: when that one came, or the end.
    fn cut(&self, at: usize) -> Duration {
        let end = || {
            let last = [self.log.times.last(), self.acknowledged.last().map(|last| &last.time)];
            last.into_iter().flatten().max().copied().unwrap_or_default()
        };
        self.log.times.get(at).copied().unwrap_or_else(end)
    }
}

#[cfg(test)]
mod tests;
