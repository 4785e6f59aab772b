//! Kills the process tree at random times of the work and of the recovery after it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use crate::gathered::{Gathered, Lost};
use crate::look::{self, Looked};
use crate::oracle::{Promised, Verdict};
use crate::outcome::Tested;
use crate::process::Worker;
use crate::protocol::{Command, Event, There};
use crate::settings::{Test, TestError};
use crate::work::MADE;

/// Latest time of a kill after the first commit of its round.
const LONGEST: Duration = Duration::from_millis(60);
/// One of this many rounds is also killed while the database is opened.
const TWICE: u32 = 4;
/// Latest time of a kill after the worker's start while the database is created or opened, or as
/// long as that took last time.
const OPENING: Duration = Duration::from_millis(40);
/// More commits than any round can do.
const ENDLESS: u64 = 1 << 40;
/// A database with this number of commits per client is created again, because the time to judge it
/// grows with them.
const LONG: u64 = 1_500;
/// A database is also created again after this number of kills, because creating it is part of the
/// work.
const KILLS: u32 = 25;

pub(crate) fn test(test: &Test<'_>, progress: &(dyn Fn(u32) + Sync)) -> Result<Tested, TestError> {
    let folder = test.settings.folder.join("killed");
    let random = Xoshiro256PlusPlus::seed_from_u64(test.settings.seed);
    let gathered = Gathered::default();
    let opens = [OPENING; 2];
    let mut kills = Kills { test, folder, random, opens, gathered, progress };
    while kills.gathered.tried < test.settings.kills {
        kills.life()?;
        if kills.folder.exists() {
            let removed = fs::remove_dir_all(&kills.folder);
            removed.map_err(TestError::io("remove a database"))?;
        }
    }
    kills.gathered.ended(test.outcome(), |_, kept| Ok(kept))
}

/// The kills of one experiment.
struct Kills<'a> {
    test: &'a Test<'a>,
    /// Directory of the database.
    folder: PathBuf,
    random: Xoshiro256PlusPlus,
    /// How long it took to create a database and to open one, at least [`OPENING`].
    opens: [Duration; 2],
    gathered: Gathered<Option<PathBuf>>,
    progress: &'a (dyn Fn(u32) + Sync),
}

