//! The processes beside the writer's, as it sees them: the sensor and the reader.

use std::io::{self, BufRead, BufReader, PipeReader, Write};
use std::os::fd::OwnedFd;
use std::process::Child;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use embermark_contract::{EngineError, Result};

use super::checkpoints::Window;
use super::port::MachineLog;
use super::queue;
use super::reader::{self, Reads, Word};
use super::sensor::{self, Account};
use crate::Companions;

/// How long a sensor may take to say its last word.
const LAST_WORD: Duration = Duration::from_secs(15);

/// How long a reader that has said its last word may take to end.
const END: Duration = Duration::from_secs(2);

/// A sensor process. It is over when this is dropped.
pub(super) struct Sensor(Child);

fn failed(doing: &'static str) -> impl FnOnce(io::Error) -> EngineError {
    move |error| EngineError::failed("the sensor", doing, error)
}

impl Sensor {
    /// Starts one, and gives the queue that it fills: its standard output.
    pub(super) fn start(
        companions: &dyn Companions,
        task: sensor::Task,
    ) -> Result<(Self, queue::Receiver)> {
        let mut child = serde_json::to_string(&task)
            .map_err(io::Error::other)
            .and_then(|task| companions.start("sensor", &task, None))
            .map_err(failed("start"))?;
        let out = child.stdout.take();
        let sensor = Self(child);
        let out = out.ok_or_else(|| failed("start")(io::Error::other("it has no output")))?;
        Ok((sensor, queue::Receiver::of(PipeReader::from(OwnedFd::from(out)))))
    }

    pub(super) fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Has it stop; what it sent is still in the queue, and its end behind it.
    pub(super) fn stop(&mut self) {
        self.0.stdin = None;
    }

    /// What it tells of itself at the queue's end, or why it tells nothing.
    pub(super) fn account(&mut self, told: &Receiver<io::Result<Account>>) -> Result<Account> {
        let died = failed("run to its end");
        match told.recv_timeout(LAST_WORD) {
            Ok(Ok(account)) => Ok(account),
            Ok(Err(error)) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Err(died(match self.0.wait() {
                    Ok(status) => io::Error::other(format!("it ended with {status}")),
                    Err(error) => error,
                }))
            }
            Ok(Err(error)) => Err(failed("receive a sample")(error)),
            Err(_) => Err(died(io::Error::other("it does not end"))),
        }
    }
}

impl Drop for Sensor {
    fn drop(&mut self) {
        // It has said all that it will be asked; one that has ended is not hit.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A reader in a process of its own.
pub(super) struct ReaderProcess {
    child: Child,
    words: Receiver<io::Result<Word>>,
}

impl ReaderProcess {
    pub(super) fn start(
        companions: &dyn Companions,
        task: &reader::Task,
        at: &str,
    ) -> Result<Self> {
        let mut child = serde_json::to_string(task)
            .map_err(io::Error::other)
            .and_then(|task| companions.start("reader", &task, Some(at)))
            .map_err(|error| EngineError::failed("the reader's process", "start", error))?;
        let (tell, words) = channel();
        if let Some(out) = child.stdout.take() {
            std::thread::spawn(move || {
                for line in BufReader::new(out).lines() {
                    let word = line.and_then(|line| Ok(serde_json::from_str(&line)?));
                    if tell.send(word).is_err() {
                        return;
                    }
                }
            });
        }
        Ok(Self { child, words })
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for what came of it; `window` opens and closes with its own.
    pub(super) fn reads(
        mut self,
        log: &mut dyn MachineLog,
        mut window: Window<'_>,
    ) -> Result<Reads> {
        let failed = |why: String| EngineError::failed("the reader's process", "read cycles", why);
        loop {
            match self.words.recv() {
                Ok(Ok(Word::Open)) => window.open(log)?,
                Ok(Ok(Word::Close)) => {
                    window.close(log)?;
                    // One that has died is told of by its silence.
                    let _ = self.child.stdin.as_mut().map(|stdin| stdin.write_all(b"\n"));
                }
                Ok(Ok(Word::Done(reads))) => return Ok(*reads),
                Ok(Ok(Word::Failed(true, why))) => {
                    return Err(EngineError::unsupported("the reader's process", why));
                }
                Ok(Ok(Word::Failed(false, why))) => return Err(failed(why)),
                Ok(Err(error)) => return Err(failed(error.to_string())),
                Err(_) => {
                    let ended = self.child.wait().map(|status| format!("it ended with {status}"));
                    return Err(failed(ended.unwrap_or_else(|error| error.to_string())));
                }
            }
        }
    }
}

impl Drop for ReaderProcess {
    fn drop(&mut self) {
        // It ends by itself when all went well.
        self.child.stdin = None;
        let began = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) {
            if began.elapsed() > END {
                let _ = self.child.kill();
                let _ = self.child.wait();
                return;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}
