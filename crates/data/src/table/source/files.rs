//! The files of a table: which they are, and what is in them.

use std::collections::HashSet;
use std::fmt;
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
/// The same of texts.
const TEXTS: [(&[u8], &str); 8] = [
    (b"<?xml", "XML: convert it to CSV or JSON"),
    (b"<!DOCTYPE", "a web page, perhaps of an error: fetch the file again"),
    (b"<html", "a web page, perhaps of an error: fetch the file again"),
    (
        b"version https://git-lfs",
        "what Git LFS leaves in place of a file: fetch it with `git lfs pull`",
    ),
    (b"CREATE TABLE", SCRIPT),
    (b"INSERT INTO", SCRIPT),
    (b"PRAGMA foreign_keys", SCRIPT),
    (b"BEGIN TRANSACTION", SCRIPT),
];
const SCRIPT: &str =
    "a script of SQL: run it, as with `sqlite3 rows.db < FILE`, and give that database";
/// Where in a tar archive its mark is.
const TAR: std::ops::Range<usize> = 257..262;
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

impl fmt::Display for Kind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Csv => "CSV",
            Self::Json => "JSON",
            Self::Parquet => "Parquet",
            Self::Sqlite => "an SQLite database",
        })
    }
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
            let found = if is_folder {
                let below = Pattern::escape(&path.to_string_lossy()) + "/**/*";
                matching(&below)?.into_iter().filter(|path| is_rows(path)).collect()
            } else {
                matching(&path.to_string_lossy())?
            };
            if found.is_empty() {
                let what = match is_folder {
                    true => format!(
                        "the folder has no file with rows whose name ends in {}",
                        ENDS.join(", ")
                    ),
                    false => "no file with rows has a name of this pattern".to_owned(),
                };
                return Err(DataError::NotTabular { path, what });
            }
            paths.extend(found);
        }
        let mut kind = None;
        for path in &paths {
            let of = kind_of(path)?;
            if let Some(first) = kind.filter(|first| *first != of) {
                let what = format!(
                    "it is {of}, and {} is {first}: name those of one kind, as in \"*.csv\"",
                    paths[0].display()
                );
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

/// The names of values that folders have in their names, as in `day=1`: those of all of several files.
pub(super) fn partitions(paths: &[PathBuf]) -> Vec<String> {
    let of = |path: &PathBuf| -> Vec<String> {
        let parts = path.parent().into_iter().flat_map(Path::iter);
        parts.filter_map(|part| Some(part.to_str()?.split_once('=')?.0.to_owned())).collect()
    };
    let all: Vec<_> = paths.iter().map(of).collect();
    match &all[..] {
        [first, _, ..] if all.iter().all(|names| names == first) => first.clone(),
        _ => Vec::new(),
    }
}

fn is_rows(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let name = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name);
    ENDS.iter().any(|end| name.rsplit_once('.').is_some_and(|(_, suffix)| suffix == *end))
}

/// The files that a glob matches, by name, those aside that have nothing in them or names that begin with
/// a dot. A file to which several names lead is there once.
fn matching(pattern: &str) -> Result<Vec<PathBuf>, DataError> {
    let options = MatchOptions { require_literal_leading_dot: true, ..MatchOptions::new() };
    let found = glob::glob_with(pattern, options).map_err(|error| DataError::NotTabular {
        path: pattern.into(),
        what: format!("not a pattern of files: {error}"),
    })?;
    let mut seen = HashSet::new();
    // What may not be looked into has no files for us.
    let mut found: Vec<PathBuf> = found.flatten().collect();
    // The shortest of the names that a circle of links gives.
    found.sort_by_key(|path| path.components().count());
    found.retain(|path| {
        std::fs::metadata(path).is_ok_and(|of| of.is_file() && of.len() > 0)
            && path.canonicalize().is_ok_and(|path| seen.insert(path))
    });
    found.sort();
    Ok(found)
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
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head).trim_ascii_start();
    if let Some(what) = other(&head, text) {
        return Err(DataError::NotTabular { path: path.to_owned(), what: format!("it is {what}") });
    }
    match text {
        [] => Err(DataError::Empty(path.to_owned())),
        [b'{', ..] => Ok(Kind::Json),
        [b'[', rest @ ..]
            if matches!(rest.trim_ascii_start().first(), Some(b'{' | b']' | b'[')) =>
        {
            Ok(Kind::Json)
        }
        // A list a line.
        [b'[', ..]
            if matches!(
                text.split(|byte| *byte == b'\n').next(),
                Some([.., b']'] | [.., b']', b'\r'])
            ) =>
        {
            Ok(Kind::Json)
        }
        _ => Ok(Kind::Csv),
    }
}

/// What a file is that is no table, by its beginning and by that of its text.
fn other(head: &[u8], text: &[u8]) -> Option<&'static str> {
    let is_binary = head.iter().take(64).any(|byte| *byte < 9);
    let known = OTHERS.iter().find(|(magic, _)| is_binary && head.starts_with(magic));
    let begins = |of: &[u8]| text.get(..of.len()).is_some_and(|text| text.eq_ignore_ascii_case(of));
    let known = known.or_else(|| TEXTS.iter().find(|(beginning, _)| begins(beginning)));
    // A power cut leaves zeros, a mark of UTF-16 says that they belong there.
    let is_odd = |byte: &u8| matches!(byte, 1..=6 | 14..=26 | 28..=31);
    let is_text = matches!(head, [0xfe, 0xff, ..] | [0xff, 0xfe, ..])
        || str::from_utf8(&head[..head.len().min(512)]).is_ok()
        || !head.iter().take(512).any(is_odd);
    match known {
        Some((_, what)) => Some(what),
        None if head.get(TAR).is_some_and(|mark| mark == b"ustar") => {
            Some("a tar archive: unpack it with `tar xf`")
        }
        None if head.starts_with(b"\x1f\x8b") => {
            Some("compressed twice: unpack it with `gunzip` first")
        }
        None if !is_text => {
            Some("no text, and of no kind that is known: convert it to CSV or Parquet")
        }
        None => None,
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
