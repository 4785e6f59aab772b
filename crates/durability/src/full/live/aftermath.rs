//! What the engine does when there is room again, and whether removing rows makes room.

use std::thread;
use std::time::{Duration, Instant};

use super::{End, Live, PATIENCE};
use crate::full::after;
use crate::full::worst::Worst;
use crate::oracle::Verdict;
use crate::outcome::{Deletes, GoesOn, Said, Tried};
use crate::process::Silent;
use crate::protocol::Command;
use crate::settings::{Test, TestError};

/// Commits that show that work continues: more than fit into the free space of existing pages.
const SOME: u64 = 20;

/// How long commits are retried when there is room.
const TRIES: Duration = Duration::from_secs(30);
/// How long commits are retried after rows were removed.
const TRIES_REMOVED: Duration = Duration::from_secs(5);
const BETWEEN: Duration = Duration::from_millis(250);
/// The longest time for removing rows.
const REMOVES: Duration = Duration::from_secs(20);

impl Live<'_> {
    /// Makes some room and tries to continue, in the same process or after reopening. Returns the
    /// outcome and the time until a commit was acknowledged, in ms.
    pub(in crate::full) fn goes_on(
        &mut self,
        worst: &mut Worst,
    ) -> Result<(Said<GoesOn>, Option<f64>), TestError> {
        self.space.make_some_room()?;
        self.resumed = None;
        let (begun, before) = (Instant::now(), self.acknowledged);
        let said = self.tries(TRIES)?;
        if self.acknowledged >= before + SOME {
            let after = self.resumed.map(|at| at.duration_since(begun).as_secs_f64() * 1e3);
            return Ok((Said::nothing(GoesOn::ByItself), after));
        }
        let (before, said) = (self.acknowledged, said.unwrap_or_default());
        let opened = self.reopen("opened again when there was some room", worst)?;
        let again = match opened {
            None => self.tries(TRIES)?,
            message => message,
        };
        Ok(match self.acknowledged >= before + SOME {
            true => (Said::that(GoesOn::Reopened, said), None),
            false => (Said { is: GoesOn::No, message: again.or(Some(said)) }, None),
        })
    }

    /// Retries some commits until they are acknowledged or the time is over. Returns the last
    /// message if they were not.
    fn tries(&mut self, within: Duration) -> Result<Option<String>, TestError> {
        let begun = Instant::now();
        loop {
            // The outstanding commits were already requested.
            let end = if self.hangs { self.ended()? } else { self.commits(SOME)? };
            match end {
                End::Done => return Ok(None),
                End::Hangs => {
                    let patience = PATIENCE[usize::from(self.test.is_server())];
                    return Ok(Some(Silent::Hangs(patience).verdict().1));
                }
                End::Ended(_, message) => return Ok(Some(message)),
                End::Refused(_, message) if begun.elapsed() > within => return Ok(Some(message)),
                End::Refused(..) => thread::sleep(BETWEEN),
            }
        }
    }

    /// Closes the database, by a kill if necessary, and opens it in a new process. Returns the
    /// message if it does not open or lacks promised rows.
    fn reopen(&mut self, of: &str, worst: &mut Worst) -> Result<Option<String>, TestError> {
        self.close()?;
        let test = Test { filling: Some(self.filling), ..*self.test };
        let promised = self.promised();
        let (worker, looked) = after::open(&test, self.space, promised)?;
        let last = looked.last.as_ref().and_then(|last| last.first().copied());
        match (looked.verdict, last) {
            (Verdict::Holds, Some(last)) => {
                self.there = self.there.max(last);
                self.servers = worker.servers().map_err(TestError::io("look for servers"))?;
                self.worker = Some(worker);
                Ok(None)
            }
            (verdict, _) => {
                let message = looked.message.clone().unwrap_or_else(|| verdict.name().to_owned());
                // The message reports that it does not open here. Whether it opens with more room
                // is tested later.
                if !after::is_unopened(&looked) {
                    worst.add(&test, self.space, looked, promised, of)?;
                }
                Ok(Some(message))
            }
        }
    }

    /// Fills the disk again and removes a quarter of the rows. Returns whether that makes room.
    pub(in crate::full) fn deletes(
        &mut self,
        worst: &mut Worst,
    ) -> Result<Said<Deletes>, TestError> {
        let not_asked = |why: &str| Ok(Said::that(Deletes::NotAsked, why));
        if !self.test.plan().abilities.deletes {
            return not_asked("no removal is asked of this family");
        }
        if self.worker.is_none() || self.hangs {
            return not_asked("it does not go on");
        }
        self.fill_up(&mut |_, _| Ok(()))?;
        self.space.top_up()?;
        let of = "read on the disk that was full again";
        if self.look(of, worst)?.is != Tried::Yes {
            // A user who wants to remove rows would restart it.
            if let Some(message) = self.reopen(of, worst)? {
                return Ok(Said::that(Deletes::NotAsked, message));
            }
        }
        let test = Test { filling: Some(self.filling), ..*self.test };
        let rows = test.plan().work(0).after(self.there).rows().len();
        self.filling.from = self.there + 1;
        let (begun, mut refused) = (Instant::now(), None);
        for _ in 0..test.plan().removals(rows) {
            self.filling.removals += 1;
            match self.commits(1)? {
                End::Done => {}
                End::Refused(_, message) => refused = Some(message),
                End::Hangs => refused = Some("it does not answer".to_owned()),
                End::Ended(_, message) => refused = Some(message),
            }
            if refused.is_some() || begun.elapsed() > REMOVES {
                break;
            }
        }
        let looked = self.look("read after rows were removed from the full disk", worst)?;
        let removed = self.there + 1 - self.filling.from;
        if looked.is == Tried::Yes {
            // Otherwise the refused one may still be in the database.
            self.filling.removals = removed;
        }
        if removed == 0 {
            return Ok(Said { is: Deletes::Refused, message: refused });
        }
        if looked.is != Tried::Yes {
            return Ok(Said { is: Deletes::MakeNone, message: refused.or(looked.message) });
        }
        let Some(said) = self.tries(TRIES_REMOVED)? else {
            return Ok(Said { is: Deletes::MakeRoom, message: refused });
        };
        if self.hangs || self.worker.is_none() {
            return Ok(Said::that(Deletes::MakeNone, said));
        }
        self.tell(&Command::Maintain)?;
        match self.ended()? {
            End::Done => {}
            End::Refused(_, message) | End::Ended(_, message) => {
                let message = format!("{said}; its maintenance: {message}");
                return Ok(Said::that(Deletes::MakeNone, message));
            }
            End::Hangs => {
                return Ok(Said::that(Deletes::MakeNone, "its maintenance does not answer"));
            }
        }
        Ok(match self.tries(TRIES_REMOVED)? {
            None => Said::nothing(Deletes::MakeRoomMaintained),
            Some(said) => Said::that(Deletes::MakeNone, said),
        })
    }
}
