//! The process that fills the disk: what it does at the last block, and afterwards.

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
use crate::outcome::{Deletes, GoesOn, Said, Stopped, Tried};
use crate::process::{Silent, Worker};
use crate::protocol::{Command, Event, There};
use crate::settings::{Test, TestError};
use crate::work::MADE;
use crate::work::filling::Filling;

/// How long an embedded engine, and a server, may take for an answer on a full disk.
const PATIENCE: [Duration; 2] = [Duration::from_secs(20), Duration::from_secs(75)];
/// Commits asked for at once. So many without a free block before and after them are no error.
const MANY: u64 = 2_000;
/// Commits that show that work goes on: more than fit into what is left of pages that are there.
const SOME: u64 = 20;
/// How often a disk is filled again, where an engine goes on after an error.
const ROUNDS: u32 = 6;
/// For how long commits are tried when there is room.
const TRIES: Duration = Duration::from_secs(30);
/// The same after a removal.
const TRIES_REMOVED: Duration = Duration::from_secs(5);
const BETWEEN: Duration = Duration::from_millis(250);
/// For how long rows are removed at most.
const REMOVES: Duration = Duration::from_secs(20);
/// How long a server takes to end that fails, after its client was told.
const ENDING: Duration = Duration::from_millis(500);
/// The copy is made at most so long after a commit began.
const INTO_A_COMMIT: Duration = Duration::from_millis(3);

/// How a run of commits ended.
#[derive(Clone, Debug)]
enum End {
    /// All were acknowledged.
    Done,
    /// One was refused, after so long.
    Refused(Duration, String),
    /// One has not returned.
    Hangs,
    /// The process has ended.
    Ended(Duration, String),
}

/// The process, and what it was promised.
pub(super) struct Live<'a> {
    test: &'a Test<'a>,
    space: &'a Space,
    worker: Option<Worker>,
    /// Its servers.
    servers: Vec<Pid>,
    /// Whether it has not answered yet.
    hangs: bool,
    /// The last commit that was acknowledged.
    acknowledged: u64,
    /// When one first was since there was room.
    resumed: Option<Instant>,
    /// The last that is there: one that was refused may be.
    there: u64,
    /// What the commits are.
    pub(super) filling: Filling,
    /// Bytes that were free when the work began.
    pub(super) room: u64,
    random: Xoshiro256PlusPlus,
    begun: Instant,
}

impl<'a> Live<'a> {
    /// Makes the database on a disk, and lays the ballast.
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
        // So that the last block is another one each time, for an engine that takes many at once.
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

    /// What was promised by now.
    pub(super) const fn promised(&self) -> Promised {
        Promised { acknowledged: self.acknowledged, begun: self.there + 1 }
    }

    /// Fills the disk: the commits acknowledged when the engine could first do no more, how that was, and
    /// the bytes that were free then.
    #[expect(clippy::type_complexity, reason = "it is taken apart at once")]
    pub(super) fn fill(&mut self) -> Result<(u64, (Said<Stopped>, Option<f64>), u64), TestError> {
        let mut first = None;
        let last = self.fill_up(&mut |this, end| {
            if first.is_none() {
                first = Some((this.acknowledged, this.stopped(end)?, this.space.free()?));
            }
            Ok(())
        })?;
        let last = self.stopped(&last)?;
        let (commits, mut stopped, free) = match first {
            Some(first) => first,
            None => (self.acknowledged, last.clone(), self.space.free()?),
        };
        // An error may come first, and its process end at the next commit.
        if last.0.is > stopped.0.is && last.0.is != Stopped::NoError {
            stopped = last;
        }
        Ok((commits, stopped, free))
    }

    /// Has the work go on until it can no more, with not a block left for it; `stopped` is called each time
    /// that it stops.
    fn fill_up(
        &mut self,
        stopped: &mut dyn FnMut(&Self, &End) -> Result<(), TestError>,
    ) -> Result<End, TestError> {
        let mut rounds = 0;
        loop {
            let (before, was_full) = (self.acknowledged, self.space.is_full()?);
            let end = self.commits(MANY)?;
            if matches!(end, End::Done) {
                if was_full && self.space.is_full()? {
                    return Ok(end);
                }
                continue;
            }
            stopped(self, &end)?;
            let was_refused = matches!(end, End::Refused(..));
            if !was_refused || rounds == ROUNDS || (was_full && self.acknowledged == before) {
                return Ok(end);
            }
            rounds += 1;
            self.space.top_up()?;
        }
    }

    /// Has it do so many commits, as long as none is refused.
    fn commits(&mut self, count: u64) -> Result<End, TestError> {
        let command = Command::Fill { after: self.there, count, filling: self.filling };
        self.tell(&command)?;
        self.ended()
    }

    fn tell(&mut self, command: &Command) -> Result<(), TestError> {
        let told = self.worker.as_mut().map_or(Ok(()), |worker| worker.command(command));
        told.map_err(TestError::io("talk to a worker"))
    }

    /// Waits for the end of commits.
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

    /// How commits ended, and after how many ms, in the words of the outcome.
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

    /// Copies the disk while the process stands still in a commit: what was there had it been killed then.
    /// Returns what was promised by then.
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

    /// Has it read everything, and judges that.
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

    /// Makes some room, and has commits go on: as it is, or opened again. With how long it took until one
    /// was acknowledged, in ms.
    pub(super) fn goes_on(
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

    /// Tries some commits until they are acknowledged, for so long. What was said where they were not.
    fn tries(&mut self, within: Duration) -> Result<Option<String>, TestError> {
        let begun = Instant::now();
        loop {
            // What has not answered was asked.
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

    /// Closes the database, in whatever way it can be, and opens it in a new process. What was said where it
    /// does not open, or has not what it must.
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
                // That it does not open and read here is told; whether it does with more room is seen yet.
                if !after::is_unopened(&looked) {
                    worst.add(&test, self.space, looked, promised, of)?;
                }
                Ok(Some(message))
            }
        }
    }

    /// Has the process close the database and end; kills one that does not answer.
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

    /// Fills the disk again, and removes a quarter of the rows: whether that makes room.
    pub(super) fn deletes(&mut self, worst: &mut Worst) -> Result<Said<Deletes>, TestError> {
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
            // Whoever is to remove something starts it again.
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
            // Otherwise the one that was refused may be there yet.
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
