//! What an engine has of the work, looked at by a worker that opens the database.

use std::io;

use crate::oracle::{self, Judged, Promised, Verdict};
use crate::process::Worker;
use crate::protocol::{Command, Doing, Event};

/// What was seen.
#[derive(Clone, Debug)]
pub(crate) struct Looked {
    pub judged: Judged,
    /// How long the engine took to open the database, in ns.
    pub open_ns: Option<u64>,
    /// What the engine said, where it failed.
    pub message: Option<String>,
}

impl Looked {
    fn failed(verdict: Verdict, open_ns: Option<u64>, message: String) -> Self {
        Self { judged: Judged { verdict, last: None }, open_ns, message: Some(message) }
    }
}

/// Has a worker that was just started tell what is there, and judges it.
pub(crate) fn look(worker: &mut Worker, seed: u64, promised: Promised) -> io::Result<Looked> {
    let mut open_ns = None;
    loop {
        match worker.event()? {
            Some(Event::Opened { ns }) => open_ns = Some(ns),
            Some(Event::Found(found)) => {
                let judged = oracle::judge(seed, &found, promised);
                return Ok(Looked { judged, open_ns, message: None });
            }
            Some(Event::Failed { doing: Doing::Read, message }) => {
                return Ok(Looked::failed(Verdict::CorruptRow, open_ns, message));
            }
            Some(Event::Failed { message, .. }) => {
                return Ok(Looked::failed(Verdict::NotOpened, open_ns, message));
            }
            Some(Event::Committed(_) | Event::Closed) | None => {
                let message = "its process died while it opened the database".to_owned();
                return Ok(Looked::failed(Verdict::NotOpened, open_ns, message));
            }
        }
    }
}

/// Has the worker do `count` more commits after the last that is there, and close the database;
/// `acknowledged` is called for each. What the engine said, where it failed.
pub(crate) fn go_on(
    worker: &mut Worker,
    after: u64,
    count: u64,
    mut acknowledged: impl FnMut(u64),
) -> io::Result<Option<String>> {
    worker.command(Command::Commit { after, count, waits: true })?;
    let mut left = count;
    loop {
        match worker.event()? {
            Some(Event::Committed(number)) => {
                acknowledged(number);
                worker.go_on()?;
                left -= 1;
                if left == 0 {
                    worker.finish();
                }
            }
            Some(Event::Closed) => return Ok(None),
            Some(Event::Failed { message, .. }) => return Ok(Some(message)),
            Some(Event::Opened { .. } | Event::Found(_)) => {}
            None => return Ok(Some("its process died while it worked on".to_owned())),
        }
    }
}
