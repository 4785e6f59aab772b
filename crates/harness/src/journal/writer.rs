//! Writing a journal.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use embermark_model::CellId;
use embermark_model::result::{Drift, Trial};

use super::{EndedTrial, Head, Journal, Line, Prepared, read_whole};
use crate::HarnessError;
use crate::outdir::DRAFT;

/// A journal being written. Every line is on disk when its call returns.
#[derive(Debug)]
pub(crate) struct Writer {
    path: PathBuf,
    file: File,
    journal: Journal,
}

impl Writer {
    /// Begins a journal, whole with its first line or not at all.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn create(path: &Path, head: Head) -> Result<Self, HarnessError> {
        let failed = |error| HarnessError::file(path, "create the journal", error);
        let draft = path.with_extension(DRAFT);
        let file = File::create(&draft).map_err(failed)?;
        let journal = Journal::of(head);
        let mut writer = Self { path: path.to_owned(), file, journal };
        let head = serde_json::to_vec(&writer.journal.head);
        writer.line(head)?;
        fs::rename(&draft, path).map_err(failed)?;
        Ok(writer)
    }

    /// Opens a journal again, to go on after its last whole line.
    ///
    /// # Errors
    /// When it cannot be read or written, or is no journal.
    pub fn reopen(path: &Path) -> Result<Self, HarnessError> {
        let (journal, length) = read_whole(path)?;
        let open = || {
            let mut file = fs::OpenOptions::new().write(true).open(path)?;
            file.set_len(length)?;
            file.seek(SeekFrom::End(0))?;
            Ok(file)
        };
        let file = open().map_err(|e| HarnessError::file(path, "go on with the journal", e))?;
        Ok(Self { path: path.to_owned(), file, journal })
    }

    /// Adds what was made ready.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn prepared(&mut self, prepared: Prepared) -> Result<(), HarnessError> {
        self.line(serde_json::to_vec(&Line::Prepared { prepared: prepared.clone() }))?;
        self.journal.prepared = Some(prepared);
        Ok(())
    }

    /// Adds a warning, unless it stands there already.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn warn(&mut self, warning: String) -> Result<(), HarnessError> {
        if !self.journal.warnings.contains(&warning) {
            self.line(serde_json::to_vec(&Line::Warning { warning: warning.clone() }))?;
            self.journal.warnings.push(warning);
        }
        Ok(())
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

    /// Adds what a cell was counted to bring to storage.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn counted(&mut self, cell: CellId, trial: Trial) -> Result<(), HarnessError> {
        let counted = EndedTrial { cell, trial };
        self.line(serde_json::to_vec(&Line::Counted { counted: Box::new(counted.clone()) }))?;
        self.journal.counted.push(counted);
        Ok(())
    }

    /// Adds why bytes that reach storage are not counted.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn not_counted(&mut self, why: String) -> Result<(), HarnessError> {
        self.line(serde_json::to_vec(&Line::NotCounted { not_counted: why.clone() }))?;
        self.journal.not_counted = Some(why);
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

    /// Removes the journal of a run that could not even begin: there is nothing to go on with.
    pub fn discard(self) {
        // Should it stay, it tells of a run without trials, which is true.
        let _ = fs::remove_file(&self.path);
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

#[cfg(test)]
mod tests;
