//! Stages the rows for the workers in files, once per workload and scale. A separate process reads a
//! user's files, so that reading them takes no memory here and a crash does not reach this process.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use embermark_data::DataError;
use embermark_model::Scale;
use embermark_model::plan::{DataSource, Dataset};
use embermark_workloads::{Workload, WorkloadError};
use serde::{Deserialize, Serialize};

use crate::error::{HarnessError, Result, is_full};
use crate::protocol::{Request, StageRequest};
use crate::worker_command::WorkerCommand;
use crate::{Catalog, Interrupt};

/// Interval of checks for an interrupt while rows are prepared.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

mod free_space;

/// Staged rows.
#[derive(Debug, Default)]
pub(crate) struct Stages {
    files: BTreeMap<(String, Scale), PathBuf>,
    /// Description of the rows by workload, for the largest scale.
    pub datasets: BTreeMap<String, Dataset>,
}

impl Stages {
    /// Checks that the rows are those of a journal's trials.
    pub fn check_unchanged(
        &self,
        before: &BTreeMap<String, Dataset>,
        journal: &Path,
    ) -> Result<()> {
        let differs = |(workload, rows): &(&String, &Dataset)| {
            self.datasets.get(*workload).is_some_and(|now| now != *rows)
        };
        let Some((workload, rows)) = before.iter().find(differs) else { return Ok(()) };
        let problem = format!(
            "the rows of {workload} are not those that it began with ({}, {} rows); put the data \
             back, or begin a new run",
            rows.name, rows.rows
        );
        Err(HarnessError::resume(journal, problem))
    }

    /// Adds the rows of a workload. The description of the last ones remains.
    pub fn insert(&mut self, workload: &str, prepared: Vec<Prepared>) {
        for (scale, file, dataset) in prepared {
            self.datasets.insert(workload.to_owned(), dataset);
            self.files.insert((workload.to_owned(), scale), file);
        }
    }

    /// Returns every scale of a workload, in ascending order, with its file.
    pub fn all(&self, workload: &str) -> Vec<(Scale, PathBuf)> {
        let staged = self.files.iter().filter(|((id, _), _)| id == workload);
        staged.map(|((_, scale), file)| (*scale, file.clone())).collect()
    }

    /// Returns the file of a workload's rows at a scale.
    pub fn file(&self, workload: &str, scale: Scale) -> Result<&Path> {
        let file = self.files.get(&(workload.to_owned(), scale)).map(PathBuf::as_path);
        file.ok_or_else(|| {
            HarnessError::Plan(format!("no rows of {workload} at {scale} were made"))
        })
    }
}

/// Writes the rows of a workload at each scale below `dir`, the largest last, in another thread.
/// Returns at once after an interrupt.
pub(crate) fn prepare_in_thread(
    workload: &'static dyn Workload,
    scales: &[Scale],
    data: &DataSource,
    seed: u64,
    dir: &Path,
    interrupt: &Interrupt,
) -> Result<Vec<Prepared>> {
    let (scales, data, dir) = (scales.to_vec(), data.clone(), dir.to_owned());
    unless_interrupted(interrupt, move || prepare(workload, &scales, &data, seed, &dir))
}

fn prepare(
    workload: &'static dyn Workload,
    scales: &[Scale],
    data: &DataSource,
    seed: u64,
    dir: &Path,
) -> Result<Vec<Prepared>> {
    let (id, mut scales) = (workload.id(), scales.to_vec());
    scales.sort_unstable();
    let Some(first) = scales.first() else { return Ok(Vec::new()) };
    let source = workload.source(data, seed).map_err(|e| failed(id, *first, e))?;
    free_space::check_space(&*source, id, &scales, dir)?;
    let stage = |scale: &Scale| {
        let file = dir.join(format!("{id}-{scale}.rows"));
        let dataset = source.stage(*scale, &file).map_err(|error| {
            // An incomplete file is useless and may fill the disk.
            let _ = std::fs::remove_file(&file);
            failed(id, *scale, error)
        })?;
        Ok((*scale, file, dataset))
    };
    scales.iter().map(stage).collect()
}

