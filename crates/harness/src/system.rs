//! The machine's files below `/proc`, `/sys` and `/etc`, or simulated ones.

use std::fs;
use std::path::{Path, PathBuf};

/// Where facts are read from: this machine, or a simulated tree of its files in a test.
#[derive(Clone, Debug)]
pub(crate) struct System {
    root: PathBuf,
}

impl System {
    /// This machine.
    pub fn here() -> Self {
        Self::at("/")
    }

    /// The machine whose `/proc`, `/sys` and `/etc` are below `root`.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Returns the text of a file below the root, without trailing white space. `None` if it cannot
    /// be read or is empty.
    pub fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        read(&self.path(path))
    }

    /// Returns the path below the root for `path` on the machine.
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// Returns the entries of a directory, in the order of names.
    pub fn entries(&self, path: impl AsRef<Path>) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path(path)).into_iter().flatten().flatten();
        let mut entries: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        entries.sort();
        entries
    }
}

/// Returns the text of a file, like [`System::text`].
pub(crate) fn read(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let text = text.trim_end();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Makes a simulated tree of a machine's files. Each file has its text and a line end.
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
