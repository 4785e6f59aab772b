//! The process that fills the disk.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use nix::unistd::Pid;
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use super::after;
use super::space::Space;
use super::worst::Worst;
use crate::look::{self, Looked};
use crate::oracle::{self, Judged, Promised, Verdict};
use crate::outcome::{Said, Stopped, Tried};
use crate::process::{Silent, Worker};
use crate::protocol::{Command, Event, There};
use crate::settings::{Test, TestError};
use crate::work::MADE;
use crate::work::filling::Filling;

mod aftermath;
mod filling;

/// The longest wait for an answer on a full disk: of an embedded engine, and of a server.
const PATIENCE: [Duration; 2] = [Duration::from_secs(20), Duration::from_secs(75)];
/// The time in which a failing server ends after its client got the error.
const ENDING: Duration = Duration::from_millis(500);
/// The longest time between the start of a commit and the copy.
const INTO_A_COMMIT: Duration = Duration::from_millis(3);

/// How a run of commits ended.
#[derive(Clone, Debug)]
enum End {
    /// All commits were acknowledged.
    Done,
    /// A commit was refused, after this time.
    Refused(Duration, String),
    /// A commit has not returned.
    Hangs,
    /// The process has ended.
    Ended(Duration, String),
}

/// The process, and what it has promised.
pub(super) struct Live<'a> {
    test: &'a Test<'a>,
    space: &'a Space,
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
    there: u64,
    /// The content of the commits.
    pub(super) filling: Filling,
    /// Free bytes when the work began.
    pub(super) room: u64,
    random: Xoshiro256PlusPlus,
    begun: Instant,
}

impl<'a> Live<'a> {
    /// Creates the database on a disk, and the ballast file.
    pub(super) fn begin(
        test: &'a Test<'a>,
        space: &'a Space,
        ballast: u64,
    ) -> Result<Self, TestError> {
        let mut worker = test.start(space.database(), There::NoTable)?;
        let looked = look::look(&mut worker, test.plan(), &test.nothing(), || ());
        let looked = looked.map_err(TestError::io("talk to a worker"))?;
        if looked.verdict != Verdict::Holds {
            let message = looked.message.unwrap_or_else(|| looked.verdict.name().to_owned());
            return Err(test.not_done(message));
        }
        let mut random = Xoshiro256PlusPlus::seed_from_u64(test.settings.seed);
        // The last block then differs between tests, also for an engine that allocates many at
        // once.
        let room = space.lay(ballast, random.random_range(0..test.settings.disk / 16))?;
        if room < test.settings.disk / 5 {
            let [room, disk] = [room, test.settings.disk].map(|bytes| bytes >> 20);
            let message = format!(
                "a database that was just made leaves {room} MiB: it takes a larger disk than {disk} MiB"
            );
            return Err(test.not_done(message));
        }
        let servers = worker.servers().map_err(TestError::io("look for servers"))?;
        Ok(Self {
            test,
            space,
            worker: Some(worker),
            servers,
            hangs: false,
            acknowledged: MADE,
            resumed: None,
            there: MADE,
            filling: Filling::default(),
            room,
            random,
            begun: Instant::now(),
        })
    }

    /// Returns what was promised so far.
    pub(super) const fn promised(&self) -> Promised {
        Promised { acknowledged: self.acknowledged, begun: self.there + 1 }
    }

    fn tell(&mut self, command: &Command) -> Result<(), TestError> {
        let told = self.worker.as_mut().map_or(Ok(()), |worker| worker.command(command));
        told.map_err(TestError::io("talk to a worker"))
    }

    /// Waits until the commits end.
    fn ended(&mut self) -> Result<End, TestError> {
        let (mut since, mut topped_up) = (Instant::now(), false);
        let patience = PATIENCE[usize::from(self.test.is_server())];
        loop {
            self.test.go_on()?;
            if !topped_up && self.begun.elapsed() > self.test.settings.longest_fill {
                self.space.top_up()?;
                topped_up = true;
            }
            let Some(worker) = &mut self.worker else {
                return Ok(End::Ended(Duration::ZERO, "its process has ended".to_owned()));
            };
            let event = worker.event_within(patience).map_err(TestError::io("talk to a worker"))?;
            self.hangs = event.is_none();
            match event {
                None => return Ok(End::Hangs),
                Some(Ok(Event::Committed { number, .. })) => {
                    since = Instant::now();
                    (self.acknowledged, self.there) = (number, number);
                    self.resumed.get_or_insert(since);
                }
                Some(Ok(Event::Refused { ns, message })) => {
                    return Ok(End::Refused(Duration::from_nanos(ns), message));
                }
                Some(Ok(Event::Done)) => return Ok(End::Done),
                Some(Ok(Event::Failed { message, .. })) => {
                    self.worker = None;
                    return Ok(End::Ended(since.elapsed(), message));
                }
                Some(Ok(Event::Opened { .. } | Event::Found(_) | Event::Closed)) => {}
                Some(Err(silent)) => {
                    self.worker = None;
                    return Ok(End::Ended(since.elapsed(), silent.verdict().1));
                }
            }
        }
    }

