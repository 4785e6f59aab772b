//! Writes a journal.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::ops::Deref;
use std::path::{Path, PathBuf};

use super::{Head, Journal, Line, read_whole};
use crate::outdir::DRAFT;
use crate::{HarnessError, Result};

/// A journal that is being written. Each call returns once its line is on disk, or fails.
#[derive(Debug)]
pub(crate) struct Writer {
    path: PathBuf,
    file: File,
    journal: Journal,
}

impl Deref for Writer {
    type Target = Journal;

    /// The journal as written so far.
    fn deref(&self) -> &Journal {
        &self.journal
    }
}

impl Writer {
    /// Begins a journal. It is created with its complete first line or not at all.
    pub fn create(path: &Path, head: Head) -> Result<Self> {
        let failed = |error| HarnessError::file(path, "create the journal", error);
        let draft = path.with_extension(DRAFT);
        let file = File::create(&draft).map_err(failed)?;
        let journal = Journal { head, ..Journal::default() };
        let mut writer = Self { path: path.to_owned(), file, journal };
        let head = serde_json::to_vec(&writer.journal.head);
        writer.write(head)?;
        fs::rename(&draft, path).map_err(failed)?;
        // A power cut must not undo the renaming. Some file systems cannot sync a folder.
        if let Some(Ok(folder)) = path.parent().map(File::open) {
            let _ = folder.sync_all();
        }
        Ok(writer)
    }

    /// Opens a journal again, to continue after its last complete line.
    pub fn reopen(path: &Path) -> Result<Self> {
        let (journal, length) = read_whole(path)?;
        let open = || {
            let mut file = fs::OpenOptions::new().write(true).open(path)?;
            file.set_len(length)?;
            file.seek(SeekFrom::End(0))?;
            Ok(file)
        };
        let file = open().map_err(|e| HarnessError::file(path, "continue the journal", e))?;
        Ok(Self { path: path.to_owned(), file, journal })
    }

    /// Adds a line.
    pub fn add(&mut self, line: Line) -> Result<()> {
        self.write(serde_json::to_vec(&line))?;
        self.journal.apply(line);
        Ok(())
    }

    /// Adds a warning, unless the journal has it.
    pub fn warn(&mut self, warning: String) -> Result<()> {
        match self.warnings.contains(&warning) {
            true => Ok(()),
            false => self.add(Line::Warning { warning }),
        }
    }

    /// Removes the journal of a run that could not begin, because there is nothing to resume.
    pub fn discard(self) {
        // A journal that cannot be removed describes a run without trials, which is correct.
        let _ = fs::remove_file(&self.path);
    }

    fn write(&mut self, json: serde_json::Result<Vec<u8>>) -> Result<()> {
        let written = json.map_err(Into::into).and_then(|mut line| {
            line.push(b'\n');
            self.file.write_all(&line)?;
            self.file.sync_data()
        });
        written.map_err(|error| HarnessError::file(&self.path, "write the journal", error))
    }
}

#[cfg(test)]
mod tests {
    use embermark_model::plan::Plan;

    use super::super::VERSION;
    use super::*;
    use crate::manifest;

    #[test]
    fn a_full_disk_is_noticed_at_the_line_that_did_not_fit() {
        let path = Path::new("/dev/full");
        let file = fs::OpenOptions::new().write(true).open(path).unwrap();
        let manifest = manifest::begin("id", Path::new("/"));
        let (databases, counts, explains, cells) = (None, false, false, vec![]);
        let plan = Plan::default();
        let head =
            Head { embermark_journal: VERSION, manifest, plan, databases, counts, explains, cells };
        let journal = Journal { head, ..Journal::default() };
        let mut writer = Writer { path: path.to_owned(), file, journal };
        let error = writer.add(Line::End { finished: "now".to_owned() }).unwrap_err();
        assert!(matches!(error, HarnessError::DiskFull { .. }), "{error}");
        assert_eq!(writer.finished, None);
    }
}