impl Kills<'_> {
    /// Uses one database from its creation until it is broken or old enough.
    fn life(&mut self) -> Result<(), TestError> {
        let made = fs::create_dir_all(&self.folder);
        made.map_err(TestError::io("make the folder of a database"))?;
        let mut worker = match self.random.random_bool(0.5) {
            true => {
                self.kill_while_it_opens(There::NoTable)?;
                match self.look(There::NoTable, &self.test.nothing(), &[], None)? {
                    Some((worker, _)) => worker,
                    None => return Ok(()),
                }
            }
            false => {
                let (worker, looked) = self.open(There::NoTable, &self.test.nothing())?;
                match looked {
                    Looked { verdict: Verdict::Holds, .. } => worker,
                    Looked { verdict, message, .. } => {
                        let message = message.unwrap_or_else(|| verdict.name().to_owned());
                        return Err(self.test.not_done(message));
                    }
                }
            }
        };
        let mut last = vec![MADE; self.test.clients() as usize];
        for kills in 1.. {
            self.test.go_on()?;
            let enough = kills > KILLS || last.iter().any(|last| *last >= LONG);
            if enough || self.gathered.tried >= self.test.settings.kills {
                return self.close_and_open(worker, &last);
            }
            let after = Duration::from_nanos(self.within(LONGEST));
            let round = work_and_die(&mut worker, &last, after);
            let round = round.map_err(TestError::io("talk to a worker"))?;
            let mut promised: Vec<_> = last.iter().map(|last| Promised::after(*last)).collect();
            for (client, number, _) in &round.acknowledged {
                promised[*client] = Promised::after(*number);
            }
            if let Some((verdict, message)) = round.failed {
                if last.iter().all(|last| *last == MADE) && round.acknowledged.is_empty() {
                    return Err(self.test.not_done(message));
                }
                let message = Some(message);
                let looked = Looked { verdict, client: 0, last: None, open_ns: None, message };
                self.add(looked, &promised, None)?;
                return Ok(());
            }
            // All of it has ended before the next begins.
            worker.wait().map_err(TestError::io("end a worker"))?;
            if self.gathered.tried % TWICE == TWICE - 1 {
                self.kill_while_it_opens(There::Table)?;
            }
            let killed = Some(round.killed);
            let found = self.look(There::Table, &promised, &round.acknowledged, killed)?;
            let Some((next, there)) = found else { return Ok(()) };
            (worker, last) = (next, there);
        }
        Ok(())
    }

    fn start(&self, there: There) -> Result<Worker, TestError> {
        self.test.start(self.folder.clone(), there)
    }

    fn within(&mut self, longest: Duration) -> u64 {
        self.random.random_range(0..longest.as_nanos() as u64)
    }

    fn kill_while_it_opens(&mut self, there: There) -> Result<(), TestError> {
        let mut opening = self.start(there)?;
        let longest = self.opens[usize::from(there == There::Table)];
        thread::sleep(Duration::from_nanos(self.within(longest)));
        opening.kill().and_then(|()| opening.wait()).map_err(TestError::io("kill a worker"))
    }

    /// Makes a worker open the database, and judges its content.
    fn open(&mut self, there: There, promised: &[Promised]) -> Result<(Worker, Looked), TestError> {
        let mut worker = self.start(there)?;
        let looked = look::look(&mut worker, self.test.plan(), promised, || ());
        let looked = looked.map_err(TestError::io("talk to a worker"))?;
        if let Some(ns) = looked.open_ns {
            self.opens[usize::from(there == There::Table)] = Duration::from_nanos(ns).max(OPENING);
        }
        Ok((worker, looked))
    }

    /// Opens and judges what a kill left. Returns the worker and the last commits if the work can
    /// continue.
    fn look(
        &mut self,
        there: There,
        promised: &[Promised],
        acknowledged: &[(usize, u64, Instant)],
        killed: Option<Instant>,
    ) -> Result<Option<(Worker, Vec<u64>)>, TestError> {
        let (worker, looked) = self.open(there, promised)?;
        let lost = looked.last.as_ref().map(|last| {
            let gone = last.iter().zip(promised);
            let commits = gone.map(|(last, p)| p.acknowledged.saturating_sub(*last)).sum();
            let first = acknowledged.iter().find(|(client, number, _)| *number > last[*client]);
            let age = first.zip(killed).filter(|_| commits > 0);
            let age = age.map_or(Duration::ZERO, |((_, _, then), killed)| killed - *then);
            let everything = commits > 0 && last.iter().all(|last| *last <= MADE);
            Lost { commits, ms: age.as_secs_f64() * 1e3, everything }
        });
        let last = looked.last.clone();
        let broken = self.add(looked, promised, lost)?;
        // A table that was created by this check exists now.
        let made = |last: Vec<u64>| last.into_iter().map(|last| last.max(MADE)).collect();
        Ok(last.filter(|_| !broken).map(|last| (worker, made(last))))
    }

    /// Adds a try. Returns whether the database cannot be used further.
    fn add(
        &mut self,
        looked: Looked,
        promised: &[Promised],
        lost: Option<Lost>,
    ) -> Result<bool, TestError> {
        let verdict = looked.verdict;
        let violated = verdict.is_violation() && self.test.promises();
        let mut kept = Ok(None);
        let number = self.gathered.tried + 1;
        self.gathered.add(
            || format!("kill {number}"),
            false,
            promised,
            looked,
            lost,
            || {
                if violated {
                    let name = self.test.kept_as(verdict);
                    kept = keep(&self.folder, &name).map(|()| Some(name));
                }
                kept.as_ref().ok().cloned().flatten()
            },
        );
        (self.progress)(self.gathered.tried);
        kept.map_err(TestError::io("keep a database"))?;
        Ok(violated || !matches!(verdict, Verdict::Holds | Verdict::LostCommits))
    }

    /// Ends a database: what the last kill left takes a commit, passes the engine's own check, and
    /// is closed. Then measures how long it takes to open, and checks that the content is
    /// unchanged.
    fn close_and_open(&mut self, mut worker: Worker, last: &[u64]) -> Result<(), TestError> {
        let failed = look::go_on(&mut worker, last, 1, |_, _| ());
        let failed = failed.map_err(TestError::io("talk to a worker"))?;
        worker.wait().map_err(TestError::io("end a worker"))?;
        if let Some((verdict, message)) = failed {
            // What the last kill left holds what it must, but is not sound.
            self.gathered.take_back();
            let promised: Vec<_> = last.iter().map(|last| Promised::after(*last)).collect();
            let (last, message) = (Some(last.to_vec()), Some(message));
            let looked = Looked { verdict, client: 0, last, open_ns: None, message };
            return self.add(looked, &promised, None).map(drop);
        }
        let promised: Vec<_> = last.iter().map(|last| Promised::after(last + 1)).collect();
        let (_worker, looked) = self.open(There::Table, &promised)?;
        self.gathered.opened_clean(looked.open_ns);
        if looked.verdict == Verdict::Holds {
            return Ok(());
        }
        let (verdict, message) = (looked.verdict.name(), looked.message.unwrap_or_default());
        Err(self.test.not_done(format!("after a clean close: {verdict} {message}")))
    }
}

