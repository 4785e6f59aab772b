//! Work done on a recorded device: what had reached it when, and what had been acknowledged by then.

use std::time::Duration;

use embermark_blockdev::{Device, Log};

use crate::gathered::Lost;
use crate::oracle::Promised;
use crate::work::MADE;

/// A commit's acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acknowledged {
    pub client: usize,
    pub commit: u64,
    /// How many records had reached the device.
    pub at: usize,
    /// When, since the device was mounted.
    pub time: Duration,
}

impl Acknowledged {
    /// Of a client's commit, now. What other clients have written since it returned counts as
    /// before it: it is promised a little later than it was, never sooner.
    pub(crate) fn now(client: usize, commit: u64, device: &Device) -> Self {
        Self { client, commit, at: device.position(), time: device.elapsed() }
    }
}

/// Work done on a recorded device.
#[derive(Clone, Debug)]
pub(crate) struct Recording {
    pub log: Log,
    /// In their order.
    pub acknowledged: Vec<Acknowledged>,
    /// What had been promised to each client before, and was there.
    pub before: Vec<Promised>,
}

impl Recording {
    /// What had been promised to each client before the record `at`. The power is cut at the last
    /// moment at which the device has received no more than these: what is acknowledged until then
    /// is promised.
    pub(crate) fn promised(&self, at: usize) -> Vec<Promised> {
        let before = self.acknowledged.partition_point(|acknowledged| acknowledged.at <= at);
        let mut promised = self.before.clone();
        for Acknowledged { client, commit, .. } in &self.acknowledged[..before] {
            promised[*client] = Promised::after(*commit);
        }
        promised
    }

    /// What was lost of that, with `last` the last commit of each client that is there.
    pub(crate) fn lost(&self, at: usize, last: &[u64]) -> Lost {
        let promised = self.promised(at);
        let lost = |client: usize| promised[client].acknowledged.saturating_sub(last[client]);
        let commits = (0..last.len()).map(lost).sum();
        let is_lost = |a: &&Acknowledged| a.commit > last[a.client] && lost(a.client) > 0;
        let first = self.acknowledged.iter().find(is_lost);
        let then = first.map_or(Duration::ZERO, |first| self.cut(at).saturating_sub(first.time));
        let everything = commits > 0 && last.iter().all(|last| *last <= MADE);
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
