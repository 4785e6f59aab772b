//! The process that has the database open, and is killed or loses its disk.

use std::io;
use std::process::ExitCode;
use std::time::Instant;

use embermark_contract::{Engine, EngineError, OpenOptions};
use nix::sys::signal::Signal;

use crate::clients::Clients;
use crate::keeper;
use crate::ledger::{self, Ledger};
use crate::oracle::Found;
use crate::protocol::{Command, Doing, Event, Task, There};
use crate::talk::{SharedTalk, Stop};
use crate::work::{Abilities, MADE, Plan};

/// Runs the hidden `durability-worker` command: executes the commands on standard input with one of
/// `engines`.
pub fn worker_main(engines: &[&'static dyn Engine]) -> ExitCode {
    let ended = match keeper::is_kept() {
        true => converse(engines).map(|()| ExitCode::SUCCESS),
        false => keeper::keep(engines),
    };
    ended.unwrap_or_else(|error| {
        eprintln!("durability-worker: {error}");
        ExitCode::FAILURE
    })
}

fn converse(engines: &[&'static dyn Engine]) -> io::Result<()> {
    let talk = SharedTalk::begin()?;
    let Some(task) = talk.lock().read::<Task>()? else { return Ok(()) };
    if !keeper::tie(Signal::SIGKILL)? {
        return Ok(());
    }
    let ended = match work(&task, engines, &talk) {
        Ok(()) => Event::Closed,
        Err(Stop::Engine(doing, error)) => Event::Failed { doing, message: error.to_string() },
        Err(Stop::Conversation(error)) => return Err(error),
    };
    talk.lock().say(&ended)
}

fn work(task: &Task, engines: &[&'static dyn Engine], talk: &SharedTalk) -> Result<(), Stop> {
    let engine = engines.iter().find(|engine| engine.info().id == task.engine);
    let engine = engine.ok_or_else(|| io::Error::other(format!("no engine {}", task.engine)))?;
    let settings = task.settings.clone();
    let options = OpenOptions::new(&task.dir, task.durability, task.memory);
    let options = OpenOptions { clients: task.clients, settings, ..options };
    let begun = Instant::now();
    let opened = engine.open(&options).map_err(Stop::at(Doing::Open))?;
    if task.there == There::Nothing {
        return opened.store.close().map_err(Stop::at(Doing::Close));
    }
    let abilities = Abilities::of_engine(*engine);
    let ledger = ledger::open(opened.store, abilities, task.there == There::Table);
    let mut ledger = ledger.map_err(Stop::at(Doing::Open))?;
    let ns = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
    talk.lock().say(&Event::Opened { ns })?;
    let found = ledger.found().map_err(Stop::at(Doing::Read))?;
    talk.lock().say(&Event::Found(found))?;
    let plan = Plan { seed: task.seed, abilities, short: task.short, filling: task.filling };
    let mut filled = None;
    loop {
        let command = talk.lock().read()?;
        match command {
            Some(Command::Commit { after, count, waits }) => {
                let works = (0..).zip(&after);
                let works = works.map(|(n, after)| plan.work(n).after(*after.max(&MADE)));
                Clients::new(works.collect(), count, talk, waits).work(&mut *ledger)?;
            }
            Some(Command::Fill { after, count, filling }) => {
                let before = filled.take();
                let work = filled.insert(plan.filling_after(filling, before, after));
                let mut left = (0..count).map(|_| work.commit());
                let ended = left.try_for_each(|commit| {
                    let begun = Instant::now();
                    let done = ledger.commit(&commit).map(|()| commit.number);
                    let (client, number) = (0, done.map_err(|error| refused(begun, &error))?);
                    talk.lock().say(&Event::Committed { client, number }).map_err(Err)
                });
                talk.lock().say(&ended.err().unwrap_or(Ok(Event::Done))?)?;
            }
            Some(Command::Read) => {
                let begun = Instant::now();
                let found =
                    ledger.found().map(|found| Event::Found(Found { table: true, ..found }));
                let event = found.or_else(|error| refused(begun, &error))?;
                talk.lock().say(&event)?;
            }
            Some(Command::Maintain) => {
                let begun = Instant::now();
                let done = ledger.lifecycle().maintain().map(|()| Event::Done);
                let event = done.or_else(|error| refused(begun, &error))?;
                talk.lock().say(&event)?;
            }
            None => break,
        }
    }
    check(&mut *ledger)?;
    ledger.close().map_err(Stop::at(Doing::Close))
}

/// Reports that the engine failed at what began at `begun`. The conversation continues.
fn refused(begun: Instant, error: &EngineError) -> io::Result<Event> {
    let ns = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
    Ok(Event::Refused { ns, message: error.to_string() })
}

/// Runs the engine's own check, if it has one.
fn check(ledger: &mut dyn Ledger) -> Result<(), Stop> {
    let error = match ledger.lifecycle().check() {
        Ok(checked) if checked.findings.is_empty() => return Ok(()),
        Ok(checked) => {
            let found = checked.findings.join("; ");
            EngineError::failed("the engine", "find no fault by its own check", found)
        }
        Err(error) if error.is_unsupported() => return Ok(()),
        Err(error) => error,
    };
    Err(Stop::Engine(Doing::Check, error))
}
