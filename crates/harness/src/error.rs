//! Errors that stop a whole run. A failure in one cell is the status of that cell instead.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use embermark_model::StorageName;
use embermark_model::choice::UnknownName;
use embermark_model::result::ResultFile;

/// Result of this crate's functions.
pub type Result<T, E = HarnessError> = std::result::Result<T, E>;

/// Why a run did not take place or ended early.
#[derive(Debug, thiserror::Error)]
pub enum HarnessError {
    /// The plan names something that does not exist.
    #[error(transparent)]
    Name(#[from] UnknownName),
    /// The plan asks for something that makes no sense.
    #[error("{0}")]
    Plan(String),
    /// Something that the run needs failed: the system refused it, or another process.
    #[error("{0}")]
    Failed(String),
    /// The disk is full.
    #[error(
        "{path}: no space left on its disk while {doing}; free some, or name a folder on another \
         disk (--out for results, --dir for databases)", path = .path.display()
    )]
    DiskFull {
        /// The path that was written.
        path: PathBuf,
        /// Purpose of the write.
        doing: &'static str,
    },
    /// A journal with invalid content.
    #[error("{path}: line {line} is not a line of an embermark journal: {problem}", path = .path.display())]
    Journal {
        /// The file.
        path: PathBuf,
        /// Line number, counted from 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
    /// Trials cannot have their own disks: the reason, and what to do.
    #[error("a block device for a trial that counts bytes: {0}")]
    TrialDisk(String),
    /// The run was interrupted. Its processes have ended and its databases are removed.
    #[error("{}", interrupted(.result.as_deref()))]
    Interrupted {
        /// The result so far, which is also in the result file. `None` if no trial had begun.
        result: Option<Box<ResultFile>>,
    },
}

fn interrupted(result: Option<&ResultFile>) -> String {
    let Some(result) = result else { return "interrupted before a trial began".to_owned() };
    match result.cells.iter().map(|cell| cell.trials.len()).sum() {
        0 => "interrupted before the first trial ended".to_owned(),
        1 => "interrupted; the one trial that had ended is kept".to_owned(),
        n => format!("interrupted; the {n} trials that had ended are kept"),
    }
}

impl HarnessError {
    /// Whether the user must change the request (exit status 2) rather than fix the machine.
    pub const fn is_usage(&self) -> bool {
        matches!(self, Self::Name(_) | Self::Plan(_) | Self::TrialDisk(_))
    }

    /// Makes the error for a file or folder that cannot be used: why, and what to do.
    pub(crate) fn unusable(path: &Path, problem: impl Display) -> Self {
        Self::Plan(format!("{}: {problem}", path.display()))
    }

    /// Makes the error for a run that cannot be resumed: why, and what to do.
    pub(crate) fn resume(journal: &Path, problem: String) -> Self {
        Self::unusable(journal, format!("cannot resume this run: {problem}"))
    }

    /// Makes the error for a trial's storage that cannot be imitated, although it could when the run
    /// began: why, and what to do.
    pub fn storage(storage: StorageName, why: &str) -> Self {
        Self::Plan(format!("the storage {storage} cannot be imitated: {why}"))
    }

    /// Makes the error for a request that the system refused. `doing` is a verb and its object.
    pub(crate) fn system(doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Failed(format!("could not {doing}: {source}"))
    }

    /// Makes the error of a file operation. `doing` is a verb and its object.
    pub fn file(path: impl Into<PathBuf>, doing: &str, source: io::Error) -> Self {
        let path = path.into();
        if is_full(&source) {
            return Self::DiskFull { path, doing: "writing to it" };
        }
        Self::Failed(format!("{}: could not {doing}: {source}", path.display()))
    }
}

/// Whether a file operation failed for lack of space: the disk's, or the user's quota.
pub(crate) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

#[cfg(test)]
mod tests {
    use nix::errno::Errno;

    use super::*;

    #[test]
    fn a_full_disk_is_told_with_its_path_and_the_way_out() {
        for errno in [Errno::ENOSPC, Errno::EDQUOT] {
            let error = HarnessError::file("/out/journal", "write the journal", errno.into());
            let text = error.to_string();
            assert!(text.starts_with("/out/journal: no space left"), "{text}");
            assert!(text.contains("--out") && !error.is_usage());
        }
    }
}
