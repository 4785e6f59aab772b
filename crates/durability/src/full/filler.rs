//! The process that fills the disk.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use nix::unistd::Pid;
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use super::ballast_disk::BallastDisk;
use super::reopen;
use super::worst::WorstFinding;
use crate::inspection::{self, Inspection};
use crate::oracle::{self, Judgement, Promised, Verdict};
use crate::outcome::{Observation, Stopped, Tried};
use crate::process::{NoResponse, Worker};
use crate::protocol::{Command, DatabaseState, Event};
use crate::settings::{Result, Test, TestError};
use crate::work::TABLE_COMMIT;
use crate::work::filling::Filling;

mod filling;
mod recovery;

/// The longest wait for an answer on a full disk: of an embedded engine, and of a server.
const PATIENCE: [Duration; 2] = [Duration::from_secs(20), Duration::from_secs(75)];
/// The time in which a failing server ends after its client got the error.
const SERVER_END_TIME: Duration = Duration::from_millis(500);
/// The longest time between the start of a commit and the copy.
const LATEST_COPY: Duration = Duration::from_millis(3);

/// How a run of commits ended: [`Stopped::NoError`] if all were acknowledged. For the others the
/// time in ms that the last one had not returned.
type CommitsEnd = (Observation<Stopped>, Option<f64>);

fn stopped(is: Stopped, after: Duration, message: impl Into<String>) -> CommitsEnd {
    (Observation::with_message(is, message), Some(after.as_secs_f64() * 1e3))
}

/// The process that fills the disk, and what it has promised.
pub(super) struct DiskFiller<'a> {
    test: &'a Test<'a>,
    disk: &'a BallastDisk,
    worker: Option<Worker>,
    /// The process ids of its servers.
    servers: Vec<Pid>,
    /// Whether an answer is outstanding.
    hangs: bool,
    /// The last acknowledged commit.
    acknowledged: u64,
    /// When a commit was first acknowledged after there was room again.
    resumed: Option<Instant>,
    /// The last commit in the database, which may be a refused one.
    last_found: u64,
    /// The content of the commits.
    pub(super) filling: Filling,
    /// Free bytes when the work began.
    pub(super) room: u64,
    random: Xoshiro256PlusPlus,
    begun: Instant,
}

impl<'a> DiskFiller<'a> {
    /// Creates the database on a disk, and the ballast file.
    pub(super) fn start(test: &'a Test<'a>, disk: &'a BallastDisk, ballast: u64) -> Result<Self> {
        let mut worker = test.start(disk.database(), DatabaseState::NoTable)?;
        let promised = test.initial_promises();
        test.check_holds(&inspection::inspect(&mut worker, test.plan(), &promised, || ())?)?;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(test.settings.seed);
        // The last block then differs between tests, also for an engine that allocates many at
        // once.
        let room = disk.place_ballast(ballast, random.random_range(0..test.settings.disk / 16))?;
        if room < test.settings.disk / 5 {
            let [room, disk] = [room, test.settings.disk].map(|bytes| bytes >> 20);
            let message = format!(
                "a new database leaves {room} MiB free, which is too little: use a disk larger than {disk} MiB"
            );
            return Err(test.engine_error(message));
        }
        let servers = worker.servers().map_err(TestError::io("look for servers"))?;
        Ok(Self {
            test,
            disk,
            worker: Some(worker),
            servers,
            hangs: false,
            acknowledged: TABLE_COMMIT,
            resumed: None,
            last_found: TABLE_COMMIT,
            filling: Filling::default(),
            room,
            random,
            begun: Instant::now(),
        })
    }

    /// Returns what was promised so far.
    pub(super) const fn promised(&self) -> Promised {
        Promised { acknowledged: self.acknowledged, begun: self.last_found + 1 }
    }

    fn send(&mut self, command: &Command) -> Result<()> {
        Ok(self.worker.as_mut().map_or(Ok(()), |worker| worker.send(command))?)
    }

