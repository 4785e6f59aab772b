//! The folder of a database: a folder for each table, with a file for each commit or for several that were
//! merged.
//!
//! A file is written under a name that nothing reads, and renamed when it is complete. Its own name says
//! which commits it holds: `0000000007-0000000012.parquet` took the place of six files. Files whose commits
//! another one holds too are what a merge left that was cut off. They are removed when the folder is opened.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::ID;
use crate::{EngineError, Result};

/// What a file is called until it is complete.
const UNFINISHED: &str = "new.tmp";
/// How the name of a folder ends that is no table, or none any more.
const LEFT: &str = ".tmp";

/// A complete file, by the first and the last commit in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub first: u64,
    pub last: u64,
}

impl Part {
    fn name(self) -> String {
        format!("{:010}-{:010}.parquet", self.first, self.last)
    }

    fn of(name: &str) -> Option<Self> {
        let (first, last) = name.strip_suffix(".parquet")?.split_once('-')?;
        Some(Self { first: first.parse().ok()?, last: last.parse().ok()? })
    }

    /// Whether it holds one commit.
    pub const fn is_commit(self) -> bool {
        self.first == self.last
    }

    /// Whether it holds every commit of another one.
    pub const fn holds(self, other: Self) -> bool {
        self.first <= other.first && other.last <= self.last
    }
}

/// The folder, and whether what is said to be in it survives a power cut.
pub(super) struct Folder {
    pub dir: PathBuf,
    pub syncs: bool,
}

fn failed<'a>(doing: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> EngineError + 'a {
    move |error| EngineError::file(ID, doing, path, error)
}

/// The names in a folder, sorted.
fn names(folder: &Path) -> Result<Vec<String>> {
    let name = |entry: io::Result<fs::DirEntry>| entry.map(|entry| entry.file_name());
    let names: io::Result<Vec<_>> = fs::read_dir(folder).and_then(|all| all.map(name).collect());
    let names = names.map_err(failed("read", folder))?;
    let mut names: Vec<String> = names.iter().map(|name| name.to_string_lossy().into()).collect();
    names.sort();
    Ok(names)
}

impl Folder {
    /// A folder beside the tables for what is made anew at each opening: empty.
    pub fn scratch(&self) -> Result<PathBuf> {
        let path = self.dir.join(format!("duckdb{LEFT}"));
        self.remove(&path)?;
        fs::create_dir(&path).map_err(failed("make", &path)).map(|()| path)
    }

    /// Its tables, each with its files in the order of commits. Removes what was cut off.
    pub fn tables(&self) -> Result<Vec<(String, Vec<Part>)>> {
        let mut tables = Vec::new();
        for table in names(&self.dir)?.into_iter().filter(|name| !name.starts_with("duckdb.")) {
            let folder = self.dir.join(&table);
            let all = names(&folder)?;
            let all: Vec<Part> = all.iter().filter_map(|name| Part::of(name)).collect();
            if all.is_empty() || table.ends_with(LEFT) {
                self.remove(&folder)?;
                continue;
            }
            let is_merged = |part: &Part| all.iter().filter(|other| other.holds(*part)).count() > 1;
            let (merged, parts): (Vec<Part>, Vec<Part>) =
                all.iter().partition(|part| is_merged(part));
            merged.into_iter().try_for_each(|part| self.forget(&table, part))?;
            tables.push((table, parts));
        }
        Ok(tables)
    }

    /// Makes the folder of a table, which is one once a file is in it.
    pub fn make(&self, table: &str) -> Result<()> {
        let folder = self.dir.join(table);
        fs::create_dir(&folder).map_err(failed("make", &folder))?;
        self.sync(&self.dir)
    }

    /// Removes a table as a whole.
    pub fn remove_table(&self, table: &str) -> Result<()> {
        let left = self.dir.join(format!("{table}{LEFT}"));
        self.rename(&self.dir.join(table), &left)?;
        self.remove(&left)
    }

    /// The files of a table.
    pub fn all(&self, table: &str) -> PathBuf {
        self.dir.join(table).join("*.parquet")
    }

    pub fn file(&self, table: &str, part: Part) -> PathBuf {
        self.dir.join(table).join(part.name())
    }

    /// Where the next file of a table is written.
    pub fn unfinished(&self, table: &str) -> PathBuf {
        self.dir.join(table).join(UNFINISHED)
    }

    /// Gives the file that was written its name: its rows are kept from then on.
    pub fn finish(&self, table: &str, part: Part) -> Result<()> {
        let file = self.unfinished(table);
        self.sync(&file)?;
        self.rename(&file, &self.file(table, part))
    }

    /// Removes a file whose commits another one has.
    pub fn forget(&self, table: &str, part: Part) -> Result<()> {
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

    /// Removes a folder that may not be there.
    fn remove(&self, path: &Path) -> Result<()> {
        match fs::remove_dir_all(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(failed("remove", path)(error)),
            _ => Ok(()),
        }
    }
}
