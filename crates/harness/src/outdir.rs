//! The folder a run writes to.
//!
//! ```text
//! OUT/journal.jsonl   one line per finished trial
//! OUT/result.json     the result, at the end, on one line
//! OUT/logs/           what a worker wrote to its standard error, if anything
//! OUT/rows/           the staged rows, during the run
//! OUT/data/           the databases, during the run, unless --dir names another folder
//! ```

use std::fs;
use std::io;
use std::ops::Deref;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::unistd::syncfs;
use tempfile::TempDir;

use crate::error::is_full;
use crate::system::retry;
use crate::{HarnessError, Result, server_cleanup};

mod locked;
#[cfg(test)]
mod tests;

pub(crate) use locked::LockedFolder;

/// Name of the journal in the folder of a run.
pub const JOURNAL: &str = "journal.jsonl";
/// Name of the result file in it.
pub const RESULT: &str = "result.json";

/// Extension of a journal until its first line is written.
pub(crate) const DRAFT: &str = "jsonl.part";

/// The options that name the folders, for messages.
const OUT: &str = "--out";
const DIR: &str = "--dir";

const LOGS: &str = "logs";
const ROWS: &str = "rows";
const DATA: &str = "data";

/// Time that processes of a killed run may take to leave its folders. The kernel ends them together
/// with the run, but a server takes a moment.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(10);

/// Interval of checks whether the processes have left.
const LEAVING_POLL: Duration = Duration::from_millis(20);

/// The absolute folders of a run. Dropping it removes those that are only needed during the run.
#[derive(Debug)]
pub(crate) struct OutDir {
    out: LockedFolder,
    /// The folder that the user named for the databases.
    pub named: Option<PathBuf>,
    /// The folder of the databases.
    pub data: PathBuf,
    /// Whether this run created `out`.
    fresh: bool,
    keep: bool,
}

impl Deref for OutDir {
    type Target = LockedFolder;

    fn deref(&self) -> &LockedFolder {
        &self.out
    }
}

impl OutDir {
    /// Prepares `out`, which must be absent or empty. Databases go into a folder of this run below
    /// `data` if it is given, and into `out` otherwise. With `keep` they stay.
    ///
    /// # Errors
    /// If a folder is not empty, not a folder, or not writable.
    pub fn prepare(out: &Path, data: Option<&Path>, run_id: &str, keep: bool) -> Result<Self> {
        if let Some(path) = out.canonicalize().ok().filter(|path| path.is_dir()) {
            // Fails if a run is active there, rather than reporting an interrupted run.
            drop(LockedFolder::new(path)?);
        }
        let fresh = check_empty(out)?;
        let named = data.map(|data| create_folder(data, DIR)).transpose()?;
        let locked = LockedFolder::new(create_folder(out, OUT)?)?;
        // Another run may have begun, and even ended, before this one had the lock.
        check_empty(out)?;
        let this = Self::new(locked, named, run_id, fresh, keep);
        this.create()?;
        Ok(this)
    }

    /// Opens the folders of an interrupted run. Removes its rows, its databases, and what its
    /// servers left in shared memory, in case the process that removes it was also killed.
    pub fn reopen(
        out: LockedFolder,
        named: Option<PathBuf>,
        run_id: &str,
        keep: bool,
    ) -> Result<Self> {
        let this = Self::new(out, named, run_id, false, keep);
        // The databases' folders identify the memory.
        let began = Instant::now();
        while server_cleanup::remove_abandoned(&this.data) && began.elapsed() < LEAVE_TIMEOUT {
            std::thread::sleep(LEAVING_POLL);
        }
        let rows = this.rows();
        let stale = [Some(&rows), (!keep).then_some(&this.data)];
        for folder in stale.into_iter().flatten() {
            // Ending processes may still write to it.
            let is_used = |error: &io::Error| error.kind() == io::ErrorKind::DirectoryNotEmpty;
            retry(LEAVE_TIMEOUT, is_used, || remove_folder(folder))
                .map_err(|e| HarnessError::file(folder, "remove what the run left", e))?;
        }
        this.create()?;
        Ok(this)
    }

    fn new(
        out: LockedFolder,
        named: Option<PathBuf>,
        run_id: &str,
        fresh: bool,
        keep: bool,
    ) -> Self {
        let data = match &named {
            Some(named) => named.join(format!("embermark-{run_id}")),
            None => out.path.join(DATA),
        };
        Self { out, named, data, fresh, keep }
    }

    /// Removes what a complete run left behind when it was killed before cleaning up. Its databases
    /// are already removed, or kept on purpose.
    pub fn tidy(out: LockedFolder, named: Option<PathBuf>, run_id: &str) {
        let left = Self::new(out, named, run_id, false, true);
        // Removes only an empty folder, so that kept databases stay.
        let _ = fs::remove_dir(&left.data);
    }

    fn create(&self) -> Result<()> {
        let data = if self.named.is_some() { DIR } else { OUT };
        for (folder, option) in
            [(self.out.path.join(LOGS), OUT), (self.rows(), OUT), (self.data.clone(), data)]
        {
            fs::create_dir_all(&folder).map_err(|error| refused(&folder, option, error))?;
        }
        Ok(())
    }