/// Runs `work` in another thread and returns its result. Returns at once after an interrupt. The
/// thread then ends with this process.
fn unless_interrupted<T: Send + 'static>(
    interrupt: &Interrupt,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let (done, answer) = channel();
    let started = std::thread::Builder::new().spawn(move || {
        // After an interrupt nothing receives it.
        let _ = done.send(work());
    });
    started.map_err(HarnessError::system("start a thread that prepares rows"))?;
    loop {
        match answer.recv_timeout(POLL_INTERVAL) {
            Ok(answer) => return answer,
            Err(RecvTimeoutError::Timeout) if interrupt.is_set() => {
                return Err(HarnessError::Interrupted { result: None });
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                let gone = std::io::Error::other("its thread ended");
                return Err(HarnessError::system("prepare rows")(gone));
            }
        }
    }
}

fn failed(workload: &str, scale: Scale, source: WorkloadError) -> HarnessError {
    let says = format!("{workload} at scale {scale}: {source}");
    match source {
        WorkloadError::Data(DataError::Unwritable { path, cause }) if is_full(&cause) => {
            HarnessError::DiskFull { path, doing: "writing the rows of a workload" }
        }
        WorkloadError::Data(DataError::Unwritable { .. }) => HarnessError::Failed(says),
        _ => HarnessError::Plan(says),
    }
}

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
    pub fn ask(self, worker: &WorkerCommand, interrupt: &Interrupt) -> Result<Vec<Prepared>> {
        let before = entries(&self.dir);
        let (workload, dir) = (self.workload.clone(), self.dir.clone());
        let request = Request::Stage(Box::new(self));
        let waits = (Duration::MAX, interrupt);
        let answer = worker.ask::<Result<Vec<Prepared>, Refusal>>(None, &request, waits);
        if !matches!(answer, Ok(Ok(Ok(_)))) {
            // Incomplete rows are useless and may fill the disk.
            entries(&dir)
                .iter()
                .filter(|entry| !before.contains(entry))
                .for_each(|entry| remove(entry));
        }
        match answer? {
            Ok(Ok(prepared)) => Ok(prepared),
            Ok(Err(Refusal::Full(path))) => {
                Err(HarnessError::DiskFull { path, doing: "writing the rows of a workload" })
            }
            Ok(Err(Refusal::Usage(why))) => Err(HarnessError::Plan(why)),
            Ok(Err(Refusal::Failed(why))) => Err(HarnessError::Failed(why)),
            Err(_) if interrupt.is_set() => Err(HarnessError::Interrupted { result: None }),
            Err(why) => Err(HarnessError::Failed(format!(
                "the process that prepares the rows of {workload} {why}: it may have had too little \
                 memory"
            ))),
        }
    }
}

fn entries(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

fn remove(path: &Path) {
    let _ = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupt_ends_the_preparing_of_rows_before_they_are_there() {
        let interrupt = Interrupt::default();
        let flag = interrupt.clone();
        let (_keep, never) = channel::<()>();
        let work = move || {
            flag.set();
            // Until the end of this test.
            let _ = never.recv();
            Ok(())
        };
        let ended = unless_interrupted(&interrupt, work);
        assert!(matches!(ended, Err(HarnessError::Interrupted { result: None })));
        assert_eq!(unless_interrupted(&Interrupt::default(), || Ok(7)).unwrap(), 7);
    }

    #[test]
    fn what_the_user_must_ask_otherwise_is_usage_and_what_the_machine_refuses_is_not() {
        let rows = |error| failed("sensors", Scale::Full, WorkloadError::Data(error));
        let path = PathBuf::from("/data.txt");
        assert!(rows(DataError::Missing(path.clone())).is_usage());
        let cause = std::io::Error::from(std::io::ErrorKind::PermissionDenied);
        assert!(!rows(DataError::Unwritable { path, cause }).is_usage());
        assert!(!HarnessError::Interrupted { result: None }.is_usage());
    }
}
