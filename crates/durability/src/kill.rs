//! The process tree is killed, at random moments of the work and of the recovery after it.

use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use crate::look;
use crate::oracle::{Promised, Verdict};
use crate::outcome::{Example, Experiment, Gathered, Tested};
use crate::process::Worker;
use crate::protocol::{Command, Event};
use crate::settings::{Test, TestError};

/// A kill comes at most so long after the first commit of its round.
const LONGEST: Duration = Duration::from_millis(60);
/// Every so many-th round is killed while the database is opened, too.
const TWICE: u32 = 4;
/// Such a kill comes at most so long after the worker was started.
const OPENING: Duration = Duration::from_millis(40);
/// More commits than any round gets to do.
const ENDLESS: u64 = 1 << 40;
/// A database of so many commits is made anew: to judge it takes time that grows with them.
const LONG: u64 = 4_000;

pub(crate) fn test(test: &Test<'_>, progress: &(dyn Fn(u32) + Sync)) -> Result<Tested, TestError> {
    let folder = test.settings.folder.join("killed");
    let mut random = Xoshiro256PlusPlus::seed_from_u64(test.settings.seed);
    let mut gathered = Gathered::default();
    while gathered.tried < test.settings.kills {
        life(test, &folder, &mut random, &mut gathered, progress)?;
        let removed = std::fs::remove_dir_all(&folder);
        removed.map_err(TestError::io("remove a database"))?;
    }
    Ok(gathered.ended(test.outcome(Experiment::Kill)))
}

/// One database, from when it is made to when it is broken, or enough.
fn life(
    test: &Test<'_>,
    folder: &Path,
    random: &mut Xoshiro256PlusPlus,
    gathered: &mut Gathered,
    progress: &(dyn Fn(u32) + Sync),
) -> Result<(), TestError> {
    std::fs::create_dir_all(folder).map_err(TestError::io("make the folder of a database"))?;
    let talk = TestError::io("talk to a worker");
    let start = |new| Worker::start(&test.settings.worker, &test.task(folder.to_owned(), new));
    let mut worker = start(true).map_err(&talk)?;
    match worker.event().map_err(&talk)? {
        Some(Event::Opened { .. }) => {}
        Some(Event::Failed { message, .. }) => return Err(test.not_done(message)),
        _ => return Err(test.not_done("its process died while it made the database")),
    }
    let mut last = 0;
    loop {
        test.go_on()?;
        let after = Duration::from_nanos(random.random_range(0..LONGEST.as_nanos() as u64));
        let round = work_and_die(&mut worker, last, after).map_err(&talk)?;
        let acknowledged = match round {
            Round::Killed(acknowledged) => acknowledged,
            Round::Failed(message) => return Err(test.not_done(message)),
        };
        let killed = Instant::now();
        let promised_last = acknowledged.last().map_or(last, |(number, _)| *number);
        let promised = Promised { acknowledged: promised_last, begun: promised_last + 1 };
        if gathered.tried % TWICE == TWICE - 1 {
            let mut opening = start(false).map_err(&talk)?;
            let after = random.random_range(0..OPENING.as_nanos() as u64);
            thread::sleep(Duration::from_nanos(after));
            opening.kill().map_err(&talk)?;
        }
        worker = start(false).map_err(&talk)?;
        let looked = look::look(&mut worker, test.settings.seed, promised).map_err(&talk)?;
        let lost = looked.judged.last.map(|last| {
            let first = acknowledged.iter().find(|(number, _)| *number == last + 1);
            let age = first.map_or(0.0, |(_, then)| (killed - *then).as_secs_f64() * 1e3);
            (promised_last.saturating_sub(last), age)
        });
        let verdict = looked.judged.verdict;
        let example = Example {
            verdict,
            of: format!("kill {}", gathered.tried + 1),
            acknowledged: promised_last,
            last: looked.judged.last,
            message: looked.message,
        };
        gathered.add(example, looked.open_ns, lost);
        progress(gathered.tried);
        let whole =
            looked.judged.last.filter(|_| matches!(verdict, Verdict::Holds | Verdict::LostCommits));
        match whole {
            Some(there) if there < LONG && gathered.tried < test.settings.kills => last = there,
            _ => return Ok(()),
        }
    }
}

/// How a round ended.
enum Round {
    /// As it was to: with the commits acknowledged, and when each was.
    Killed(Vec<(u64, Instant)>),
    /// Before it was killed.
    Failed(String),
}

/// Has a worker go on with the work after the commit `last`, and kills it so long `after` its first
/// acknowledgement.
fn work_and_die(worker: &mut Worker, last: u64, after: Duration) -> std::io::Result<Round> {
    worker.command(Command::Commit { after: last, count: ENDLESS, waits: false })?;
    let (mut acknowledged, group) = (Vec::new(), worker.group());
    thread::scope(|scope| {
        let (first, begun) = channel::<()>();
        let killer = scope.spawn(move || {
            // The sender goes when the worker has ended by itself.
            if begun.recv().is_ok() {
                match begun.recv_timeout(after) {
                    Err(RecvTimeoutError::Disconnected) => {}
                    _ => drop(killpg(group, Signal::SIGKILL)),
                }
            }
        });
        let mut first = Some(first);
        let failed = loop {
            match worker.event()? {
                Some(Event::Committed(number)) => {
                    acknowledged.push((number, Instant::now()));
                    // Begins the time; a sender that stays keeps the killer waiting for it.
                    if acknowledged.len() == 1 {
                        let _ = first.as_ref().map(|first| first.send(()));
                    }
                }
                Some(Event::Failed { message, .. }) => break Some(message),
                Some(_) => {}
                None => break None,
            }
        };
        first = None;
        drop(first);
        drop(killer.join());
        worker.wait()?;
        Ok(failed.map_or(Round::Killed(acknowledged), Round::Failed))
    })
}