    /// Whether the folder of the run still exists.
    pub fn exists(&self) -> bool {
        self.out.journal().exists()
    }

    /// The folder of staged rows.
    pub fn rows(&self) -> PathBuf {
        self.out.path.join(ROWS)
    }

    /// Returns a log's path, and the path that the result file names.
    pub fn log(&self, name: &str) -> (PathBuf, String) {
        let relative = format!("{LOGS}/{name}.log");
        (self.out.path.join(&relative), relative)
    }

    /// Creates the empty folder of a trial's database.
    pub fn site(&self, name: &str) -> Result<PathBuf> {
        let site = self.data.join(name);
        // An interrupted run may have left a part of this trial.
        remove_folder(&site)
            .and_then(|()| fs::create_dir(&site))
            .map_err(|error| HarnessError::file(&site, "create the database's folder", error))?;
        Ok(site)
    }

    /// Removes a trial's database. One that is kept is written to the disk now: otherwise the
    /// system would write it during the next trial.
    pub fn remove_site(&self, site: &Path) -> Result<()> {
        if self.keep {
            // If this fails, the system writes it later.
            let _ = fs::File::open(site).map(syncfs);
            return Ok(());
        }
        remove_folder(site).map_err(|error| HarnessError::file(site, "remove the database", error))
    }
}

impl Drop for OutDir {
    fn drop(&mut self) {
        // What cannot be removed stays in the user's folder.
        let _ = remove_folder(&self.rows());
        if !self.keep {
            let _ = remove_folder(&self.data);
        }
        // Only if empty.
        let _ = fs::remove_dir(self.out.path.join(LOGS));
        if self.fresh {
            let _ = fs::remove_dir(&self.out.path);
        }
    }
}

/// Makes a temporary folder in `dir`. A private server in it may run as another user.
pub(crate) fn readable_folder(dir: &Path, prefix: &str) -> Result<TempDir> {
    tempfile::Builder::new()
        .prefix(prefix)
        .permissions(fs::Permissions::from_mode(0o755))
        .tempdir_in(dir)
        .map_err(|error| HarnessError::file(dir, "make a folder in it", error))
}

/// Removes a folder if it exists.
///
/// # Errors
/// If it stays.
pub fn remove_folder(dir: &Path) -> io::Result<()> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Creates a folder and returns its absolute path.
fn create_folder(folder: &Path, option: &str) -> Result<PathBuf> {
    let failed = |error| refused(folder, option, error);
    check_text(&std::path::absolute(folder).map_err(failed)?, option)?;
    let made = fs::create_dir_all(folder).and_then(|()| folder.canonicalize());
    let path = made.map_err(failed)?;
    check_text(&path, option)?;
    Ok(path)
}

/// Checks that a folder's path is text, because the journal and the workers' jobs contain it.
fn check_text(folder: &Path, option: &str) -> Result<()> {
    match folder.to_str() {
        Some(_) => Ok(()),
        None => {
            let problem =
                format!("its path is not UTF-8; rename it, or name another with {option}");
            Err(HarnessError::unusable(folder, problem))
        }
    }
}

/// Returns the absolute path of the folder for databases, as a run records it.
pub(crate) fn absolute(folder: &Path) -> Result<PathBuf> {
    folder.canonicalize().map_err(|error| refused(folder, DIR, error))
}

/// Checks that `out` is absent (returns true) or an empty folder (returns false).
fn check_empty(out: &Path) -> Result<bool> {
    let refuse = |problem: &str| Err(HarnessError::unusable(out, problem));
    let entries = match fs::read_dir(out) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return refuse("is not a folder; name a folder with --out");
        }
        Err(error) => return Err(refused(out, OUT, error)),
    };
    let names: Vec<_> = entries
        .flatten()
        .filter(|entry| !is_leftover(&entry.path()))
        .map(|entry| entry.file_name())
        .collect();
    let holds = |name| names.iter().any(|n| n == name);
    if holds(RESULT) {
        return refuse(
            "holds the result of another run; name another folder with --out, remove this one, or continue an interrupted run with --resume",
        );
    }
    if holds(JOURNAL) {
        return refuse(
            "holds an interrupted run; continue it with --resume, name another folder with \
             --out, or remove this one",
        );
    }
    match names.first() {
        None => Ok(false),
        Some(name) => refuse(&format!(
            "holds other files ({}); name a new or empty folder with --out",
            name.to_string_lossy()
        )),
    }
}

/// Whether a path is a leftover of a run that was killed before it had a journal.
fn is_leftover(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let empty = || fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
    ([LOGS, ROWS, DATA].contains(&name) && empty())
        || path == path.with_file_name(JOURNAL).with_extension(DRAFT)
}

/// Makes the error for an unusable folder.
fn refused(path: &Path, option: &str, error: io::Error) -> HarnessError {
    let problem = match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            format!("cannot be written ({error}); name a folder of yours with {option}")
        }
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
            format!("is not a folder, or is below a file; name a folder with {option}")
        }
        _ if is_full(&error) => return HarnessError::file(path, "prepare the folder", error),
        _ => format!("cannot be created ({error}); name another folder with {option}"),
    };
    HarnessError::unusable(path, problem)
}
