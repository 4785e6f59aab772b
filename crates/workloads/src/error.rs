//! Errors of workloads.

use embermark_data::DataError;
use embermark_model::choice::UnknownName;

/// A workload cannot do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadError {
    /// The rows cannot be used.
    #[error(transparent)]
    Data(#[from] DataError),
    /// All rows of an endless source were asked for.
    #[error(
        "scale 'full' means every row of a file, and synthetic rows have no end: \
         give the file with --data, or a number of rows"
    )]
    Endless,
    /// The workload has no phase or variant of this name.
    #[error(transparent)]
    Name(#[from] UnknownName),
    /// Absent keys were asked for, but the table has every possible key.
    #[error(
        "table '{table}' has every value that the last column of its key can have, so that no key is \
         absent: leave 'absent' out, or give that column a wider type"
    )]
    NoAbsentKey {
        /// The table.
        table: String,
    },
    /// Rows of a workload file do not fit its definition.
    #[error("{0}")]
    Unfit(String),
}
