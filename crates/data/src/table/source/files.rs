//! The files of a table: which they are, and what is in them.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use glob::{MatchOptions, Pattern};

use crate::DataError;

/// How much of a text is looked at to tell what it is.
const HEAD: u64 = 256 * 1024;
/// What an SQLite database begins with.
pub(super) const SQLITE: &[u8] = b"SQLite format 3\0";
/// Beginnings of files that are no table, what they are, and how they become one.
const OTHERS: [(&[u8], &str); 8] = [
    (b"PK\x03\x04", "a ZIP archive (or a spreadsheet): unpack it with `unzip`, or save it as CSV"),
    (b"\xfd7zXZ\0", "compressed by xz: unpack it with `xz -d`"),
    (b"BZh", "compressed by bzip2: unpack it with `bunzip2`"),
    (b"7z\xbc\xaf", "a 7z archive: unpack it with `7z x`"),
    (b"\xd0\xcf\x11\xe0", "an old spreadsheet: save it as CSV"),
    (b"ARROW1", "an Arrow file: write it as Parquet"),
    (b"ORC", "an ORC file: write it as Parquet"),
    (b"\x89HDF", "an HDF5 file: write it as Parquet or CSV"),
];
/// How the names of files in a folder end that are rows.
const ENDS: [&str; 8] = ["csv", "tsv", "txt", "dat", "json", "jsonl", "ndjson", "parquet"];

/// What files hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::table) enum Kind {
    Csv,
    Json,
    Parquet,
    Sqlite,
}

/// Files of one kind.
#[derive(Debug)]
pub(in crate::table) struct Files {
    pub(in crate::table) kind: Kind,
    pub(in crate::table) paths: Vec<PathBuf>,
}

impl Files {
    /// Finds files, those of globs and folders too. Names count from `base`.
    pub(super) fn find(names: &[String], base: &Path) -> Result<Self, DataError> {
        let mut paths = Vec::new();
        for name in names {
            let path = whole(&base.join(name));
            let is_folder = path.is_dir();
            if !is_folder && (path.exists() || !name.contains(['*', '?'])) {
                paths.push(path);
                continue;
            }
            let before = paths.len();
            if is_folder {
                let below = Pattern::escape(&path.to_string_lossy()) + "/**/*";
                paths.extend(matching(&below)?.filter(|path| is_rows(path)));
            } else {
                paths.extend(matching(&path.to_string_lossy())?);
            }
            if paths.len() == before && !is_folder {
                return Err(DataError::NoTableFile(path));
            }
            if paths.len() == before {
                let what = format!("the folder has no file whose name ends in {}", ENDS.join(", "));
                return Err(DataError::NotTabular { path, what });
            }
        }
        let mut kind = None;
        for path in &paths {
            let of = kind_of(path)?;
            if let Some(first) = kind.filter(|first| *first != of) {
                let what = format!("it is {of:?}, and {} is {first:?}", paths[0].display());
                return Err(DataError::NotTabular { path: path.clone(), what });
            }
            kind = Some(of);
        }
        let none = || DataError::NoTableFile(base.to_owned());
        Ok(Self { kind: kind.ok_or_else(none)?, paths })
    }
}

/// A path without `..`, which DuckDB takes for another than the file that it names.
fn whole(path: &Path) -> PathBuf {
    let is_up = |part: std::path::Component<'_>| part == std::path::Component::ParentDir;
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    match absolute.components().any(is_up) {
        true => absolute.canonicalize().unwrap_or(absolute),
        false => absolute,
    }
}

fn is_rows(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let name = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name);
    ENDS.iter().any(|end| name.rsplit_once('.').is_some_and(|(_, suffix)| suffix == *end))
}

/// The files that a glob matches, by name, those aside whose names begin with a dot.
fn matching(pattern: &str) -> Result<impl Iterator<Item = PathBuf>, DataError> {
    let options = MatchOptions { require_literal_leading_dot: true, ..MatchOptions::new() };
    let found = glob::glob_with(pattern, options).map_err(|error| DataError::NotTabular {
        path: pattern.into(),
        what: format!("not a pattern of files: {error}"),
    })?;
    // What may not be looked into has no files for us.
    Ok(found.flatten().filter(|path| path.is_file()))
}

