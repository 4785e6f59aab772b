//! Sends a worker a request other than a trial. What the worker opens may fork, print, hang or die,
//! and is contained as in a trial.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::Interrupt;
use crate::processes::{Family, wait};
use crate::request::Request;
use crate::worker_command::WorkerCommand;

/// Largest accepted answer in bytes: a description of an engine, or its settings.
const MAX_ANSWER_BYTES: u64 = 1 << 20;

/// Time in which a worker must exit after its answer.
const EXIT_TIMEOUT: Duration = Duration::from_secs(5);

/// Time in which the processes that it started must end when asked to.
const STRAY_TIMEOUT: Duration = Duration::from_secs(1);

/// Interval between looks for an interrupt.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Answer and exit status of a worker.
pub(crate) struct WorkerAnswer {
    /// Answer: one line. Empty if it gave none.
    pub answer: Vec<u8>,
    /// Exit status. `None` if the worker had to be killed.
    pub status: Option<ExitStatus>,
}

impl WorkerAnswer {
    /// Explains why there is no usable answer after waiting for `patience`.
    pub fn no_answer_reason(&self, patience: Duration) -> String {
        if self.answer.len() as u64 == MAX_ANSWER_BYTES {
            return format!("wrote more than {} MiB", MAX_ANSWER_BYTES >> 20);
        }
        let Some(status) = self.status else {
            return format!("wrote nothing in {} s", patience.as_secs());
        };
        match status.signal() {
            Some(number) => {
                let name = Signal::try_from(number).map_or("unknown", Signal::as_str);
                format!("was killed by signal {number} ({name})")
            }
            None => format!("ended, {status}"),
        }
    }
}

/// Sends a request to a worker and waits for the first line of its answer. `library` is the
/// environment variable with the path of its engine's library. An interrupt ends the wait. Ends
/// every process that the worker started. Its standard error is discarded.
pub(crate) fn ask_worker(
    worker: &WorkerCommand,
    library: Option<(&str, &Path)>,
    request: &Request,
    (patience, interrupt): (Duration, &Interrupt),
) -> io::Result<WorkerAnswer> {
    let request = serde_json::to_vec(request)?;
    let family = Family::begin()?;
    let mut child = Command::new(&worker.program)
        .args(&worker.args)
        .envs(library)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        // Ctrl-C in a terminal then reaches only the parent.
        .process_group(0)
        .spawn()?;
    let answer = first_line(&mut child, &request, (patience, interrupt));
    let exit_takes = if matches!(answer, Ok(Some(_))) { EXIT_TIMEOUT } else { Duration::ZERO };
    let status = wait(&mut child, exit_takes);
    if status.is_none() {
        // It may have ended just now.
        let _ = child.kill().and_then(|()| child.wait());
    }
    family.end(STRAY_TIMEOUT)?;
    Ok(WorkerAnswer { answer: answer?.unwrap_or_default(), status })
}

/// Sends a request and waits for the first line of the answer. `None` if it does not arrive in
/// time, or before an interrupt.
fn first_line(
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
