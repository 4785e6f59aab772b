//! A worker, from the experiment's side.

use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, ExitStatus};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::keeper;
use crate::oracle::Verdict;
use crate::protocol::{Command, Event, Task};

/// How long an engine may take for an answer: to open, to read everything, to commit.
pub const PATIENCE: Duration = Duration::from_secs(20);
/// The same where the tier promises to survive no such interruption: of LMDB's `process` one state in five
/// hangs after a power cut, and most of a run would be waiting for them.
pub const PATIENCE_FOR_NOTHING: Duration = Duration::from_secs(5);

/// How long a server may: longer than its adapter waits for it to start, which then says what the
/// server has said.
pub const PATIENCE_WITH_SERVERS: Duration = Duration::from_secs(150);

/// The program that is started as a worker, and its arguments.
#[derive(Clone, Debug)]
pub struct WorkerProgram {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Where the library of its engine is, by the environment variable that says so; none: where it
    /// finds it.
    pub library: Option<(&'static str, PathBuf)>,
}

/// Why a worker says nothing more.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Silent {
    /// It has ended, so.
    Ended(ExitStatus),
    /// It has not, and has said nothing within a time.
    Hangs(Duration),
}

impl Silent {
    /// The verdict on an engine whose process falls silent, and what it rests on.
    pub(crate) fn verdict(self) -> (Verdict, String) {
        let message = match self {
            Self::Hangs(time) => return (Verdict::Hangs, format!("no answer in {time:?}")),
            Self::Ended(status) => match keeper::signal(status) {
                Some(signal) => format!("its process was ended by {signal}"),
                None => format!("its process ended by itself: {status}"),
            },
        };
        (Verdict::Crashed, message)
    }
}

/// A worker behind its [keeper]. Dropping it kills it, with all that it has started.
pub(crate) struct Worker {
    keeper: Child,
    patience: Duration,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    line: String,
}

impl Worker {
    /// Starts one, which has so long for each answer.
    pub(crate) fn start(
        program: &WorkerProgram,
        task: &Task,
        patience: Duration,
    ) -> io::Result<Self> {
        let mut keeper = keeper::command(&program.program, &program.args, &task.dir);
        let mut keeper = keeper.envs(program.library.clone()).spawn()?;
        let missing = || io::Error::other("the worker has no pipe");
        let (input, output) = (keeper.stdin.take(), keeper.stdout.take().ok_or_else(missing)?);
        let (output, line) = (BufReader::new(output), String::new());
        let mut this = Self { keeper, patience, input, output, line };
        this.tell(task)?;
        Ok(this)
    }

    /// Tells it a line. One that has ended is not told: what it said last says why.
    fn tell(&mut self, what: &impl serde::Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(what)?;
        line.push(b'\n');
        match self.input.as_mut().map_or(Ok(()), |input| input.write_all(&line)) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            told => told,
        }
    }

    pub(crate) fn command(&mut self, command: &Command) -> io::Result<()> {
        self.tell(command)
    }

    /// Lets the client go on that waits.
    pub(crate) fn go_on(&mut self) -> io::Result<()> {
        self.tell(&())
    }

    /// Ends its input: it closes the database.
    pub(crate) fn finish(&mut self) {
        self.input = None;
    }

    /// What it says next, or why nothing. A line that was cut off is not said. When it has ended,
    /// nothing of it runs any more.
    pub(crate) fn event(&mut self) -> io::Result<Result<Event, Silent>> {
        match self.event_within(self.patience)? {
            Some(event) => Ok(event),
            None => {
                self.kill()?;
                Ok(Err(Silent::Hangs(self.patience)))
            }
        }
    }

    /// The same within a time; nothing where it says nothing, and lives on.
    pub(crate) fn event_within(
        &mut self,
        patience: Duration,
    ) -> io::Result<Option<Result<Event, Silent>>> {
        if self.output.buffer().is_empty() && !self.speaks(patience)? {
            return Ok(None);
        }
        self.line.clear();
        self.output.read_line(&mut self.line)?;
        if !self.line.ends_with('\n') {
            self.finish();
            return Ok(Some(Err(Silent::Ended(self.keeper.wait()?))));
        }
        serde_json::from_str(&self.line).map(|event| Some(Ok(event))).map_err(Into::into)
    }

    /// Waits until it says something or ends; whether it does in time.
    fn speaks(&self, patience: Duration) -> io::Result<bool> {
        let mut polled = [PollFd::new(self.output.get_ref().as_fd(), PollFlags::POLLIN)];
        let timeout = PollTimeout::try_from(patience).unwrap_or(PollTimeout::MAX);
        loop {
            match poll(&mut polled, timeout) {
                Err(Errno::EINTR) => {}
                polled => return Ok(polled? > 0),
            }
        }
    }

    /// Has it killed, with all that it has started.
    pub(crate) fn kill(&self) -> io::Result<()> {
        self.killer()()
    }

    /// The same from another thread, as long as its end was not waited for.
    pub(crate) fn killer(&self) -> impl FnOnce() -> io::Result<()> + Send + use<> {
        let keeper = self.keeper();
        move || match kill(keeper, Signal::SIGTERM) {
            Ok(()) | Err(Errno::ESRCH) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    fn keeper(&self) -> Pid {
        Pid::from_raw(self.keeper.id().cast_signed())
    }

    /// Does something while it and all that it has started stand still, at whatever they were.
    pub(crate) fn stopped<T>(&self, something: impl FnOnce() -> T) -> io::Result<T> {
        keeper::stop(self.keeper())?;
        let done = something();
        keeper::resume(self.keeper()).map(|()| done)
    }

    /// The servers that it has started, and that run.
    pub(crate) fn servers(&self) -> io::Result<Vec<Pid>> {
        keeper::servers(self.keeper())
    }

    /// Waits for the end of all of it.
    pub(crate) fn wait(&mut self) -> io::Result<()> {
        self.finish();
        self.keeper.wait().map(drop)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // What does not answer has been told twice.
        let _ = self.kill().and_then(|()| self.wait());
    }
}