/// What a file holds, by what it begins with.
fn kind_of(path: &Path) -> Result<Kind, DataError> {
    let head = head(path)?;
    if head.starts_with(b"PAR1") {
        return Ok(Kind::Parquet);
    }
    if head.starts_with(SQLITE) {
        return Ok(Kind::Sqlite);
    }
    let is_binary = head.iter().take(64).any(|byte| *byte < 9);
    let other = OTHERS.iter().find(|(magic, _)| is_binary && head.starts_with(magic));
    if let Some((_, what)) = other {
        return Err(DataError::NotTabular { path: path.to_owned(), what: format!("it is {what}") });
    }
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head).trim_ascii_start();
    match text {
        [] => Err(DataError::Empty(path.to_owned())),
        [b'{', ..] => Ok(Kind::Json),
        [b'[', rest @ ..] if matches!(rest.trim_ascii_start().first(), Some(b'{' | b']')) => {
            Ok(Kind::Json)
        }
        _ => Ok(Kind::Csv),
    }
}

/// The beginning of a file, decompressed.
pub(super) fn head(path: &Path) -> Result<Vec<u8>, DataError> {
    let mut head = Vec::new();
    let read = text(path)?.take(HEAD).read_to_end(&mut head);
    match read {
        Ok(_) => Ok(head),
        // What is cut short is told by whoever reads it whole.
        Err(cause) if head.is_empty() => Err(unreadable(path, cause)),
        Err(_) => Ok(head),
    }
}

/// The bytes of a file, decompressed.
pub(super) fn text(path: &Path) -> Result<Box<dyn Read>, DataError> {
    // Asked before opening: opening a pipe would wait for somebody to write to it.
    let kind = std::fs::metadata(path).map_err(|cause| unreadable(path, cause))?;
    if kind.is_dir() {
        return Err(DataError::Directory(path.to_owned()));
    }
    if !kind.is_file() {
        return Err(DataError::NotAFile(path.to_owned()));
    }
    let open = || File::open(path).map_err(|cause| unreadable(path, cause));
    let mut magic = [0; 4];
    let read = open()?.read(&mut magic).map_err(|cause| unreadable(path, cause))?;
    let file = BufReader::with_capacity(1 << 16, open()?);
    Ok(match magic[..read] {
        [0x1f, 0x8b, ..] => Box::new(MultiGzDecoder::new(file)),
        [0x28, 0xb5, 0x2f, 0xfd] => {
            Box::new(zstd::Decoder::new(file).map_err(|cause| unreadable(path, cause))?)
        }
        _ => Box::new(file),
    })
}

/// Reads a compressed file to its end: DuckDB takes one that is cut short for whole.
pub(in crate::table) fn check_whole(path: &Path) -> Result<(), DataError> {
    if compression(path)? == "none" {
        return Ok(());
    }
    let (mut text, mut piece, mut bytes) = (text(path)?, vec![0; 1 << 16], 0);
    loop {
        match text.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(read) => bytes += read as u64,
            Err(cause) if cause.kind() == io::ErrorKind::UnexpectedEof => {
                return Err(DataError::TruncatedGzip { path: path.to_owned(), bytes });
            }
            Err(cause) => {
                return Err(DataError::DamagedGzip { path: path.to_owned(), bytes, cause });
            }
        }
    }
}

/// How DuckDB calls the compression of a file.
pub(super) fn compression(path: &Path) -> Result<&'static str, DataError> {
    let mut magic = [0; 4];
    let read = File::open(path).and_then(|mut file| file.read(&mut magic));
    let read = read.map_err(|cause| unreadable(path, cause))?;
    Ok(match magic[..read] {
        [0x1f, 0x8b, ..] => "gzip",
        [0x28, 0xb5, 0x2f, 0xfd] => "zstd",
        _ => "none",
    })
}

pub(super) fn unreadable(path: &Path, cause: io::Error) -> DataError {
    let path = path.to_owned();
    match cause.kind() {
        io::ErrorKind::NotFound => DataError::NoTableFile(path),
        _ => DataError::Unreadable { path, cause },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_names_and_folders() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b/2.csv", "a/1.csv", "a/deep/3.csv", "a/no.md", ".hidden.csv"] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "id\n1\n").unwrap();
        }
        let found = |name: &str| {
            let files = Files::find(&[name.to_owned()], folder.path()).unwrap();
            let relative = files.paths.iter().map(|path| path.strip_prefix(folder.path()).unwrap());
            relative.map(|path| path.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(found("."), ["a/1.csv", "a/deep/3.csv", "b/2.csv"]);
        assert_eq!(found("*/*.csv"), ["a/1.csv", "b/2.csv"]);
        assert_eq!(found("**/*.csv"), ["a/1.csv", "a/deep/3.csv", "b/2.csv"]);
        assert_eq!(found("a/?.csv"), ["a/1.csv"]);
        assert!(Files::find(&["*.tsv".to_owned()], folder.path()).is_err());
    }
}
