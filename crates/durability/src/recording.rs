//! Work done on a recorded device: what had reached it when, and what had been acknowledged by
//! then.

use std::time::Duration;

use embermark_blockdev::{Device, Log};

use crate::oracle::Promised;
use crate::try_results::TryLoss;
use crate::work::TABLE_COMMIT;

/// A commit's acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acknowledgement {
    pub client: usize,
    pub commit: u64,
    /// Number of records that had reached the device.
    pub at: usize,
    /// Time since the device was mounted.
    pub time: Duration,
}

impl Acknowledgement {
    /// Records the acknowledgement of a client's commit now. What other clients have written since
    /// it returned counts as before it, so it is promised a little later than it was, never sooner.
    pub(crate) fn now(client: usize, commit: u64, device: &Device) -> Self {
        Self { client, commit, at: device.position(), time: device.elapsed() }
    }
}

/// Work done on a recorded device.
#[derive(Clone, Debug)]
pub(crate) struct Recording {
    pub log: Log,
    /// In order.
    pub acknowledged: Vec<Acknowledgement>,
    /// What had been promised to each client before and was found.
    pub before: Vec<Promised>,
}

impl Recording {
    /// Returns what had been promised to each client before the record `at`. The power is cut at
    /// the last time at which the device has received only these records. What is acknowledged
    /// until then is promised.
    pub(crate) fn promised(&self, at: usize) -> Vec<Promised> {
        let before = self.acknowledged.partition_point(|acknowledged| acknowledged.at <= at);
        let mut promised = self.before.clone();
        for Acknowledgement { client, commit, .. } in &self.acknowledged[..before] {
            promised[*client] = Promised::after(*commit);
        }
        promised
    }

    /// Returns what was lost of that, with `last` the last commit of each client that was found.
    pub(crate) fn loss(&self, at: usize, last: &[u64]) -> TryLoss {
        let promised = self.promised(at);
        let lost = |client: usize| promised[client].acknowledged.saturating_sub(last[client]);
        let commits = (0..last.len()).map(lost).sum();
        let is_lost = |a: &&Acknowledgement| a.commit > last[a.client] && lost(a.client) > 0;
        let first = self.acknowledged.iter().find(is_lost);
        let then = first.map_or(Duration::ZERO, |a| self.cut_time(at).saturating_sub(a.time));
        let everything = commits > 0 && last.iter().all(|last| *last <= TABLE_COMMIT);
        TryLoss { commits, ms: then.as_secs_f64() * 1e3, everything }
    }

    /// Returns the time of a cut before the record `at`: when that one came, or the end.
    fn cut_time(&self, at: usize) -> Duration {
        let end = || {
            let last = [self.log.times.last(), self.acknowledged.last().map(|last| &last.time)];
            last.into_iter().flatten().max().copied().unwrap_or_default()
        };
        self.log.times.get(at).copied().unwrap_or_else(end)
    }
}

#[cfg(test)]
mod tests {
    use embermark_blockdev::{Image, Record};

    use super::*;

    /// Records come at 10, 20, … ms. Commits are acknowledged after a number of records, at a time
    /// in ms.
    fn recording(records: usize, acknowledged: &[(u64, usize, u64)]) -> Recording {
        let file = tempfile::NamedTempFile::new().unwrap();
        let time = |ms| Duration::from_millis(ms);
        let log = Log {
            base: Image::from_file(file.path()).unwrap(),
            records: vec![Record::Flush; records],
            times: (1..=records as u64).map(|n| time(n * 10)).collect(),
        };
        let acknowledged = acknowledged.iter();
        let acknowledged = acknowledged.map(|(commit, at, ms)| Acknowledgement {
            client: 0,
            commit: *commit,
            at: *at,
            time: time(*ms),
        });
        let before = vec![Promised { acknowledged: 0, begun: 1 }];
        Recording { log, acknowledged: acknowledged.collect(), before }
    }

    #[test]
    fn what_is_acknowledged_before_the_next_record_is_promised() {
        let recording = recording(5, &[(1, 2, 25), (2, 2, 28), (3, 4, 44)]);
        let promised = |at| recording.promised(at)[0].acknowledged;
        assert_eq!([0, 1, 2, 3, 4, 5].map(promised), [0, 0, 2, 2, 3, 3]);
        assert_eq!(recording.promised(1), [Promised { acknowledged: 0, begun: 1 }]);
        assert_eq!(recording.promised(2), [Promised { acknowledged: 2, begun: 3 }]);
    }

    #[test]
    fn before_a_commit_is_acknowledged_what_was_there_before_counts() {
        let before = vec![Promised { acknowledged: 7, begun: 9 }];
        let recording = Recording { before: before.clone(), ..recording(3, &[(9, 2, 25)]) };
        assert_eq!(recording.promised(1), before);
        assert_eq!(recording.promised(2), [Promised { acknowledged: 9, begun: 10 }]);
    }

    #[test]
    fn a_loss_is_counted_from_the_oldest_lost_acknowledgement_to_the_next_record() {
        let recording = recording(5, &[(1, 1, 15), (2, 2, 25), (3, 2, 28), (4, 4, 44)]);
        let lost = |at, last| {
            let TryLoss { commits, ms, everything } = recording.loss(at, &[last]);
            (commits, ms, everything)
        };
        // Cut at 30 ms, when the third record came: 2 and 3 are lost, acknowledged at 25 and 28.
        assert_eq!(lost(2, 1), (2, 5.0, true));
        assert_eq!(lost(2, 2), (1, 2.0, false));
        assert_eq!(lost(2, 3), (0, 0.0, false));
        // The active one is present.
        assert_eq!(lost(2, 4), (0, 0.0, false));
        // At the end, at 50 ms: everything, including the table.
        assert_eq!(lost(5, 0), (4, 35.0, true));
    }

    #[test]
    fn each_client_is_promised_its_own_commits() {
        let mut recording =
            recording(5, &[(1, 1, 12), (1, 1, 13), (2, 2, 25), (2, 3, 34), (3, 4, 44)]);
        let clients = [0, 1, 0, 1, 0];
        for (acknowledged, client) in recording.acknowledged.iter_mut().zip(clients) {
            acknowledged.client = client;
        }
        recording.before.push(Promised { acknowledged: 0, begun: 1 });
        let promised =
            |at| recording.promised(at).iter().map(|p| p.acknowledged).collect::<Vec<_>>();
        let expected = [[0, 0], [1, 1], [2, 1], [2, 2], [3, 2]];
        for (at, expected) in expected.iter().enumerate() {
            assert_eq!(promised(at), expected, "{at}");
        }
        // Cut at 50 ms: the second commit of one client, the third of the other.
        let TryLoss { commits, ms, everything } = recording.loss(4, &[2, 1]);
        assert_eq!((commits, ms, everything), (2, 16.0, false));
        let TryLoss { commits, ms, everything } = recording.loss(4, &[1, 1]);
        assert_eq!((commits, ms, everything), (3, 25.0, true));
    }
}
