//! The reader's process, as the writer's process sees it.

use std::io::{self, BufRead, BufReader, Write};
use std::process::Child;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use embermark_contract::{EngineError, Result};

use super::machine_log::MachineLog;
use super::reader::{self, ReadResults, ReaderMessage};
use crate::Companions;
use crate::arrivals::Window;

/// How long a reader may take to end after its last message.
const END: Duration = Duration::from_secs(2);

/// A reader in its own process.
pub(super) struct ReaderProcess {
    child: Child,
    messages: Receiver<io::Result<ReaderMessage>>,
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
        let (tell, messages) = channel();
        if let Some(out) = child.stdout.take() {
            std::thread::spawn(move || {
                for line in BufReader::new(out).lines() {
                    let message = line.and_then(|line| Ok(serde_json::from_str(&line)?));
                    if tell.send(message).is_err() {
                        return;
                    }
                }
            });
        }
        Ok(Self { child, messages })
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the reader's result. `window` opens and closes with the reader's window.
    pub(super) fn reads(
        mut self,
        log: &mut dyn MachineLog,
        mut window: Window<'_>,
    ) -> Result<ReadResults> {
        let failed = |why: String| EngineError::failed("the reader's process", "read cycles", why);
        loop {
            match self.messages.recv() {
                Ok(Ok(ReaderMessage::Open)) => window.open(log.checkpoints()?),
                Ok(Ok(ReaderMessage::Close)) => {
                    window.close(|| log.checkpoints())?;
                    // The silence of a dead process is reported later.
                    let _ = self.child.stdin.as_mut().map(|stdin| stdin.write_all(b"\n"));
                }
                Ok(Ok(ReaderMessage::Done(reads))) => return Ok(*reads),
                Ok(Ok(ReaderMessage::Failed(true, why))) => {
                    return Err(EngineError::unsupported("the reader's process", why));
                }
                Ok(Ok(ReaderMessage::Failed(false, why))) => return Err(failed(why)),
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
        // The process ends without a signal after success.
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
