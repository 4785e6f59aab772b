//! The worker's side of its channel to the process that started it, and the errors that end it.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

use embermark_contract::EngineError;

use crate::protocol::{Event, WorkerAction};

/// Why a worker ends: an error of the engine, or of the channel if the other side has gone.
pub(crate) enum WorkerError {
    Engine(WorkerAction, EngineError),
    Channel(io::Error),
}

pub(crate) type Result<T, E = WorkerError> = std::result::Result<T, E>;

impl WorkerError {
    /// Returns a conversion of engine errors during `doing`.
    pub(crate) fn at(doing: WorkerAction) -> impl Fn(EngineError) -> Self + Copy {
        move |error| Self::Engine(doing, error)
    }
}

impl From<io::Error> for WorkerError {
    fn from(error: io::Error) -> Self {
        Self::Channel(error)
    }
}

/// The channel, shared by all clients.
pub(crate) struct SharedChannel(Mutex<Channel>);

impl SharedChannel {
    /// Reserves standard output for events. What an engine prints goes to standard error.
    pub(crate) fn open() -> io::Result<Self> {
        Channel::open().map(|channel| Self(Mutex::new(channel)))
    }

    /// Waits until no other client uses it.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Channel> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Standard input for commands and standard output for events. A line is one write, so that it has
/// been sent even if the process dies.
pub(crate) struct Channel {
    input: BufReader<File>,
    output: File,
    line: String,
}

impl Channel {
    fn open() -> io::Result<Self> {
        let input = BufReader::new(io::stdin().as_fd().try_clone_to_owned()?.into());
        let output = io::stdout().as_fd().try_clone_to_owned()?.into();
        nix::unistd::dup2_stdout(io::stderr())?;
        Ok(Self { input, output, line: String::new() })
    }

    /// Returns the next line. `None` at the end.
    pub(crate) fn read_line(&mut self) -> io::Result<Option<&str>> {
        self.line.clear();
        let length = self.input.read_line(&mut self.line)?;
        Ok((length > 0).then_some(&*self.line))
    }

    pub(crate) fn read<T: serde::de::DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        self.read_line()?.map(|line| serde_json::from_str(line).map_err(Into::into)).transpose()
    }

    pub(crate) fn send(&mut self, event: &Event) -> io::Result<()> {
        let mut line = serde_json::to_vec(event)?;
        line.push(b'\n');
        self.output.write_all(&line)
    }
}
