//! The rows that operations use, and their number.

use super::Snapshot;

/// A number of operations, which may depend on the table's number of rows.
#[derive(Clone, Debug, PartialEq)]
pub enum Count {
    /// `1000`, `"10k"`: this number.
    Exactly(u64),
    /// `"50%"`: this share of the rows, rounded down, at least one.
    Share(f64),
    /// `{ "10k" = 1, "1M" = 25 }`, in ascending order: 1 for up to 10,000 rows, 25 for up to a
    /// million, and the number of rows for more.
    BySize(Vec<(u64, u64)>),
}

impl Count {
    /// Returns the number for a table with `rows` rows.
    pub fn for_rows(&self, rows: u64) -> u64 {
        match self {
            Self::Exactly(count) => *count,
            // Adds a margin before rounding down: 10 % of 30 is 3, and not 2.
            Self::Share(share) => ((rows as f64 * share + 1e-6) as u64).max(1),
            Self::BySize(sizes) => {
                let size = sizes.iter().find(|(most, _)| rows <= *most);
                size.map_or(rows.max(1), |(_, count)| *count)
            }
        }
    }
}

/// Keys of rows, drawn at random.
#[derive(Clone, Debug, PartialEq)]
pub struct Keys {
    /// Number of operations.
    pub ops: Count,
    /// How rows are drawn.
    pub of: KeysOf,
    /// Share of keys that are not in the table, from 0 to 1.
    pub absent: f64,
    /// `rows = 10`: number of consecutive rows in key order that an operation changes as one. They
    /// share all columns of the key but the last. If it is more than one, every row is changed
    /// once.
    pub rows: u64,
}

/// How rows are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KeysOf {
    /// All with the same probability.
    Uniform,
    /// The same, but no row twice.
    Distinct,
    /// By Zipf's law, scrambled over the table as in YCSB.
    Zipfian {
        /// Skew, 0.99 in YCSB.
        skew: f64,
    },
    /// By Zipf's law from the newest row back: the last inserted.
    Newest {
        /// Skew, 0.99 in YCSB.
        skew: f64,
    },
}

/// A range of rows in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// Index of the table.
    pub table: usize,
    /// Start of the range. For [`Span::Rows`] it is a random key, and for the others the value of
    /// `of` in a random row.
    pub keys: Keys,
    /// Length of the range.
    pub span: Span,
    /// What a snapshot covers.
    pub snapshot: Snapshot,
}

/// Length of a range.
#[derive(Clone, Debug, PartialEq)]
pub enum Span {
    /// `rows = 100` or `rows = [1, 100]`: from the key on in key order. The number of rows is
    /// uniformly distributed.
    Rows {
        /// Least number of rows.
        from: u64,
        /// Largest number of rows.
        to: u64,
    },
    /// `last = "1h"`: rows of one value of a column with a time of at most this long before the
    /// newest time of the table.
    Last {
        /// Index of the column whose value is drawn. `None`: rows of all values.
        of: Option<usize>,
        /// Index of the time column.
        time: usize,
        /// Length in the column's unit.
        units: i64,
    },
    /// `span = "1h"`: the same, starting at the time of the random row.
    From {
        /// Index of the column whose value is drawn. `None`: rows of all values.
        of: Option<usize>,
        /// Index of the time column.
        time: usize,
        /// Length in the column's unit.
        units: i64,
    },
}

/// Default of [`Keys::ops`] and [`super::Mix::ops`].
pub const OPS: u64 = 1_000;

/// Default of the skews of [`KeysOf`], that of YCSB.
pub const SKEW: f64 = 0.99;
