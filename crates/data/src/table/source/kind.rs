//! Recognises the format of a file by its beginning.

use std::path::Path;

use crate::DataError;
use crate::compressed::head;

/// Beginning of an SQLite database.
pub(super) const SQLITE: &[u8] = b"SQLite format 3\0";
/// Beginnings of files that are not tables, what they are, and how to convert them.
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
/// The same for texts.
const TEXTS: [(&[u8], &str); 8] = [
    (b"<?xml", "XML: convert it to CSV or JSON"),
    (b"<!DOCTYPE", "a web page, perhaps of an error: fetch the file again"),
    (b"<html", "a web page, perhaps of an error: fetch the file again"),
    (
        b"version https://git-lfs",
        "a Git LFS pointer instead of the file: fetch it with `git lfs pull`",
    ),
    (b"CREATE TABLE", SCRIPT),
    (b"INSERT INTO", SCRIPT),
    (b"PRAGMA foreign_keys", SCRIPT),
    (b"BEGIN TRANSACTION", SCRIPT),
];
const SCRIPT: &str =
    "an SQL script: run it, for example with `sqlite3 rows.db < FILE`, and use that database";
/// Position of the mark in a tar archive.
const TAR: std::ops::Range<usize> = 257..262;
/// Format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::table) enum Kind {
    Csv,
    Json,
    Parquet,
    Sqlite,
}

impl Kind {
    /// Returns its name in messages.
    pub(in crate::table) const fn name(self) -> &'static str {
        match self {
            Self::Csv => "CSV",
            Self::Json => "JSON",
            Self::Parquet => "Parquet",
            Self::Sqlite => "an SQLite database",
        }
    }

    /// Recognises the format of a file by its beginning.
    pub(super) fn detect(path: &Path) -> Result<Self, DataError> {
        let head = head(path)?;
        if head.starts_with(b"PAR1") {
            return Ok(Self::Parquet);
        }
        if head.starts_with(SQLITE) {
            return Ok(Self::Sqlite);
        }
        let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head).trim_ascii_start();
        if let Some(what) = non_table(&head, text) {
            return Err(DataError::not_tabular(path, format!("it is {what}")));
        }
        let first_line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let is_list = matches!(first_line, [.., b']'] | [.., b']', b'\r']);
        match text {
            [] => Err(DataError::Empty(path.to_owned())),
            [b'{', ..] => Ok(Self::Json),
            // One list per line.
            [b'[', ..] if is_list => Ok(Self::Json),
            [b'[', rest @ ..] if matches!(rest.trim_ascii_start(), [b'{' | b']' | b'[', ..]) => {
                Ok(Self::Json)
            }
            _ => Ok(Self::Csv),
        }
    }
}

/// Returns the kind of a file that is not a table, by its beginning and that of its text, and what
/// to do. `None` if it may be a table.
fn non_table(head: &[u8], text: &[u8]) -> Option<&'static str> {
    let is_binary = head.iter().take(64).any(|byte| *byte < 9);
    let known = OTHERS.iter().find(|(magic, _)| is_binary && head.starts_with(magic));
    let begins = |of: &[u8]| text.get(..of.len()).is_some_and(|text| text.eq_ignore_ascii_case(of));
    let known = known.or_else(|| TEXTS.iter().find(|(beginning, _)| begins(beginning)));
    // A power cut leaves zeros, and a UTF-16 mark shows that they belong there.
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
            Some("not text, and of an unknown format: convert it to CSV or Parquet")
        }
        None => None,
    }
}
