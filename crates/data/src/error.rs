//! Errors of reading, generating and writing rows, with what to do about them.

use std::io;
use std::path::{Path, PathBuf};

use embermark_model::Reading;
use embermark_model::choice::UnknownName;

/// Why rows could not be read, made, sampled or written.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// The file does not exist.
    #[error("{path}: no such file: check the path, or leave it out to run on synthetic rows", path = .0.display())]
    Missing(PathBuf),
    /// The file exists but cannot be opened or read.
    #[error("{path}: cannot be read: {cause}: check its permissions and the disk", path = .path.display())]
    Unreadable {
        /// The requested file.
        path: PathBuf,
        /// Error of the system.
        cause: io::Error,
    },
    /// A folder was given instead of a file.
    #[error("{path}: is a folder: name a file in it, such as data.txt or data.txt.gz", path = .0.display())]
    Folder(PathBuf),
    /// A pipe, socket or device was given instead of a file.
    #[error("{path}: is not a regular file: save its contents to a file first", path = .0.display())]
    NotAFile(PathBuf),
    /// The file has no bytes, or is a compressed file without content.
    #[error("{path}: is empty: fetch the file again", path = .0.display())]
    Empty(PathBuf),
    /// A compressed file that ends too early.
    #[error("{path}: the compressed data (gzip or zstd) ends too early, after {bytes} bytes of text: fetch the file again", path = .path.display())]
    TruncatedCompression {
        /// The file.
        path: PathBuf,
        /// Bytes of text before the end.
        bytes: u64,
    },
    /// A compressed file whose contents are damaged.
    #[error("{path}: the compressed data (gzip or zstd) is damaged ({cause}), after {bytes} bytes of text: fetch the file again", path = .path.display())]
    DamagedCompression {
        /// The file.
        path: PathBuf,
        /// Bytes of text before the damage was found.
        bytes: u64,
        /// Error of the decompressor.
        cause: io::Error,
    },
    /// The file is not text.
    #[error("{path}: is not text ({what}): give the sensor log as plain or gzip-compressed text", path = .path.display())]
    Binary {
        /// The file.
        path: PathBuf,
        /// Evidence, such as NUL bytes.
        what: &'static str,
    },
    /// The file is text, but no line of it is a reading.
    #[error(
        "{path}: none of its {lines} lines is a reading; line {line}, {excerpt:?}: {reason}; expected \
         'date time epoch moteid temperature humidity light voltage' with one space between fields, \
         such as '2004-02-28 00:59:16.02785 3 1 19.9884 37.0933 45.08 2.69964'{hint}",
        path = .path.display()
    )]
    NothingUsable {
        /// The file.
        path: PathBuf,
        /// Number of its lines.
        lines: u64,
        /// Number of the first bad line, from 1.
        line: u64,
        /// What is wrong with that line.
        reason: &'static str,
        /// The beginning of that line.
        excerpt: String,
        /// What the user may do about it. Includes its own punctuation and may be empty.
        hint: &'static str,
    },
    /// More rows were requested than exist.
    #[error(
        "{asked} rows requested but the data has only {rows}: request at most {rows}, or 'full'"
    )]
    TooFewRows {
        /// Number of rows requested.
        asked: u64,
        /// Number of rows that exist.
        rows: u64,
    },
    /// More rows were requested than fit in memory.
    #[error("no memory for {0} rows of {size} bytes: ask for a smaller scale", size = size_of::<Reading>())]
    Memory(u64),
    /// A file of staged rows that cannot be used.
    #[error("{path}: is not a complete file of rows staged by this build: {what}: stage the rows again", path = .path.display())]
    NotStaged {
        /// The file.
        path: PathBuf,
        /// How it differs.
        what: String,
    },
    /// A file of rows that does not exist.
    #[error(
        "{path}: no such file: check its path, which in a workload file counts from that file's folder",
        path = .0.display()
    )]
    NoTableFile(PathBuf),
    /// A file without rows of a table.
    #[error(
        "{path}: cannot be read as a table: {what}; supported formats are CSV, JSON and Parquet, plain or \
         compressed with gzip or zstd",
        path = .path.display()
    )]
    NotTabular {
        /// The file.
        path: PathBuf,
        /// The reason.
        what: String,
    },
    /// Delimited text with different line ends.
    #[error(
        "{path}: its lines end in more than one way: write read = {{ strict_mode = false }}",
        path = .0.display()
    )]
    MixedEnds(PathBuf),
    /// A file that was changed while it was read.
    #[error(
        "{path}: it changed while it was read: use a copy of it, or stop the program that writes to it",
        path = .0.display()
    )]
    Changed(PathBuf),
    /// DuckDB, which reads files of rows, is not installed.
    #[error("files of rows are read by DuckDB: {0}")]
    Reader(embermark_libraries::Error),
    /// DuckDB could not read rows.
    #[error("{path}: {cause}: check that the file is complete, and check the query if you gave one", path = .path.display())]
    Unread {
        /// The file, or what represents it.
        path: PathBuf,
        /// DuckDB's message.
        cause: String,
    },
    /// A reader's option that embermark sets itself.
    #[error(
        "read option '{name}' is not allowed, because embermark sets it; use instead: {instead}"
    )]
    ReadOption {
        /// The option.
        name: String,
        /// The equivalent.
        instead: &'static str,
    },
    /// An unknown time zone.
    #[error("unknown time zone '{0}': write a name such as 'Europe/Berlin' or 'UTC'")]
    NoZone(String),
    /// A table without rows.
    #[error("{path}: it has no rows", path = .0.display())]
    NoRows(PathBuf),
    /// The file has no field for some columns of the table.
    #[error(
        "{path}: {fields}: {help}",
        path = .path.display(),
        fields = unknown_fields(.unknown),
        help = match .unknown.len() {
            0 | 1 => "correct the column's name, or name its field with 'from'",
            _ => "correct the columns' names, or name their fields with 'from'",
        }
    )]
    NoField {
        /// The file.
        path: PathBuf,
        /// Each such field, the nearest name and all names.
        unknown: Vec<UnknownName>,
    },
    /// Delimited text that does not have the delimiter given for it.
    #[error(
        "{path}: the given {option} = {delimiter:?} is not between its names, which are one field, {only:?}: \
         correct the option, or leave it out",
        path = .path.display()
    )]
    NoDelimiter {
        /// The file.
        path: PathBuf,
        /// The reader's option.
        option: String,
        /// Its value.
        delimiter: String,
        /// The only field.
        only: String,
    },
    /// A column of a generated table whose values cannot be generated.
    #[error(
        "table {table}, column {column}: its values cannot be generated: {why}: correct its 'make' or its type"
    )]
    Unmakeable {
        /// The table.
        table: String,
        /// The column.
        column: String,
        /// The reason.
        why: &'static str,
    },
    /// Too many rows do not match the columns of their table.
    #[error(
        "{from}: {refused} of {rows} rows cannot be used, which is more than {percent} %: {reasons}; \
         the first in {first}; {remedy}; or allow more with --lenient"
    )]
    RowsRefused {
        /// The file, or the table whose rows are generated.
        from: String,
        /// Number of rows that do not match.
        refused: u64,
        /// Number of all rows.
        rows: u64,
        /// The share of them that may be refused, in percent.
        percent: f64,
        /// The reasons, with counts.
        reasons: String,
        /// The first of them: its line, its column, and what was found.
        first: String,
        /// What to do about it.
        remedy: String,
    },
    /// A file that could not be written.
    #[error("{path}: cannot be written: {cause}: check its folder, permissions and free space", path = .path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// Error of the system.
        cause: io::Error,
    },
    /// Rows could not be converted or written to their destination.
    #[error("writing {format} failed: {cause}: check that its destination is open and has space")]
    Export {
        /// Format of the output.
        format: &'static str,
        /// Error of the writer.
        cause: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl DataError {
    /// Returns a function that makes the error for a file that cannot be read.
    pub(crate) fn unreadable(path: &Path) -> impl Fn(io::Error) -> Self + Copy {
        move |cause| Self::Unreadable { path: path.to_owned(), cause }
    }

    /// Returns a function that makes the error for a file that cannot be written.
    pub(crate) fn unwritable(path: &Path) -> impl Fn(io::Error) -> Self + Copy {
        move |cause| Self::Unwritable { path: path.to_owned(), cause }
    }

    /// Makes the error for a file without rows of a table.
    pub(crate) fn not_tabular(path: &Path, what: impl Into<String>) -> Self {
        Self::NotTabular { path: path.to_owned(), what: what.into() }
    }

    /// Whether the only problem is that there are no rows.
    pub const fn is_without_rows(&self) -> bool {
        matches!(self, Self::NoRows(_))
    }
}

/// Lists unknown fields, and once the names of all fields.
fn unknown_fields(unknown: &[UnknownName]) -> String {
    let fields: Vec<String> = unknown.iter().map(UnknownName::brief).collect();
    let valid = unknown.first().map(|unknown| unknown.valid.join(", "));
    format!("{}; valid: {}", fields.join("; "), valid.unwrap_or_default())
}