/// Keeps a database, replacing an earlier one.
fn keep(folder: &Path, name: &Path) -> io::Result<()> {
    if let Some(parent) = name.parent() {
        fs::create_dir_all(parent)?;
    }
    if name.exists() {
        fs::remove_dir_all(name)?;
    }
    match fs::rename(folder, name) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => copy(folder, name),
        renamed => renamed,
    }
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let (entry, kind) = entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)))?;
        let copied = to.join(entry.file_name().unwrap_or_default());
        match kind {
            kind if kind.is_dir() => copy(&entry, &copied)?,
            kind if kind.is_file() => fs::copy(&entry, &copied).map(drop)?,
            // A socket or a link of a killed server.
            _ => {}
        }
    }
    Ok(())
}

/// Outcome of a round.
struct Round {
    /// The acknowledged commits with their client and time.
    acknowledged: Vec<(usize, u64, Instant)>,
    /// When it was killed or had ended.
    killed: Instant,
    /// What went wrong before it was killed.
    failed: Option<(Verdict, String)>,
}

/// Makes the clients of a worker continue their works after the commits `last`, and kills it this
/// time `after` the first acknowledgement.
fn work_and_die(worker: &mut Worker, last: &[u64], after: Duration) -> std::io::Result<Round> {
    worker.command(&Command::Commit { after: last.to_vec(), count: ENDLESS, waits: false })?;
    let (mut acknowledged, kill) = (Vec::new(), worker.killer());
    thread::scope(|scope| {
        let (first, begun) = channel::<()>();
        let killer = scope.spawn(move || {
            // The sender is dropped when the worker has ended by itself, because its process id may
            // then belong to another process.
            let waited = begun.recv().is_ok().then(|| begun.recv_timeout(after));
            let kills = matches!(waited, Some(Err(RecvTimeoutError::Timeout)));
            let killed = Instant::now();
            if kills {
                // A keeper that cannot be signalled hangs, which shows.
                let _ = kill();
            }
            (kills, killed)
        });
        let failed = loop {
            match worker.event()? {
                Ok(Event::Committed { client, number }) => {
                    if acknowledged.is_empty() {
                        // Starts the time. The remaining sender makes the killer wait.
                        let _ = first.send(());
                    }
                    acknowledged.push((client, number, Instant::now()));
                }
                Ok(Event::Failed { message, .. }) => break Some((Verdict::NotWritable, message)),
                Ok(_) => {}
                Err(silent) => break Some(silent.verdict()),
            }
        };
        drop(first);
        let (kills, killed) = killer.join().unwrap_or((false, Instant::now()));
        // A killed worker may see its server die first and report that.
        let failed = failed.filter(|(verdict, _)| !kills || *verdict == Verdict::Hangs);
        Ok(Round { acknowledged, killed, failed })
    })
}
