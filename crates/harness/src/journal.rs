//! The journal: what a run was asked, and every trial as it ended, a line of JSON each. A run that
//! is cut off loses at most the trial that was under way.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use embermark_model::plan::Plan;
use embermark_model::result::{Cell, Drift, Manifest, ResultFile, SCHEMA, Trial};
use embermark_model::{CellId, Status};
use serde::{Deserialize, Serialize};

use crate::HarnessError;
use crate::cells::PlannedCell;

/// Version of the journal's format.
const VERSION: u32 = 1;

/// A journal as it was read.
#[derive(Clone, Debug)]
pub struct Journal {
    /// The run.
    pub head: Head,
    /// Trials that ended, in the order they ran.
    pub trials: Vec<EndedTrial>,
    /// The first trial made again, when the run came to that.
    pub drift: Option<Drift>,
    /// When the run ended, RFC 3339, UTC; absent when it was cut off.
    pub finished: Option<String>,
}

/// The first line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Head {
    /// Version of the format; its presence says what the file is.
    pub embermark_journal: u32,
    /// What it was measured with and on.
    pub manifest: Manifest,
    /// What was asked for.
    pub plan: Plan,
    /// Every cell, in plan order.
    pub cells: Vec<PlannedCell>,
}

/// The line of a trial.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EndedTrial {
    /// Its cell.
    pub cell: CellId,
    /// How it went.
    pub trial: Trial,
}

/// Any line after the first.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Line {
    Trial(Box<EndedTrial>),
    Drift { drift: Box<Drift> },
    End { finished: String },
}

/// A journal being written. Every line is on disk when its call returns.
#[derive(Debug)]
pub(crate) struct Writer {
    path: PathBuf,
    file: File,
    journal: Journal,
}

impl Writer {
    /// Begins a journal; the file must not exist.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn create(
        path: &Path,
        manifest: Manifest,
        plan: Plan,
        cells: Vec<PlannedCell>,
    ) -> Result<Self, HarnessError> {
        let file = File::create_new(path)
            .map_err(|error| HarnessError::file(path, "create the journal", error))?;
        let head = Head { embermark_journal: VERSION, manifest, plan, cells };
        let journal = Journal { head, trials: Vec::new(), drift: None, finished: None };
        let mut writer = Self { path: path.to_owned(), file, journal };
        let head = serde_json::to_vec(&writer.journal.head);
        writer.line(head)?;
        Ok(writer)
    }

    /// Adds a trial that ended.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn trial(&mut self, cell: CellId, trial: Trial) -> Result<(), HarnessError> {
        let ended = EndedTrial { cell, trial };
        self.line(serde_json::to_vec(&ended))?;
        self.journal.trials.push(ended);
        Ok(())
    }

    /// Adds the first trial made again.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn drift(&mut self, drift: Drift) -> Result<(), HarnessError> {
        self.line(serde_json::to_vec(&Line::Drift { drift: Box::new(drift.clone()) }))?;
        self.journal.drift = Some(drift);
        Ok(())
    }

    /// Marks the run as complete.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(&mut self, finished: String) -> Result<(), HarnessError> {
        self.line(serde_json::to_vec(&Line::End { finished: finished.clone() }))?;
        self.journal.finished = Some(finished);
        Ok(())
    }

    /// The journal as it has been written up to now.
    pub const fn journal(&self) -> &Journal {
        &self.journal
    }

    fn line(&mut self, json: serde_json::Result<Vec<u8>>) -> Result<(), HarnessError> {
        let written = json.map_err(Into::into).and_then(|mut line| {
            line.push(b'\n');
            self.file.write_all(&line)?;
            self.file.sync_data()
        });
        written.map_err(|error| HarnessError::file(&self.path, "write the journal", error))
    }
}