    /// Converts the end of commits to the outcome's type, with the time in ms.
    fn stopped(&self, end: &End) -> Result<(Said<Stopped>, Option<f64>), TestError> {
        let ms = |time: &Duration| Some(time.as_secs_f64() * 1e3);
        Ok(match end {
            End::Done => (Said::nothing(Stopped::NoError), None),
            End::Refused(time, message) => {
                let is =
                    if self.has_lost_a_server()? { Stopped::ServerEnds } else { Stopped::Error };
                (Said::that(is, message), ms(time))
            }
            End::Hangs => {
                let patience = PATIENCE[usize::from(self.test.is_server())];
                (Said::that(Stopped::Hangs, Silent::Hangs(patience).verdict().1), ms(&patience))
            }
            End::Ended(time, message) => (Said::that(Stopped::ProcessEnds, message), ms(time)),
        })
    }

    /// Whether a server has ended.
    fn has_lost_a_server(&self) -> Result<bool, TestError> {
        let Some(worker) = self.worker.as_ref().filter(|_| !self.servers.is_empty()) else {
            return Ok(false);
        };
        thread::sleep(ENDING);
        let running = worker.servers().map_err(TestError::io("look for servers"))?;
        Ok(self.servers.iter().any(|server| !running.contains(server)))
    }

    /// Copies the disk while the process is stopped in a commit: the state that a kill at that time
    /// would leave. Returns what was promised by then.
    pub(super) fn copy(&mut self, to: &Path) -> Result<Promised, TestError> {
        let promised = self.promised();
        if !self.hangs {
            self.tell(&Command::Fill { after: self.there, count: 1, filling: self.filling })?;
            let within = self.random.random_range(0..INTO_A_COMMIT.as_nanos() as u64);
            thread::sleep(Duration::from_nanos(within));
        }
        match &self.worker {
            Some(worker) => {
                let copied = worker.stopped(|| self.space.copy(to));
                copied.map_err(TestError::io("stop a worker"))??;
            }
            None => self.space.copy(to)?,
        }
        if !self.hangs {
            self.ended()?;
        }
        Ok(promised)
    }

    /// Reads everything and judges the result.
    pub(super) fn read(&mut self) -> Result<(Said<Tried>, Worst), TestError> {
        let mut worst = Worst::nothing(self.promised());
        let reads = self.look("read on the full disk", &mut worst)?;
        Ok((reads, worst))
    }

    fn look(&mut self, of: &str, worst: &mut Worst) -> Result<Said<Tried>, TestError> {
        if self.hangs {
            return Ok(Said::that(Tried::NotAsked, "it does not answer"));
        }
        self.tell(&Command::Read)?;
        let Some(worker) = &mut self.worker else {
            return Ok(Said::that(Tried::NotAsked, "its process has ended"));
        };
        let event = worker.event().map_err(TestError::io("talk to a worker"))?;
        let found = match event {
            Ok(Event::Found(found)) => found,
            Ok(Event::Refused { message, .. } | Event::Failed { message, .. }) => {
                return Ok(Said::that(Tried::No, message));
            }
            Ok(other) => return Ok(Said::that(Tried::No, format!("{other:?}"))),
            Err(silent) => {
                self.worker = None;
                return Ok(Said::that(Tried::No, silent.verdict().1));
            }
        };
        let promised = self.promised();
        let test = Test { filling: Some(self.filling), ..*self.test };
        let Judged { verdict, client, last } = oracle::judge(test.plan(), &found, &[promised]);
        if let Some(last) = last.as_ref().and_then(|last| last.first()) {
            self.there = self.there.max(*last);
        }
        let message = found.differs.filter(|_| verdict == Verdict::CopiesDiffer);
        let looked = Looked { verdict, client, last, open_ns: None, message };
        worst.add(self.test, self.space, looked, promised, of)?;
        Ok(Said::nothing(Tried::Yes))
    }

    /// Closes the database and ends the process. Kills a process that does not answer.
    pub(super) fn close(&mut self) -> Result<(), TestError> {
        let Some(mut worker) = self.worker.take() else { return Ok(()) };
        if std::mem::take(&mut self.hangs) {
            return worker
                .kill()
                .and_then(|()| worker.wait())
                .map_err(TestError::io("end a worker"));
        }
        after::close(&mut worker).map(drop)
    }
}
