//! How rows are changed, and what a commit covers.

use super::{Condition, Keys};

/// What a commit covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commit {
    /// `"each"`: each operation is a commit.
    Each,
    /// This number of operations.
    Rows(u64),
    /// `"all"`: all operations.
    All,
    /// `{ batch = 1_000 }`: this number of rows, which the engine gets at once. Only for `insert`.
    Batch(u64),
    /// `{ batch = "10k", offered = "100000/s" }`: one thread puts this number of rows per second
    /// into a buffer, and another one gives its contents to the engine. Only for `insert`.
    Behind {
        /// Largest number of rows per commit.
        batch: u64,
        /// Rows per second.
        offered: u64,
    },
    /// `"bulk"`: the engine's fastest path. Only for `insert`.
    Bulk,
    /// `"csv"`: all rows from a CSV file, which the engine reads itself if it can. Only for
    /// `insert`.
    Csv,
}

/// How the rows that match conditions are changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Change {
    /// All at once, as one operation.
    #[default]
    Together,
    /// `commit = "each"`, or another one: finds their keys first, and then each row is an
    /// operation. Not [`Commit::Bulk`].
    OneByOne(Commit),
}

/// What is set in a row: in operation `n` a value that depends on the seed and `n`, and differs
/// from the previous one.
#[derive(Clone, Debug, PartialEq)]
pub enum Set {
    /// These columns, none of which is part of the key.
    Columns(Vec<usize>),
    /// One of these columns, drawn at random, as YCSB writes one field.
    OneOf(Vec<usize>),
}

/// What is deleted.
#[derive(Clone, Debug, PartialEq)]
pub enum Removed {
    /// Rows by their keys. Each is drawn once.
    Keys {
        /// The keys.
        keys: Keys,
        /// What a commit covers. [`Commit::Bulk`] is refused.
        commit: Commit,
    },
    /// `where = […]`: every row that matches these conditions.
    Where {
        /// Conditions, at least one.
        conditions: Vec<Condition>,
        /// How they are deleted.
        by: Change,
    },
    /// `older = "7d"`: every row whose time is at least this long before the newest. One operation.
    Older {
        /// Index of the time column.
        time: usize,
        /// The age, in the column's unit.
        units: i64,
    },
}
