//! The folder a run writes to.
//!
//! ```text
//! OUT/journal.jsonl   a line per ended trial, as they end
//! OUT/result.json     the result, at the end, on one line
//! OUT/logs/           what a worker wrote to its standard error, if anything
//! OUT/rows/           the staged rows, while the run goes on
//! OUT/data/           the databases, while the run goes on, unless they live elsewhere
//! ```

use std::fs;
use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::error::is_full;
use crate::{HarnessError, keeper};

mod locked;
#[cfg(test)]
mod tests;

pub(crate) use locked::Locked;

/// Name of the journal in the folder of a run.
pub const JOURNAL: &str = "journal.jsonl";
/// Name of the result file in it.
pub const RESULT: &str = "result.json";

/// What a journal is called until its first line is written.
pub(crate) const DRAFT: &str = "jsonl.part";

/// The options that name the folders, for messages.
const OUT: &str = "--out";
const DIR: &str = "--dir";

const LOGS: &str = "logs";
const ROWS: &str = "rows";
const DATA: &str = "data";

/// How long processes of a run that was killed may take to leave its folders. The kernel ends them
/// with it, and a server takes a moment to die.
const LEAVING_TAKES: Duration = Duration::from_secs(10);

/// Time between two looks at whether they have.
const LEAVING_POLL: Duration = Duration::from_millis(20);

/// The folders of a run, absolute. Dropping it removes those that are only needed during it.
#[derive(Debug)]
pub(crate) struct OutDir {
    out: Locked,
    /// The folder that was named for the databases.
    pub named: Option<PathBuf>,
    /// Where databases live.
    pub data: PathBuf,
    /// Whether this run created `out`.
    fresh: bool,
    keep: bool,
}

impl Deref for OutDir {
    type Target = Locked;

    fn deref(&self) -> &Locked {
        &self.out
    }
}

impl OutDir {
    /// Prepares `out`, which must be absent or empty. Databases live below `data` if it is given,
    /// in a folder of this run's own, and in `out` otherwise. With `keep` they stay.
    ///
    /// # Errors
    /// When a folder holds something already, is none, or cannot be written.
    pub fn prepare(
        out: &Path,
        data: Option<&Path>,
        run_id: &str,
        keep: bool,
    ) -> Result<Self, HarnessError> {
        if let Some(path) = out.canonicalize().ok().filter(|path| path.is_dir()) {
            // A run that is at work there is no run that was cut off.
            drop(Locked::new(path)?);
        }
        let fresh = check_free(out)?;
        let named = data.map(|data| made(data, DIR)).transpose()?;
        let locked = Locked::new(made(out, OUT)?)?;
        // Another run may have begun, and even ended, before the lock.
        check_free(out)?;
        let this = Self::new(locked, named, run_id, fresh, keep);
        this.create()?;
        Ok(this)
    }

    /// Opens the folders of an interrupted run, and removes its rows, its databases, and what servers of it left in
    /// shared memory if even the process that removes that was killed.
    pub fn reopen(
        out: Locked,
        named: Option<PathBuf>,
        run_id: &str,
        keep: bool,
    ) -> Result<Self, HarnessError> {
        let this = Self::new(out, named, run_id, false, keep);
        // Memory is found by the databases' folders.
        let began = Instant::now();
        while keeper::remove_abandoned(&this.data) && began.elapsed() < LEAVING_TAKES {
            std::thread::sleep(LEAVING_POLL);
        }
        let rows = this.rows();
        let stale = [Some(&rows), (!keep).then_some(&this.data)];
        for folder in stale.into_iter().flatten() {
            remove_soon(folder)
                .map_err(|e| HarnessError::file(folder, "remove what the run left", e))?;
        }
        this.create()?;
        Ok(this)
    }

    fn new(out: Locked, named: Option<PathBuf>, run_id: &str, fresh: bool, keep: bool) -> Self {
        let data = match &named {
            Some(named) => named.join(format!("embermark-{run_id}")),
            None => out.path.join(DATA),
        };
        Self { out, named, data, fresh, keep }
    }

    /// Clears away what a complete run left that was killed before it had cleaned up: every trial's
    /// database is gone by then, or was to be kept.
    pub fn tidy(out: Locked, named: Option<PathBuf>, run_id: &str) {
        let left = Self::new(out, named, run_id, false, true);
        // Kept databases are not touched: empty folders only.
        let _ = fs::remove_dir(&left.data);
    }

