//! A process that outlives a killed run and removes the shared memory that its servers left.

use std::io::{self, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use embermark_engines::registry;

use crate::protocol::Request;
use crate::worker_command::WorkerCommand;

/// Time in which a server ends after its owner was killed.
const SERVER_EXIT_TIMEOUT: Duration = Duration::from_secs(30);

/// Time without shared memory in use after which all servers have ended. One may still be starting.
const QUIET: Duration = Duration::from_secs(1);

/// Removes the shared memory of killed servers whose data is below `site`. Returns whether some of
/// it is in use.
pub(crate) fn remove_abandoned(site: &Path) -> bool {
    let in_use = registry::all().iter().filter(|engine| engine.remove_abandoned(site));
    in_use.count() > 0
}

/// Removes the shared memory of servers below `site` that are about to end.
pub(crate) fn remove_after_exit(site: &Path) {
    let began = Instant::now();
    let mut quiet_since = began;
    while quiet_since.elapsed() < QUIET && began.elapsed() < SERVER_EXIT_TIMEOUT {
        if remove_abandoned(site) {
            quiet_since = Instant::now();
        }
        sleep(QUIET / 10);
    }
}

/// A worker that waits for the end of its input and then cleans up. The input ends when this
/// process ends, for whatever reason.
pub(crate) struct CleanupProcess(Child);

impl CleanupProcess {
    /// Starts a cleanup process for the databases below a directory.
    ///
    /// # Errors
    /// If the program cannot be started or does not read its request.
    pub fn start(worker: &WorkerCommand, databases: &Path) -> io::Result<Self> {
        let request = Request::Abandoned { site: databases.to_owned() }.to_json()?;
        let mut command = worker.command();
        let mut this = Self(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?);
        // It stays open until this process ends.
        let input = this.0.stdin.as_mut();
        input.map_or(Ok(()), |input| input.write_all(&request))?;
        Ok(this)
    }
}

impl Drop for CleanupProcess {
    /// Ends the process without cleaning up, because a run that ends normally leaves nothing.
    fn drop(&mut self) {
        let _ = self.0.kill().and_then(|()| self.0.wait());
    }
}
