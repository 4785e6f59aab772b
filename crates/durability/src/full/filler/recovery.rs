//! Tests whether the engine recovers when there is room again, and whether removing rows makes
//! room.

use std::thread;
use std::time::{Duration, Instant};

use super::DiskFiller;
use crate::full::reopen;
use crate::full::worst::WorstFinding;
use crate::oracle::Verdict;
use crate::outcome::{CommitRecovery, DeleteOutcome, Observation, Stopped, Tried};
use crate::protocol::Command;
use crate::settings::{Result, Test, TestError};

/// Commits that show that work continues: more than fit into the free space of existing pages.
const RECOVERY_COMMITS: u64 = 20;

/// How long commits are retried when there is room.
const RETRY_TIME: Duration = Duration::from_secs(30);
/// How long commits are retried after rows were removed.
const RETRY_TIME_AFTER_REMOVAL: Duration = Duration::from_secs(5);
const RETRY_INTERVAL: Duration = Duration::from_millis(250);
/// The longest time for removing rows.
const REMOVAL_TIME: Duration = Duration::from_secs(20);

impl DiskFiller<'_> {
    /// Makes some room and tries to continue, in the same process or after reopening. Returns the
    /// outcome and the time until a commit was acknowledged, in ms.
    pub(in crate::full) fn recover(
        &mut self,
        worst: &mut WorstFinding,
    ) -> Result<(Observation<CommitRecovery>, Option<f64>)> {
        self.disk.make_some_room()?;
        self.resumed = None;
        let (begun, before) = (Instant::now(), self.acknowledged);
        let said = self.retry_commits(RETRY_TIME)?;
        if self.acknowledged >= before + RECOVERY_COMMITS {
            let after = self.resumed.map(|at| at.duration_since(begun).as_secs_f64() * 1e3);
            return Ok((Observation::new(CommitRecovery::ByItself), after));
        }
        let (before, said) = (self.acknowledged, said.unwrap_or_default());
        let opened = self.reopen("opened again when there was some room", worst)?;
        let again = match opened {
            None => self.retry_commits(RETRY_TIME)?,
            message => message,
        };
        Ok(match self.acknowledged >= before + RECOVERY_COMMITS {
            true => (Observation::with_message(CommitRecovery::Reopened, said), None),
            false => (Observation { is: CommitRecovery::No, message: again.or(Some(said)) }, None),
        })
    }

    /// Retries some commits until they are acknowledged or the time is over. Returns the last
    /// message if they were not.
    fn retry_commits(&mut self, within: Duration) -> Result<Option<String>> {
        let begun = Instant::now();
        loop {
            // The outstanding commits were already requested.
            let end =
                if self.hangs { self.wait_for_commits()? } else { self.commits(RECOVERY_COMMITS)? };
            match end.0.is {
                Stopped::Error if begun.elapsed() <= within => thread::sleep(RETRY_INTERVAL),
                // Without an error there is none.
                _ => return Ok(end.0.message),
            }
        }
    }

    /// Closes the database, by a kill if necessary, and opens it in a new process. Returns the
    /// message if it does not open or lacks promised rows.
    fn reopen(&mut self, of: &str, worst: &mut WorstFinding) -> Result<Option<String>> {
        self.close()?;
        let test = Test { filling: Some(self.filling), ..*self.test };
        let promised = self.promised();
        let (worker, inspection) = reopen::open(&test, self.disk, promised)?;
        let last = inspection.last.as_ref().and_then(|last| last.first().copied());
        match (inspection.verdict, last) {
            (Verdict::Holds, Some(last)) => {
                self.last_found = self.last_found.max(last);
                self.servers = worker.servers().map_err(TestError::io("look for servers"))?;
                self.worker = Some(worker);
                Ok(None)
            }
            _ => {
                let message = inspection.explanation();
                // The message reports that it does not open here. Whether it opens with more room
                // is tested later.
                if !reopen::is_unopened(&inspection) {
                    worst.add(&test, self.disk, inspection, promised, of)?;
                }
                Ok(Some(message))
            }
        }
    }

    /// Fills the disk again and removes a quarter of the rows. Returns whether that makes room.
    pub(in crate::full) fn delete_rows(
        &mut self,
        worst: &mut WorstFinding,
    ) -> Result<Observation<DeleteOutcome>> {
        let outcome = |is, message| Ok(Observation { is, message });
        let not_asked = |why: String| outcome(DeleteOutcome::NotAsked, Some(why));
        if !self.test.plan().abilities.deletes {
            return not_asked("removals are not tested for this family of stores".to_owned());
        }
        if self.worker.is_none() || self.hangs {
            return not_asked("it does not continue".to_owned());
        }
        self.fill_up(&mut |_, _| Ok(()))?;
        self.disk.top_up()?;
        let of = "read on the disk that was full again";
        if self.read(of, worst)?.is != Tried::Yes {
            // A user who wants to remove rows would restart it.
            if let Some(message) = self.reopen(of, worst)? {
                return not_asked(message);
            }
        }
        let test = Test { filling: Some(self.filling), ..*self.test };
        let rows = test.plan().work(0).after(self.last_found).rows().len();
        self.filling.from = self.last_found + 1;
        let (begun, mut refused) = (Instant::now(), None);
        for _ in 0..test.plan().removals(rows) {
            self.filling.removals += 1;
            let (end, _) = self.commits(1)?;
            refused = match end.is {
                Stopped::Hangs => Some("it does not answer".to_owned()),
                _ => end.message,
            };
            if refused.is_some() || begun.elapsed() > REMOVAL_TIME {
                break;
            }
        }
        let inspection = self.read("read after rows were removed from the full disk", worst)?;
        let removed = self.last_found + 1 - self.filling.from;
        if inspection.is == Tried::Yes {
            // Otherwise the refused one may still be in the database.
            self.filling.removals = removed;
        }
        if removed == 0 {
            return outcome(DeleteOutcome::Refused, refused);
        }
        if inspection.is != Tried::Yes {
            return outcome(DeleteOutcome::MakeNone, refused.or(inspection.message));
        }
        let Some(said) = self.retry_commits(RETRY_TIME_AFTER_REMOVAL)? else {
            return outcome(DeleteOutcome::MakeRoom, refused);
        };
        if self.hangs || self.worker.is_none() {
            return outcome(DeleteOutcome::MakeNone, Some(said));
        }
        self.send(&Command::Maintain)?;
        let (end, _) = self.wait_for_commits()?;
        if let Some(message) = end.message {
            let message = match end.is {
                Stopped::Hangs => "its maintenance does not answer".to_owned(),
                _ => format!("{said}; its maintenance: {message}"),
            };
            return outcome(DeleteOutcome::MakeNone, Some(message));
        }
        match self.retry_commits(RETRY_TIME_AFTER_REMOVAL)? {
            None => outcome(DeleteOutcome::MakeRoomMaintained, None),
            said => outcome(DeleteOutcome::MakeNone, said),
        }
    }
}
