//! The sensor's process, as the writer sees it.

use std::io::{self, PipeReader};
use std::os::fd::OwnedFd;
use std::process::Child;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use embermark_contract::{EngineError, Result};

use super::SENSOR;
use super::queue::{self, Account, Shape};
use crate::Companions;

/// How long a sensor may take to send its account.
const LAST_WORD: Duration = Duration::from_secs(15);

/// A sensor process. It is killed when this is dropped.
pub(crate) struct Sensor(Child);

fn failed(doing: &'static str) -> impl FnOnce(io::Error) -> EngineError {
    move |error| EngineError::failed("the sensor", doing, error)
}

impl Sensor {
    /// Starts a sensor with its task. Returns the queue that it fills, which is its standard
    /// output.
    pub(crate) fn start(
        companions: &dyn Companions,
        task: &str,
        shape: Shape,
    ) -> Result<(Self, queue::Receiver)> {
        let mut child = companions.start(SENSOR, task, None).map_err(failed("start"))?;
        let out = child.stdout.take();
        let sensor = Self(child);
        let out = out.ok_or_else(|| failed("start")(io::Error::other("it has no output")))?;
        Ok((sensor, queue::Receiver::new(PipeReader::from(OwnedFd::from(out)), shape)))
    }

    pub(crate) fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Stops it. What it sent is still in the queue, followed by the end.
    pub(super) fn stop(&mut self) {
        self.0.stdin = None;
    }

    /// Returns the account that it sends at the queue's end, or the reason that it sent none.
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
            Ok(Err(error)) => Err(failed("receive a row")(error)),
            Err(_) => Err(died(io::Error::other("it does not end"))),
        }
    }
}

impl Drop for Sensor {
    fn drop(&mut self) {
        // Its account is complete or given up by now, and a process that has ended cannot be hit.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
