//! The worker's side of its conversation with who started it, and what ends that.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

use embermark_contract::EngineError;

use crate::protocol::{Doing, Event};

/// What failed, of the engine; or of the conversation, when nobody is there to be told.
pub(crate) enum Stop {
    Engine(Doing, EngineError),
    Conversation(io::Error),
}

impl Stop {
    /// Of the engine at `doing`.
    pub(crate) fn at(doing: Doing) -> impl Fn(EngineError) -> Self + Copy {
        move |error| Self::Engine(doing, error)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Conversation(error)
    }
}

/// The conversation, for all clients.
pub(crate) struct SharedTalk(Mutex<Talk>);

impl SharedTalk {
    /// Takes standard output for events alone; what an engine prints goes to standard error.
    pub(crate) fn begin() -> io::Result<Self> {
        Talk::begin().map(|talk| Self(Mutex::new(talk)))
    }

    /// Waits until nobody else talks.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Talk> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The two ends of the conversation. A line is one write, so that what has been said has been said
/// when the process dies.
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

    /// The next line; none at the end.
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
