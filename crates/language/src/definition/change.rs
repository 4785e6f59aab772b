//! How rows are changed, and what a commit covers.

use super::{Condition, Keys};

/// What a commit covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commit {
    /// `"each"`: every operation is one.
    Each,
    /// So many operations.
    Rows(u64),
    /// `"all"`: all of them.
    All,
    /// `{ batch = 1_000 }`: so many rows, which are given to the engine at once; of `insert` alone.
    Batch(u64),
    /// `{ batch = "10k", offered = "100000/s" }`: so many rows a second are put into a buffer by one thread, and another
    /// gives the engine what has gathered there; of `insert` alone.
    Behind {
        /// The most rows of a commit.
        batch: u64,
        /// Rows a second.
        offered: u64,
    },
    /// `"bulk"`: the engine's fastest path, of `insert` alone.
    Bulk,
    /// `"csv"`: all rows from a CSV file, which the engine reads itself where it can; of `insert` alone.
    Csv,
}

/// How the rows that meet conditions are changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Change {
    /// All at once. One operation.
    #[default]
    Together,
    /// `commit = "each"`, or another: their keys are found first, and then each row is an operation. Not
    /// [`Commit::Bulk`].
    OneByOne(Commit),
}

/// What is set in a row: in operation `n` a value that follows from the seed and `n`, unlike the
/// one before.
#[derive(Clone, Debug, PartialEq)]
pub enum Set {
    /// These columns, none of them of the key.
    Columns(Vec<usize>),
    /// One of these, drawn: as YCSB writes one field.
    OneOf(Vec<usize>),
}

/// What is deleted.
#[derive(Clone, Debug, PartialEq)]
pub enum Removed {
    /// Rows by their keys; each is drawn once.
    Keys {
        /// Which.
        keys: Keys,
        /// What a commit covers. [`Commit::Bulk`] is refused.
        commit: Commit,
    },
    /// `where = […]`: every row that meets these conditions.
    Where {
        /// At least one.
        conditions: Vec<Condition>,
        /// How they are deleted.
        by: Change,
    },
    /// `older = "7d"`: every row whose time is so long before the newest, or longer. One operation.
    Older {
        /// The column of time.
        time: usize,
        /// How long, in the column's unit.
        units: i64,
    },
}
