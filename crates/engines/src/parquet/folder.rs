//! The folder of a database: a folder per table, with a file for each commit or for several merged
//! ones.
//!
//! A file is written under a name that nothing reads, and renamed once it is complete. Its own name
//! has the numbers of its commits: `0000000007-0000000012.parquet` replaced six files. Files whose
//! commits are also in another file were left by an interrupted merge. They are removed when the
//! folder is opened.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::ID;
use crate::{EngineError, Result};

/// Name of a file until it is complete.
const UNFINISHED: &str = "new.tmp";
/// Suffix of folders that are not tables, or no longer.
const LEFT: &str = ".tmp";

/// A complete file, by its first and last commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub first: u64,
    pub last: u64,
}

impl Part {
    fn name(self) -> String {
        format!("{:010}-{:010}.parquet", self.first, self.last)
    }

    fn parse(name: &str) -> Option<Self> {
        let (first, last) = name.strip_suffix(".parquet")?.split_once('-')?;
        Some(Self { first: first.parse().ok()?, last: last.parse().ok()? })
    }

    pub const fn is_commit(self) -> bool {
        self.first == self.last
    }

    /// Returns whether it has every commit of another file.
    pub const fn holds(self, other: Self) -> bool {
        self.first <= other.first && other.last <= self.last
    }
}

/// The folder, and whether its entries must survive a power cut.
pub(super) struct Folder {
    pub dir: PathBuf,
    pub syncs: bool,
}

fn failed<'a>(doing: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> EngineError + 'a {
    move |error| EngineError::file(ID, doing, path, error)
}

/// Returns the names in a folder, sorted.
fn names(folder: &Path) -> Result<Vec<String>> {
    let name = |entry: io::Result<fs::DirEntry>| entry.map(|entry| entry.file_name());
    let names: io::Result<Vec<_>> = fs::read_dir(folder).and_then(|all| all.map(name).collect());
    let names = names.map_err(failed("read", folder))?;
    let mut names: Vec<String> = names.iter().map(|name| name.to_string_lossy().into()).collect();
    names.sort();
    Ok(names)
}

impl Folder {
    /// Returns an empty folder next to the tables, for what is created at each opening.
    pub fn scratch(&self) -> Result<PathBuf> {
        let path = self.dir.join(format!("duckdb{LEFT}"));
        self.remove(&path)?;
        fs::create_dir(&path).map_err(failed("make", &path)).map(|()| path)
    }

    /// Returns its tables, each with its files in the order of commits. Removes what was
    /// interrupted.
    pub fn tables(&self) -> Result<Vec<(String, Vec<Part>)>> {
        let mut tables = Vec::new();
        for table in names(&self.dir)?.into_iter().filter(|name| !name.starts_with("duckdb.")) {
            let folder = self.dir.join(&table);
            let all = names(&folder)?;
            let all: Vec<Part> = all.iter().filter_map(|name| Part::parse(name)).collect();
            if all.is_empty() || table.ends_with(LEFT) {
                self.remove(&folder)?;
                continue;
            }
            let is_merged = |part: &Part| all.iter().filter(|other| other.holds(*part)).count() > 1;
            let (merged, parts): (Vec<Part>, Vec<Part>) =
                all.iter().partition(|part| is_merged(part));
            merged.into_iter().try_for_each(|part| self.remove_part(&table, part))?;
            tables.push((table, parts));
        }
        Ok(tables)
    }

    /// Creates the folder of a table, which exists once a file is in it.
    pub fn make(&self, table: &str) -> Result<()> {
        let folder = self.dir.join(table);
        fs::create_dir(&folder).map_err(failed("make", &folder))?;
        self.sync(&self.dir)
    }

    pub fn remove_table(&self, table: &str) -> Result<()> {
        let left = self.dir.join(format!("{table}{LEFT}"));
        self.rename(&self.dir.join(table), &left)?;
        self.remove(&left)
    }

    /// Returns the pattern of a table's files.
    pub fn all(&self, table: &str) -> PathBuf {
        self.dir.join(table).join("*.parquet")
    }

    pub fn file(&self, table: &str, part: Part) -> PathBuf {
        self.dir.join(table).join(part.name())
    }

    /// Returns where the next file of a table is written.
    pub fn temporary_path(&self, table: &str) -> PathBuf {
        self.dir.join(table).join(UNFINISHED)
    }

    /// Renames the written file. Its rows are durable from then on.
    pub fn finish(&self, table: &str, part: Part) -> Result<()> {
        let file = self.temporary_path(table);
        self.sync(&file)?;
        self.rename(&file, &self.file(table, part))
    }

    /// Removes a file whose commits are in another one.
    pub fn remove_part(&self, table: &str, part: Part) -> Result<()> {
        let file = self.file(table, part);
        fs::remove_file(&file).map_err(failed("remove", &file))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        fs::rename(from, to).map_err(failed("rename", from))?;
        self.sync(to.parent().unwrap_or(to))
    }

    fn sync(&self, path: &Path) -> Result<()> {
        if !self.syncs {
            return Ok(());
        }
        File::open(path).and_then(|file| file.sync_all()).map_err(failed("sync", path))
    }

    /// Removes a folder, if it exists.
    fn remove(&self, path: &Path) -> Result<()> {
        match fs::remove_dir_all(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(failed("remove", path)(error)),
            _ => Ok(()),
        }
    }
}
