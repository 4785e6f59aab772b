//! Starts workers, and sends them requests other than a trial. What such a worker opens may fork,
//! print, hang or die, and is contained as in a trial.

use std::fmt::Display;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde::de::DeserializeOwned;

use crate::processes::{Family, wait_or_kill};
use crate::protocol::Request;
use crate::{HarnessError, Interrupt, Result};

/// Largest accepted answer in bytes: a description of an engine, of its settings or of rows.
const MAX_ANSWER_BYTES: u64 = 1 << 20;

/// Time in which a worker must exit after its answer.
const EXIT_TIMEOUT: Duration = Duration::from_secs(5);

/// Time in which the processes that it started must end when asked to.
const STRAY_TIMEOUT: Duration = Duration::from_secs(1);

/// Interval between looks for an interrupt.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Program and arguments of the worker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerCommand {
    /// The program, which must call [`serve`](crate::serve) or [`worker_main`](crate::worker_main).
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
}

impl WorkerCommand {
    /// Returns this program with the argument `worker`.
    ///
    /// # Errors
    /// If the system does not report where this program is.
    pub fn this_program() -> Result<Self> {
        let program =
            std::env::current_exe().map_err(HarnessError::system("find this program's file"))?;
        Ok(Self { program, args: vec!["worker".to_owned()] })
    }

    /// Returns the command that starts a worker with pipes for its request and its answer. Ctrl-C in
    /// a terminal does not reach it, but only the parent, which ends it properly.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args).stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
        command
    }

    /// Makes the error for a worker that cannot be started.
    pub(crate) fn failed(&self, error: impl Display) -> HarnessError {
        let program = self.program.display();
        HarnessError::Failed(format!("{program}: the worker process could not be started: {error}"))
    }

    /// Sends a request to a worker and waits for the first line of its answer. `library` is the
    /// environment variable with the path of its engine's library. An interrupt ends the wait. Ends
    /// every process that the worker started. The inner error explains why there is no usable
    /// answer: the worker `was killed by signal 9 (SIGKILL)`.
    pub(crate) fn ask<T: DeserializeOwned>(
        &self,
        library: Option<(&str, &Path)>,
        request: &Request,
        (patience, interrupt): (Duration, &Interrupt),
    ) -> Result<Result<T, String>> {
        let (answer, status) = self
            .first_line(library, request, (patience, interrupt))
            .map_err(|error| self.failed(error))?;
        let answer = answer.as_deref();
        let parsed = serde_json::from_slice(answer.unwrap_or_default());
        Ok(parsed.map_err(|_| no_answer_reason(answer, status, patience)))
    }

    /// Returns the first line of a worker's answer, empty if it closed its output without one and
    /// `None` if none came in time; and its exit status, or `None` if it had to be killed.
    fn first_line(
        &self,
        library: Option<(&str, &Path)>,
        request: &Request,
        waits: (Duration, &Interrupt),
    ) -> io::Result<(Option<Vec<u8>>, Option<ExitStatus>)> {
        let json = request.to_json()?;
        let family = Family::begin()?;
        let mut command = self.command();
        // An engine may write without end.
        if !matches!(request, Request::Stage(_)) {
            command.stderr(Stdio::null());
        }
        let mut child = command.envs(library).spawn()?;
        let answer = send_and_read(&mut child, &json, waits);
        let exit_takes = if matches!(answer, Ok(Some(_))) { EXIT_TIMEOUT } else { Duration::ZERO };
        let status = wait_or_kill(&mut child, exit_takes);
        family.end(STRAY_TIMEOUT)?;
        Ok((answer?, status))
    }
}

/// Explains why there is no usable answer after waiting for `patience`.
fn no_answer_reason(
    answer: Option<&[u8]>,
    status: Option<ExitStatus>,
    patience: Duration,
) -> String {
    if answer.is_some_and(|answer| answer.len() as u64 == MAX_ANSWER_BYTES) {
        return format!("wrote more than {} MiB", MAX_ANSWER_BYTES >> 20);
    }
    let Some(status) = status else {
        let did = match answer {
            None => return format!("wrote nothing in {} s", patience.as_secs()),
            Some([]) => "closed its output without an answer",
            Some(_) => "gave an invalid answer",
        };
        return format!("{did}, and did not end in {} s", EXIT_TIMEOUT.as_secs());
    };
    match status.signal() {
        Some(number) => {
            let name = Signal::try_from(number).map_or("unknown", Signal::as_str);
            format!("was killed by signal {number} ({name})")
        }
        None => format!("ended, {status}"),
    }
}

/// Sends a request and waits for the first line of the answer. `None` if it does not arrive in
/// time, or before an interrupt.
fn send_and_read(
    child: &mut Child,
    request: &[u8],
    (patience, interrupt): (Duration, &Interrupt),
) -> io::Result<Option<Vec<u8>>> {
    if let Some(mut stdin) = child.stdin.take() {
        // A worker that does not read it shows that in its answer.
        let _ = stdin.write_all(request);
    }
    let (said, heard) = channel();
    if let Some(stdout) = child.stdout.take() {
        // Not to the end: a process that the engine started may hold the pipe open.
        std::thread::Builder::new().spawn(move || {
            let mut line = Vec::new();
            let read = BufReader::new(stdout.take(MAX_ANSWER_BYTES)).read_until(b'\n', &mut line);
            // The receiver is gone if this took too long.
            let _ = said.send(read.map(|_| line));
        })?;
    }
    let began = Instant::now();
    loop {
        match heard.recv_timeout(POLL_INTERVAL) {
            Ok(answer) => return answer.map(Some),
            Err(RecvTimeoutError::Timeout) if began.elapsed() < patience && !interrupt.is_set() => {
            }
            Err(_) => return Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_that_answers_and_stays_did_not_write_nothing() {
        let hour = Duration::from_secs(3_600);
        let why = |answer: Option<&[u8]>| no_answer_reason(answer, None, hour);
        assert_eq!(why(None), "wrote nothing in 3600 s");
        let closed = "closed its output without an answer, and did not end in 5 s";
        assert_eq!(why(Some(b"")), closed);
        assert_eq!(why(Some(b"hello\n")), "gave an invalid answer, and did not end in 5 s");
    }
}
