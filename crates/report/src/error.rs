//! What can go wrong between a result file and a report.

use std::path::PathBuf;

use embermark_model::result::SCHEMA;

/// The most MiB of JSON that are read of a result. One of 500 cells with every figure there is has some 10.
pub(crate) const LARGEST_MIB: u64 = 512;

/// Why a result could not be read or shown. The path is the file's.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// No such file.
    #[error("no result file at {}: check the path, or make one with `embermark run`", .0.display())]
    Missing(PathBuf),
    /// The file is there and cannot be read: what the system answered.
    #[error("cannot read {}: {}", .0.display(), .1)]
    Unreadable(PathBuf, #[source] std::io::Error),
    /// It stops in the middle.
    #[error(
        "{} ends in the middle of a value, like a file whose copy or run was interrupted: copy it again, or continue the run with `embermark run --resume`", .0.display()
    )]
    Truncated(PathBuf),
    /// It is the journal of a run and not its result.
    #[error(
        "{} is the journal of a run that did not end: finish the run with `embermark run --resume`, \
         which writes the result file", .0.display()
    )]
    Journal(PathBuf),
    /// Not JSON: where and what.
    #[error("{} is not JSON ({}): give the result file of an `embermark run`", .0.display(), .1)]
    NotJson(PathBuf, String),
    /// JSON, and of something else: what a result has and this has not.
    #[error(
        "{} is JSON but not an embermark result: {}; give the result file of an `embermark run`",
        .0.display(), .1
    )]
    NotAResult(PathBuf, &'static str),
    /// It fails rules of a check that it was to pass.
    #[error("{} fails {}: `embermark check` explains what to do", .0.display(), .1)]
    FailsCheck(PathBuf, String),
    /// Written by a newer embermark: its schema.
    #[error(
        "{} has result schema {}, and this embermark reads up to {SCHEMA}: upgrade embermark",
        .0.display(), .1
    )]
    TooNew(PathBuf, u64),
    /// No result of `embermark durability` at this path.
    #[error("no result at {}: give the folder of an `embermark durability`, or its result.json", .0.display())]
    NoDurability(PathBuf),
    /// Something else than a result of `embermark durability`: what and where.
    #[error(
        "{} is not a result of `embermark durability` ({}): give its folder, or its result.json; an interrupted run has one when `embermark durability --resume` has ended it", .0.display(), .1
    )]
    NotDurability(PathBuf, String),
    /// A result, with a field that is missing or not what it should be: its path and what.
    #[error(
        "{} is an embermark result with a field that cannot be read ({}): it was changed by hand \
         or by a program, or written by an unreleased embermark", .0.display(), .1
    )]
    Malformed(PathBuf, String),
    /// A text in it that no run keeps: which, and how long it is.
    #[error(
        "{} holds {}, and 1 MiB is the most: it was changed by hand or by a program", .0.display(), .1
    )]
    TooLong(PathBuf, String),
    /// Something in it more than once: what.
    #[error(
        "{} holds {} twice: it was changed by hand or by a program", .0.display(), .1
    )]
    Twice(PathBuf, String),
    /// Two files are of the same run: laid beside each other they would look like two.
    #[error("{} and {} hold the same run ({}): give each result once", .0.display(), .1.display(), .2)]
    SameRun(PathBuf, PathBuf, String),
    /// A file with more than is read of a result.
    #[error(
        "{} has more than {LARGEST_MIB} MiB of JSON, the largest result that embermark reads: give a result, or measure fewer cells in a run", .0.display()
    )]
    TooLarge(PathBuf),
    /// A gzip file whose contents are cut off or damaged: bytes of its text before that, and what is wrong.
    #[error("{} is a damaged gzip file ({} after {} bytes of its text): copy it again", .0.display(), .2, .1)]
    Damaged(PathBuf, usize, #[source] std::io::Error),
    /// Something else than a site of embermark is where one is to go.
    #[error(
        "{} is not a site of embermark and not empty: name another folder with --out, or empty this one",
        .0.display()
    )]
    NotASite(PathBuf),
    /// A file or folder that could not be written: what the system answered.
    #[error("cannot write {}: {}", .0.display(), .1)]
    Unwritable(PathBuf, #[source] std::io::Error),
    /// The HTML page was not there when this embermark was built.
    #[error(
        "this build of embermark has no page for an HTML report: `make build` makes one that has it"
    )]
    NoPage,
    /// CSV could not be written.
    #[error("cannot write the result as CSV: {0}")]
    Csv(#[from] csv::Error),
    /// A form that is no text was asked for as one.
    #[error("Parquet is not text: name a file for it with --out runs.parquet")]
    NoText,
    /// Parquet could not be written.
    #[error("cannot write the runs as Parquet: {0}")]
    Parquet(#[from] parquet::errors::ParquetError),
    /// JSON could not be written.
    #[error("cannot write the result as JSON: {0}")]
    Json(#[from] serde_json::Error),
}
