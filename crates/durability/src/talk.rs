//! The worker's side of its conversation with the process that started it, and what ends it.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

use embermark_contract::EngineError;

use crate::protocol::{Doing, Event};

/// What failed: the engine, or the conversation, if the other side has gone.
pub(crate) enum Stop {
    Engine(Doing, EngineError),
    Conversation(io::Error),
}

impl Stop {
    /// Makes a stop for an engine error at `doing`.
    pub(crate) fn at(doing: Doing) -> impl Fn(EngineError) -> Self + Copy {
        move |error| Self::Engine(doing, error)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Conversation(error)
    }
}

/// The conversation, shared by all clients.
pub(crate) struct SharedTalk(Mutex<Talk>);

impl SharedTalk {
    /// Reserves standard output for events. What an engine prints goes to standard error.
    pub(crate) fn begin() -> io::Result<Self> {
        Talk::begin().map(|talk| Self(Mutex::new(talk)))
    }

    /// Waits until no other client uses it.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Talk> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The two ends of the conversation. A line is one write, so that it has been sent even if the
/// process dies.
pub(crate) struct Talk {
    input: BufReader<File>,
    output: File,
    line: String,
}

impl Talk {
    fn begin() -> io::Result<Self> {
        let input = BufReader::new(io::stdin().as_fd().try_clone_to_owned()?.into());
        let output = io::stdout().as_fd().try_clone_to_owned()?.into();
        nix::unistd::dup2_stdout(io::stderr())?;
        Ok(Self { input, output, line: String::new() })
    }

    /// Returns the next line. `None` at the end.
    pub(crate) fn line(&mut self) -> io::Result<Option<&str>> {
        self.line.clear();
        let length = self.input.read_line(&mut self.line)?;
        Ok((length > 0).then_some(&*self.line))
    }

    pub(crate) fn read<T: serde::de::DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        self.line()?.map(|line| serde_json::from_str(line).map_err(Into::into)).transpose()
    }

    pub(crate) fn say(&mut self, event: &Event) -> io::Result<()> {
        let mut line = serde_json::to_vec(event)?;
        line.push(b'\n');
        self.output.write_all(&line)
    }
}
