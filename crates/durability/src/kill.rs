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

use crate::inspection::{self, Inspection};
use crate::oracle::{Promised, Verdict};
use crate::outcome::Tested;
use crate::process::Worker;
use crate::protocol::{Command, DatabaseState, Event};
use crate::settings::{Result, Test, TestError};
use crate::try_results::{TryLoss, TryResults};
use crate::work::TABLE_COMMIT;

/// Latest time of a kill after the first commit of its round.
const LATEST_KILL: Duration = Duration::from_millis(60);
/// One of this many rounds is also killed while the database is opened.
const SECOND_KILL_EVERY: u32 = 4;
/// Latest time of a kill after the worker's start while the database is created or opened, or as
/// long as that took last time.
const LATEST_KILL_WHILE_OPENING: Duration = Duration::from_millis(40);
/// More commits than any round can do.
const ENDLESS: u64 = 1 << 40;
/// A database with this number of commits per client is created again, because the time to judge it
/// grows with them.
const RECREATE_AFTER_COMMITS: u64 = 1_500;
/// A database is also created again after this number of kills, because creating it is part of the
/// work.
const RECREATE_AFTER_KILLS: u32 = 25;

pub(crate) fn test(test: &Test<'_>, progress: &(dyn Fn(u32) + Sync)) -> Result<Tested> {
    let folder = test.settings.folder.join("killed");
    let random = Xoshiro256PlusPlus::seed_from_u64(test.settings.seed);
    let results = TryResults::new(test.initial_result());
    let opens = [LATEST_KILL_WHILE_OPENING; 2];
    let mut kills = KillExperiment { test, folder, random, opens, results, progress };
    while kills.results.tested.tried < test.settings.kills {
        match kills.use_one_database() {
            Err(error) if test.loses_nothing(&error, &kills.results) => return Err(error),
            Err(_) => break,
            Ok(()) => {}
        }
        if kills.folder.exists() {
            fs::remove_dir_all(&kills.folder).map_err(TestError::io("remove a database"))?;
        }
    }
    kills.results.into_tested(|_, kept| Ok(kept))
}

/// The kills of one experiment.
struct KillExperiment<'a> {
    test: &'a Test<'a>,
    /// Folder of the database.
    folder: PathBuf,
    random: Xoshiro256PlusPlus,
    /// How long it took to create a database and to open one. At least
    /// [`LATEST_KILL_WHILE_OPENING`].
    opens: [Duration; 2],
    results: TryResults<Option<PathBuf>>,
    progress: &'a (dyn Fn(u32) + Sync),
}

