//! The folder of a database, with a folder per table. A table's folder has a file per commit, or
//! per group of merged commits.
//!
//! A file is written under a name that is never read, and renamed when it is complete. Its name has
//! the commits in it: `0000000007-0000000012.parquet` replaced six files. Files whose commits are
//! also in another file are left from an interrupted merge. They are removed when the folder is
//! opened.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::failure::{Done, Failure, cannot};

/// Name of a file until it is complete.
const UNFINISHED: &str = "new.tmp";
/// Suffix of a table's folder that is being removed.
const REMOVED: &str = ".tmp";

/// A complete file, with its first and its last commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
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

    /// Whether it has every commit of another file.
    const fn holds(self, other: Self) -> bool {
        self.first <= other.first && other.last <= self.last
    }
}

/// The folder, and whether its files and names are synced.
pub(crate) struct Folder {
    pub dir: PathBuf,
    pub syncs: bool,
}

fn failed<'a>(doing: &'a str, path: &'a Path) -> impl FnOnce(io::Error) -> Failure + 'a {
    cannot(format!("{doing} {}", path.display()))
}

/// Returns the names in a folder, sorted.
fn names(folder: &Path) -> Done<Vec<String>> {
    let name = |entry: io::Result<fs::DirEntry>| Ok(entry?.file_name().to_string_lossy().into());
    let names: io::Result<Vec<String>> =
        fs::read_dir(folder).and_then(|all| all.map(name).collect());
    let mut names = names.map_err(failed("read", folder))?;
    names.sort();
    Ok(names)
}

impl Folder {
    /// Returns the tables, each with its files in the order of commits. Removes the rest of
    /// interrupted work.
    pub fn tables(&self) -> Done<Vec<(String, Vec<Part>)>> {
        let mut tables = Vec::new();
        for table in names(&self.dir)? {
            let folder = self.table(&table);
            let all: Vec<Part> =
                names(&folder)?.iter().filter_map(|name| Part::parse(name)).collect();
            if all.is_empty() || table.ends_with(REMOVED) {
                fs::remove_dir_all(&folder).map_err(failed("remove", &folder))?;
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

    /// Returns the folder of a table.
    pub fn table(&self, table: &str) -> PathBuf {
        self.dir.join(table)
    }

    /// Makes the folder of a table. The table exists once there is a file in it.
    pub fn make(&self, table: &str) -> Done {
        let folder = self.table(table);
        fs::create_dir(&folder).map_err(failed("make", &folder))?;
        self.sync(&self.dir)
    }

    /// Removes a whole table.
    pub fn remove_table(&self, table: &str) -> Done {
        let removed = self.dir.join(format!("{table}{REMOVED}"));
        self.rename(&self.table(table), &removed)?;
        fs::remove_dir_all(&removed).map_err(failed("remove", &removed))
    }

    pub fn file(&self, table: &str, part: Part) -> PathBuf {
        self.table(table).join(part.name())
    }

    /// Returns the path at which the next file of a table is written.
    pub fn temporary_path(&self, table: &str) -> PathBuf {
        self.table(table).join(UNFINISHED)
    }

    /// Gives a written file its name, which makes its rows permanent.
    pub fn finish(&self, table: &str, part: Part) -> Done {
        let file = self.temporary_path(table);
        self.sync(&file)?;
        self.rename(&file, &self.file(table, part))
    }

    /// Removes a file whose commits are in another one.
    pub fn remove_part(&self, table: &str, part: Part) -> Done {
        let file = self.file(table, part);
        fs::remove_file(&file).map_err(failed("remove", &file))
    }

    fn rename(&self, from: &Path, to: &Path) -> Done {
        fs::rename(from, to).map_err(failed("rename", from))?;
        self.sync(to.parent().unwrap_or(to))
    }

    fn sync(&self, path: &Path) -> Done {
        if !self.syncs {
            return Ok(());
        }
        File::open(path).and_then(|file| file.sync_all()).map_err(failed("sync", path))
    }
}
