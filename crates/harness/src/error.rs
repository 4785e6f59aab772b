//! What stops a run as a whole. What goes wrong in one cell is that cell's status instead.

use std::io;
use std::path::{Path, PathBuf};

use embermark_data::DataError;
use embermark_model::choice::UnknownName;
use embermark_model::result::ResultFile;
use embermark_model::{MemoryLimit, Scale, StorageName};
use embermark_workloads::WorkloadError;

/// Why a run did not take place, or ended early.
#[derive(Debug, thiserror::Error)]
pub enum HarnessError {
    /// The plan names something that does not exist.
    #[error(transparent)]
    Name(#[from] UnknownName),
    /// The plan asks for something that makes no sense.
    #[error("{0}")]
    Plan(String),
    /// The output or data directory cannot be used as it is.
    #[error("{path}: {problem}", path = .path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// What is wrong with it and what to do.
        problem: String,
    },
    /// The rows cannot be had.
    #[error("{workload} at scale {scale}: {source}")]
    Rows {
        /// The workload that wanted them.
        workload: String,
        /// How many.
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
        /// What was written.
        path: PathBuf,
        /// What for.
        doing: &'static str,
    },
    /// A file could not be read or written.
    #[error("{path}: could not {doing}: {source}", path = .path.display())]
    File {
        /// The file or directory.
        path: PathBuf,
        /// What was being done: a verb and its object.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// A journal whose content is not one.
    #[error("{path}: line {line} is not a line of an embermark journal: {problem}", path = .path.display())]
    Journal {
        /// The file.
        path: PathBuf,
        /// Counts from 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
    /// A run that was cut off cannot be gone on with.
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
        /// Its name.
        device: String,
        /// Why, and what to do.
        why: String,
    },
    /// A trial's limit of memory cannot be set, though it could when the run began.
    #[error("a limit of {limit} of memory cannot be set: {why}")]
    MemoryLimit {
        /// The limit.
        limit: MemoryLimit,
        /// Why.
        why: String,
    },
    /// A trial's storage cannot be imitated, though it could when the run began.
    #[error("the storage {storage} cannot be imitated: {why}")]
    Storage {
        /// The storage.
        storage: StorageName,
        /// Why, and what to do.
        why: String,
    },
    /// The record of an external meter cannot be used.
    #[error("{path}: {why}", path = .path.display())]
    Meter {
        /// The file.
        path: PathBuf,
        /// Why, and what to do.
        why: String,
    },
    /// Trials cannot have disks of their own: why, and what to do.
    #[error("a block device for a trial that counts bytes: {0}")]
    Isolation(String),
    /// The worker program cannot be started at all.
    #[error("{program}: the worker process could not be started: {source}", program = .program.display())]
    Worker {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The operating system refused something a run needs.
    #[error("could not {doing}: {source}")]
    System {
        /// What was being done.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The run was interrupted; no process or database of it is left.
    #[error("{}", interrupted(.result.as_deref()))]
    Interrupted {
        /// What was measured up to then, also written to the result file; absent when no trial
        /// had begun.
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
    /// Whether the user must ask for something else (exit status 2), rather than mend the machine.
    pub const fn is_usage(&self) -> bool {
        match self {
            Self::Name(_)
            | Self::Plan(_)
            | Self::Directory { .. }
            | Self::Resume { .. }
            | Self::Device { .. }
            | Self::Storage { .. }
            | Self::Meter { .. }
            | Self::Isolation(_) => true,
            Self::Rows { source, .. } => {
                !matches!(**source, WorkloadError::Data(DataError::Unwritable { .. }))
            }
            _ => false,
        }
    }

    /// A folder that cannot be used as it is: why, and what to do.
    pub(crate) fn directory(path: &Path, problem: impl Into<String>) -> Self {
        Self::Directory { path: path.to_owned(), problem: problem.into() }
    }

    /// A run that cannot be gone on with: why, and what to do.
    pub(crate) fn resume(journal: &Path, problem: impl Into<String>) -> Self {
        Self::Resume { path: journal.to_owned(), problem: problem.into() }
    }

    /// What the system refused when it was asked for something: `doing` is a verb and its object.
    pub(crate) fn system(doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { doing, source }
    }

    /// The error of a file operation: `doing` is a verb and its object.
    pub(crate) fn file(path: impl Into<PathBuf>, doing: &'static str, source: io::Error) -> Self {
        let path = path.into();
        if is_full(&source) {
            return Self::DiskFull { path, doing: "writing to it" };
        }
        Self::File { path, doing, source }
    }
}

/// Whether a file operation failed for want of space: the disk's, or the user's quota.
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
