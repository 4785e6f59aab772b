//! The reader's process, as the writer's process sees it.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdout};
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
    /// Its messages. Until it is told to go on after the window, they fit in the pipe.
    out: BufReader<ChildStdout>,
}

impl ReaderProcess {
    pub(super) fn start(
        companions: &dyn Companions,
        task: &reader::Task,
        at: &str,
    ) -> Result<Self> {
        let failed = |error: io::Error| EngineError::failed("the reader's process", "start", error);
        let mut child = serde_json::to_string(task)
            .map_err(io::Error::other)
            .and_then(|task| companions.start("reader", &task, Some(at)))
            .map_err(failed)?;
        let out = child.stdout.take();
        let out = out.ok_or_else(|| failed(io::Error::other("it has no output")))?;
        Ok(Self { child, out: BufReader::new(out) })
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
        let unread = |error: io::Error| failed(error.to_string());
        let mut line = String::new();
        loop {
            line.clear();
            if self.out.read_line(&mut line).map_err(unread)? == 0 {
                let ended = self.child.wait().map(|status| format!("it ended with {status}"));
                return Err(failed(ended.unwrap_or_else(|error| error.to_string())));
            }
            match serde_json::from_str(&line).map_err(|error| unread(error.into()))? {
                ReaderMessage::Open => window.open(log.checkpoints()?),
                ReaderMessage::Close => {
                    window.close(|| log.checkpoints())?;
                    // The silence of a dead process is reported later.
                    let _ = self.child.stdin.as_mut().map(|stdin| stdin.write_all(b"\n"));
                }
                ReaderMessage::Done(reads) => return Ok(*reads),
                ReaderMessage::Failed(true, why) => {
                    return Err(EngineError::unsupported("the reader's process", why));
                }
                ReaderMessage::Failed(false, why) => return Err(failed(why)),
            }
        }
    }
}

impl Drop for ReaderProcess {
    fn drop(&mut self) {
        // The process ends without a signal after success. If writing failed, nobody reads its
        // result. If that does not fit in the pipe, it is killed after it has closed the database.
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
