//! Errors of reading a result file and of making a report.

use std::path::PathBuf;

use embermark_model::result::SCHEMA;

/// Largest JSON of a result that is read, in MiB. A result of 500 cells with all figures has about
/// 10.
pub(crate) const LARGEST_MIB: u64 = 512;

/// Why a result could not be read or shown. The path is that of the file.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The file does not exist.
    #[error("no result file at {}: check the path, or make one with `embermark run`", .0.display())]
    Missing(PathBuf),
    /// The file cannot be read: the system's error.
    #[error("cannot read {}: {}", .0.display(), .1)]
    Unreadable(PathBuf, #[source] std::io::Error),
    /// The file ends in the middle of a value.
    #[error(
        "{} ends in the middle of a value, like a file whose copy or run was interrupted: copy it again, or continue the run with `embermark run --resume`", .0.display()
    )]
    Truncated(PathBuf),
    /// The file is the journal of a run, not its result.
    #[error(
        "{} is the journal of a run that did not end: finish the run with `embermark run --resume`, \
         which writes the result file", .0.display()
    )]
    Journal(PathBuf),
    /// Not JSON: the position and the error.
    #[error("{} is not JSON ({}): give the result file of an `embermark run`", .0.display(), .1)]
    NotJson(PathBuf, String),
    /// JSON, but not a result: what it lacks.
    #[error(
        "{} is JSON but not an embermark result: {}; give the result file of an `embermark run`",
        .0.display(), .1
    )]
    NotAResult(PathBuf, &'static str),
    /// The result fails rules of a check that it must pass: the rules.
    #[error("{} fails {}: `embermark check` explains what to do", .0.display(), .1)]
    FailsCheck(PathBuf, String),
    /// The result was written by a newer embermark: its schema.
    #[error(
        "{} has result schema {}, and this embermark reads up to {SCHEMA}: upgrade embermark",
        .0.display(), .1
    )]
    TooNew(PathBuf, u64),
    /// No result of `embermark durability` at this path.
    #[error("no result at {}: give the folder of an `embermark durability`, or its result.json", .0.display())]
    NoDurability(PathBuf),
    /// Not a result of `embermark durability`: the position and the error.
    #[error(
        "{} is not a result of `embermark durability` ({}): give its folder, or its result.json; an interrupted run has one when `embermark durability --resume` has ended it", .0.display(), .1
    )]
    NotDurability(PathBuf, String),
    /// A result with a missing or invalid field: the path of the field and the error.
    #[error(
        "{} is an embermark result with a field that cannot be read ({}): it was changed by hand \
         or by a program, or written by an unreleased embermark", .0.display(), .1
    )]
    Malformed(PathBuf, String),
    /// The result has something that no run writes: what.
    #[error("{} holds {}: it was changed by hand or by a program", .0.display(), .1)]
    Changed(PathBuf, String),
    /// Two files have the same run. Side by side they would look like two runs.
    #[error("{} and {} hold the same run ({}): give each result once", .0.display(), .1.display(), .2)]
    SameRun(PathBuf, PathBuf, String),
    /// The file is larger than any result that is read.
    #[error(
        "{} has more than {LARGEST_MIB} MiB of JSON, the largest result that embermark reads: give a result, or measure fewer cells in a run", .0.display()
    )]
    TooLarge(PathBuf),
    /// A gzip file that is cut off or damaged: bytes of text before the damage, and the error.
    #[error("{} is a damaged gzip file ({} after {} bytes of its text): copy it again", .0.display(), .2, .1)]
    Damaged(PathBuf, usize, #[source] std::io::Error),
    /// The output folder has something other than an embermark site.
    #[error(
        "{} is not a site of embermark and not empty: name another folder with --out, or empty this one",
        .0.display()
    )]
    NotASite(PathBuf),
    /// A file or folder could not be written: the system's error.
    #[error("cannot write {}: {}", .0.display(), .1)]
    Unwritable(PathBuf, #[source] std::io::Error),
    /// The HTML page did not exist when this embermark was built.
    #[error(
        "this build of embermark has no page for an HTML report: `make build` makes one that has it"
    )]
    NoPage,
    /// CSV could not be written.
    #[error("cannot write the result as CSV: {0}")]
    Csv(#[from] csv::Error),
    /// A binary format was requested as text.
    #[error("Parquet is not text: name a file for it with --out runs.parquet")]
    NoText,
    /// Parquet could not be written.
    #[error(transparent)]
    Parquet(#[from] embermark_data::DataError),
    /// JSON could not be written.
    #[error("cannot write the result as JSON: {0}")]
    Json(#[from] serde_json::Error),
}
