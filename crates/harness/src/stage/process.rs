//! Prepares rows in a separate process, so that reading them takes no memory here and a crash does
//! not reach this process.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use embermark_model::Scale;
use embermark_model::plan::Dataset;
use serde::{Deserialize, Serialize};

use super::{POLL_INTERVAL, prepare};
use crate::request::{Request, StageRequest};
use crate::worker_command::WorkerCommand;
use crate::{Catalog, HarnessError, Interrupt};

/// Rows of a scale: their file and description.
pub(crate) type Prepared = (Scale, PathBuf, Dataset);

/// Why rows could not be prepared.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Refusal {
    /// They are invalid.
    Usage(String),
    /// The disk is full.
    Full(PathBuf),
    /// Another failure.
    Failed(String),
}

impl StageRequest {
    /// Prepares the rows in this process.
    pub fn answer(&self, catalog: &Catalog) -> Result<Vec<Prepared>, Refusal> {
        let prepared = catalog.with_files(&self.plan).and_then(|catalog| {
            let workload = catalog.workload(&self.workload)?;
            prepare(workload, &self.scales, &self.plan.data, self.plan.seed, &self.dir)
        });
        prepared.map_err(|error| match error {
            HarnessError::DiskFull { path, .. } => Refusal::Full(path),
            error if error.is_usage() => Refusal::Usage(error.to_string()),
            error => Refusal::Failed(error.to_string()),
        })
    }

    /// Makes a worker prepare the rows. Removes incomplete rows after an interrupt, or if the
    /// worker dies.
    pub fn ask(
        self,
        worker: &WorkerCommand,
        interrupt: &Interrupt,
    ) -> Result<Vec<Prepared>, HarnessError> {
        let failed = |source| HarnessError::Worker { program: worker.program.clone(), source };
        let before = entries(&self.dir);
        let (workload, dir) = (self.workload.clone(), self.dir.clone());
        let request = serde_json::to_vec(&Request::Stage(Box::new(self)));
        let request = request.map_err(|error| failed(error.into()))?;
        let mut child = Command::new(&worker.program)
            .args(&worker.args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Ctrl-C in a terminal then reaches only the parent.
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        if let Some(mut stdin) = child.stdin.take() {
            // A worker that does not read it shows that in its answer.
            let _ = stdin.write_all(&request);
        }
        let heard = listen(&mut child, interrupt);
        let ended = child.wait().map_err(failed)?;
        let answer: Option<Result<Vec<Prepared>, Refusal>> =
            heard.as_deref().and_then(|answer| serde_json::from_slice(answer).ok());
        if !matches!(answer, Some(Ok(_))) {
            // Incomplete rows are useless and may fill the disk.
            entries(&dir)
                .iter()
                .filter(|entry| !before.contains(entry))
                .for_each(|entry| remove(entry));
        }
        match answer {
            Some(Ok(prepared)) => Ok(prepared),
            Some(Err(Refusal::Full(path))) => {
                Err(HarnessError::DiskFull { path, doing: "writing the rows of a workload" })
            }
            Some(Err(Refusal::Usage(why))) => Err(HarnessError::Plan(why)),
            Some(Err(Refusal::Failed(why))) => Err(HarnessError::Unstaged(why)),
            None if interrupt.is_set() => Err(HarnessError::Interrupted { result: None }),
            None => Err(HarnessError::Unstaged(format!(
                "the process that prepares the rows of {workload} ended, {ended}: it may have had too \
                 little memory"
            ))),
        }
    }
}

/// Returns the output of a worker until its end. `None` if an interrupt comes first, which ends the
/// worker.
fn listen(child: &mut Child, interrupt: &Interrupt) -> Option<Vec<u8>> {
    let mut stdout = child.stdout.take()?;
    let reading = std::thread::spawn(move || {
        let mut answer = Vec::new();
        stdout.read_to_end(&mut answer).map(|_| answer)
    });
    while !reading.is_finished() {
        if interrupt.is_set() {
            let _ = child.kill();
            return None;
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    reading.join().ok()?.ok()
}

fn entries(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

fn remove(path: &Path) {
    let _ = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
}
