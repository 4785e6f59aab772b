//! Examines what an engine has left of the work, by a worker that opens the database.

use std::io;

use crate::oracle::{self, Judgement, Promised, Verdict};
use crate::process::Worker;
use crate::protocol::{Command, Event, WorkerAction};
use crate::work::Plan;

/// Result of the examination.
#[derive(Clone, Debug)]
pub(crate) struct Inspection {
    pub verdict: Verdict,
    /// The client whose work it concerns.
    pub client: usize,
    /// The last commit of each client that was found, if the content is a prefix of its work.
    pub last: Option<Vec<u64>>,
    /// Time that the engine took to open the database, in ns.
    pub open_ns: Option<u64>,
    /// The engine's message if it failed.
    pub message: Option<String>,
}

impl Inspection {
    /// Makes that of a database that could not be judged.
    pub(crate) const fn failure(verdict: Verdict, message: String) -> Self {
        Self { verdict, client: 0, last: None, open_ns: None, message: Some(message) }
    }

    /// Returns it as that of a database that was interrupted while it was made: if it does not
    /// open, and nothing had been promised yet, no promise is broken.
    pub(crate) fn while_it_was_made(self, promised: &[Promised]) -> Self {
        let nothing = promised.iter().all(|promised| promised.acknowledged == 0);
        match self.open_ns {
            None if nothing => Self { verdict: Verdict::HalfMade, ..self },
            _ => self,
        }
    }

    /// Returns the engine's message, or the verdict's name without one.
    pub(crate) fn explanation(&self) -> String {
        self.message.clone().unwrap_or_else(|| self.verdict.name().to_owned())
    }
}

/// Makes a worker that was just started report the content, and judges it. Calls `opened` when the
/// database is open with the table.
pub(crate) fn inspect(
    worker: &mut Worker,
    plan: Plan,
    promised: &[Promised],
    opened: impl Fn(),
) -> io::Result<Inspection> {
    let mut open_ns = None;
    let (verdict, message) = loop {
        match worker.next_event()? {
            Ok(Event::Opened { ns }) => {
                opened();
                open_ns = Some(ns);
            }
            Ok(Event::Found(found)) => {
                let Judgement { verdict, client, last } = oracle::judge(plan, &found, promised);
                let message = found.differs.filter(|_| verdict == Verdict::CopiesDiffer);
                return Ok(Inspection { verdict, client, last, open_ns, message });
            }
            Ok(Event::Failed { doing: WorkerAction::Read, message }) => {
                break (Verdict::CorruptRow, message);
            }
            Ok(Event::Failed { message, .. }) => break (Verdict::NotOpened, message),
            Ok(Event::Refused { message, .. }) => break (Verdict::NotWritable, message),
            Ok(Event::Committed { .. } | Event::Done | Event::Closed) => {}
            Err(silent) => break silent.verdict(),
        }
    };
    Ok(Inspection { open_ns, ..Inspection::failure(verdict, message) })
}

/// Makes each client of the worker do `count` more commits after the last one found, and close the
/// database. Calls `acknowledged` for each, with its client. Returns what went wrong, if anything.
pub(crate) fn continue_work(
    worker: &mut Worker,
    after: &[u64],
    count: u64,
    mut acknowledged: impl FnMut(usize, u64),
) -> io::Result<Option<(Verdict, String)>> {
    worker.send(&Command::Commit { after: after.to_vec(), count, waits: true })?;
    let mut left = count * after.len() as u64;
    if left == 0 {
        worker.close_input();
    }
    loop {
        match worker.next_event()? {
            Ok(Event::Committed { client, number }) => {
                acknowledged(client, number);
                worker.release_client()?;
                left -= 1;
                if left == 0 {
                    worker.close_input();
                }
            }
            Ok(Event::Closed) => return Ok(None),
            Ok(Event::Failed { doing: WorkerAction::Check, message }) => {
                return Ok(Some((Verdict::CheckFailed, message)));
            }
            Ok(Event::Failed { message, .. } | Event::Refused { message, .. }) => {
                return Ok(Some((Verdict::NotWritable, message)));
            }
            Ok(Event::Opened { .. } | Event::Found(_) | Event::Done) => {}
            Err(silent) => return Ok(Some(silent.verdict())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_that_does_not_open_breaks_no_promise_before_there_is_one() {
        for failure in [Verdict::NotOpened, Verdict::Crashed, Verdict::Hangs] {
            let judged = |open_ns, acknowledged: &[u64]| {
                let inspection = Inspection::failure(failure, "its message".to_owned());
                let inspection = Inspection { open_ns, ..inspection };
                let promised: Vec<_> = acknowledged.iter().copied().map(Promised::after).collect();
                inspection.while_it_was_made(&promised)
            };
            let half_made = judged(None, &[0, 0]);
            assert_eq!(half_made.verdict, Verdict::HalfMade, "{failure:?}");
            assert_eq!(half_made.message.as_deref(), Some("its message"));
            assert_eq!(judged(None, &[0, 1]).verdict, failure);
            assert_eq!(judged(Some(1), &[0, 0]).verdict, failure, "it has opened");
        }
    }
}
