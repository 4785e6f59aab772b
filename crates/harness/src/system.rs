//! The files of the machine below `/proc`, `/sys` and `/etc`, or of a made-up one.

use std::fs;
use std::path::{Path, PathBuf};

/// Where facts are read from: this machine, or a made-up tree of its files in a test.
#[derive(Clone, Debug)]
pub(crate) struct System {
    root: PathBuf,
}

impl System {
    /// This machine.
    pub fn here() -> Self {
        Self::at("/")
    }

    /// The machine whose `/proc`, `/sys` and `/etc` lie below `root`.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The text of a file below the root, without white space at its end; `None` when it cannot be
    /// read or is empty.
    pub fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        read(&self.path(path))
    }

    /// Where a file lies that this machine has at `path`.
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// What a folder holds, in the order of names.
    pub fn entries(&self, path: impl AsRef<Path>) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path(path)).into_iter().flatten().flatten();
        let mut entries: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        entries.sort();
        entries
    }
}

/// The text of a file, as [`System::text`].
pub(crate) fn read(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let text = text.trim_end();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A made-up tree of a machine's files, each with its text and the end of a line.
    pub fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let tree = tempfile::tempdir().unwrap();
        for (file, text) in files {
            let path = tree.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("{text}\n")).unwrap();
        }
        tree
    }
}
