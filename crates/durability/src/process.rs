//! A worker, from the experiment's side.

use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command as Program, ExitStatus, Stdio};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::oracle::Verdict;
use crate::protocol::{Command, Event, Task};

/// How long an engine may take for an answer: to open, to read everything, to commit.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// The program that is started as a worker, and its arguments.
#[derive(Clone, Debug)]
pub struct WorkerProgram {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
}

/// Why a worker says nothing more.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Silent {
    /// It has ended, so.
    Ended(ExitStatus),
    /// It has not, and has said nothing within [`PATIENCE`].
    Hangs,
}

impl Silent {
    /// The verdict on an engine whose process falls silent, and what it rests on.
    pub(crate) fn verdict(self) -> (Verdict, String) {
        let message = match self {
            Self::Hangs => return (Verdict::Hangs, format!("no answer in {PATIENCE:?}")),
            Self::Ended(status) => match status.signal().map(Signal::try_from) {
                Some(Ok(signal)) => format!("its process was ended by {signal}"),
                _ => format!("its process ended by itself: {status}"),
            },
        };
        (Verdict::Crashed, message)
    }
}

/// A worker in a process group of its own, in which its engine's processes are too. Dropping it kills
/// them.
pub(crate) struct Worker {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    line: String,
}

impl Worker {
    pub(crate) fn start(program: &WorkerProgram, task: &Task) -> io::Result<Self> {
        let mut child = Program::new(&program.program)
            .args(&program.args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let missing = || io::Error::other("the worker has no pipe");
        let (input, output) = (child.stdin.take(), child.stdout.take().ok_or_else(missing)?);
        let (output, line) = (BufReader::new(output), String::new());
        let mut this = Self { child, input, output, line };
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

    pub(crate) fn command(&mut self, command: Command) -> io::Result<()> {
        self.tell(&command)
    }

    /// Lets it go on that waits.
    pub(crate) fn go_on(&mut self) -> io::Result<()> {
        self.tell(&())
    }

    /// Ends its input: it closes the database.
    pub(crate) fn finish(&mut self) {
        self.input = None;
    }

    /// What it says next, or why nothing. A line that was cut off is not said.
    pub(crate) fn event(&mut self) -> io::Result<Result<Event, Silent>> {
        if self.output.buffer().is_empty() && !self.speaks()? {
            self.kill()?;
            return Ok(Err(Silent::Hangs));
        }
        self.line.clear();
        self.output.read_line(&mut self.line)?;
        if !self.line.ends_with('\n') {
            self.finish();
            return Ok(Err(Silent::Ended(self.child.wait()?)));
        }
        serde_json::from_str(&self.line).map(Ok).map_err(Into::into)
    }

    /// Waits until it says something or ends; whether it does in time.
    fn speaks(&self) -> io::Result<bool> {
        let mut polled = [PollFd::new(self.output.get_ref().as_fd(), PollFlags::POLLIN)];
        let timeout = PollTimeout::try_from(PATIENCE).unwrap_or(PollTimeout::MAX);
        loop {
            match poll(&mut polled, timeout) {
                Err(Errno::EINTR) => {}
                polled => return Ok(polled? > 0),
            }
        }
    }

    /// Kills it, with all of its group.
    pub(crate) fn kill(&mut self) -> io::Result<()> {
        match killpg(self.group(), Signal::SIGKILL) {
            Ok(()) | Err(Errno::ESRCH) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// The group to kill from another thread.
    pub(crate) fn group(&self) -> Pid {
        Pid::from_raw(self.child.id().cast_signed())
    }

    /// Waits for its end.
    pub(crate) fn wait(&mut self) -> io::Result<()> {
        self.finish();
        self.child.wait().map(drop)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // What does not answer has been told twice.
        let _ = self.kill().and_then(|()| self.wait());
    }
}
