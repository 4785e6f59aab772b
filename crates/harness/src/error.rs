//! Errors that stop a whole run. A failure in one cell is the status of that cell instead.

use std::io;
use std::path::{Path, PathBuf};

use embermark_data::DataError;
use embermark_model::choice::UnknownName;
use embermark_model::result::ResultFile;
use embermark_model::{MemoryLimit, Scale, StorageName};
use embermark_workloads::WorkloadError;

/// Why a run did not take place or ended early.
#[derive(Debug, thiserror::Error)]
pub enum HarnessError {
    /// The plan names something that does not exist.
    #[error(transparent)]
    Name(#[from] UnknownName),
    /// The plan asks for something that makes no sense.
    #[error("{0}")]
    Plan(String),
    /// The output or data folder cannot be used.
    #[error("{path}: {problem}", path = .path.display())]
    Directory {
        /// The folder.
        path: PathBuf,
        /// What is wrong with it and what to do.
        problem: String,
    },
    /// The rows are not available.
    #[error("{workload} at scale {scale}: {source}")]
    Rows {
        /// The workload that needs them.
        workload: String,
        /// Number of rows.
        scale: Scale,
        /// What is wrong with them.
        source: Box<WorkloadError>,
    },
    /// The rows of a workload could not be prepared.
    #[error("{0}")]
    Unstaged(String),
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
    /// A file could not be read or written.
    #[error("{path}: could not {doing}: {source}", path = .path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What was being done: a verb and its object.
        doing: &'static str,
        /// Error of the system.
        source: io::Error,
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
    /// An interrupted run cannot be resumed.
    #[error("{path}: cannot resume this run: {problem}", path = .path.display())]
    Resume {
        /// The journal.
        path: PathBuf,
        /// Why, and what to do.
        problem: String,
    },
    /// A device's limits cannot be set on this machine.
    #[error("--device {device} cannot be emulated here: {why}")]
    Device {
        /// Name of the device.
        device: String,
        /// The reason, and what to do.
        why: String,
    },
    /// A trial's memory limit cannot be set, although it could when the run began.
    #[error("a memory limit of {limit} cannot be set: {why}")]
    MemoryLimit {
        /// The limit.
        limit: MemoryLimit,
        /// The reason.
        why: String,
    },
    /// A trial's storage cannot be imitated, although it could when the run began.
    #[error("the storage {storage} cannot be imitated: {why}")]
    Storage {
        /// The storage.
        storage: StorageName,
        /// The reason, and what to do.
        why: String,
    },
    /// The record of an external meter cannot be used.
    #[error("{path}: {why}", path = .path.display())]
    Meter {
        /// The file.
        path: PathBuf,
        /// The reason, and what to do.
        why: String,
    },
    /// Trials cannot have their own disks: the reason, and what to do.
    #[error("a block device for a trial that counts bytes: {0}")]
    TrialDisk(String),
    /// The worker program cannot be started at all.
    #[error("{program}: the worker process could not be started: {source}", program = .program.display())]
    Worker {
        /// The program.
        program: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The operating system refused something that a run needs.
    #[error("could not {doing}: {source}")]
    System {
        /// What was being done.
        doing: &'static str,
        /// Error of the system.
        source: io::Error,
    },
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
        match self {
            Self::Name(_)
            | Self::Plan(_)
            | Self::Directory { .. }
            | Self::Resume { .. }
            | Self::Device { .. }
            | Self::Storage { .. }
            | Self::Meter { .. }
            | Self::TrialDisk(_) => true,
            Self::Rows { source, .. } => {
                !matches!(**source, WorkloadError::Data(DataError::Unwritable { .. }))
            }
            _ => false,
        }
    }

    /// Makes the error for a folder that cannot be used: why, and what to do.
    pub(crate) fn directory(path: &Path, problem: impl Into<String>) -> Self {
        Self::Directory { path: path.to_owned(), problem: problem.into() }
    }

    /// Makes the error for a run that cannot be resumed: why, and what to do.
    pub(crate) fn resume(journal: &Path, problem: impl Into<String>) -> Self {
        Self::Resume { path: journal.to_owned(), problem: problem.into() }
    }

    /// Makes the error for a request that the system refused. `doing` is a verb and its object.
    pub(crate) fn system(doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { doing, source }
    }

    /// Makes the error of a file operation. `doing` is a verb and its object.
    pub(crate) fn file(path: impl Into<PathBuf>, doing: &'static str, source: io::Error) -> Self {
        let path = path.into();
        if is_full(&source) {
            return Self::DiskFull { path, doing: "writing to it" };
        }
        Self::File { path, doing, source }
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

    #[test]
    fn what_the_user_must_ask_otherwise_is_usage_and_what_the_machine_refuses_is_not() {
        let rows = |error| HarnessError::Rows {
            workload: "sensors".into(),
            scale: Scale::Full,
            source: Box::new(WorkloadError::Data(error)),
        };
        let path = PathBuf::from("/data.txt");
        assert!(rows(DataError::Missing(path.clone())).is_usage());
        let cause = io::Error::from(io::ErrorKind::PermissionDenied);
        assert!(!rows(DataError::Unwritable { path, cause }).is_usage());
        assert!(!HarnessError::Interrupted { result: None }.is_usage());
    }
}
