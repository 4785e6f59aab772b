//! A worker, from the experiment's side.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command as Program, Stdio};

use nix::errno::Errno;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::protocol::{Command, Event, Task};

/// The program that is started as a worker, and its arguments.
#[derive(Clone, Debug)]
pub struct WorkerProgram {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
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

    fn tell(&mut self, what: &impl serde::Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(what)?;
        line.push(b'\n');
        match &mut self.input {
            Some(input) => input.write_all(&line),
            None => Err(io::ErrorKind::BrokenPipe.into()),
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

    /// What it says next; `None` when it has ended. A line that was cut off is not said.
    pub(crate) fn event(&mut self) -> io::Result<Option<Event>> {
        self.line.clear();
        self.output.read_line(&mut self.line)?;
        if !self.line.ends_with('\n') {
            return Ok(None);
        }
        serde_json::from_str(&self.line).map(Some).map_err(Into::into)
    }

    /// Kills it, with all of its group.
    pub(crate) fn kill(&mut self) -> io::Result<()> {
        let group = Pid::from_raw(self.child.id().cast_signed());
        match killpg(group, Signal::SIGKILL) {
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
        self.input = None;
        self.child.wait().map(drop)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // What does not answer has been told twice.
        let _ = self.kill().and_then(|()| self.wait());
    }
}