    fn create(&self) -> Result<(), HarnessError> {
        let data = if self.named.is_some() { DIR } else { OUT };
        for (folder, option) in
            [(self.out.path.join(LOGS), OUT), (self.rows(), OUT), (self.data.clone(), data)]
        {
            fs::create_dir_all(&folder).map_err(|error| refused(&folder, option, error))?;
        }
        Ok(())
    }

    /// Whether the folder of the run is there: somebody may have removed it meanwhile.
    pub fn is_there(&self) -> bool {
        self.out.journal().exists()
    }

    /// Where rows are staged.
    pub fn rows(&self) -> PathBuf {
        self.out.path.join(ROWS)
    }

    /// A log's path, and as the result file names it.
    pub fn log(&self, name: &str) -> (PathBuf, String) {
        let relative = format!("{LOGS}/{name}.log");
        (self.out.path.join(&relative), relative)
    }

    /// Creates the empty directory of a trial's database.
    pub fn site(&self, name: &str) -> Result<PathBuf, HarnessError> {
        let site = self.data.join(name);
        // There may be what a run that was cut off has left of this trial.
        remove(&site)
            .and_then(|()| fs::create_dir(&site))
            .map_err(|error| HarnessError::file(&site, "create the database's directory", error))?;
        Ok(site)
    }

    /// Removes a trial's database, unless it is to be kept.
    pub fn remove_site(&self, site: &Path) -> Result<(), HarnessError> {
        if self.keep {
            return Ok(());
        }
        remove(site).map_err(|error| HarnessError::file(site, "remove the database", error))
    }
}

impl Drop for OutDir {
    fn drop(&mut self) {
        // What cannot be removed here stays where the user told us to write: nothing to add.
        let _ = remove(&self.rows());
        if !self.keep {
            let _ = remove(&self.data);
        }
        // Empty ones only.
        let _ = fs::remove_dir(self.out.path.join(LOGS));
        if self.fresh {
            let _ = fs::remove_dir(&self.out.path);
        }
    }
}

fn remove(dir: &Path) -> io::Result<()> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes a folder that processes which are about to end may still write to.
fn remove_soon(dir: &Path) -> io::Result<()> {
    let began = Instant::now();
    loop {
        match remove(dir) {
            Err(error)
                if error.kind() == io::ErrorKind::DirectoryNotEmpty
                    && began.elapsed() < LEAVING_TAKES =>
            {
                std::thread::sleep(LEAVING_POLL);
            }
            done => return done,
        }
    }
}

/// Creates a folder; its absolute path.
fn made(folder: &Path, option: &str) -> Result<PathBuf, HarnessError> {
    let made = fs::create_dir_all(folder).and_then(|()| folder.canonicalize());
    made.map_err(|error| refused(folder, option, error))
}

/// The folder named for databases, as a run records it.
pub(crate) fn named(folder: &Path) -> Result<PathBuf, HarnessError> {
    folder.canonicalize().map_err(|error| refused(folder, DIR, error))
}

/// Whether `out` is absent (true) or an empty folder (false).
fn check_free(out: &Path) -> Result<bool, HarnessError> {
    let refuse = |problem: &str| Err(HarnessError::directory(out, problem));
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
        .filter(|entry| !is_beginning(&entry.path()))
        .map(|entry| entry.file_name())
        .collect();
    let holds = |name| names.iter().any(|n| n == name);
    if holds(RESULT) {
        return refuse(
            "holds the result of another run; name another folder with --out, remove this one, or \
             go on with a run that was cut off by --resume",
        );
    }
    if holds(JOURNAL) {
        return refuse(
            "holds a run that was cut off; go on with it by --resume, name another folder with \
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

/// Whether this is what a run leaves that was killed before its journal was there.
fn is_beginning(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let empty = || fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
    ([LOGS, ROWS, DATA].contains(&name) && empty())
        || path == path.with_file_name(JOURNAL).with_extension(DRAFT)
}

/// A folder that cannot be used, and why.
fn refused(path: &Path, option: &str, error: io::Error) -> HarnessError {
    let problem = match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            format!("cannot be written ({error}); name a folder of yours with {option}")
        }
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
            format!("is not a folder, or lies below a file; name a folder with {option}")
        }
        _ if is_full(&error) => return HarnessError::file(path, "prepare the folder", error),
        _ => format!("cannot be made ({error}); name another folder with {option}"),
    };
    HarnessError::directory(path, problem)
}
