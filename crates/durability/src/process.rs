//! A worker, from the experiment's side.

use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, ExitStatus};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use nix::unistd::Pid;

use crate::oracle::Verdict;
use crate::protocol::{Event, Task};
use crate::supervisor;

/// Time limit for an engine's answer: to open, to read everything, to commit.
pub const PATIENCE: Duration = Duration::from_secs(20);
/// The same for a tier that does not promise to survive the interruption. With LMDB's `process` one
/// state in five hangs after a power cut, and most of a run would be spent waiting.
pub const PATIENCE_FOR_NOTHING: Duration = Duration::from_secs(5);

/// Time limit for a server. It is longer than its adapter waits for it to start, so that the
/// adapter can report the server's messages.
pub const PATIENCE_WITH_SERVERS: Duration = Duration::from_secs(150);

/// The program that is started as a worker, with its arguments.
#[derive(Clone, Debug)]
pub struct WorkerProgram {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Where its engine's library is: the environment variable that names it, and the path. `None`
    /// if the engine finds it.
    pub library: Option<(&'static str, PathBuf)>,
}

/// Why a worker reports nothing more.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NoResponse {
    /// It has ended with this status.
    Ended(ExitStatus),
    /// It runs, but has reported nothing for this time.
    Hangs(Duration),
}

/// A worker's next event, or the reason why none came.
pub(crate) type Response = Result<Event, NoResponse>;

impl NoResponse {
    /// Returns the verdict on an engine whose process falls silent, and its basis.
    pub(crate) fn verdict(self) -> (Verdict, String) {
        let message = match self {
            Self::Hangs(time) => return (Verdict::Hangs, format!("no answer in {time:?}")),
            Self::Ended(status) => match supervisor::signal(status) {
                Some(signal) => format!("its process was ended by {signal}"),
                None => format!("its process ended by itself: {status}"),
            },
        };
        (Verdict::Crashed, message)
    }
}

/// A worker behind its [supervisor]. Dropping it kills it and all that it has started.
pub(crate) struct Worker {
    supervisor: Child,
    patience: Duration,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    line: String,
}

impl Worker {
    /// Starts a worker with this time limit for each answer.
    pub(crate) fn start(
        program: &WorkerProgram,
        task: &Task,
        patience: Duration,
    ) -> io::Result<Self> {
        let mut supervisor = supervisor::command(&program.program, &program.args, &task.dir);
        let mut supervisor = supervisor.envs(program.library.clone()).spawn()?;
        let missing = || io::Error::other("the worker has no pipe");
        let (input, output) =
            (supervisor.stdin.take(), supervisor.stdout.take().ok_or_else(missing)?);
        let (output, line) = (BufReader::new(output), String::new());
        let mut this = Self { supervisor, patience, input, output, line };
        this.send(task)?;
        Ok(this)
    }

    /// Sends it a line, such as a [`Command`](crate::protocol::Command). If it has ended, its last
    /// message says why.
    pub(crate) fn send(&mut self, what: &impl serde::Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(what)?;
        line.push(b'\n');
        match self.input.as_mut().map_or(Ok(()), |input| input.write_all(&line)) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            sent => sent,
        }
    }

    /// Lets the waiting client continue.
    pub(crate) fn release_client(&mut self) -> io::Result<()> {
        self.send(&())
    }

    /// Ends its input, so that it closes the database.
    pub(crate) fn close_input(&mut self) {
        self.input = None;
    }

    /// Returns its next event, or why there is none. An incomplete line does not count. Once it has
    /// ended, nothing of it runs any more.
    pub(crate) fn next_event(&mut self) -> io::Result<Response> {
        if let Some(response) = self.event_within(self.patience)? {
            return Ok(response);
        }
        self.kill()?;
        Ok(Err(NoResponse::Hangs(self.patience)))
    }

    /// Does the same within a time. `None` if it lives but reports nothing.
    pub(crate) fn event_within(&mut self, patience: Duration) -> io::Result<Option<Response>> {
        if self.output.buffer().is_empty() && !self.wait_for_output(patience)? {
            return Ok(None);
        }
        self.line.clear();
        self.output.read_line(&mut self.line)?;
        if !self.line.ends_with('\n') {
            self.close_input();
            return Ok(Some(Err(NoResponse::Ended(self.supervisor.wait()?))));
        }
        serde_json::from_str(&self.line).map(|event| Some(Ok(event))).map_err(Into::into)
    }

    /// Waits until it reports something or ends. Returns whether it does in time.
    fn wait_for_output(&self, patience: Duration) -> io::Result<bool> {
        let mut polled = [PollFd::new(self.output.get_ref().as_fd(), PollFlags::POLLIN)];
        let timeout = PollTimeout::try_from(patience).unwrap_or(PollTimeout::MAX);
        loop {
            match poll(&mut polled, timeout) {
                Err(Errno::EINTR) => {}
                polled => return Ok(polled? > 0),
            }
        }
    }

    /// Kills it and all that it has started.
    pub(crate) fn kill(&self) -> io::Result<()> {
        self.killer()()
    }

    /// Returns a function that does so from another thread, valid until its end has been waited
    /// for.
    pub(crate) fn killer(&self) -> impl FnOnce() -> io::Result<()> + Send + use<> {
        let supervisor = self.supervisor();
        move || supervisor::signal_to(supervisor, Signal::SIGTERM)
    }

    fn supervisor(&self) -> Pid {
        Pid::from_raw(self.supervisor.id().cast_signed())
    }

    /// Does something while it and all that it has started are stopped, whatever they were doing.
    pub(crate) fn while_stopped<T>(&self, something: impl FnOnce() -> T) -> io::Result<T> {
        supervisor::stop(self.supervisor())?;
        let done = something();
        supervisor::resume(self.supervisor()).map(|()| done)
    }

    /// Returns the running servers that it has started.
    pub(crate) fn servers(&self) -> io::Result<Vec<Pid>> {
        supervisor::servers(self.supervisor())
    }

    /// Waits for the end of all of it.
    pub(crate) fn wait(&mut self) -> io::Result<()> {
        self.close_input();
        self.supervisor.wait().map(drop)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // A supervisor that does not react has been signalled twice.
        let _ = self.kill().and_then(|()| self.wait());
    }
}
