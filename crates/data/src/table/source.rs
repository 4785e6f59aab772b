//! A file of rows: what its format is, and its text.

use std::fmt;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use embermark_model::choice::UnknownName;
use flate2::bufread::MultiGzDecoder;
use memmap2::Mmap;

use super::record::{Names, Sink};
use super::{columnar, delimited, lines};
use crate::DataError;
use crate::lab::digest;
use crate::mapping::{Paging, map};

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
const PARQUET_MAGIC: &[u8] = b"PAR1";
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// How much of a text is looked at to tell its format.
const HEAD: u64 = 64 * 1024;

/// The format of a file of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Values between delimiters, under a line of names.
    Csv {
        /// A comma, a semicolon, a tab or a bar.
        delimiter: u8,
    },
    /// A JSON object in each line.
    JsonLines,
    /// Apache Parquet.
    Parquet,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Csv { delimiter: b';' } => "CSV with semicolons",
            Self::Csv { delimiter: b'\t' } => "CSV with tabs",
            Self::Csv { delimiter: b'|' } => "CSV with bars",
            Self::Csv { .. } => "CSV",
            Self::JsonLines => "JSON lines",
            Self::Parquet => "Parquet",
        })
    }
}

/// A file of rows.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) path: PathBuf,
    pub(super) format: Format,
    mapping: Mmap,
}

impl Source {
    /// Opens a file and tells its format by what it begins with.
    pub(super) fn open(path: &Path) -> Result<Self, DataError> {
        let mapping = map(path, Paging::Sequential).map_err(|error| match error {
            DataError::Missing(path) => DataError::NoTableFile(path),
            other => other,
        })?;
        if mapping.is_empty() {
            return Err(DataError::Empty(path.to_owned()));
        }
        let mut source = Self { path: path.to_owned(), format: Format::Parquet, mapping };
        if !source.mapping.starts_with(PARQUET_MAGIC) {
            source.format = source.text_format()?;
        }
        Ok(source)
    }

    fn text_format(&self) -> Result<Format, DataError> {
        let mut head = Vec::new();
        let mut text = self.text();
        let read = text.by_ref().take(HEAD).read_to_end(&mut head);
        read.map_err(|cause| self.unreadable(cause, text.bytes))?;
        let head = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&head);
        let header = head.split(|&byte| byte == b'\n').find(|line| !line.trim_ascii().is_empty());
        let Some(header) = header else { return Err(DataError::Empty(self.path.clone())) };
        match header.trim_ascii_start() {
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
                Err(self.not_tabular("it begins with the mark of UTF-16: save it as UTF-8"))
            }
            _ if header.contains(&0) => Err(self.not_tabular("its first line has NUL bytes")),
            [b'[', ..] => Err(self.not_tabular("it begins with '[', as one JSON array does")),
            [b'{', ..] => Ok(Format::JsonLines),
            _ => Ok(Format::Csv { delimiter: delimited::delimiter(header) }),
        }
    }

    /// Hands all records to `sink` until it wants no more. Gives the names of the fields.
    pub(super) fn read(&self, sink: &mut impl Sink) -> Result<Names, DataError> {
        match self.format {
            Format::Csv { delimiter } => delimited::read(self, delimiter, sink),
            Format::JsonLines => lines::read(self, sink),
            Format::Parquet => columnar::read(self, sink),
        }
    }

    /// SHA-256 of the file as it lies on disk, in hexadecimal.
    pub(super) fn sha256(&self) -> String {
        digest::sha256(&self.mapping)
    }

    /// The text of the file, decompressed.
    pub(super) fn text(&self) -> Text<'_> {
        let file: &[u8] = &self.mapping;
        let from: Box<dyn Read + '_> = if file.starts_with(&GZIP_MAGIC) {
            Box::new(MultiGzDecoder::new(file))
        } else {
            Box::new(file)
        };
        Text { from, bytes: 0 }
    }

    /// The error of a read that failed after so many bytes of text.
    pub(super) fn unreadable(&self, cause: io::Error, bytes: u64) -> DataError {
        let path = self.path.clone();
        match cause.kind() {
            io::ErrorKind::UnexpectedEof => DataError::TruncatedGzip { path, bytes },
            _ => DataError::DamagedGzip { path, bytes, cause },
        }
    }

    pub(super) fn no_field(&self, unknown: UnknownName) -> DataError {
        DataError::NoField { path: self.path.clone(), unknown }
    }

    pub(super) fn not_tabular(&self, what: impl Into<String>) -> DataError {
        DataError::NotTabular { path: self.path.clone(), what: what.into() }
    }
}

/// The text of a file, which counts what has been read of it.
pub(super) struct Text<'a> {
    from: Box<dyn Read + 'a>,
    pub(super) bytes: u64,
}

impl Read for Text<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(buffer)?;
        self.bytes += read as u64;
        Ok(read)
    }
}
