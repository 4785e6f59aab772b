//! What a workload cannot do.

use embermark_data::DataError;
use embermark_model::choice::UnknownName;

/// A workload cannot have what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadError {
    /// The rows.
    #[error(transparent)]
    Data(#[from] DataError),
    /// All rows of a source that has no end.
    #[error(
        "scale 'full' means every row of a file, and synthetic rows have no end: \
         give the file with --data, or a number of rows"
    )]
    Endless,
    /// A name that is none of the workload's.
    #[error(transparent)]
    Name(#[from] UnknownName),
    /// Keys that are not there, of a table in which every key is.
    #[error(
        "table '{table}' has every value that the last column of its key can have, so that no key is \
         absent: leave 'absent' out, or give that column a wider type"
    )]
    NoAbsentKey {
        /// The table.
        table: String,
    },
    /// A workload file's rows that do not fit what is asked of them.
    #[error("{0}")]
    Unfit(String),
}
