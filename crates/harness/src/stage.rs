//! Stages the rows for the workers in files, once per workload and scale.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use embermark_data::DataError;
use embermark_model::Scale;
use embermark_model::plan::{DataSource, Dataset};
use embermark_workloads::{Workload, WorkloadError};

use crate::Interrupt;
use crate::error::{HarnessError, is_full};
use crate::request::StageRequest;
use crate::worker_command::WorkerCommand;

/// Interval of checks for an interrupt while rows are prepared.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

mod free_space;
mod process;

use process::Prepared;

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
    ) -> Result<(), HarnessError> {
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

    /// Writes the rows of a workload at each scale below `dir`. Existing ones are kept.
    pub fn add(
        &mut self,
        workload: &'static dyn Workload,
        scales: &[Scale],
        data: &DataSource,
        seed: u64,
        dir: &Path,
        interrupt: &Interrupt,
    ) -> Result<(), HarnessError> {
        let id = workload.info().id;
        let scales = self.missing_scales(id, scales);
        let (data, dir) = (data.clone(), dir.to_owned());
        let write = move || prepare(workload, &scales, &data, seed, &dir);
        self.insert(id, unless_interrupted(interrupt, write)?);
        Ok(())
    }

    /// Does the same as [`add`](Self::add) in a separate process.
    pub fn add_in_process(
        &mut self,
        staging: StageRequest,
        worker: &WorkerCommand,
        interrupt: &Interrupt,
    ) -> Result<(), HarnessError> {
        let scales = self.missing_scales(&staging.workload, &staging.scales);
        let workload = staging.workload.clone();
        if !scales.is_empty() {
            let prepared = StageRequest { scales, ..staging }.ask(worker, interrupt)?;
            self.insert(&workload, prepared);
        }
        Ok(())
    }

    /// Returns the scales that are not staged yet. The largest comes last, so that its description
    /// of the rows remains.
    fn missing_scales(&self, workload: &str, scales: &[Scale]) -> Vec<Scale> {
        let mut scales = scales.to_vec();
        scales.sort_unstable();
        scales.retain(|scale| !self.files.contains_key(&(workload.to_owned(), *scale)));
        scales
    }

    fn insert(&mut self, workload: &str, prepared: Vec<Prepared>) {
        for (scale, file, dataset) in prepared {
            self.datasets.insert(workload.to_owned(), dataset);
            self.files.insert((workload.to_owned(), scale), file);
        }
    }

    /// Returns the largest staged scale of a workload that is at most `most`, and its file.
    pub fn largest(&self, workload: &str, most: Scale) -> Option<(Scale, PathBuf)> {
        let staged = self.files.iter().filter(|((id, scale), _)| id == workload && *scale <= most);
        staged.max_by_key(|((_, scale), _)| *scale).map(|((_, scale), file)| (*scale, file.clone()))
    }

    /// Returns every scale of a workload with its file.
    pub fn all(&self, workload: &str) -> Vec<(Scale, PathBuf)> {
        let staged = self.files.iter().filter(|((id, _), _)| id == workload);
        staged.map(|((_, scale), file)| (*scale, file.clone())).collect()
    }

    /// Returns the file of a workload's rows at a scale.
    pub fn file(&self, workload: &str, scale: Scale) -> Result<&Path, HarnessError> {
        let file = self.files.get(&(workload.to_owned(), scale)).map(PathBuf::as_path);
        file.ok_or_else(|| {
            HarnessError::Plan(format!("no rows of {workload} at {scale} were made"))
        })
    }
}

/// Writes the rows of a workload at each scale below `dir`.
fn prepare(
    workload: &'static dyn Workload,
    scales: &[Scale],
    data: &DataSource,
    seed: u64,
    dir: &Path,
) -> Result<Vec<Prepared>, HarnessError> {
    let id = workload.info().id;
    let Some(first) = scales.first() else { return Ok(Vec::new()) };
    let source = workload.source(data, seed).map_err(|e| failed(id, *first, e))?;
    free_space::check_space(&*source, id, scales, dir)?;
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
    work: impl FnOnce() -> Result<T, HarnessError> + Send + 'static,
) -> Result<T, HarnessError> {
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
    match source {
        WorkloadError::Data(DataError::Unwritable { path, cause }) if is_full(&cause) => {
            HarnessError::DiskFull { path, doing: "writing the rows of a workload" }
        }
        source => {
            let (workload, source) = (workload.to_owned(), Box::new(source));
            HarnessError::Rows { workload, scale, source }
        }
    }
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
}
