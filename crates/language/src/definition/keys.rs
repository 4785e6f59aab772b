//! Which rows operations concern, and how many.

use super::Snapshot;

/// How many operations, of a table of so many rows.
#[derive(Clone, Debug, PartialEq)]
pub enum Count {
    /// `1000`, `"10k"`: so many.
    Exactly(u64),
    /// `"50%"`: that share of the rows, rounded down, and one at least.
    Share(f64),
    /// `{ "10k" = 1, "1M" = 25 }`, in ascending order: 1 for up to 10,000 rows, 25 for up to a million, and as many
    /// as there are for more.
    BySize(Vec<(u64, u64)>),
}

impl Count {
    /// How many, of a table of so many rows.
    pub fn of(&self, rows: u64) -> u64 {
        match self {
            Self::Exactly(count) => *count,
            // Rounded up before it is rounded down: 10 % of 30 is 3, and not 2.
            Self::Share(share) => ((rows as f64 * share + 1e-6) as u64).max(1),
            Self::BySize(sizes) => {
                let size = sizes.iter().find(|(most, _)| rows <= *most);
                size.map_or(rows.max(1), |(_, count)| *count)
            }
        }
    }
}

/// Keys of rows, drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Keys {
    /// How many operations.
    pub ops: Count,
    /// Which rows are drawn.
    pub of: KeysOf,
    /// The share of keys that are not in the table, from 0 to 1.
    pub absent: f64,
    /// `rows = 10`: how many rows that follow each other in the order of keys, and have all columns of the key but the
    /// last in common, an operation changes as one. Of more than one every row is changed once.
    pub rows: u64,
}

/// Which rows are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KeysOf {
    /// All as likely.
    Uniform,
    /// The same, and no row twice.
    Distinct,
    /// Zipf's law, scrambled over the table as in YCSB.
    Zipfian {
        /// 0.99 in YCSB.
        skew: f64,
    },
    /// Zipf's law from the newest row back: the last inserted.
    Newest {
        /// 0.99 in YCSB.
        skew: f64,
    },
}

/// Rows in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// The table.
    pub table: usize,
    /// From which keys: of [`Span::Rows`] a key that is drawn, of the others the value of `of` in a
    /// row that is drawn.
    pub keys: Keys,
    /// How far.
    pub span: Span,
    /// What a snapshot covers.
    pub snapshot: Snapshot,
}

/// How far a range goes.
#[derive(Clone, Debug, PartialEq)]
pub enum Span {
    /// `rows = 100` or `rows = [1, 100]`: from the key on in key order, so many rows, drawn evenly.
    Rows {
        /// The least.
        from: u64,
        /// The most.
        to: u64,
    },
    /// `last = "1h"`: rows of one value of a column whose time is within so long before the newest
    /// time of the table.
    Last {
        /// The column whose value is drawn; `None`: rows of all.
        of: Option<usize>,
        /// The column of time.
        time: usize,
        /// How long, in the column's unit.
        units: i64,
    },
    /// `span = "1h"`: the same from the time of the row that is drawn on.
    From {
        /// The column whose value is drawn; `None`: rows of all.
        of: Option<usize>,
        /// The column of time.
        time: usize,
        /// How long, in the column's unit.
        units: i64,
    },
}

/// The default of [`Keys::ops`] and [`super::Mix::ops`].
pub const OPS: u64 = 1_000;

/// The default of [`KeysOf`]'s skews, that of YCSB.
pub const SKEW: f64 = 0.99;