impl KillExperiment<'_> {
    /// Uses one database from its creation until it is broken or old enough.
    fn use_one_database(&mut self) -> Result<()> {
        fs::create_dir_all(&self.folder).map_err(TestError::io("make the folder of a database"))?;
        let promises = self.test.initial_promises();
        let mut worker = match self.random.random_bool(0.5) {
            true => {
                self.kill_while_it_opens(DatabaseState::NoTable)?;
                let left = self.inspect(DatabaseState::NoTable, &promises, &[], None)?;
                let Some((worker, _)) = left else { return Ok(()) };
                worker
            }
            false => {
                let (worker, inspection) = self.open(DatabaseState::NoTable, &promises)?;
                self.test.check_holds(&inspection)?;
                worker
            }
        };
        let mut last = vec![TABLE_COMMIT; self.test.clients() as usize];
        for kills in 1.. {
            self.test.check_interrupted()?;
            let enough = kills > RECREATE_AFTER_KILLS
                || last.iter().any(|last| *last >= RECREATE_AFTER_COMMITS);
            if enough || self.results.tested.tried >= self.test.settings.kills {
                return self.close_and_open(worker, &last);
            }
            let after = Duration::from_nanos(self.random_ns(LATEST_KILL));
            let round = work_until_killed(&mut worker, &last, after)?;
            let mut promised: Vec<_> = last.iter().map(|last| Promised::after(*last)).collect();
            for (client, number, _) in &round.acknowledged {
                promised[*client] = Promised::after(*number);
            }
            if let Some((verdict, message)) = round.failed {
                if last.iter().all(|last| *last == TABLE_COMMIT) && round.acknowledged.is_empty() {
                    return Err(self.test.engine_error(message));
                }
                return self.add(Inspection::failure(verdict, message), &promised, None).map(drop);
            }
            // All of it has ended before the next begins.
            worker.wait().map_err(TestError::io("end a worker"))?;
            if self.results.tested.tried % SECOND_KILL_EVERY == SECOND_KILL_EVERY - 1 {
                self.kill_while_it_opens(DatabaseState::Table)?;
            }
            let killed = Some(round.killed);
            let found =
                self.inspect(DatabaseState::Table, &promised, &round.acknowledged, killed)?;
            let Some((next, there)) = found else { return Ok(()) };
            (worker, last) = (next, there);
        }
        Ok(())
    }

    fn random_ns(&mut self, longest: Duration) -> u64 {
        self.random.random_range(0..longest.as_nanos() as u64)
    }

    fn kill_while_it_opens(&mut self, there: DatabaseState) -> Result<()> {
        let mut opening = self.test.start(self.folder.clone(), there)?;
        let longest = self.opens[usize::from(there == DatabaseState::Table)];
        thread::sleep(Duration::from_nanos(self.random_ns(longest)));
        opening.kill().and_then(|()| opening.wait()).map_err(TestError::io("kill a worker"))
    }

    /// Makes a worker open the database, and judges its content.
    fn open(
        &mut self,
        there: DatabaseState,
        promised: &[Promised],
    ) -> Result<(Worker, Inspection)> {
        let mut worker = self.test.start(self.folder.clone(), there)?;
        let inspection = inspection::inspect(&mut worker, self.test.plan(), promised, || ())?
            .while_it_was_made(promised);
        if let Some(ns) = inspection.open_ns {
            self.opens[usize::from(there == DatabaseState::Table)] =
                Duration::from_nanos(ns).max(LATEST_KILL_WHILE_OPENING);
        }
        Ok((worker, inspection))
    }

    /// Opens and judges what a kill left. Returns the worker and the last commits if the work can
    /// continue.
    fn inspect(
        &mut self,
        there: DatabaseState,
        promised: &[Promised],
        acknowledged: &[(usize, u64, Instant)],
        killed: Option<Instant>,
    ) -> Result<Option<(Worker, Vec<u64>)>> {
        let (worker, inspection) = self.open(there, promised)?;
        let lost = inspection.last.as_ref().map(|last| {
            let gone = last.iter().zip(promised);
            let commits = gone.map(|(last, p)| p.acknowledged.saturating_sub(*last)).sum();
            let first = acknowledged.iter().find(|(client, number, _)| *number > last[*client]);
            let age = first.zip(killed).filter(|_| commits > 0);
            let age = age.map_or(Duration::ZERO, |((_, _, then), killed)| killed - *then);
            let everything = commits > 0 && last.iter().all(|last| *last <= TABLE_COMMIT);
            TryLoss { commits, ms: age.as_secs_f64() * 1e3, everything }
        });
        let last = inspection.last.clone();
        let broken = self.add(inspection, promised, lost)?;
        // A table that was created by this check exists now.
        let made = |last: Vec<u64>| last.into_iter().map(|last| last.max(TABLE_COMMIT)).collect();
        Ok(last.filter(|_| !broken).map(|last| (worker, made(last))))
    }

    /// Adds a try. Returns whether the database cannot be used further.
    fn add(
        &mut self,
        inspection: Inspection,
        promised: &[Promised],
        lost: Option<TryLoss>,
    ) -> Result<bool> {
        let verdict = inspection.verdict;
        let violated = verdict.is_violation() && self.test.promises();
        if violated {
            self.test.check_room()?;
        }
        let mut kept = Ok(None);
        let number = self.results.tested.tried + 1;
        let keep = || {
            if violated {
                let name = self.test.violation_path(verdict, "");
                kept = keep(&self.folder, &name).map(|()| Some(name));
            }
            kept.as_ref().ok().cloned().flatten()
        };
        let of = || format!("kill {number}");
        self.results.add(of, false, promised, inspection, lost, keep);
        (self.progress)(self.results.tested.tried);
        kept.map_err(TestError::io("keep a database"))?;
        Ok(violated || !matches!(verdict, Verdict::Holds | Verdict::LostCommits))
    }

    /// Ends a database: what the last kill left takes a commit, passes the engine's own check, and
    /// is closed. Then measures how long it takes to open, and checks that the content is
    /// unchanged.
    fn close_and_open(&mut self, mut worker: Worker, last: &[u64]) -> Result<()> {
        let failed = inspection::continue_work(&mut worker, last, 1, |_, _| ())?;
        worker.wait().map_err(TestError::io("end a worker"))?;
        if let Some((verdict, message)) = failed {
            // What the last kill left holds what it must, but is not sound.
            self.results.remove_latest();
            let promised: Vec<_> = last.iter().map(|last| Promised::after(*last)).collect();
            let last = Some(last.to_vec());
            let inspection = Inspection { last, ..Inspection::failure(verdict, message) };
            return self.add(inspection, &promised, None).map(drop);
        }
        let promised: Vec<_> = last.iter().map(|last| Promised::after(last + 1)).collect();
        let (_worker, found) = self.open(DatabaseState::Table, &promised)?;
        self.results.add_clean_open(found.open_ns);
        if found.verdict == Verdict::Holds {
            return Ok(());
        }
        let (verdict, message) = (found.verdict.name(), found.message.unwrap_or_default());
        Err(self.test.engine_error(format!("after a clean close: {verdict} {message}")))
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
fn work_until_killed(worker: &mut Worker, last: &[u64], after: Duration) -> std::io::Result<Round> {
    worker.send(&Command::Commit { after: last.to_vec(), count: ENDLESS, waits: false })?;
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
                // A supervisor that cannot be signalled hangs, which shows.
                let _ = kill();
            }
            (kills, killed)
        });
        let failed = loop {
            match worker.next_event()? {
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