    /// Waits until the commits end.
    fn wait_for_commits(&mut self) -> Result<CommitsEnd> {
        let (mut since, mut topped_up) = (Instant::now(), false);
        let patience = PATIENCE[usize::from(self.test.is_server())];
        loop {
            self.test.check_interrupted()?;
            if !topped_up && self.begun.elapsed() > self.test.settings.longest_fill {
                self.disk.top_up()?;
                topped_up = true;
            }
            let Some(worker) = &mut self.worker else {
                return Ok(stopped(Stopped::ProcessEnds, Duration::ZERO, "its process has ended"));
            };
            let event = worker.event_within(patience)?;
            self.hangs = event.is_none();
            match event {
                None => {
                    let message = NoResponse::Hangs(patience).verdict().1;
                    return Ok(stopped(Stopped::Hangs, patience, message));
                }
                Some(Ok(Event::Committed { number, .. })) => {
                    since = Instant::now();
                    (self.acknowledged, self.last_found) = (number, number);
                    self.resumed.get_or_insert(since);
                }
                Some(Ok(Event::Refused { ns, message })) => {
                    return Ok(stopped(Stopped::Error, Duration::from_nanos(ns), message));
                }
                Some(Ok(Event::Done)) => return Ok((Observation::new(Stopped::NoError), None)),
                Some(Ok(Event::Failed { message, .. })) => {
                    self.worker = None;
                    return Ok(stopped(Stopped::ProcessEnds, since.elapsed(), message));
                }
                Some(Ok(Event::Opened { .. } | Event::Found(_) | Event::Closed)) => {}
                Some(Err(silent)) => {
                    self.worker = None;
                    return Ok(stopped(Stopped::ProcessEnds, since.elapsed(), silent.verdict().1));
                }
            }
        }
    }

    /// Returns the end of commits, in which an error may be that a server has ended.
    fn with_server_end(&self, (how, ms): CommitsEnd) -> Result<CommitsEnd> {
        let is = match how.is {
            Stopped::Error if self.has_server_ended()? => Stopped::ServerEnds,
            is => is,
        };
        Ok((Observation { is, ..how }, ms))
    }

    /// Whether a server has ended.
    fn has_server_ended(&self) -> Result<bool> {
        let Some(worker) = self.worker.as_ref().filter(|_| !self.servers.is_empty()) else {
            return Ok(false);
        };
        thread::sleep(SERVER_END_TIME);
        let running = worker.servers().map_err(TestError::io("look for servers"))?;
        Ok(self.servers.iter().any(|server| !running.contains(server)))
    }

    /// Copies the disk while the process is stopped in a commit: the state that a kill at that time
    /// would leave. Returns what was promised by then.
    pub(super) fn copy(&mut self, to: &Path) -> Result<Promised> {
        let promised = self.promised();
        if !self.hangs {
            self.send(&Command::Fill { after: self.last_found, count: 1, filling: self.filling })?;
            let within = self.random.random_range(0..LATEST_COPY.as_nanos() as u64);
            thread::sleep(Duration::from_nanos(within));
        }
        match &self.worker {
            Some(worker) => {
                let copied = worker.while_stopped(|| self.disk.copy(to));
                copied.map_err(TestError::io("stop a worker"))??;
            }
            None => self.disk.copy(to)?,
        }
        if !self.hangs {
            self.wait_for_commits()?;
        }
        Ok(promised)
    }

    /// Reads everything on the full disk and judges the result. `of` names the check.
    pub(super) fn read(
        &mut self,
        of: &str,
        worst: &mut WorstFinding,
    ) -> Result<Observation<Tried>> {
        if self.hangs {
            return Ok(Observation::with_message(Tried::NotAsked, "it does not answer"));
        }
        self.send(&Command::Read)?;
        let Some(worker) = &mut self.worker else {
            return Ok(Observation::with_message(Tried::NotAsked, "its process has ended"));
        };
        let found = match worker.next_event()? {
            Ok(Event::Found(found)) => found,
            Ok(Event::Refused { message, .. } | Event::Failed { message, .. }) => {
                return Ok(Observation::with_message(Tried::No, message));
            }
            Ok(other) => return Ok(Observation::with_message(Tried::No, format!("{other:?}"))),
            Err(silent) => {
                self.worker = None;
                return Ok(Observation::with_message(Tried::No, silent.verdict().1));
            }
        };
        let promised = self.promised();
        let test = Test { filling: Some(self.filling), ..*self.test };
        let Judgement { verdict, client, last } = oracle::judge(test.plan(), &found, &[promised]);
        if let Some(last) = last.as_ref().and_then(|last| last.first()) {
            self.last_found = self.last_found.max(*last);
        }
        let message = found.differs.filter(|_| verdict == Verdict::CopiesDiffer);
        let inspection = Inspection { verdict, client, last, open_ns: None, message };
        worst.add(self.test, self.disk, inspection, promised, of)?;
        Ok(Observation::new(Tried::Yes))
    }

    /// Closes the database and ends the process. Kills a process that does not answer.
    pub(super) fn close(&mut self) -> Result<()> {
        let Some(mut worker) = self.worker.take() else { return Ok(()) };
        if std::mem::take(&mut self.hangs) {
            let ended = worker.kill().and_then(|()| worker.wait());
            return ended.map_err(TestError::io("end a worker"));
        }
        reopen::close(&mut worker).map(drop)
    }
}
