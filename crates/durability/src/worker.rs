//! The process that has the database open, and is killed or loses its disk.

use std::io;
use std::process::ExitCode;
use std::time::Instant;

use embermark_contract::{Engine, EngineError, OpenOptions};
use nix::sys::signal::Signal;

use crate::ledger::{self, Ledger};
use crate::oracle::TableContent;
use crate::protocol::{Command, DatabaseState, Event, Task, WorkerAction};
use crate::work::{Abilities, Plan, TABLE_COMMIT};
use crate::worker_channel::{Result, SharedChannel, WorkerError};
use crate::{clients, supervisor};

/// Runs the hidden `durability-worker` command: executes the commands on standard input with one of
/// `engines`.
pub fn worker_main(engines: &[&'static dyn Engine]) -> ExitCode {
    let ended = match supervisor::is_worker() {
        true => serve(engines).map(|()| ExitCode::SUCCESS),
        false => supervisor::supervise(engines),
    };
    ended.unwrap_or_else(|error| {
        eprintln!("durability-worker: {error}");
        ExitCode::FAILURE
    })
}

fn serve(engines: &[&'static dyn Engine]) -> io::Result<()> {
    let channel = SharedChannel::open()?;
    let Some(task) = channel.lock().read::<Task>()? else { return Ok(()) };
    if !supervisor::end_with_parent(Signal::SIGKILL)? {
        return Ok(());
    }
    let ended = match run_task(&task, engines, &channel) {
        Ok(()) => Event::Closed,
        Err(WorkerError::Engine(doing, error)) => {
            Event::Failed { doing, message: error.to_string() }
        }
        Err(WorkerError::Channel(error)) => return Err(error),
    };
    channel.lock().send(&ended)
}

fn run_task(task: &Task, engines: &[&'static dyn Engine], channel: &SharedChannel) -> Result<()> {
    let engine = engines.iter().find(|engine| engine.info().id == task.engine);
    let engine = engine.ok_or_else(|| io::Error::other(format!("no engine {}", task.engine)))?;
    let settings = task.settings.clone();
    let options = OpenOptions::new(&task.dir, task.durability, task.memory);
    let options = OpenOptions { clients: task.clients, settings, ..options };
    let begun = Instant::now();
    let opened = engine.open(&options).map_err(WorkerError::at(WorkerAction::Open))?;
    if task.there == DatabaseState::Nothing {
        return opened.store.close().map_err(WorkerError::at(WorkerAction::Close));
    }
    let abilities = Abilities::for_engine(*engine);
    let ledger = ledger::open(opened.store, abilities, task.there == DatabaseState::Table);
    let mut ledger = ledger.map_err(WorkerError::at(WorkerAction::Open))?;
    let ns = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
    channel.lock().send(&Event::Opened { ns })?;
    let found = ledger.read_all().map_err(WorkerError::at(WorkerAction::Read))?;
    channel.lock().send(&Event::Found(found))?;
    let plan = Plan { seed: task.seed, abilities, short: task.short, filling: task.filling };
    let mut filled = None;
    loop {
        let Some(command) = channel.lock().read()? else { break };
        let begun = Instant::now();
        match command {
            Command::Commit { after, count, waits } => {
                let works = (0..).zip(&after);
                let works = works.map(|(n, after)| plan.work(n).after(*after.max(&TABLE_COMMIT)));
                clients::commit(works.collect(), count, channel, waits, &mut *ledger)?;
            }
            Command::Fill { after, count, filling } => {
                let before = filled.take();
                let work = filled.insert(plan.filling_after(filling, before, after));
                let mut left = (0..count).map(|_| work.commit());
                let ended = left.try_for_each(|commit| {
                    let begun = Instant::now();
                    let done = ledger.commit(&commit);
                    done.map_err(|error| io::Result::Ok(refused_event(begun, &error)))?;
                    let committed = Event::Committed { client: 0, number: commit.number };
                    channel.lock().send(&committed).map_err(Err)
                });
                channel.lock().send(&ended.err().unwrap_or(Ok(Event::Done))?)?;
            }
            Command::Read => {
                let found = ledger.read_all().map(|found| TableContent { table: true, ..found });
                let event = found.map_or_else(|error| refused_event(begun, &error), Event::Found);
                channel.lock().send(&event)?;
            }
            Command::Maintain => {
                let done = ledger.lifecycle().maintain().map(|()| Event::Done);
                channel.lock().send(&done.unwrap_or_else(|error| refused_event(begun, &error)))?;
            }
        }
    }
    check_integrity(&mut *ledger)?;
    ledger.close().map_err(WorkerError::at(WorkerAction::Close))
}

/// Reports that the engine failed at what began at `begun`. The worker continues.
fn refused_event(begun: Instant, error: &EngineError) -> Event {
    let ns = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
    Event::Refused { ns, message: error.to_string() }
}

/// Runs the engine's own check, if it has one.
fn check_integrity(ledger: &mut dyn Ledger) -> Result<()> {
    let error = match ledger.lifecycle().check() {
        Ok(checked) if checked.findings.is_empty() => return Ok(()),
        Ok(checked) => {
            let found = checked.findings.join("; ");
            EngineError::failed("the engine", "find no fault by its own check", found)
        }
        Err(error) if error.is_unsupported() => return Ok(()),
        Err(error) => error,
    };
    Err(WorkerError::Engine(WorkerAction::Check, error))
}
