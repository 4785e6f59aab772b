//! The options file: what an open database really runs with, as the library writes it there
//! (<https://github.com/facebook/rocksdb/wiki/RocksDB-Options-File>).

use std::path::Path;
use std::{fs, io};

/// The content of an options file.
pub(super) struct Options(String);

impl Options {
    /// Reads the newest options file of a database.
    ///
    /// # Errors
    /// When there is none or it cannot be read.
    pub(super) fn read(folder: &Path) -> io::Result<Self> {
        let mut newest: Option<(u64, std::path::PathBuf)> = None;
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let number = name.to_str().and_then(|name| name.strip_prefix("OPTIONS-"));
            if let Some(number) = number.and_then(|number| number.parse().ok())
                && newest.as_ref().is_none_or(|(best, _)| number > *best)
            {
                newest = Some((number, entry.path()));
            }
        }
        let (_, path) = newest.ok_or_else(|| io::Error::other("it wrote no options file"))?;
        fs::read_to_string(path).map(Self)
    }

    /// The value of an option in the first section whose name begins so.
    pub(super) fn value(&self, section: &str, name: &str) -> Option<&str> {
        let mut within = false;
        for line in self.0.lines().map(str::trim) {
            if let Some(title) = line.strip_prefix('[') {
                if within {
                    return None;
                }
                within = title.starts_with(section);
            } else if within
                && let Some((key, value)) = line.split_once('=')
                && key == name
            {
                return Some(value);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_file_is_read_by_section() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("OPTIONS-000009"), "[Version]\n  rocksdb_version=1\n")
            .unwrap();
        let text = "# text\n[Version]\n  rocksdb_version=7.8.3\n[CFOptions \"default\"]\n  a=b=c\n\
                    [CFOptions \"other\"]\n  d=e\n";
        fs::write(folder.path().join("OPTIONS-000010"), text).unwrap();
        let options = Options::read(folder.path()).unwrap();
        assert_eq!(options.value("Version", "rocksdb_version"), Some("7.8.3"));
        assert_eq!(options.value("CFOptions", "a"), Some("b=c"));
        assert_eq!(options.value("CFOptions", "d"), None);
        assert!(Options::read(&folder.path().join("none")).is_err());
    }
}