/// Reads a journal. A last line that was cut off is left out.
///
/// # Errors
/// When the file cannot be read, or is no journal.
pub fn read(path: &Path) -> Result<Journal, HarnessError> {
    let text = fs::read(path).map_err(|e| HarnessError::file(path, "read the journal", e))?;
    let wrong = |line: usize, problem: String| HarnessError::Journal {
        path: path.to_owned(),
        line: line + 1,
        problem,
    };
    // What follows the last line's end is empty, or a line that was cut off.
    let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let mut lines = text[..whole].split_inclusive(|byte| *byte == b'\n').enumerate();
    let Some((_, first)) = lines.next() else {
        return Err(wrong(0, "it is cut off".to_owned()));
    };
    let head: Head = serde_json::from_slice(first).map_err(|e| wrong(0, e.to_string()))?;
    if head.embermark_journal > VERSION {
        let newer = format!("it is of version {}, newer than {VERSION}", head.embermark_journal);
        return Err(wrong(0, newer));
    }
    let mut journal = Journal { head, trials: Vec::new(), drift: None, finished: None };
    for (number, line) in lines {
        match serde_json::from_slice(line) {
            Ok(Line::Trial(ended)) => journal.trials.push(*ended),
            Ok(Line::Drift { drift }) => journal.drift = Some(*drift),
            Ok(Line::End { finished }) => journal.finished = Some(finished),
            Err(error) => return Err(wrong(number, error.to_string())),
        }
    }
    Ok(journal)
}

/// Makes the result of a journal, complete or cut off: every cell with the trials that ended.
pub fn assemble(journal: &Journal) -> ResultFile {
    let Journal { head, trials, drift, finished } = journal;
    let manifest = head.manifest.clone();
    let cells = head.cells.iter().map(|planned| {
        let own = trials.iter().filter(|ended| ended.cell == planned.id);
        cell(planned, own.map(|ended| ended.trial.clone()).collect())
    });
    ResultFile {
        schema: SCHEMA,
        manifest: Manifest { finished: finished.clone(), drift: drift.clone(), ..manifest },
        plan: head.plan.clone(),
        cells: cells.collect(),
    }
}

fn cell(planned: &PlannedCell, trials: Vec<Trial>) -> Cell {
    let worst = trials.iter().map(|trial| trial.status).max();
    let (status, reason) = match (&planned.skip, worst) {
        (Some(skip), _) => (skip.status, Some(skip.reason.clone())),
        (None, Some(worst)) => {
            let first = trials.iter().find(|trial| trial.status == worst);
            (worst, first.and_then(|trial| trial.reason.clone()))
        }
        (None, None) => {
            (Status::Failed, Some("not run: the run was cut off before its turn".to_owned()))
        }
    };
    let PlannedCell { id, keeps, reference, unpublishable, .. } = planned.clone();
    Cell { id, status, reason, keeps, reference, unpublishable, trials }
}

/// Writes a result file whole or not at all.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn write_result(path: &Path, result: &ResultFile) -> Result<(), HarnessError> {
    let draft = path.with_extension("json.part");
    let write = || {
        let mut json = serde_json::to_vec_pretty(result)?;
        json.push(b'\n');
        let mut file = File::create(&draft)?;
        file.write_all(&json)?;
        file.sync_all()?;
        fs::rename(&draft, path)
    };
    write().map_err(|error| {
        // Its absence or presence changes nothing about what went wrong.
        let _ = fs::remove_file(&draft);
        HarnessError::file(path, "write the result", error)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use embermark_model::plan::{DataSource, Rate};

    use super::*;
    use crate::manifest;

    #[test]
    fn a_full_disk_is_noticed_at_the_line_that_did_not_fit() {
        let path = Path::new("/dev/full");
        let file = fs::OpenOptions::new().write(true).open(path).unwrap();
        let plan = Plan {
            workloads: vec![],
            engines: vec![],
            scales: vec![],
            durabilities: vec![],
            variants: vec![],
            phases: None,
            data: DataSource::Synthetic,
            runs: 1,
            discard: 0,
            trials: 1,
            cap_ms: None,
            timeout_ms: 1,
            seed: 1,
            memory_bytes: 1,
            urls: BTreeMap::new(),
            as_published: false,
            window_ms: None,
            warm_up_ms: None,
            rate: Rate::default(),
            bound_ms: 100,
            overview: false,
            own_trials: false,
            accepted_licences: Vec::new(),
        };
        let manifest = manifest::begin("id", Path::new("/"), 0);
        let head = Head { embermark_journal: VERSION, manifest, plan, cells: vec![] };
        let journal = Journal { head, trials: vec![], drift: None, finished: None };
        let mut writer = Writer { path: path.to_owned(), file, journal };
        let error = writer.finish("now".to_owned()).unwrap_err();
        assert!(matches!(error, HarnessError::DiskFull { .. }), "{error}");
        assert_eq!(writer.journal().finished, None);
    }
}
