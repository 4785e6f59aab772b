//! The process that has the database open, and is killed or loses its disk.

use std::fs::File;
use std::io::{self, BufRead, StdinLock, Write};
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::time::Instant;

use embermark_contract::{Engine, EngineError, OpenOptions};
use nix::sys::prctl;
use nix::sys::signal::Signal;

use crate::ledger::{self, Ledger};
use crate::protocol::{Command, Doing, Event, Task};
use crate::work::{MADE, Work};

/// The hidden `durability-worker` command: does as told on standard input, with one of `engines`.
pub fn worker_main(engines: &[&'static dyn Engine]) -> ExitCode {
    match converse(engines) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("durability-worker: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What failed, of the engine; or of the conversation, when nobody is there to be told.
enum Stop {
    Engine(Doing, EngineError),
    Conversation(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Conversation(error)
    }
}

fn converse(engines: &[&'static dyn Engine]) -> io::Result<()> {
    let mut talk = Talk::begin()?;
    let Some(task) = talk.read::<Task>()? else { return Ok(()) };
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    if nix::unistd::getppid().as_raw().cast_unsigned() != task.parent {
        return Ok(());
    }
    match work(&task, engines, &mut talk) {
        Ok(()) => talk.say(&Event::Closed),
        Err(Stop::Engine(doing, error)) => {
            talk.say(&Event::Failed { doing, message: error.to_string() })
        }
        Err(Stop::Conversation(error)) => Err(error),
    }
}

fn work(task: &Task, engines: &[&'static dyn Engine], talk: &mut Talk) -> Result<(), Stop> {
    let at = |doing| move |error| Stop::Engine(doing, error);
    let engine = engines.iter().find(|engine| engine.info().id == task.engine);
    let engine = engine.ok_or_else(|| io::Error::other(format!("no engine {}", task.engine)))?;
    let settings = task.settings.clone();
    let options = OpenOptions::new(&task.dir, task.durability, task.memory);
    let options = OpenOptions { settings, ..options };
    let begun = Instant::now();
    let opened = engine.open(&options).map_err(at(Doing::Open))?;
    let mut ledger = ledger::open(opened.store).map_err(at(Doing::Open))?;
    let ns = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
    talk.say(&Event::Opened { ns })?;
    let found = ledger.found().map_err(at(Doing::Read))?;
    talk.say(&Event::Found(found))?;
    while let Some(Command::Commit { after, count, waits }) = talk.read()? {
        let mut work = Work::new(task.seed).after(after.max(MADE));
        for _ in 0..count {
            commit(&mut *ledger, &mut work, talk, waits)?;
        }
    }
    match ledger.lifecycle().check() {
        Ok(checked) if !checked.findings.is_empty() => {
            let found = checked.findings.join("; ");
            let error = EngineError::failed("the engine", "find no fault by its own check", found);
            return Err(Stop::Engine(Doing::Check, error));
        }
        Err(error) if !error.is_unsupported() => return Err(Stop::Engine(Doing::Check, error)),
        _ => {}
    }
    ledger.close().map_err(at(Doing::Close))
}

fn commit(
    ledger: &mut dyn Ledger,
    work: &mut Work,
    talk: &mut Talk,
    waits: bool,
) -> Result<(), Stop> {
    let failed = |error| Stop::Engine(Doing::Commit, error);
    let commit = work.commit();
    ledger.commit(&commit).map_err(failed)?;
    talk.say(&Event::Committed(commit.number))?;
    if waits {
        talk.line()?;
    }
    if commit.maintained {
        ledger.lifecycle().maintain().map_err(failed)?;
    }
    Ok(())
}

/// The two ends of the conversation. A line is one write, so that what has been said has been said
/// when the process dies.
struct Talk {
    input: StdinLock<'static>,
    output: File,
    line: String,
}

impl Talk {
    /// Takes standard output for events alone; what an engine prints goes to standard error.
    fn begin() -> io::Result<Self> {
        let output = io::stdout().as_fd().try_clone_to_owned()?;
        nix::unistd::dup2_stdout(io::stderr())?;
        Ok(Self { input: io::stdin().lock(), output: output.into(), line: String::new() })
    }

    /// The next line; none at the end.
    fn line(&mut self) -> io::Result<Option<&str>> {
        self.line.clear();
        let length = self.input.read_line(&mut self.line)?;
        Ok((length > 0).then_some(&*self.line))
    }

    fn read<T: serde::de::DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        self.line()?.map(|line| serde_json::from_str(line).map_err(Into::into)).transpose()
    }

    fn say(&mut self, event: &Event) -> io::Result<()> {
        let mut line = serde_json::to_vec(event)?;
        line.push(b'\n');
        self.output.write_all(&line)
    }
}
