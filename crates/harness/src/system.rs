//! The machine's files below `/proc`, `/sys` and `/etc`, or simulated ones.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, io};

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

    /// Returns the number and the directory of each CPU, in the order of numbers.
    pub fn cpus(&self) -> Vec<(usize, PathBuf)> {
        let numbered = self.entries("sys/devices/system/cpu").into_iter().filter_map(|dir| {
            let number = dir.file_name()?.to_str()?.strip_prefix("cpu")?.parse().ok()?;
            Some((number, dir))
        });
        let mut cpus: Vec<(usize, PathBuf)> = numbered.collect();
        cpus.sort();
        cpus
    }
}

/// Returns the text of a file, like [`System::text`].
pub(crate) fn read(path: &Path) -> Option<String> {
    let text = read_lossy(path).ok()?;
    let text = text.trim_end();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Reads a text in which the names of files and processes need not be UTF-8. The kernel cuts that
/// of a process after 15 bytes, which may be inside a character.
pub(crate) fn read_lossy(path: impl AsRef<Path>) -> io::Result<String> {
    Ok(String::from_utf8_lossy(&fs::read(path)?).into_owned())
}

/// Repeats an operation every 20 ms while it fails in a way that passes, up to `timeout`.
pub(crate) fn retry<T, E>(
    timeout: Duration,
    passes: impl Fn(&E) -> bool,
    mut operation: impl FnMut() -> Result<T, E>,
) -> Result<T, E> {
    let began = Instant::now();
    loop {
        match operation() {
            Err(error) if passes(&error) && began.elapsed() < timeout => {
                std::thread::sleep(Duration::from_millis(20));
            }
            done => return done,
        }
    }
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

    #[test]
    fn a_name_that_is_not_utf_8_hides_no_other_line() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("mountinfo");
        fs::write(&file, b"/mnt/\xff ext4\n/data btrfs\n").unwrap();
        assert!(read(&file).is_some_and(|text| text.ends_with("\n/data btrfs")));
    }
}
